"""The whole paper in one call: what is written, and that it is written whole or not at all."""

import json
import sys

import pytest

from helpers import optional
from secant.errors import InputError, MissingExtraError
from secant.paper import figures
from secant.paper.reproduce import choose, reproduce

optional("matplotlib")


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_subset(tmp_path):
    out = tmp_path / "new" / "folder"
    seen = []
    done = reproduce(
        out, only=[7, 2], formats=["png"], progress=lambda *report: seen.append(report)
    )
    assert done.figures == (2, 7)
    assert listing(out) == ["figure02.png", "figure07.png", "index.html", "statistics.json"]
    assert sorted(file.name for file in done.files) == listing(out)
    assert json.loads((out / "statistics.json").read_text(encoding="utf-8")) == done.statistics
    assert len(done.statistics["synthetic"]) == 9
    assert done.statistics["convergence"] == []  # no figure that needs it
    assert set(done.compared) == {7}
    text = (out / "index.html").read_text(encoding="utf-8")
    assert "Left out of this run: Figures 1, 3, 4, 5, 6, 8, 9, 10, 35, 36." in text
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {doing for _, doing in seen} == {"Computing", "Drawing"}


def test_everything_with_small_samples_in_two_processes(tmp_path):
    sizes = [4096, 8192]
    done = reproduce(tmp_path, formats=["png"], workers=2, sizes=sizes)
    assert done.figures == tuple(figures.FIGURES)
    stems = [figure.stem for figure in figures.FIGURES.values()]
    expected = [*(f"{stem}.png" for stem in stems), "index.html", "statistics.json"]
    assert listing(tmp_path) == sorted(expected)
    assert [row["n"] for row in done.statistics["convergence"]] == [4096] * 6 + [8192] * 6
    assert set(done.compared) == {1, 7, 8, 9, 10}
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Left out" not in text
    assert "Of 22 comparisons with the paper, 17 match and 5 differ." in text


def test_the_same_bytes_in_every_run(tmp_path):
    for name in ("first", "second"):
        reproduce(tmp_path / name, only=[2])
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("first", "second")
    )
    assert first == second


def test_nothing_changes_when_something_fails(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("of an earlier run", encoding="utf-8")
    run, calls = figures.Drawing.run, []

    def fails_later(self):
        if calls:
            raise OSError(28, "No space left on device")
        calls.append(self)
        return run(self)

    monkeypatch.setattr(figures.Drawing, "run", fails_later)
    with pytest.raises(OSError, match="No space left"):
        reproduce(tmp_path, only=[2, 7])
    assert listing(tmp_path) == ["index.html"]
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "of an earlier run"


def test_an_earlier_run_is_replaced(tmp_path):
    for name in ("index.html", "figure02.png"):
        (tmp_path / name).write_text("of an earlier run", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not ours", encoding="utf-8")
    reproduce(tmp_path, only=[2], formats=["png"])
    assert listing(tmp_path) == ["figure02.png", "index.html", "notes.txt", "statistics.json"]
    assert (tmp_path / "figure02.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "not ours"


def test_figures_that_do_not_exist():
    with pytest.raises(InputError, match=r"no figure 11, 99; there are 1, 2, 3, .*, 35, 36"):
        choose([1, 99, 11])
    with pytest.raises(InputError, match="no figure was chosen; there are 1, 2"):
        choose([])


@pytest.mark.parametrize(
    ("formats", "message"),
    [(["svg"], "unknown format 'svg'; there are pdf, png"), ([], "no format was chosen")],
)
def test_formats_that_do_not_exist(tmp_path, formats, message):
    with pytest.raises(InputError, match=message):
        reproduce(tmp_path, only=[2], formats=formats)
    assert listing(tmp_path) == []


def test_without_matplotlib_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("secant.paper.experiments.compute", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'secant\[paper\]'"):
        reproduce(tmp_path / "new", only=[2])
    assert listing(tmp_path) == []


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot write to .*taken"):
        reproduce(tmp_path / "taken", only=[2])
