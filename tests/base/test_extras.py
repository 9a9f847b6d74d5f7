"""A library that is not installed is named with the extra that installs it."""

import sys

import pytest

from secant import MissingExtraError
from secant._base.extras import is_usable, require


def test_what_is_installed_is_returned():
    assert require("json", "files", "reading files needs") is sys.modules["json"]
    assert require("os.path", "files", "reading files needs").join("a", "b").startswith("a")


@pytest.mark.parametrize(
    ("library", "extra", "told"),
    [
        ("absent", "files", "needs absent, which is not installed: pip install 'secant[files]'"),
        ("absent.inside", "plot", "needs absent, which is not installed: pip install 'secant[pl"),
        ("absent", None, "needs absent, which is not installed: pip install absent"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, library, extra, told):
    monkeypatch.setitem(sys.modules, "absent", None)
    with pytest.raises(MissingExtraError) as caught:
        require(library, extra, "reading needs")
    assert told in str(caught.value)


def test_what_an_installed_library_lacks_itself_is_not_hidden(monkeypatch, tmp_path):
    (tmp_path / "half_installed.py").write_text("import nothing_of_this_name", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name") as caught:
        require("half_installed", "files", "reading needs")
    assert not isinstance(caught.value, MissingExtraError)


@pytest.mark.parametrize(
    ("content", "usable"),
    [("", True), ("raise ValueError", False), ("import nothing_of_this_name", False)],
)
def test_what_does_not_start_is_not_usable_and_is_tried_once(
    monkeypatch, tmp_path, content, usable
):
    name = f"starts_{usable}_{len(content)}"
    (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert is_usable(name) is usable
    (tmp_path / f"{name}.py").unlink()
    assert is_usable(name) is usable
    assert not is_usable("nothing_of_this_name")
