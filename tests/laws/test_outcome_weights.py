"""Rows kept by their outcome: what holds for all data, and enumeration of what was kept."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from samples import as_many, predictions
from secant import InputError

PAIRS = st.sampled_from([(20, 1), (1, 20), (1.5, 1), (1, 1e6), (3.7, 0.2)])
METHODS = st.sampled_from(["asymptotic", "monte-carlo"])


def numbers(result):
    """Return everything that weights have a say in."""
    each = [result.sigma, result.base_rate, result.mean_score, result.brier.value]
    for statistic in (result.ecce_r, result.ecce_mad):
        each += [statistic.value, statistic.normalized, statistic.pvalue, *statistic.ci]
    return each


@given(predictions(most=30), PAIRS, METHODS)
def test_equal_ones_change_nothing(data, pair, method):
    y, p, w, kind = data
    options = {"sample_weight": w, "weight_kind": kind, "method": method}
    for same in ((1, 1), (pair[0], pair[0])):
        result = secant.assess(y, p, outcome_weights=same, **options)
        assert numbers(result) == numbers(secant.assess(y, p, **options))
        assert result.outcome_weights is None


@given(predictions(most=30), PAIRS, METHODS, st.sampled_from([2.0, 0.125, 3.0]))
def test_only_their_ratio_matters(data, pair, method, scale):
    y, p, w, kind = data
    options = {"sample_weight": w, "weight_kind": kind, "method": method}
    one = secant.assess(y, p, outcome_weights=pair, **options)
    other = secant.assess(y, p, outcome_weights=[scale * each for each in pair], **options)
    assert numbers(one) == pytest.approx(numbers(other), rel=1e-9, abs=1e-12)
    assert one.outcome_weights == pytest.approx(other.outcome_weights, rel=1e-15)
    assert min(one.outcome_weights) == 1


@given(predictions(most=30), PAIRS, METHODS)
def test_counted_copies_are_rows(data, pair, method):
    y, p, _, _ = data
    copies = np.arange(len(y)) % 4
    copies[0] = 2
    options = {"outcome_weights": pair, "method": method}
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency", **options)
    repeated = secant.assess(np.repeat(y, copies), np.repeat(p, copies), **options)
    assert numbers(counted) == pytest.approx(numbers(repeated), rel=1e-9, abs=1e-12)


@given(predictions(most=30), PAIRS)
def test_metrics_are_those_of_weighted_rows(data, pair):
    """Only what is said of chance differs from sampling weights."""
    y, p, w, kind = data
    if kind == "frequency":
        return
    weights = np.where(y == 1, pair[1], pair[0]) * (1 if w is None else w)
    for metric in (secant.ecce_r, secant.ecce_mad, secant.ece):
        by_outcome = metric(y, p, sample_weight=w, outcome_weights=pair)
        assert by_outcome == pytest.approx(metric(y, p, sample_weight=weights), abs=1e-12)


@given(predictions(most=30), PAIRS)
def test_turned_round(data, pair):
    """What did not happen, with its probability, is as calibrated as what did."""
    y, p, w, kind = data
    options = {"sample_weight": w, "weight_kind": kind, "method": "asymptotic"}
    one = secant.assess(y, p, outcome_weights=pair, **options)
    other = secant.assess(1 - y, 1 - p, outcome_weights=pair[::-1], **options)
    assert one.sigma == pytest.approx(other.sigma, rel=1e-9)
    assert one.ecce_r.value == pytest.approx(other.ecce_r.value, abs=1e-12)
    assert one.ecce_r.ci == pytest.approx(other.ecce_r.ci, rel=1e-7, abs=1e-9)


@given(predictions(most=12), PAIRS)
def test_many_rows_are_summed_as_few_are(data, pair):
    """Cells and sorted rows give the same sums."""
    y, p, w, kind = data
    options = {"sample_weight": w, "weight_kind": kind, "method": "asymptotic"}
    few = secant.assess(y, p, outcome_weights=pair, **options)
    with as_many(on=True):
        many = secant.assess(y, p, outcome_weights=pair, **options)
    assert numbers(few) == pytest.approx(numbers(many), rel=1e-9, abs=1e-12)
    assert few._totals.rho3 == pytest.approx(many._totals.rho3, rel=1e-9)
    assert few._totals.steps == pytest.approx(many._totals.steps, rel=1e-12)


def kept_law(scores, weights, pair):
    """Return every outcome of kept rows with its chance, and the path that it makes."""
    o0, o1 = pair
    for y in itertools.product([0, 1], repeat=len(scores)):
        chance, path = 1.0, [0.0]
        for r, s, a in zip(y, scores, weights, strict=True):
            # Kept with chances in proportion to 1/o0 and 1/o1, by Bayes.
            event, failure = s / o1, (1 - s) / o0
            chance *= (event if r else failure) / (event + failure)
            path.append(path[-1] + a * (o1 if r else o0) * (r - s))
        yield y, chance, np.array(path)


@pytest.mark.parametrize("pair", [(20, 1), (1, 5), (2, 3)])
@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (1, 2, 0.5, 3, 1)])
def test_the_law_of_what_was_kept(pair, weights):
    """Variance and third moments of sums, and P-values drawn, by enumeration of all outcomes."""
    scores = 0.05, 0.2, 0.3, 0.6, 0.9
    law = list(kept_law(scores, weights, pair))
    assert sum(chance for _, chance, _ in law) == pytest.approx(1)
    assert sum(chance * path[-1] for _, chance, path in law) == pytest.approx(0, abs=1e-12)
    variance = sum(chance * path[-1] ** 2 for _, chance, path in law)
    third = sum(chance * (np.abs(np.diff(path)) ** 3).sum() for _, chance, path in law)
    for y, _, path in law[::5]:
        result = secant.assess(
            y, scores, sample_weight=weights, outcome_weights=pair, method="monte-carlo", rng=3
        )
        weight = sum(a * pair[r] for r, a in zip(y, weights, strict=True))
        assert result.sigma == pytest.approx(math.sqrt(variance) / weight, rel=1e-12)
        assert result._totals.rho3 >= third / variance**1.5 * (1 - 1e-12)
        exact = sum(
            chance for _, chance, other in law if np.ptp(other) >= np.ptp(path) * (1 - 1e-12)
        )
        noise = 5 * math.sqrt(exact * (1 - exact) / 100) + 1e-3  # at least 100 draws
        assert abs(result.ecce_r.pvalue - exact) < noise
        assert result.ecce_r.value == pytest.approx(np.ptp(path) / weight, rel=1e-12)


def test_calibrated_rows_kept_by_outcome_are_not_rejected_and_others_are():
    """Of 95% of failures thrown away: as sampling weights that is wrong both ways."""
    rng = np.random.default_rng(12)
    rejected = {1.0: 0, 0.7: 0}
    for factor in rejected:
        for _ in range(100):
            s = rng.beta(1, 49, 20_000)
            y = rng.random(20_000) < factor * s
            kept = rng.random(20_000) < np.where(y, 1, 0.05)
            result = secant.assess(y[kept], s[kept], outcome_weights=(20, 1), method="asymptotic")
            rejected[factor] += result.ecce_r.pvalue <= 0.05
    assert rejected[1.0] <= 13  # 5 expected; beyond this one time in 2,000
    assert rejected[0.7] >= 95


@pytest.mark.parametrize(
    "bad",
    [(0, 1), (1, 0), (-1, 1), (math.nan, 1), (1, math.nan), (1, math.inf), (1,), (1, 2, 3), "20,1",
     20, (1, "a"), (True, 2), {0: 1, 1: 2}, (1e10, 1)],
    ids=repr,
)  # fmt: skip
def test_what_cannot_be_weights_of_outcomes(bad):
    with pytest.raises(InputError, match="outcome_weights must be"):
        secant.assess([0, 1], [0.2, 0.7], outcome_weights=bad)
    with pytest.raises(InputError, match="outcome_weights must be"):
        secant.Cells(outcome_weights=bad)


def test_what_does_not_go_together():
    y, p = [0, 1] * 30, [0.2, 0.7] * 30
    with pytest.raises(InputError, match="does not go together with clusters"):
        secant.assess(y, p, outcome_weights=(2, 1), clusters=list(range(60)))
    with pytest.raises(InputError, match="knows no weights that differ"):
        secant.assess(y, p, outcome_weights=(2, 1), method="exact")
    weighed = secant.Cells(outcome_weights=(2, 1))
    weighed.update(y, p)
    with pytest.raises(InputError, match="a monitor cannot use"):
        secant.Monitor().add(weighed)
    for other in (secant.Cells(), secant.Cells(outcome_weights=(1, 2))):
        with pytest.raises(InputError, match=r"different outcome_weights: 2, 1 and (none|1, 2)"):
            weighed + other
    assert (weighed + secant.Cells(outcome_weights=(4, 2))).outcome_weights == (2, 1)


def test_results_say_so_and_travel():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    result = secant.assess(rng.random(500) < p, p, outcome_weights=(20, 1))
    assert result.outcome_weights == (20, 1)
    assert json.loads(json.dumps(result.to_dict()))["outcome_weights"] == [20, 1]
    assert pickle.loads(pickle.dumps(result)).outcome_weights == (20, 1)  # noqa: S301  (ours)
    assert result.weighted
    assert secant.assess([0, 1], [0.2, 0.7]).to_dict()["outcome_weights"] is None


def test_one_outcome_alone():
    """All weights are equal then, and still what was not kept has a say in what may happen."""
    result = secant.assess([1] * 5, [0.9] * 5, outcome_weights=(20, 1), rng=0)
    assert result.sigma == pytest.approx(math.sqrt(5 * 20 * 0.09) / 5)
    chance = (0.9 * 20 / (0.9 * 20 + 0.1)) ** 5
    assert result.ecce_r.pvalue >= chance - 0.1


@given(predictions(most=20), PAIRS, st.integers(1, 3))
def test_cells_know_the_same(data, pair, parts):
    y, p, w, kind = data
    whole = secant.Cells(16, outcome_weights=pair)
    weights = {} if w is None else {"sample_weight": w, "weight_kind": kind}
    whole.update(y, p, **weights)
    added = secant.Cells(16, outcome_weights=pair)
    for i in range(parts):
        rows = slice(i, None, parts)
        if len(y[rows]) and (w is None or np.sum(w[rows])):
            some = secant.Cells(16, outcome_weights=pair)
            some.update(
                y[rows], p[rows], **({} if w is None else {**weights, "sample_weight": w[rows]})
            )
            added.merge(some)
    totals = whole._sums.totals(), added._sums.totals()
    result = secant.assess(y, p, outcome_weights=pair, method="asymptotic", **weights)
    for each in totals:
        known = result._totals
        for name in ("n", "weight", "ww", "ww1", "variance", "squares", "third", "squared_error"):
            assert getattr(each, name) == pytest.approx(getattr(known, name), rel=1e-9, abs=1e-12)
        assert each.steps == pytest.approx(known.steps, rel=1e-12)
        assert each.outcome_weights == known.outcome_weights
