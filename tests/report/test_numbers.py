"""The numbers behind the page are the library's."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
import secant.report
from pages import numbers_of
from secant.report import _numbers


def read(model: dict, i: int, j: int) -> dict:
    """Do what the page does to read the range between two points."""
    curve = model["curve"]
    share = curve["fraction"][j] - curve["fraction"][i]
    forecast = (curve["scored"][j] - curve["scored"][i]) / share
    gap = (curve["difference"][j] - curve["difference"][i]) / share
    half = model["half_width"] / share
    return {
        "low": curve["next"][i],
        "high": curve["score"][j],
        "n": curve["n"][j] - curve["n"][i],
        "mean_score": forecast,
        "mean_response": forecast + gap,
        "miscalibration": gap,
        "ci": [max(gap - half, -forecast), min(gap + half, 1 - forecast)],
    }


def check(result, model: dict, i: int, j: int) -> None:
    found = read(model, i, j)
    truth = result.between(found["low"], found["high"])
    assert found["n"] == truth.n
    for key in ("mean_score", "mean_response", "miscalibration", "ci"):
        assert found[key] == pytest.approx(getattr(truth, key), rel=1e-9, abs=1e-12), key


@st.composite
def datasets(draw):
    n = draw(st.integers(1, 60))
    grid = draw(st.sampled_from([3, 10, 10**6]))
    scores = [draw(st.integers(0, grid)) / grid for _ in range(n)]
    happened = [draw(st.booleans()) for _ in range(n)]
    weights = draw(st.none() | st.lists(st.integers(1, 9).map(float), min_size=n, max_size=n))
    return happened, scores, weights


@given(datasets(), st.data())
def test_any_two_points_say_what_between_says(data, more):
    happened, scores, weights = data
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    model = _numbers.readable(result, (), most=8)
    last = len(model["curve"]["n"]) - 1
    i = more.draw(st.integers(0, last - 1))
    j = more.draw(st.integers(i + 1, last))
    check(result, model, i, j)


@pytest.mark.parametrize("n", [1000, 200_000])
@pytest.mark.parametrize("kind", ["plain", "weighted", "rare", "tied"])
def test_points_of_long_curves_too(n, kind):
    rng = np.random.default_rng(3)
    scores = {"rare": rng.beta(1, 200, n), "tied": rng.integers(0, 11, n) / 10}.get(
        kind, rng.random(n)
    )
    happened = rng.random(n) < scores**1.3
    weights = rng.lognormal(size=n) if kind == "weighted" else None
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    model = _numbers.model(result, most=400, diagrams=16)
    last = len(model["curve"]["n"]) - 1
    assert last <= 400 + 4 * (len(model["intervals"]) + 1)
    for i, j in np.sort(rng.integers(0, last + 1, (20, 2)), axis=1).tolist():
        if i < j:
            check(result, model, i, j)
    # The extremes are kept, and so are both ends of every range found.
    assert max(model["curve"]["difference"]) - min(model["curve"]["difference"]) == pytest.approx(
        result.ecce_r.value, abs=1e-12
    )
    for each in model["intervals"]:
        i, j = (
            model["curve"]["next"].index(each["low"]),
            model["curve"]["score"].index(each["high"], 1),
        )
        assert read(model, i, j)["n"] == each["n"]


def test_bins_are_those_of_the_library(paper, paper_page):
    bins = numbers_of(paper_page)["models"][0]["bins"]
    for strategy, rows in bins.items():
        assert [row["n_bins"] for row in rows] == list(_numbers.POSITIONS)
        for row in rows:
            ece = paper.ece(n_bins=row["n_bins"], strategy=strategy)
            assert (row["ece"], row["noise_floor"]) == (ece.value, ece.noise_floor)
            filled = ece.bins.count > 0
            digits = 1e-6 if row["n_bins"] <= 256 else 1e-3
            for column in {"mean_score", "mean_response", "low", "high"} & set(row):
                expected = getattr(ece.bins, column)[filled]
                assert row[column] == pytest.approx(expected, rel=digits, abs=1e-15), column


def test_quantile_bins_do_not_outnumber_predictions():
    result = secant.assess([0, 1, 0, 1, 1], [0.1, 0.2, 0.5, 0.7, 0.9])
    bins = _numbers.in_bins(result, diagrams=64)["bins"]
    assert [row["n_bins"] for row in bins["quantile"]] == [4, 5]
    assert [row["n_bins"] for row in bins["uniform"]] == list(_numbers.POSITIONS)


@given(datasets())
def test_the_histogram_holds_everything(data):
    happened, scores, weights = data
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    low, high, cells = _numbers._range_of_nearly_all(result._blocks, result._totals)
    found = _numbers.histogram(result.reliability(n_bins=cells), low, high)
    inside, below, above = sum(found["weight"]), found["below"], found["above"]
    assert inside + below + above == pytest.approx(1, abs=1e-12)
    assert max(below, above) <= 0.0051
    assert all(h <= w + 1e-12 for h, w in zip(found["happened"], found["weight"], strict=True))


def test_rare_events_get_narrow_bars():
    rng = np.random.default_rng(2)
    scores = rng.beta(1, 200, 20_000)
    result = secant.assess(rng.random(20_000) < scores, scores)
    found = _numbers.in_bins(result, diagrams=4)["distribution"]
    assert 20 <= len(found["weight"]) <= 120
    assert found["edges"][-1] < 0.1


def test_one_score_is_shown_on_the_whole_scale():
    found = _numbers.in_bins(secant.assess([0, 1, 0], [0.003] * 3), diagrams=4)["distribution"]
    assert found["edges"][0] == 0
    assert found["edges"][-1] == 1
    assert found["weight"][0] == 1


def test_predictions_that_are_gone():
    rng = np.random.default_rng(0)
    scores = rng.random(100_000)
    result = secant.assess(rng.random(100_000) < scores, scores)
    gone = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    model = _numbers.model(gone, most=400, diagrams=16)
    assert model["bins"] is None
    assert model["distribution"] is None
    assert model["ecce_r"]["value"] == result.ecce_r.value
    assert "no longer has its predictions" in secant.report.render(gone)
