"""A picture as a file, written whole or not at all."""

import struct
import sys

import pytest

from helpers import optional
from secant import InputError, MissingExtraError
from secant.plot._saving import check_ending, save

START = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("name", ["a.png", "a.b.SVG", "folder.doc/a.Pdf"])
def test_the_ending_says_the_format(tmp_path, name):
    assert check_ending(name) == check_ending(tmp_path / name) == name[-3:].lower()


@pytest.mark.parametrize("name", ["a", "png", ".png", "a.jpg", "a.png.gz", ""])
def test_other_endings_are_refused(tmp_path, name, paper):
    with pytest.raises(InputError, match=r"ends in \.png, \.svg or \.pdf; got"):
        check_ending(name)
    with pytest.raises(InputError, match="a picture ends in"):
        save(tmp_path / name, {"a": paper})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", START)
def test_every_format_is_drawn(tmp_path, paper, ending):
    optional("matplotlib")
    path = tmp_path / f"a.{ending}"
    save(path, {"a": paper})
    assert path.read_bytes().startswith(START[ending])
    assert list(tmp_path.iterdir()) == [path]


def test_a_picture_is_large_enough_for_a_page(tmp_path, paper):
    optional("matplotlib")
    save(tmp_path / "a.png", {"a": paper})
    assert struct.unpack(">2I", (tmp_path / "a.png").read_bytes()[16:24]) == (1280, 800)


@pytest.mark.parametrize(("names", "shown"), [(["Trees"], False), (["Trees", "Forest"], True)])
def test_a_model_that_stands_alone_needs_no_name(tmp_path, paper, names, shown):
    mpl = optional("matplotlib")
    with mpl.rc_context({"svg.fonttype": "none"}):  # text as text
        save(tmp_path / "a.svg", dict.fromkeys(names, paper))
    assert ("Trees" in (tmp_path / "a.svg").read_text(encoding="utf-8")) is shown


def test_an_earlier_picture_stays_until_the_new_one_is_whole(tmp_path, paper, monkeypatch):
    optional("matplotlib")

    def fails(figure, file, **_):
        file.write(b"half")
        raise OSError("no room")

    path = tmp_path / "a.png"
    path.write_bytes(b"before")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fails)
    with pytest.raises(OSError, match="no room"):
        save(path, {"a": paper})
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_without_matplotlib_the_extra_is_named(tmp_path, paper, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'secant\[plot\]'"):
        save(tmp_path / "a.png", {"a": paper})
    assert list(tmp_path.iterdir()) == []
