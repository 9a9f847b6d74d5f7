"""What ``data=`` may be, told apart."""

from pathlib import Path

import pytest

from helpers import optional
from secant import InputError
from secant.sources.tables import is_files, is_frame, is_kept, names_of, table_of, values_of

COLUMNS = {"y": [0, 1, 1], "p": [0.2, 0.6, 0.9]}


@pytest.mark.parametrize(
    ("data", "files"),
    [
        ("a.csv", True),
        (Path("a.csv"), True),
        (["a.csv", Path("b.csv")], True),
        ([], False),
        (["a.csv", 3], False),
        (COLUMNS, False),
    ],
)
def test_files_are_paths(data, files):
    assert is_files(data) is files


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_hold_their_rows(library):
    optional("narwhals")
    frame = optional(library).DataFrame(COLUMNS)
    assert is_frame(frame)
    assert not is_kept(frame)
    table = table_of(frame)
    assert list(names_of(table)) == ["y", "p"]
    assert list(values_of(table, "p")) == COLUMNS["p"]


def test_engines_keep_their_rows():
    optional("narwhals")
    frame = optional("polars").LazyFrame(COLUMNS)
    assert is_kept(frame)
    assert not is_frame(frame)


def test_mappings_are_themselves():
    assert table_of(COLUMNS) is COLUMNS
    assert list(names_of(COLUMNS)) == ["y", "p"]
    assert values_of(COLUMNS, "y") is COLUMNS["y"]
    assert not is_kept(COLUMNS)


def test_anything_else_is_refused():
    optional("narwhals")
    assert not is_frame(3)
    with pytest.raises(InputError, match=r"data must be a data frame, .* got int"):
        table_of(3)
