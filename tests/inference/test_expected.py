"""What calibrated predictions give, beside simulations and what is known exactly."""

import math
from itertools import product

import numpy as np
import pytest

import secant
from samples import gone
from secant import null
from secant._inference.expected import chance_of_less, chance_of_so_little, expected


def assessed(p, w=None):
    y = np.arange(len(p)) % 2
    return secant.assess(y, p, sample_weight=w, method="asymptotic")


def simulated(p, w=None, draws=20_000):
    """Return the means of normalised metrics of outcomes drawn from the scores."""
    rng = np.random.default_rng(9)
    order = np.argsort(p)
    p, w = p[order], np.ones(len(p)) if w is None else w[order]
    ends = np.append(p[1:] != p[:-1], True)
    r, mad = np.zeros(2)
    for _ in range(20):
        drawn = rng.random((draws // 20, len(p))) < p
        path = np.cumsum((drawn - p) * w, axis=1)[:, ends]
        high, low = path.max(axis=1, initial=0), path.min(axis=1, initial=0)
        r += (high - low).mean() / 20
        mad += np.maximum(high, -low).mean() / 20
    sigma = math.sqrt((w * w * p * (1 - p)).sum())
    return r / sigma, mad / sigma


RNG = np.random.default_rng(2)
SCORES = {
    "one": np.full(400, 0.3),
    "one, rare": np.full(300, 0.01),
    "two, one of them heavy": np.repeat([0.2, 0.7], [100, 900]),
    "ten": RNG.integers(1, 11, 1000) / 11,
    "ten rows": RNG.random(10),
    "fifty rows": RNG.random(50),
    "three hundred rows": RNG.random(300),
    "a thousand rows": RNG.random(1000),
    "rare": RNG.beta(1, 200, 300),
    "half of them equal": np.concatenate([np.full(500, 0.5), RNG.random(500)]),
    "the heaviest first": np.concatenate([np.full(700, 0.1), 0.1 + 0.9 * RNG.random(300)]),
    "the heaviest last": np.concatenate([np.full(700, 0.9), 0.9 * RNG.random(300)]),
    "hundredths": RNG.integers(1, 100, 1000) / 100,
}


@pytest.mark.parametrize("case", SCORES)
def test_within_three_percent_of_simulations(case):
    """Whose own noise is up to a percent here, and that of what is drawn another half."""
    found = assessed(SCORES[case]).expected
    assert tuple(found) == pytest.approx(simulated(SCORES[case]), rel=0.03)


def test_weighted_rows():
    w = np.random.default_rng(3).lognormal(0, 0.5, 1000)
    for case in ("ten", "a thousand rows"):
        found = assessed(SCORES[case], w).expected
        assert tuple(found) == pytest.approx(simulated(SCORES[case], w), rel=0.03)


@pytest.mark.parametrize(("distinct", "r", "mad"), [(1, 0.798, 0.798), (10, 1.267, 1.083)])
def test_few_distinct_scores(distinct, r, mad):
    """Normal steps: Spitzer's formula, twice the sum of k^-1/2 over sqrt(2 pi m)."""
    p = np.repeat(0.3 + 0.4 * np.arange(distinct) / 10, 100_000 // distinct)
    found = assessed(p).expected
    assert found == pytest.approx((r, mad), rel=0.02)


def test_many_scores_have_the_means_of_the_limit():
    rng = np.random.default_rng(4)
    found = assessed(rng.random(500_000)).expected
    assert found == pytest.approx((null.range.mean, null.mad.mean), rel=0.005)
    copies = secant.assess(
        [0, 1] * 200_000,
        rng.random(400_000),
        sample_weight=np.full(400_000, 9),
        weight_kind="frequency",
        method="asymptotic",
    )
    assert copies.expected == pytest.approx((null.range.mean, null.mad.mean), rel=0.005)


def test_it_is_the_same_every_time_and_survives_a_pickle():
    p = SCORES["ten"]
    order = np.random.default_rng(5).permutation(len(p))
    one, other = assessed(p), assessed(p[order])
    assert one.expected == other.expected == gone(one).expected
    assert expected(one._blocks, one._totals) == one.expected


def test_certain_scores_expect_nothing():
    assert assessed(np.array([0.0, 1.0, 1.0])).expected == (0, 0)
    assert assessed(np.array([1e-300, 1.0])).expected.ecce_r >= 0


def test_it_says_what_it_is():
    found = assessed(SCORES["ten"]).expected
    for words in (str(found), repr(found), found._repr_html_()):
        assert f"about {found.ecce_r:.3g} sigma (ECCE-R)" in words
        assert f"{found.ecce_mad:.3g} sigma (ECCE-MAD) on average" in words


def test_the_verdict_says_it():
    y = np.arange(400) < 133
    assert "calibrated predictions average 0.8" in str(secant.assess(y, np.full(400, 0.3)))


# Too good to be true ------------------------------------------------------------------------------


def isotonic(y, p):
    """Return the increasing function of scores that fits the outcomes best, at the scores."""
    level, count = [], []
    for outcome in y[np.argsort(p, kind="stable")].astype(float):
        level.append(outcome)
        count.append(1)
        while len(level) > 1 and level[-2] >= level[-1]:
            last, n = level.pop(), count.pop()
            level[-1] = (level[-1] * count[-1] + last * n) / (count[-1] + n)
            count[-1] += n
    fitted = np.empty(len(y))
    fitted[np.argsort(p, kind="stable")] = np.repeat(level, count)
    return fitted


def told(result):
    return any("held-out" in line for line in result.warnings)


def test_predictions_fitted_to_their_outcomes_are_told_of():
    rng = np.random.default_rng(6)
    p = rng.random(5000)
    y = rng.random(5000) < p**2
    fitted = secant.assess(y, isotonic(y, p))
    assert fitted.ecce_r.pvalue > 0.9999
    assert told(fitted)
    assert not told(secant.assess(y, p))
    few = secant.assess(y[:300], isotonic(y[:300], p[:300]))
    assert told(few)  # a dozen scores are all met exactly
    assert "ECCE-R 0 (P = 1" in str(few)
    assert not told(secant.assess(y[:30], isotonic(y[:30], p[:30])))


def test_the_chance_of_so_little_is_never_understated():
    """Against all outcomes of a few rows, tied or not."""
    rng = np.random.default_rng(9)
    for _ in range(30):
        score, n = np.unique(rng.choice([0.1, 0.3, 0.35, 0.5, 0.9, 1.0], 9), return_counts=True)
        events = np.array(list(product(*(range(each + 1) for each in n))))
        ways = [[math.comb(each, k) for k in range(each + 1)] for each in n]
        weight = np.array(
            [math.prod(w[k] for w, k in zip(ways, row, strict=True)) for row in events]
        )
        chance = weight * (score**events * (1 - score) ** (n - events)).prod(axis=1)
        path = np.cumsum(events - n * score, axis=1)
        spans = path.max(axis=1, initial=0) - path.min(axis=1, initial=0)
        blocks = assessed(np.repeat(score, n))._blocks
        for span in np.unique(spans.round(9)):
            true = chance[spans <= span + 1e-9].sum()
            assert true <= chance_of_so_little(blocks, float(span)) * (1 + 1e-9)


def test_calibrated_predictions_are_not():
    rng = np.random.default_rng(7)
    for _ in range(40):
        for p in (rng.random(3000), rng.integers(1, 6, 3000) / 6):
            assert not told(secant.assess(rng.random(3000) < p, p, method="asymptotic"))
    # One score met exactly happens once in fifty times.
    assert not told(secant.assess(np.arange(2000) % 2, np.full(2000, 0.5)))


def test_the_chance_of_less_is_not_understated():
    """At most the share of simulated paths that stay so low, or nearly."""
    rng = np.random.default_rng(8)
    for p in (rng.random(500), np.repeat(np.arange(1, 11) / 11, 200)):
        result = assessed(p)
        score, n = np.unique(p, return_counts=True)
        drawn = np.cumsum(rng.binomial(n, score, size=(8000, len(n))) - n * score, axis=1)
        spans = drawn.max(axis=1, initial=0) - drawn.min(axis=1, initial=0)
        spans /= math.sqrt((n * score * (1 - score)).sum())
        for share in (0.02, 0.005):
            x = float(np.quantile(spans, share))
            assert share / 2 < chance_of_less(result._blocks, x) < 3 * share
