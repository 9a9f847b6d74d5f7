"""Rows of files and the periods they belong to."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from helpers import optional
from secant._input.columns import Columns
from secant._input.options import AS_USUAL
from secant.errors import InputError

pyarrow = optional("pyarrow")
from pyarrow import parquet  # noqa: E402

from secant.sources.files.periods import PeriodFiles, date_in  # noqa: E402


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("2026-03-01.parquet", date(2026, 3, 1)),
        ("preds_20260301.csv.gz", date(2026, 3, 1)),
        ("2026_03_01-part-0.parquet", date(2026, 3, 1)),
        ("model-99999999-2026-03-01.parquet", date(2026, 3, 1)),
        ("2026-13-01.parquet", None),
        ("2026-0301.parquet", None),
        ("120260301.parquet", None),
        ("preds.parquet", None),
    ],
)
def test_dates_in_names(name, found):
    assert date_in(Path("2025-01-01") / name) == found


def opened(tmp_path, days, every=None):
    rows = {"y": [0, 1] * (len(days) // 2), "p": np.linspace(0, 1, len(days)), "day": days}
    parquet.write_table(pyarrow.table(rows), tmp_path / "a.parquet")
    columns = Columns("y", "p", by=("day",), reading=AS_USUAL)
    return PeriodFiles(tmp_path / "a.parquet", columns, every)


def test_periods_are_counted_in_their_order(tmp_path):
    days = [date(2026, 1, 2), date(2026, 1, 1), date(2026, 2, 1), date(2026, 1, 1)]
    files = opened(tmp_path, days)
    assert list(files.count().items()) == [
        (date(2026, 1, 1), 2),
        (date(2026, 1, 2), 1),
        (date(2026, 2, 1), 1),
    ]
    assert opened(tmp_path, days, "month").count() == {date(2026, 1, 1): 3, date(2026, 2, 1): 1}


def test_rows_come_with_their_period_and_others_are_left_out(tmp_path):
    days = [date(2026, 1, 2), date(2026, 1, 1), date(2026, 2, 1), date(2026, 1, 1)]
    files = opened(tmp_path, days)
    wanted = {date(2026, 1, 1): 0, date(2026, 1, 2): 1}
    read = {
        number: (scores.tolist(), labels.tolist())
        for number, scores, labels in files.read(wanted, 4)
    }
    assert read == {0: ([1 / 3, 1.0], [1, 1]), 1: ([0.0], [0])}


def test_rows_that_are_left_out_are_checked_all_the_same(tmp_path):
    rows = {"y": [0, 1], "p": [0.5, 7.0], "day": [1, 2]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "a.parquet")
    files = PeriodFiles(tmp_path / "a.parquet", Columns("y", "p", by=("day",)), None)
    with pytest.raises(InputError, match=r"is 7.0"):
        list(files.read({1: 0}, 2))
