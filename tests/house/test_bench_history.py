"""What benchmarks gave before: lines of ratios, and what became slower."""

import importlib.util
import json

import pytest

from helpers import ROOT

spec = importlib.util.spec_from_file_location("history", ROOT / "benchmarks" / "history.py")
history = importlib.util.module_from_spec(spec)
spec.loader.exec_module(history)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.json"


def test_a_line_a_name_the_last_one_last(path):
    history.remember("1", {"sort": 0.123456, "import": 1.1}, path)
    history.remember("2", {"sort": 0.2}, path)
    history.remember("1", {"sort": 0.3}, path)
    assert json.loads(path.read_text()) == history.lines(path)
    assert [(line["name"], line["ratios"]["sort"]) for line in history.lines(path)] == [
        ("2", 0.2), ("1", 0.3),
    ]  # fmt: skip
    assert len(path.read_text().splitlines()) == 4  # a line each, to read in a diff


@pytest.mark.parametrize(("factor", "slower"), [(1.29, False), (1.31, True), (0.5, False)])
def test_slower_than_the_last_line(path, factor, slower):
    history.remember("old", {"sort": 1.0, "import": 1.0}, path)
    history.remember("new", {"sort": 2.0, "import": 1.0}, path)
    said, found = history.compared({"sort": 2.0 * factor, "import": 1.0}, path)
    assert found is slower
    assert said[0].startswith("sort: " if slower else "Nothing ")
    assert "in new" in said[0]


def test_what_cannot_be_compared_is_said_and_is_not_slower(path):
    assert history.compared({"sort": 1.0}, path) == (
        ["history.json has no line yet: --remember NAME adds one."], False,
    )  # fmt: skip
    history.remember("1", {"sort": 1.0, "gone": 1.0}, path)
    said, found = history.compared({"sort": 1.0, "new": 9.0}, path)
    assert not found
    assert said[1:] == ["gone: measured in 1, not now", "new: not measured in 1"]


def test_what_is_in_the_repository_can_be_read():
    for line in history.lines():
        assert line["name"]
        assert all(ratio > 0 for ratio in line["ratios"].values())
