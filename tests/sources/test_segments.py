"""Segments are the same wherever the data are."""

from datetime import date, timedelta

import numpy as np
import pytest

import secant
from helpers import optional
from makers import MAKERS, arrow
from secant.errors import InputError
from secant.sources.files import segments as file_segments

FEATURES = ["region", "age", "rooms", "vip", "day", "income"]
IN_MEMORY = ["pandas", "polars", "pyarrow"]
SOURCES = [*IN_MEMORY, "parquet", "parquet glob", "csv", "duckdb", "polars lazy", "ibis"]
CAUSE = "region = north and age 18 to 27"


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    n = 6000
    forecast = rng.uniform(0.15, 0.85, n)
    forecast[:40] = np.repeat([0.0, 1.0], 20)
    region = rng.choice(["north", "south", "west"], n).astype(object)
    region[rng.random(n) < 0.05] = None
    age = rng.integers(18, 68, n)
    young = (region == "north") & (age < 28)
    days = np.array([date(2026, 1, 1) + timedelta(days=int(i)) for i in rng.integers(0, 90, n)])
    return {
        "happened": (rng.random(n) < np.where(young, forecast - 0.15, forecast)).astype(int),
        "forecast": forecast,
        "weight": rng.integers(0, 3, n),
        "region": region,
        "age": age,
        "rooms": rng.integers(1, 4, n),
        "vip": rng.random(n) < 0.3,
        "day": days,
        "income": rng.exponential(1, n),
    }


def assess(data, **options):
    return secant.assess_segments(
        "happened",
        "forecast",
        data=data,
        **{"features": FEATURES, "min_rows": 100, "adjust": "holm", **options},
    )


@pytest.fixture(scope="module", params=[None, "sampling", "frequency"])
def weighted(request, columns):
    """Return options, and the answer for the rows in memory."""
    options = {} if request.param is None else {"weight_kind": request.param}
    if options:
        options["sample_weight"] = "weight"
    return options, assess(columns, **options)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_finds_the_same(kind, weighted, columns, tmp_path):
    options, known = weighted
    found = assess(MAKERS[kind](columns, tmp_path), **options)
    assert CAUSE in known.failing
    assert found.failing == known.failing
    assert (found.searched, found.standing_out) == (known.searched, known.standing_out)
    assert found.not_searched == known.not_searched
    for one, other in zip(found.rows, known.rows, strict=True):
        assert one.adjusted_pvalue == pytest.approx(other.adjusted_pvalue, rel=1e-9)
        assert one.ci == pytest.approx(other.ci, abs=1e-12)
        assert one.conditions == other.conditions
        ours, theirs = one.calibration, other.calibration
        assert ours.n == theirs.n
        assert ours.ecce_r.value == pytest.approx(theirs.ecce_r.value, abs=1e-12)
        assert ours.ecce_r.log10_pvalue == pytest.approx(theirs.ecce_r.log10_pvalue, rel=1e-9)
        assert ours.worst.low == pytest.approx(theirs.worst.low, abs=1e-12)


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "polars lazy"])
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"features": ["nothing"]}, "no column 'nothing', which .*features.* names"),
        ({"features": ["happened"]}, "names 'happened', the column of outcomes"),
        ({"adjust": "westfall-young"}, "draws the outcomes of all rows, which must be in memory"),
        ({"min_rows": 7000}, "is more than the 6,000 rows"),
        ({"sample_weight": "region", "features": ["age"]}, "sample_weight"),
    ],
)
def test_refused_by_name(kind, options, complaint, columns, tmp_path):
    with pytest.raises(InputError, match=complaint):
        assess(MAKERS[kind](columns, tmp_path), **options)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_rows_that_cannot_be_used_are_refused(kind, columns, tmp_path):
    wrong = {**columns, "forecast": columns["forecast"] + 0.5}
    with pytest.raises(InputError, match="forecast"):
        assess(MAKERS[kind](wrong, tmp_path))


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "polars lazy"])
def test_levels_of_every_kind(kind, columns, tmp_path):
    n = len(columns["age"])
    odd = {
        **columns,
        "constant": np.ones(n),
        "city": (np.arange(n) % 1000).astype(str).astype(object),
        "half": np.where(np.arange(n) % 2, np.nan, columns["income"]),
    }
    odd["city"] = np.array([f"city {each}" for each in odd["city"]], object)
    names = ["constant", "city", "half"]
    table = arrow(odd)
    if kind != "csv":  # whose fields know no NaN
        data = {
            "parquet": lambda: MAKERS["parquet"](odd, tmp_path),
            "duckdb": lambda: optional("duckdb").from_arrow(table),
            "polars lazy": lambda: optional("polars").from_arrow(table).lazy(),
        }[kind]()
    else:
        odd["half"] = np.array([None if np.isnan(x) else x for x in odd["half"]], object)
        data = MAKERS["csv"](odd, tmp_path)
    found = assess(data, features=names, min_rows=1)
    known = assess(odd, features=names, min_rows=1)
    assert found.not_searched == known.not_searched
    assert found.searched == known.searched
    assert any(line.startswith("constant: one value only (1") for line in found.not_searched)
    assert any(line.startswith("city: 980 of 1,000 values") for line in found.not_searched)


def test_more_rows_than_are_kept_for_quantiles_are_thinned(columns, tmp_path, monkeypatch):
    monkeypatch.setattr(file_segments, "KEEP", 1000 * len(FEATURES))
    found = assess(MAKERS["parquet"](columns, tmp_path))
    assert len(found.rows[0].conditions) == 2
    assert found.rows[0].key.startswith("region = north and age 18 to 2")


def test_only_sums_leave_an_engine(columns, monkeypatch):
    optional("narwhals")
    from secant.sources.engines import queries as engine

    answers = []
    real = engine.collect
    monkeypatch.setattr(engine, "collect", lambda frame: answers.append(real(frame)) or answers[-1])
    assess(
        optional("polars").DataFrame(MAKERS["polars"](columns, None)).lazy(),
        features=["region", "age"],
    )
    assert len(answers) <= 10  # those that check the rows, and look into a segment, among them
    assert max(len(answer) for answer in answers) < len(columns["age"])


def test_an_engine_without_quantiles_says_so(columns):
    data = MAKERS["dask"](columns, None)
    with pytest.raises(InputError, match="computes no quantiles, which numeric features need"):
        assess(data, features=["age"])


@pytest.mark.parametrize("kind", ["pandas", "parquet", "duckdb"])
def test_the_scale_of_sampling_weights_does_not_matter(kind, columns, tmp_path):
    rng = np.random.default_rng(1)
    heavy = {**columns, "weight": rng.lognormal(0, 1, len(columns["age"]))}
    light = {**heavy, "weight": heavy["weight"] / 1024}
    answers = []
    for name, each in (("heavy", heavy), ("light", light)):
        folder = tmp_path / name
        folder.mkdir()
        answers.append(assess(MAKERS[kind](each, folder), sample_weight="weight"))
    one, other = answers
    assert one.failing == other.failing
    for row, same in zip(one.rows, other.rows, strict=True):
        assert row.adjusted_pvalue == pytest.approx(same.adjusted_pvalue, rel=1e-9)
