"""Periods of files: the same numbers as batches by hand, known ones recognised."""

from datetime import date, timedelta

import numpy as np
import pytest

from helpers import optional
from secant import InputError, Monitor
from secant._api.monitor_files import add_files

pyarrow = optional("pyarrow")
from pyarrow import csv, parquet  # noqa: E402

START = date(2026, 1, 1)


def day(number, n=300, power=1.0):
    rng = np.random.default_rng(number)
    scores = np.round(rng.random(n), 6)
    return (rng.random(n) < scores**power).astype(np.int8), scores


def by_hand(numbers, n=300, **options):
    monitor = Monitor(**options)
    for number in numbers:
        monitor.add(*day(number, n), time=START + timedelta(number))
    return monitor


def table(numbers, n=300, *, shuffled=True, **columns):
    parts = [day(number, n) for number in numbers]
    y, p = (np.concatenate(column) for column in zip(*parts, strict=True))
    when = np.repeat([np.datetime64(START) + number for number in numbers], n)
    order = np.random.default_rng(0).permutation(y.size) if shuffled else np.arange(y.size)
    named = {"y": y, "p": p, "when": when, **columns}
    return pyarrow.table({name: column[order] for name, column in named.items()})


def write(path, content):
    if path.suffix == ".csv":
        csv.write_csv(content, path)
    else:
        parquet.write_table(content, path, row_group_size=777)
    return path


def fed(path, monitor=None, **options):
    monitor = Monitor() if monitor is None else monitor
    updated = add_files(monitor, path, "y", "p", **options)
    return monitor, updated


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("n", [300, 40, 1000])
def test_a_column_of_dates(tmp_path, ending, n):
    # With 40 rows a day ranges are cut on the fourth day only.
    path = write(tmp_path / f"all.{ending}", table(range(10), n))
    monitor, updated = fed(path, time="when")
    assert monitor.to_dict() == by_hand(range(10), n).to_dict()
    assert updated.added == tuple(START + timedelta(number) for number in range(10))
    assert updated.known == updated.later == ()


def test_few_rows_wait(tmp_path):
    path = write(tmp_path / "all.parquet", table(range(3), 20))
    monitor, _ = fed(path, time="when")
    assert monitor.to_dict() == by_hand(range(3), 20).to_dict()
    path = write(tmp_path / "all.parquet", table(range(12), 20))
    monitor, updated = fed(path, monitor, time="when")
    assert monitor.to_dict() == by_hand(range(12), 20).to_dict()
    assert len(updated.known) == 3


def test_dates_in_the_names_of_files(tmp_path):
    for number in range(4):
        y, p = day(number)
        for shard in range(2):  # a day may be in several files
            name = f"preds-{START + timedelta(number)}-{shard}.parquet"
            write(tmp_path / name, pyarrow.table({"y": y[shard::2], "p": p[shard::2]}))
    monitor, _ = fed(tmp_path)
    assert monitor.to_dict() == by_hand(range(4)).to_dict()


def test_folders_named_after_dates(tmp_path):
    for number in range(3):
        folder = tmp_path / f"day={START + timedelta(number)}"
        folder.mkdir()
        y, p = day(number)
        write(folder / "part.parquet", pyarrow.table({"y": y, "p": p}))
    monitor, _ = fed(tmp_path, time="day")
    assert monitor.to_dict() == by_hand(range(3)).to_dict()


@pytest.mark.parametrize("kind", ["date32", "date64", "ms", "ns", "zone", "text"])
def test_times_of_every_type(tmp_path, kind):
    content = table(range(4))
    moments = content["when"].cast(pyarrow.timestamp("s"))
    made = {
        "date32": lambda: moments.cast(pyarrow.date32()),
        "date64": lambda: moments.cast(pyarrow.date64()),
        "ms": lambda: moments.cast(pyarrow.timestamp("ms")),
        "ns": lambda: moments.cast(pyarrow.timestamp("ns")),
        "zone": lambda: moments.cast(pyarrow.timestamp("us", "UTC")),
        "text": lambda: moments.cast(pyarrow.date32()).cast(pyarrow.string()),
    }[kind]()
    path = write(tmp_path / "all.parquet", content.set_column(2, "when", made))
    monitor, _ = fed(path, time="when")
    assert monitor.to_dict() == by_hand(range(4)).to_dict()


def test_local_days_of_a_time_zone(tmp_path):
    late = np.array(["2026-01-01T23:30", "2026-01-02T01:00"], "M8[us]")
    when = pyarrow.array(np.repeat(late, 100)).cast(pyarrow.timestamp("us"))
    zoned = pyarrow.compute.assume_timezone(when, "Etc/GMT+5")  # both are the next day in UTC
    content = pyarrow.table({"y": [0, 1] * 100, "p": [0.3, 0.6] * 100, "when": zoned})
    monitor, _ = fed(write(tmp_path / "a.parquet", content), time="when")
    assert [each.time.day for each in monitor.history] == [1, 2]


def test_weeks_and_months(tmp_path):
    path = write(tmp_path / "all.parquet", table(range(40), 50))
    monitor, _ = fed(path, time="when", every="week")
    assert [each.time.weekday() for each in monitor.history] == [0] * len(monitor.history)
    monitor, _ = fed(path, time="when", every="month")
    assert [each.time for each in monitor.history] == [date(2026, 1, 1), date(2026, 2, 1)]
    assert [each.n for each in monitor.history] == [31 * 50, 9 * 50]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_times_that_are_no_dates(tmp_path, ending):
    numbers = np.repeat(np.arange(9, 12), 200)
    path = write(tmp_path / f"a.{ending}", table(range(3), 200, week=numbers))
    monitor, _ = fed(path, time="week")
    assert [each.time for each in monitor.history] == [9, 10, 11]
    with pytest.raises(InputError, match=r"must hold dates for a period a day; got (9|1)"):
        fed(path, time="week", every="day")


def test_a_growing_folder(tmp_path):
    monitor = None
    for number in range(5):
        y, p = day(number)
        name = f"{START + timedelta(number)}.parquet"
        write(tmp_path / name, pyarrow.table({"y": y[::-1], "p": p[::-1]}))
        monitor, updated = fed(tmp_path, monitor)
        assert len(updated.known) == number
    assert monitor.to_dict() == by_hand(range(5)).to_dict()
    before = monitor.to_dict()
    _, updated = fed(tmp_path, monitor)
    assert updated.added == ()
    assert monitor.to_dict() == before


def test_a_known_period_with_other_sums_is_refused(tmp_path):
    path = write(tmp_path / "all.parquet", table(range(3)))
    monitor, _ = fed(path, time="when")
    before = monitor.to_dict()
    changed = table(range(4), shuffled=False).slice(1)  # a row less of the first day
    write(path, changed)
    said = r"the period 2026-01-01 was added with 300 predictions and \d+ events, and now has 299"
    with pytest.raises(InputError, match=said):
        fed(path, monitor, time="when")
    # The same counts, another score.
    y, p = day(1)
    p = p.copy()
    p[0] = 1 - p[0]
    other = write(tmp_path / "2026-01-02.parquet", pyarrow.table({"y": y, "p": p}))
    with pytest.raises(InputError, match=r"2026-01-02 was added with .* or other scores"):
        fed(other, monitor)
    assert monitor.to_dict() == before


def test_a_period_out_of_order_is_refused(tmp_path):
    path = write(tmp_path / "a.parquet", table([0, 2]))
    monitor, _ = fed(path, time="when")
    write(path, table([0, 1, 2]))
    with pytest.raises(InputError, match="the period 2026-01-02 is new, and 2026-01-03 has been"):
        fed(path, monitor, time="when")


def test_later_periods_wait(tmp_path):
    path = write(tmp_path / "a.parquet", table(range(6)))
    monitor, updated = fed(path, time="when", until="2026-01-03")
    assert len(updated.added) == 3
    assert updated.later == tuple(START + timedelta(number) for number in (3, 4, 5))
    assert monitor.to_dict() == by_hand(range(3)).to_dict()
    with pytest.raises(InputError, match=r"until must hold dates|of one kind"):
        fed(path, time="when", until="soon")


@pytest.mark.parametrize("shuffled", [False, True])
def test_outcomes_that_are_missing_yet_wait_with_their_period(tmp_path, shuffled):
    content = table(range(5), 200, shuffled=shuffled)
    late = pyarrow.compute.greater(content["when"].cast(pyarrow.date32()), START + timedelta(2))
    nothing = pyarrow.scalar(None, pyarrow.int8())
    missing = pyarrow.compute.if_else(late, nothing, content["y"])
    path = write(tmp_path / "a.parquet", content.set_column(0, "y", missing))
    with pytest.raises(InputError, match="a missing outcome"):
        fed(path, time="when")
    monitor, updated = fed(path, time="when", until=START + timedelta(2))
    assert monitor.to_dict() == by_hand(range(3), 200).to_dict()
    assert len(updated.later) == 2
    with pytest.raises(InputError, match=r"row \d+, column 'y'.*a missing outcome") as caught:
        fed(path, monitor, time="when", until=START + timedelta(3))
    day_of_row = content["when"].to_numpy()[caught.value.row]
    assert day_of_row == np.datetime64(START + timedelta(3))


@pytest.mark.parametrize(
    ("content", "options", "complaint"),
    [
        ({}, {"time": "whem"}, r"has no column 'whem', which time names; did you mean 'when'"),
        ({}, {}, "has no date in its name"),
        ({"p": [0.5, 2.0]}, {"time": "when"}, "row 1, column 'p'.*is 2.0"),
        ({"y": [0, None]}, {"time": "when"}, "a missing outcome"),
        ({"when": [START, None]}, {"time": "when"}, "time is missing in some rows"),
        ({"when": ["2026-01-01", "soon"]}, {"time": "when"}, "must be of one kind"),
        ({}, {"time": "y"}, "names 'y', the column of outcomes"),
        ({"when": [1.5, 2.5]}, {"time": "when"}, "must be a date"),
    ],
)
def test_what_cannot_be_used_is_refused_and_changes_nothing(tmp_path, content, options, complaint):
    columns = {"y": [0, 1], "p": [0.2, 0.5], "when": [START, START], **content}
    path = write(tmp_path / "a.parquet", pyarrow.table(columns))
    monitor = by_hand(range(2))
    before = monitor.to_dict()
    with pytest.raises(InputError, match=complaint):
        fed(path, monitor, **options)
    assert monitor.to_dict() == before


def test_a_monitor_of_another_kind_of_times(tmp_path):
    monitor = Monitor()
    monitor.add(*day(0), time=1)
    path = write(tmp_path / "a.parquet", table(range(2)))
    with pytest.raises(InputError, match="must be of one kind"):
        fed(path, monitor, time="when")
