"""Columns read whole are read with the care of every other reader."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from helpers import optional
from secant import InputError
from secant._base.progress import showing
from secant.errors import Argument
from secant.sources import rows
from secant.sources.files.whole import read_columns

pa = optional("pyarrow")
feather = optional("pyarrow.feather")
parquet = optional("pyarrow.parquet")

WANTED = {Argument("y_true"): ["y"], Argument("probs"): ["a", "b"], Argument("member"): ["m"]}


@pytest.fixture(autouse=True)
def _few_rows_at_a_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rows, "CHUNK", 7)


def write(name, **columns):
    n = len(next(iter(columns.values())))
    plain = {"y": ["cat"] * n, "a": [0.5] * n, "b": [0.5] * n, "m": [True] * n}
    table = pa.table(plain | columns)
    if name.endswith(".csv"):
        lines = zip(*(column.to_pylist() for column in table.columns), strict=True)
        text = [",".join("" if each is None else str(each) for each in line) for line in lines]
        Path(name).write_text("\n".join([",".join(table.column_names), *text, ""]))
    else:
        writer = parquet.write_table if name.endswith(".parquet") else feather.write_feather
        writer(table, name)
    return name


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
@pytest.mark.parametrize(
    "column",
    [
        [0, 1, 2] * 9,
        [True, False, False] * 9,
        ["cat", "dog", "7"] * 9,
        [*[1] * 20, *[2] * 7],
        [*[1] * 20, *["other"] * 7],  # what the first batches hold is not what the last do
        [0.5, 1.25, -3.0] * 9,
    ],
)
def test_values_are_those_that_were_written(name, column):
    if len({type(value) for value in column}) > 1:
        column = [str(value) for value in column]
    found = read_columns(write(name, y=column, m=column), WANTED)
    for each in ("y", "m"):
        assert found[each].tolist() == column
        assert found[each].dtype == (object if isinstance(column[0], str) else type(column[0]))
    assert found["a"].dtype == np.float64


@pytest.mark.parametrize("values", [["x", "y", "unused"], [1, 2, 3], [0.5, 0.25, 1.0]])
@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_dictionaries_are_read_as_what_they_hold(name, values):
    column = pa.DictionaryArray.from_arrays([0, 1] * 10, values)
    assert read_columns(write(name, y=column), WANTED)["y"].tolist() == column.to_pylist()


def test_dates_are_dates():
    days = [dt.date(2026, 1, 1 + day) for day in range(20)]
    assert read_columns(write("a.parquet", m=days), WANTED)["m"].tolist() == days


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
@pytest.mark.parametrize(
    ("column", "argument", "values"),
    [("y", "y_true", ["a"] * 20), ("b", "probs", [0.5] * 20), ("m", "member", [True] * 20)],
)
def test_nulls_are_named_by_file_and_row(name, column, argument, values):
    values[16] = values[18] = None
    told = rf"^{name}, row 16, column '{column}': {argument} is null; .*\(2 are null in all\): drop"
    with pytest.raises(InputError, match=told):
        read_columns(write(name, **{column: values}), WANTED)


def test_folders_name_columns(tmp_path):
    for kind in ("cat", "dog"):
        folder = tmp_path / "set" / f"y={kind}"
        folder.mkdir(parents=True)
        table = pa.table({"a": [0.5] * 9, "b": [0.5] * 9, "m": [1] * 9})
        parquet.write_table(table, folder / "0.parquet")
    assert read_columns("set", WANTED)["y"].tolist() == ["cat"] * 9 + ["dog"] * 9


def test_types_are_checked_before_anything_is_read():
    with pytest.raises(InputError, match=r"probs\[1\] must hold real numbers; column 'b' holds te"):
        read_columns(write("a.parquet", b=["x"] * 20), WANTED)
    with pytest.raises(InputError, match=r"holds booleans \(bool\) in b.parquet, but text"):
        read_columns([write("a.parquet", y=["x"] * 2), write("b.parquet", y=[True] * 2)], WANTED)
    with pytest.raises(InputError, match=r"column 'b': probs is 'x', not a number"):
        read_columns(write("a.csv", b=["x"] * 20), WANTED)


def test_progress_is_told():
    told = []
    with showing(lambda done, total: told.append((done, total))):
        read_columns(write("a.parquet", y=["x"] * 20), WANTED)
    assert told == [(7, 20), (14, 20), (20, 20)]


def test_no_rows():
    assert {len(each) for each in read_columns(write("a.parquet", a=[]), WANTED).values()} == {0}
