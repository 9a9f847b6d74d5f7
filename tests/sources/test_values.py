"""Columns of Arrow become the arrays that Arrow makes of them, and pandas stays out of it."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from helpers import PACKAGE, optional
from secant.sources.files import values as _values

pa = optional("pyarrow")
csv = optional("pyarrow.csv")
feather = optional("pyarrow.feather")
parquet = optional("pyarrow.parquet")

COLUMNS = {
    **{name: np.arange(40).astype(name) for name in ("i1", "u1", "i4", "u8", "f2", "f4", "f8")},
    "truths": np.arange(40) % 3 == 0,
    "seconds": np.arange(40).astype("M8[s]"),
    "nanoseconds": np.arange(40).astype("M8[ns]"),
    "days": np.arange(-5, 35).astype("M8[D]"),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("piece", [slice(0, 40), slice(3, 30), slice(9, 10), slice(7, 7)])
def test_arrays_and_keys_are_those_of_arrow(kind, piece):
    values = COLUMNS[kind]
    column = pa.array(values)[piece]
    if values.dtype.kind != "M":
        made = _values.as_array(column)
        assert made.dtype == values.dtype
        assert np.array_equal(made, column.to_numpy(zero_copy_only=False))
    if len(column):
        chosen = np.arange(0, len(column), 2)
        found = _values._distinct(column, chosen)
        assert found.dtype == values.dtype
        assert np.array_equal(found, column.to_numpy(zero_copy_only=False)[chosen])


def test_days_in_milliseconds():
    column = pa.array(COLUMNS["days"]).cast(pa.date64())
    found = _values._distinct(column, np.arange(40))
    assert found.dtype == np.dtype("M8[D]")
    assert np.array_equal(found, COLUMNS["days"])


@pytest.mark.parametrize("kind", ["i4", "u8", "f2", "f8", "truths"])
def test_what_is_null_is_nan(kind):
    missing = np.arange(40) % 5 == 2
    column = pa.array(COLUMNS[kind], mask=missing)[3:30]
    wanted = np.where(missing, np.nan, COLUMNS[kind].astype(float))[3:30]
    assert np.array_equal(_values.numbers(column), wanted, equal_nan=True)


def python(script, *arguments, cwd):
    command = [sys.executable, "-c", textwrap.dedent(script), str(PACKAGE.parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.fixture
def files(tmp_path):
    y, p = np.arange(60) % 2, np.linspace(0.01, 0.99, 60)
    table = pa.table({"y": y, "p": p, "g": np.where(p < 0.3, "a", "b"), "word": y.astype(str)})
    csv.write_csv(table, tmp_path / "a.csv")
    feather.write_feather(table, tmp_path / "a.feather")
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "day=1").mkdir()
    parquet.write_table(table, tmp_path / "day=1" / "a.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["a.csv", "a.feather", "a.parquet"])
def test_pandas_is_not_loaded(files, name):
    optional("pandas")
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import secant
        secant.assess("y", "p", data=sys.argv[2])
        secant.assess("word", "p", pos_label="1", data=sys.argv[2])
        secant.assess_by("y", "p", ["g", "word"], data=sys.argv[2])
        sys.exit("pandas" in sys.modules)
    """
    done = python(script, name, cwd=files)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["a.parquet", "day=1"])
def test_an_interrupt_is_heard_where_pyarrow_cannot_do_without_pandas(files, name):
    (files / "pandas.py").write_text("raise KeyboardInterrupt")
    script = """
        import sys
        sys.path[:0] = [sys.argv[1], "."]  # with the pandas that is interrupted as it loads
        import secant
        from secant.sources.files import arrow
        arrow._LARGE = 1
        try:
            secant.assess_by("y", "p", "day" if "=" in sys.argv[2] else "g", data=sys.argv[2])
        except KeyboardInterrupt:
            print("heard")
    """
    done = python(script, name, cwd=files)
    assert (done.returncode, done.stdout) == (0, "heard\n"), done.stderr
