"""Files along another order: read once, put aside, and the same answer as arrays give."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError
from secant.sources import ordered, rows
from secant.sources.files import spool

arrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")


def columns(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    day = np.datetime64("2026-01-01") + rng.integers(0, 90, n)
    off = day > np.datetime64("2026-02-10")
    return {
        "y": (rng.random(n) < np.clip(score - 0.12 * off, 0, 1)).astype(np.int64),
        "s": score,
        "day": day,
        "x": rng.normal(size=n),
        "big": 2**60 + rng.integers(0, 50, n),
        "w": rng.integers(0, 3, n) * 1.0,
        "g": rng.choice(["north", "south"], n),
        "who": np.arange(n) % 60,
    }


def same(one, other):
    for name in ("ecce_r", "ecce_mad"):
        a, b = getattr(one, name), getattr(other, name)
        assert b.value == pytest.approx(a.value, abs=1e-12)
        assert b.pvalue == pytest.approx(a.pvalue, rel=1e-9)
        assert b.ci == pytest.approx(a.ci, abs=1e-12)
    assert other.axis == one.axis
    assert other.worst.n == one.worst.n
    assert (other.worst.low, other.worst.high) == (one.worst.low, one.worst.high)
    assert [each.n for each in other.intervals] == [each.n for each in one.intervals]
    assert str(other) == str(one)


@pytest.fixture
def data(tmp_path):
    held = columns()
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table(held), path, row_group_size=700)
    return held, path


@pytest.mark.parametrize("order", ["day", "x", "big"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_weight": "w"},
        {"sample_weight": "w", "weight_kind": "frequency"},
        {"outcome_weights": (2, 1)},
        {"clusters": "who"},
    ],
)
def test_files_and_arrays(data, order, options):
    held, path = data
    one = secant.assess("y", "s", data=held, order_by=order, **options)
    other = secant.assess("y", "s", data=path, order_by=order, **options)
    assert [each for each in other.warnings if "who" not in each] == [
        each for each in one.warnings if "who" not in each
    ]
    for name in ("ecce_r", "ecce_mad"):
        assert getattr(other, name).value == pytest.approx(getattr(one, name).value, abs=1e-12)
        assert getattr(other, name).pvalue == pytest.approx(getattr(one, name).pvalue, rel=1e-9)
    assert other.axis == one.axis
    assert (other.worst.low, other.worst.n) == (one.worst.low, one.worst.n)
    assert other.brier.value == pytest.approx(one.brier.value, abs=1e-12)
    assert other.ece().value == pytest.approx(one.ece().value, abs=1e-12)


def test_many_rows_go_to_disk_and_are_cut_into_cells(data, monkeypatch):
    held, path = data
    one = secant.assess("y", "s", data=held, order_by="x", method="asymptotic")
    monkeypatch.setattr(spool, "IN_MEMORY", 1000)
    monkeypatch.setattr(rows, "CHUNK", 400)
    monkeypatch.setattr(rows, "SORT_UP_TO", 100)
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 100)
    monkeypatch.setattr(ordered, "_CELLS", 32)
    other = secant.assess("y", "s", data=path, order_by="x", method="asymptotic")
    assert isinstance(other._source._rows.scores, np.memmap)
    same(one, other)
    assert other.between(-0.5, 0.5).n == one.between(-0.5, 0.5).n


def test_groups(data):
    held, path = data
    one = secant.assess_by("y", "s", "g", data=held, order_by="day")
    other = secant.assess_by("y", "s", "g", data=path, order_by="day")
    assert list(one) == list(other)
    for key in one:
        same(one[key], other[key])


def test_texts_of_dates_are_dates_where_a_file_says_so(tmp_path):
    held = columns(400)
    path = tmp_path / "rows.csv"
    lines = [
        "y,s,day,x,word",
        *(
            f"{y},{s!r},{day},{x!r},{'a' if x > 0 else 'b'}"
            for y, s, day, x in zip(
                held["y"].tolist(),
                held["s"].tolist(),
                held["day"].astype(str),
                held["x"].tolist(),
                strict=True,
            )
        ),
    ]
    path.write_text("\n".join(lines))
    for order in ("day", "x"):
        one = secant.assess("y", "s", data=held, order_by=order)
        same(one, secant.assess("y", "s", data=path, order_by=order))
    with pytest.raises(InputError, match=r"must hold numbers or times.*column 'word' holds text"):
        secant.assess("y", "s", data=path, order_by="word")


def written(path, values):
    """Write a file of text with rows in whose column x these values stand."""
    lines = [(number % 2, (number % 7 + 1) / 9, value) for number, value in enumerate(values)]
    if path.suffix == ".csv":
        rows = ["y,s,x", *(f"{y},{s},{x}" for y, s, x in lines)]
    else:
        rows = [json.dumps({"y": y, "s": s, "x": x}) for y, s, x in lines]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
@pytest.mark.parametrize("value", [2**63, -(2**70)])
def test_whole_numbers_of_texts_are_kept_or_refused(tmp_path, ending, value):
    """Arrow reads those beyond 64 bits as doubles, which would make one place of several."""
    wide = written(tmp_path / f"wide{ending}", range(value, value + 4))
    with pytest.raises(InputError, match="beyond 64 bits would be taken for each other") as caught:
        secant.assess("y", "s", data=wide, order_by="x")
    assert (caught.value.row, caught.value.column, caught.value.argument) == (0, "x", "order_by")
    kept = written(tmp_path / f"kept{ending}", range(2**63 - 4, 2**63))
    assert len(secant.assess("y", "s", data=kept, order_by="x").curve.score) == 5


@pytest.mark.parametrize(
    ("values", "late", "words"),
    [
        (range(40), "abc", "row 30, column 'x': order_by is 'abc', not a number"),
        (["2026-01-01"] * 40, "abc", "row 30, column 'x': order_by is 'abc', not a time"),
        (range(40), "", "row 30, column 'x': order_by is null"),
        (["10:00:00"] * 40, "11:00:00", "column 'x' holds times of day"),
    ],
)
def test_what_a_csv_holds_besides_numbers_is_named(tmp_path, values, late, words):
    path = written(tmp_path / "rows.csv", [late if i == 30 else x for i, x in enumerate(values)])
    with pytest.raises(InputError, match=words):
        secant.assess("y", "s", data=path, order_by="x")


LATE = {
    "a fraction": (".csv", range(40), "1.5", "'1.5', not a whole number of 64 bits, as the first"),
    "a text": (".csv", range(40), "abc", "'abc', not a whole number of 64 bits, as the first rows"),
    "wide": (".csv", range(40), 2**63, "'9223372036854775808', not a whole number of 64 bits"),
    "no date": (".csv", ["2026-01-01"] * 40, "abc", "'abc', not a time, as the first rows hold"),
    "a text of JSON": (".jsonl", range(40), "abc", "'abc', not a whole number, as the first lines"),
    "a fraction of JSON": (".jsonl", range(40), 1.5, "1.5, not a whole number, as the first lines"),
    "no number of JSON": (".jsonl", [0.5] * 40, "abc", "'abc', not a number, as the first lines"),
}


@pytest.mark.parametrize("case", LATE)
def test_what_comes_late_in_a_file_of_text_is_named(tmp_path, monkeypatch, case):
    """Types are guessed from the first block of bytes; what follows may be of another."""
    ending, values, late, words = LATE[case]
    for name in ("csv.BLOCK", "json_lines.BLOCK", "json_lines._START"):
        monkeypatch.setattr(f"secant.sources.files.{name}", 400)
    kept = [late if i == 35 else x for i, x in enumerate(values)]
    path = written(tmp_path / f"rows{ending}", kept)
    with pytest.raises(InputError, match=f"row 35, column 'x': order_by is {words}") as caught:
        secant.assess("y", "s", data=path, order_by="x")
    assert caught.value.argument == "order_by"


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        (arrow.decimal128(38, 0), [2**63, 2**63 + 1, 2**63 + 2], None),
        (arrow.decimal128(38, 18), ["0.1", "0.2", "0.3"], None),
        (arrow.decimal128(38, 0), [1, 2, 2**64], "row 2, column 'x'.*beyond 64 bits"),
        (arrow.decimal128(38, 20), ["0.1", "0.10000000000000000001", "1"], "row 1.*15 digits"),
    ],
)
def test_decimals_merge_in_no_file(tmp_path, kind, values, words):
    path = tmp_path / "rows.parquet"
    held = arrow.array([Decimal(value) for value in values], kind)
    parquet.write_table(arrow.table({"y": [0, 1, 1], "s": [0.2, 0.5, 0.7], "x": held}), path)
    if words is None:
        assert len(secant.assess("y", "s", data=path, order_by="x").curve.score) == 4
        return
    with pytest.raises(InputError, match=words):
        secant.assess("y", "s", data=path, order_by="x")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (arrow.array([1.0, float("nan"), 2.0]), "row 1, column 'x': order_by is NaN"),
        (arrow.array([1, None, 3]), "row 1, column 'x'"),
        (arrow.array([1.0, 2.0, float("inf")]), "row 2, column 'x': order_by is inf"),
        (arrow.array(["a", "b", "c"]), "holds text"),
        (arrow.array(["a", "b", "c"]).dictionary_encode(), "holds categories"),
    ],
)
def test_what_is_refused_and_where(tmp_path, values, words):
    path = tmp_path / "rows.parquet"
    table = arrow.table({"y": [0, 1, 1], "s": [0.2, 0.5, 0.7], "x": values})
    parquet.write_table(table, path)
    with pytest.raises(InputError, match=words) as caught:
        secant.assess("y", "s", data=path, order_by="x")
    assert caught.value.argument == "order_by"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (arrow.timestamp("ns", "Europe/Berlin"), dt.datetime(2026, 3, 3, tzinfo=dt.UTC)),
        (arrow.timestamp("s"), dt.datetime(2026, 3, 3)),  # noqa: DTZ001
        (arrow.date32(), dt.date(2026, 3, 3)),
        (arrow.date64(), dt.date(2026, 3, 3)),
        (arrow.duration("ms"), dt.timedelta(seconds=3)),
        (arrow.bool_(), True),
        (arrow.decimal128(5, 2), 3),
        (arrow.uint64(), 2**64 - 1),
    ],
)
def test_types_of_columns(tmp_path, kind, value):
    path = tmp_path / "rows.parquet"
    values = arrow.array([value, value, value], kind)
    table = arrow.table({"y": [0, 1, 1], "s": [0.2, 0.5, 0.7], "x": values})
    parquet.write_table(table, path)
    read = parquet.read_table(path)
    one = secant.assess("y", "s", data=path, order_by="x")
    assert len(one.curve.score) == 2
    if "decimal" not in str(kind) and "date64" not in str(kind):
        assert one.worst == secant.assess("y", "s", data=read, order_by="x").worst


def test_files_in_several_units(tmp_path):
    for number, unit in enumerate(("us", "s", "ns")):
        times = arrow.array([10**6, 2 * 10**6], arrow.timestamp("us")).cast(arrow.timestamp(unit))
        table = arrow.table({"y": [0, 1], "s": [0.2, 0.7], "t": times})
        parquet.write_table(table, tmp_path / f"{number}.parquet")
    result = secant.assess("y", "s", data=tmp_path, order_by="t")
    assert len(result.curve.score) == 3
    finer = arrow.array([1, 2], arrow.timestamp("ns"))
    table = arrow.table({"y": [0, 1], "s": [0.2, 0.7], "t": finer})
    parquet.write_table(table, tmp_path / "3.parquet")
    with pytest.raises(InputError, match="finer ones, of ns"):
        secant.assess("y", "s", data=tmp_path, order_by="t")


def test_wrong_certainties_are_numbered_as_in_the_file(tmp_path):
    path = tmp_path / "rows.parquet"
    held = {
        "y": [1, 0, 1, 1],
        "s": [0.5, 0.5, 0.0, 0.5],
        "w": [1.0, 0.0, 1.0, 1.0],
        "x": [4, 3, 2, 1],
    }
    parquet.write_table(arrow.table(held), path)
    result = secant.assess("y", "s", data=path, order_by="x", sample_weight="w")
    assert result.forbidden == (2,)
    assert result.n == 3
