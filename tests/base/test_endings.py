"""A file is called as what it holds."""

import os

import numpy as np
import pytest

import secant
from secant import Cells, InputError, Monitor
from secant._base.endings import check_ending, wrong_ending

Y, P = [0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9]


@pytest.mark.parametrize(
    ("kind", "fine", "wrong"),
    [
        ("page", ["a.html", "A.HTM", "a.pdf.html"], ["a.pdf", "a", "a.html.gz", ".html", "a.txt"]),
        ("numbers", ["a.json", "a", "a.out", "2026.03"], ["a.html", "a.PDF", "a.csv", "a.json.gz"]),
        ("monitor", ["a.json", "state"], ["a.html", "a.parquet", "a.cells"]),
        ("cells", ["a.cells", "a.1", "a"], ["a.json", "a.png"]),
    ],
)
def test_endings(kind, fine, wrong):
    for name in fine:
        check_ending(name, kind)
    for name in wrong:
        with pytest.raises(InputError, match=r"cannot be written: .* ends in"):
            check_ending(name, kind)


def test_a_device_may_be_called_anything():
    assert wrong_ending(os.devnull, "page") is None


def test_nothing_is_written_under_a_wrong_name(tmp_path):
    result, rng = secant.assess(Y, P), np.random.default_rng(0)
    groups = secant.assess_by(Y * 20, P * 20, rng.integers(0, 2, 80))
    monitor, cells = Monitor(), Cells()
    monitor.add(Y, P)
    models = secant.assess_models(Y, {"a": P, "b": P[::-1]})
    for each in (result, groups, models, monitor, monitor.history):
        with pytest.raises(InputError, match=r"a page ends in \.html or \.htm, not in \.pdf"):
            each.report(tmp_path / "r.pdf")
    with pytest.raises(InputError, match="a page ends in"):
        secant.report.write(tmp_path / "r", result)
    for each in (monitor, cells):
        with pytest.raises(InputError, match="cannot be written: the state of"):
            each.save(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())
