"""Prediction intervals and quantiles: coverage along the width."""

import json

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError, assess_coverage


def made(n=3000, seed=0):
    """Return outcomes and intervals of 90% that are too narrow where the spread is large."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.5, 2, n)
    y = spread * rng.normal(size=n)
    half = 1.645 * (0.6 + 0.4 * spread)
    return y, -half, half


def test_coverage_is_calibration_along_the_width():
    y, low, high = made()
    result = assess_coverage(y, low, high, 0.9)
    covered = (low <= y) & (y <= high)
    wanted = secant.assess(covered, np.full(len(y), 0.9), order_by=high - low)
    assert result.ecce_r == wanted.ecce_r
    assert result.base_rate == covered.mean()
    assert result.mean_score == pytest.approx(0.9)
    assert (result.axis.name, result.axis.coverage) == ("width", True)


def test_words():
    y, low, high = made()
    result = assess_coverage(y, low, high, 0.9)
    said = str(result)
    assert said.startswith("Coverage is off: too much, then too little. Where width is ")
    assert "where 90% was promised" in said
    assert " fewer cover than promised, per 1,000 intervals in all" in said
    assert "Along width: whether intervals cover as promised" in said
    assert "forecast" not in said
    assert "too high" not in said + str(result.details) + repr(result.intervals)
    assert "conformal" in said
    assert "Brier" not in str(result.details)
    inside = result.between(3.0, 4.0)
    assert f"{inside.n:,} intervals cover" in str(inside)
    fine = assess_coverage(y[:500], low[:500] * 9, high[:500] * 9, 0.999)
    assert str(fine).startswith("No fault in coverage found. With 500 intervals ")


def test_ends_count_as_covered_and_infinite_ones_are_allowed():
    y, low, high = np.arange(6.0), np.arange(6.0), np.full(6, np.inf)
    result = assess_coverage(y, low, high, 0.5)
    assert result.base_rate == 1
    both = assess_coverage(y, np.full(6, -np.inf), high, 0.5)
    assert both.worst.low == np.inf
    json.dumps(both.to_dict(), allow_nan=False)
    assert "infinite" in str(both.worst)


@pytest.mark.parametrize("side", ["low", "high"])
def test_quantiles_are_one_sided(side):
    rng = np.random.default_rng(1)
    center = rng.normal(size=2000)
    y = center + rng.normal(size=2000)
    ends = {"low": None, "high": None, side: center + (1.2816 if side == "high" else -1.2816)}
    good = assess_coverage(y, **ends, level=0.9)
    assert not good.found
    assert good.axis.name == side
    ends[side] = center
    assert assess_coverage(y, **ends, level=0.9).found


def test_other_orders_weights_and_clusters():
    y, low, high = made(2000)
    day = np.datetime64("2026-01-01") + np.arange(2000) // 20
    along = assess_coverage(y, low, high, 0.9, order_by=day)
    assert along.axis.kind == "time"
    assert " 2026 they cover " in str(along)
    weight = np.random.default_rng(3).integers(1, 4, 2000) * 1.0
    counted = assess_coverage(
        y, low, high, 0.9, sample_weight=weight, weight_kind="frequency", method="asymptotic"
    )
    index = np.repeat(np.arange(2000), weight.astype(int))
    copies = assess_coverage(y[index], low[index], high[index], 0.9, method="asymptotic")
    assert counted.ecce_r.value == pytest.approx(copies.ecce_r.value, abs=1e-12)
    assert counted.n == copies.n
    clustered = assess_coverage(y, low, high, 0.9, clusters=np.arange(2000) // 20)
    assert "2,000 intervals among 100 clusters" in str(clustered)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [2.0], [1.0], 0.9), r"low\[0\] is 2.0, above its upper end, 1.0"),
        (([np.nan], [0.0], [1.0], 0.9), r"y\[0\] is NaN"),
        (([np.inf], [0.0], [1.0], 0.9), r"y\[0\] is inf, not a number"),
        (([0.0], [np.nan], [1.0], 0.9), r"low\[0\] is NaN"),
        (([0.0], [0.0], [np.nan], 0.9), r"high\[0\] is NaN"),
        (([0.0], None, None, 0.9), "low and high are both None"),
        (([0.0, 1.0], [0.0], [1.0, 2.0], 0.9), "low must have one value a row"),
        (([0.0], [0.0], [1.0], 1.0), "level must lie strictly between 0 and 1"),
        (([0.0], [0.0], [1.0], 90), "level must lie strictly between 0 and 1"),
        ((["a"], [0.0], [1.0], 0.9), "y must hold real numbers"),
        (([], [], [], 0.9), "nothing to assess"),
        (([2**53 + 1], [0], [2**53], 0.9), r"y\[0\] is 9007199254740993, and doubles do not tell"),
        (([1], [-(2**53) - 1], [1], 0.9), r"low\[0\] is -9007199254740993, and doubles"),
        (
            ([1, 2], [0, 0], [2**53, 2**70], 0.9),
            r"high\[1\] is 11805916207174\d+, and doubles",
        ),
    ],
)
def test_what_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        assess_coverage(*arguments)


def test_the_order_of_outcomes_is_refused_whatever_holds_it():
    y, low, high = made(50)
    for order in (y, y.copy(), y.tolist()):
        with pytest.raises(InputError, match="order_by holds the outcomes, y: the order of rows"):
            assess_coverage(y, low, high, 0.9, order_by=order)
    table = {"y": y, "low": low, "high": high, "copy": y.copy()}
    for name in ("y", "copy"):
        with pytest.raises(InputError, match="order_by holds the outcomes"):
            assess_coverage("y", "low", "high", 0.9, order_by=name, data=table)


def test_tables_and_files(tmp_path):
    pandas, arrow = optional("pandas"), optional("pyarrow")
    parquet = optional("pyarrow.parquet")
    y, low, high = made(500)
    day = np.datetime64("2026-01-01") + np.arange(500) // 20
    columns = {"y": y, "from": low, "to": high, "day": day}
    parquet.write_table(arrow.table(columns), tmp_path / "rows.parquet")
    for order, name in ((None, None), (day, "day")):
        wanted = assess_coverage(y, low, high, 0.9, order_by=order)
        for data in (columns, pandas.DataFrame(columns), tmp_path / "rows.parquet"):
            result = assess_coverage("y", "from", "to", 0.9, order_by=name, data=data)
            assert result.ecce_r == wanted.ecce_r
            assert result.worst.n == wanted.worst.n
    assert result.axis.name == "day"


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_files_of_text(tmp_path, ending):
    optional("pyarrow")
    y, low, high = (np.round(column, 3) for column in made(500))
    path = tmp_path / f"rows{ending}"
    rows = list(zip(y.tolist(), low.tolist(), high.tolist(), strict=True))
    write = {
        ".csv": lambda row: ",".join(map(str, row)),
        ".jsonl": lambda row: json.dumps(dict(zip(("y", "from", "to"), row, strict=True))),
    }[ending]
    names = ["y,from,to"] if ending == ".csv" else []
    path.write_text("\n".join([*names, *map(write, rows)]))
    result = assess_coverage("y", "from", "to", 0.9, data=path)
    assert result.ecce_r == assess_coverage(y, low, high, 0.9).ecce_r
    if ending == ".csv":
        path.write_text("\n".join([*names, *map(write, rows[:7]), "1,abc,2"]))
        with pytest.raises(InputError, match="row 7, column 'from': low is 'abc', not a number"):
            assess_coverage("y", "from", "to", 0.9, data=path)


def test_engines_keep_their_rows():
    polars = optional("polars")
    lazy = polars.LazyFrame({"y": [1.0], "a": [0.0], "b": [2.0]})
    with pytest.raises(InputError, match="an engine, which keeps its rows, and assess_coverage"):
        assess_coverage("y", "a", "b", 0.9, data=lazy)


def test_pictures_and_pages(tmp_path):
    optional("matplotlib")
    y, low, high = made(1000)
    high[3] = np.inf
    result = assess_coverage(y, low, high, 0.9)
    assert result.plot().ax_.get_xlabel().startswith("width")
    result.report(tmp_path / "page.html")
    assert "Coverage is off" in (tmp_path / "page.html").read_text()


def test_a_quantile_regressor_of_scikit_learn():
    """The first example of docs/orders.md."""
    optional("sklearn")
    from sklearn.ensemble import GradientBoostingRegressor

    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, (3000, 1))
    y = np.sin(x[:, 0]) + (0.2 + 0.3 * x[:, 0]) * rng.normal(size=3000)
    train, test = slice(0, 1500), slice(1500, None)
    low, high = (
        GradientBoostingRegressor(loss="quantile", alpha=alpha, n_estimators=60, random_state=0)
        .fit(x[train], y[train])
        .predict(x[test])
        for alpha in (0.05, 0.95)
    )
    low, high = np.minimum(low, high), np.maximum(low, high)
    result = assess_coverage(y[test], low, high, 0.9)
    assert 0.8 < result.base_rate < 0.95


def test_split_conformal_by_hand():
    """The second example: widths that do not adapt cover too much here, too little there."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, 6000)
    y = np.sin(x) + (0.2 + 0.3 * x) * rng.normal(size=6000)
    held, test = slice(0, 1000), slice(1000, None)
    residuals = np.sort(np.abs(y[held] - np.sin(x[held])))
    half = residuals[int(np.ceil(0.9 * (1000 + 1))) - 1]
    result = assess_coverage(
        y[test], np.sin(x[test]) - half, np.sin(x[test]) + half, 0.9, order_by=x[test]
    )
    assert result.direction == "too low, then too high"
    assert "too much, then too little" in str(result)
    assert result.base_rate == pytest.approx(0.9, abs=0.03)


def test_ends_too_far_apart_for_a_double_are_infinitely_wide():
    y, low, high = np.arange(6.0), np.full(6, -1.7e308), np.full(6, 1.7e308)
    low[:3], high[:3] = -1, 9
    result = assess_coverage(y, low, high, 0.5)
    assert result.base_rate == 1
    assert result.curve.score[-1] == np.inf
