"""Engines along another order: rows that may leave are fetched, of more there are sums by place."""

from datetime import time
from decimal import Decimal

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError
from secant.sources.engines import budget

optional("narwhals")
polars, duckdb = optional("polars"), optional("duckdb")


def columns(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    day = np.datetime64("2026-01-01") + rng.integers(0, 40, n)
    off = day > np.datetime64("2026-01-20")
    return {
        "y": (rng.random(n) < np.clip(score - 0.15 * off, 0, 1)).astype(np.int64),
        "s": score,
        "day": day.astype("M8[us]"),
        "x": rng.normal(size=n),
        "w": rng.integers(0, 3, n) * 1.0,
        "g": rng.choice(["north", "south"], n),
        "who": np.arange(n) % 60,
    }


HELD = columns()


def lazy():
    return polars.LazyFrame(HELD)


def duck():
    frame = polars.DataFrame(HELD).to_arrow()
    return duckdb.connect().from_arrow(frame)


def dask():
    frames = optional("dask.dataframe")
    return frames.from_pandas(optional("pandas").DataFrame(HELD), npartitions=3)


ENGINES = {"polars": lazy, "duckdb": duck, "dask": dask}
WEIGHTS = [
    {},
    {"sample_weight": "w"},
    {"sample_weight": "w", "weight_kind": "frequency"},
    {"outcome_weights": (2, 1)},
]


@pytest.mark.parametrize(
    ("engine", "order", "options"),
    [
        *((engine, "day", each) for engine in ("polars", "duckdb") for each in WEIGHTS),
        ("polars", "x", {"clusters": "who"}),
        ("duckdb", "x", {}),
        ("dask", "day", {"sample_weight": "w", "clusters": "who"}),
    ],
)
def test_few_rows_are_fetched(engine, order, options):
    one = secant.assess("y", "s", data=HELD, order_by=order, **options)
    other = secant.assess("y", "s", data=ENGINES[engine](), order_by=order, **options)
    for name in ("ecce_r", "ecce_mad"):
        a, b = getattr(one, name), getattr(other, name)
        assert b.value == pytest.approx(a.value, abs=1e-12)
        assert b.pvalue == pytest.approx(a.pvalue, rel=1e-9)
    assert other.worst.n == one.worst.n
    assert other.axis.name == order
    assert other.axis.between(*other._blocks.low[[0, -1]]) == one.axis.between(
        *one._blocks.low[[0, -1]]
    )


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        *((engine, each) for engine in ("polars", "duckdb") for each in WEIGHTS),
        ("dask", WEIGHTS[1]),
    ],
)
def test_of_many_rows_sums_come_back(engine, options, monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", 100)
    asked = {"order_by": "day", "method": "asymptotic", **options}
    one = secant.assess("y", "s", data=HELD, **asked)
    other = secant.assess("y", "s", data=ENGINES[engine](), **asked)
    for name in ("ecce_r", "ecce_mad"):
        a, b = getattr(one, name), getattr(other, name)
        assert b.value == pytest.approx(a.value, abs=1e-12)
        assert b.pvalue == pytest.approx(a.pvalue, rel=1e-9)
        assert b.ci == pytest.approx(a.ci, rel=1e-6)
    assert [each.n for each in other.intervals] == [each.n for each in one.intervals]
    assert other.between("2026-01-03", "2026-01-05").n == one.between("2026-01-03", "2026-01-05").n
    assert other.brier.value == pytest.approx(one.brier.value, abs=1e-9)


def test_what_sums_do_not_tell(monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", 100)
    result = secant.assess("y", "s", data=lazy(), order_by="day")
    assert result.ecce_r.method == "large-sample"
    for options, words in (
        ({"order_by": "day", "method": "exact"}, "more rows than may leave an engine"),
        ({"order_by": "day", "clusters": "who"}, "order_by and clusters together need rows"),
        ({"order_by": "x"}, "order_by has 3,000 distinct values"),
    ):
        with pytest.raises(InputError, match=words):
            secant.assess("y", "s", data=lazy(), **options)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_groups(engine):
    one = secant.assess_by("y", "s", "g", data=HELD, order_by="day")
    other = secant.assess_by("y", "s", "g", data=ENGINES[engine](), order_by="day")
    assert list(one) == list(other)
    for key in one:
        assert other[key].ecce_r.value == pytest.approx(one[key].ecce_r.value, abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", WEIGHTS)
def test_of_many_rows_of_groups_sums_come_back(engine, options, monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", 100)
    asked = {"order_by": "day", "method": "asymptotic", **options}
    one = secant.assess_by("y", "s", "g", data=HELD, **asked)
    other = secant.assess_by("y", "s", "g", data=ENGINES[engine](), **asked)
    assert list(one) == list(other)
    for key in one:
        for name in ("ecce_r", "ecce_mad"):
            a, b = getattr(one[key], name), getattr(other[key], name)
            assert b.value == pytest.approx(a.value, abs=1e-12)
            assert b.pvalue == pytest.approx(a.pvalue, rel=1e-9)
        assert other[key].brier.value == pytest.approx(one[key].brier.value, abs=1e-9)
        assert [each.n for each in other[key].intervals] == [each.n for each in one[key].intervals]


def test_places_of_all_groups_together_are_few(monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", 79)
    with pytest.raises(InputError, match="order_by has 80 distinct values in its groups"):
        secant.assess_by("y", "s", "g", data=lazy(), order_by="day")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_row_leaves_once_however_many_it_counts_as(engine, monkeypatch):
    rows = np.count_nonzero(HELD["w"])
    assert rows < HELD["w"].sum()
    monkeypatch.setattr(budget, "LEAVE", int(rows))
    options = {"order_by": "x", "sample_weight": "w", "weight_kind": "frequency"}
    one = secant.assess("y", "s", data=HELD, **options)
    other = secant.assess("y", "s", data=ENGINES[engine](), **options)
    assert other.n == one.n == HELD["w"].sum()
    assert other.ecce_r.pvalue == pytest.approx(one.ecce_r.pvalue, rel=1e-9)
    assert other.ecce_r.method == one.ecce_r.method
    monkeypatch.setattr(budget, "LEAVE", int(rows) - 1)
    with pytest.raises(InputError, match="distinct values, more than the"):
        secant.assess("y", "s", data=ENGINES[engine](), **options)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "b", "c"], "it holds text"),
        (polars.Series(["a", "b", "c"], dtype=polars.Categorical), "it holds categories"),
        ([1.0, None, 2.0], "every row needs its place"),
        ([1.0, float("nan"), 2.0], "every row needs its place"),
        ([1.0, float("inf"), 2.0], "holds inf, which has no place on an axis"),
        ([time(3), time(4), time(5)], "holds 03:00:00, a time of day"),
        ([Decimal(2**70), Decimal(2**70 + 1), Decimal(1)], "whole numbers beyond 64 bits"),
        (
            [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal("0.2")],
            "which doubles do not tell",
        ),
    ],
)
@pytest.mark.parametrize("leave", [1, 100])
def test_what_is_refused(values, words, leave, monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", leave * 3)
    data = polars.DataFrame({"y": [0, 1, 1], "s": [0.2, 0.5, 0.7], "x": values})
    if leave == 1:  # so that rows do not leave
        data = polars.concat([data] * 3)
    with pytest.raises(InputError, match=words) as caught:
        secant.assess("y", "s", data=data.lazy(), order_by="x")
    assert "order_by" in str(caught.value)


@pytest.mark.parametrize("type_", ["HUGEINT", "DECIMAL(38, 0)", "UBIGINT"])
@pytest.mark.parametrize("leave", [2, 100])
def test_whole_numbers_of_64_bits_are_kept(type_, leave, monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", leave * 4)
    place = f"('9223372036854775808'::hugeint + i % 8)::{type_}"
    rows = f"select i % 2 y, 0.1 + i / 100 s, {place} x from range(40) t(i)"  # noqa: S608  (our own)
    result = secant.assess("y", "s", data=duckdb.connect().sql(rows), order_by="x")
    assert result.curve.score[1:].tolist() == [2**63 + i for i in range(8)]


def test_wrong_certainties_are_counted_without_numbers():
    data = polars.LazyFrame({"y": [1, 0, 1], "s": [0.0, 0.5, 0.7], "x": [1, 2, 3], "g": [1, 1, 1]})
    result = secant.assess("y", "s", data=data, order_by="x")
    assert (result.n_forbidden, result.forbidden) == (1, ())
    group = secant.assess_by("y", "s", "g", data=data, order_by="x")[1]
    assert (group.n_forbidden, group.forbidden) == (1, ())
