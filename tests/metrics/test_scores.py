"""Proper scores and the recalibration that takes them apart."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import EXACT, MANY, as_many, copies, gone, miscalibrated, predictions
from secant._blocks.table import collapse
from secant._metrics import scores
from secant._metrics.scores import BRIER, LOG_LOSS

# --- an oracle ------------------------------------------------------------------------------------


def isotonic(y, p, w):
    """Return the recalibrated forecast of each row: pool adjacent violators, one by one."""
    values, tie = np.unique(p, return_inverse=True)
    weight, events = np.bincount(tie, w), np.bincount(tie, w * y)
    pools = []
    for k in range(len(values)):
        pools.append([weight[k], events[k], 1])
        while len(pools) > 1 and pools[-2][1] * pools[-1][0] >= pools[-1][1] * pools[-2][0]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    forecast = np.concatenate([np.full(count, e / v) for v, e, count in pools])
    return np.clip(forecast, 0, 1)[tie]


def squares(y, g, w):
    return float((w * (y - g) ** 2).sum() / w.sum())


def losses(y, g, w):
    chance = np.where(y == 1, g, 1 - g)
    with np.errstate(divide="ignore"):
        return float((w * -np.log(chance)).sum() / w.sum()) + 0.0


def oracle(score, y, p, w):
    """Return value, MCB, DSC and UNC, written down as they are defined."""
    value, rate = score(y, p, w), np.full(len(y), (w * y).sum() / w.sum())
    best, whole = score(y, isotonic(y, p, w), w), score(y, np.clip(rate, 0, 1), w)
    return value, value - best, whole - best, whole


def parts(score):
    return score.value, score.mcb, score.dsc, score.unc


def close(found, wanted):
    if math.isinf(wanted):
        return found == wanted
    return abs(found - wanted) <= 1e-12 * max(1.0, abs(wanted))


# --- laws -----------------------------------------------------------------------------------------


@given(predictions(), st.booleans())
def test_scores_are_those_of_the_definition(rows, many):
    y, p, w, kind = rows
    with as_many(many):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind, method="asymptotic")
        found = result.brier, result.log_loss
    written = copies(y, p, w, kind)
    for score, rule in zip(found, (squares, losses), strict=True):
        for one, other in zip(parts(score), oracle(rule, *written), strict=True):
            assert close(one, other), (score, oracle(rule, *written))
        assert score.exact
        assert score.mcb >= 0
        assert score.dsc >= 0


@given(predictions())
def test_bounds_hold_what_a_closer_look_finds(rows):
    y, p, w, kind = rows
    with as_many(on=True):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind, method="asymptotic")
        for rule, exact in ((BRIER, result.brier), (LOG_LOSS, result.log_loss)):
            rough = result._predictions.by_score.score(rule, result._blocks)
            assert rough.mcb == rough.mcb_bounds[0]
            # The same sums, perhaps in another order.
            same = (exact.value, exact.unc)
            assert (rough.value, rough.unc) == pytest.approx(same, rel=1e-14, abs=1e-15)
            for known, truth in ((rough.mcb_bounds, exact.mcb), (rough.dsc_bounds, exact.dsc)):
                if truth < math.inf:
                    assert known[0] - 1e-12 <= truth <= known[1] + 1e-12


@given(predictions())
def test_neither_order_nor_naming_of_outcomes_matters(rows):
    y, p, w, kind = rows
    w = np.ones(len(y), int) if w is None else w
    order = np.random.default_rng(0).permutation(len(y))
    # A mirror image is exact where 1 - (1 - p) is p.
    p = np.round(p * 1024) / 1024

    def found(y, p, w):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind, method="asymptotic")
        return parts(result.brier) + parts(result.log_loss)

    here = found(y, p, w)
    for other in (found(y[order], p[order], w[order]), found(1 - y, 1 - p, w)):
        assert all(close(a, b) for a, b in zip(here, other, strict=True))


@given(predictions(), st.sampled_from([0.001, 3.0, 1e6]))
def test_the_scale_of_weights_and_monotone_changes_of_scores(rows, scale):
    y, p, w, _ = rows
    w = np.ones(len(y)) if w is None else w.astype(float)
    p = np.round(p * 64) / 64  # so that its square keeps what is distinct
    one = secant.assess(y, p, sample_weight=w, method="asymptotic")
    other = secant.assess(y, p**2, sample_weight=w * scale, method="asymptotic")
    for name in ("brier", "log_loss"):
        assert getattr(one, name).dsc == pytest.approx(getattr(other, name).dsc, **EXACT)
        assert getattr(one, name).unc == pytest.approx(getattr(other, name).unc, **EXACT)
    scaled = secant.assess(y, p, sample_weight=w * scale, method="asymptotic")
    assert all(close(*pair) for pair in zip(parts(one.brier), parts(scaled.brier), strict=True))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any), min_size=1))
def test_pools_are_those_of_adjacent_violators(weights):
    w0, w1 = np.array(weights, float).T
    found = scores.pool_starts(w0, w1)
    ties = np.arange(len(w0), dtype=float)
    y = np.repeat(np.tile([0, 1], len(w0)), np.ravel(weights))
    p = np.repeat(np.repeat(ties, 2), np.ravel(weights))
    forecast = isotonic(y, p, np.ones(len(y)))
    new = np.flatnonzero(np.diff(forecast) > 1e-12) + 1
    assert found.tolist() == [0, *np.searchsorted(ties, p[new]).tolist()]


@pytest.mark.parametrize("drop", [1.0, 1e3, 1e5, 1e9])
def test_a_convex_graph_that_falls_back_at_its_end(drop):
    """Neighbours drop one point at a time here: the lines between vertices must do the work."""
    w1 = np.linspace(0, 1, 20_000)
    w0 = 1 - w1
    w0[-1], w1[-1] = drop, 0
    starts = scores.pool_starts(w0, w1)
    rate = np.add.reduceat(w1, starts) / np.add.reduceat(w0 + w1, starts)
    assert (np.diff(rate) > 0).all()
    x, y = scores._graph(w0, w1)
    ends = np.append(starts, len(w0))
    assert (np.interp(x, x[ends], y[ends]) <= y + 1e-9).all()


# --- other code -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_agrees(weighted):
    sklearn = optional("sklearn.metrics")
    isotonic_regression = optional("sklearn.isotonic").isotonic_regression
    rng = np.random.default_rng(3)
    y, p = miscalibrated(3000)
    p = np.where(rng.random(3000) < 0.3, np.round(p, 1) * 0.98 + 0.01, p)
    w = rng.lognormal(0, 1, 3000) if weighted else None
    result = secant.assess(y, p, sample_weight=w)
    brier, log_loss = sklearn.brier_score_loss, sklearn.log_loss
    assert result.brier.value == pytest.approx(brier(y, p, sample_weight=w), **EXACT)
    assert result.log_loss.value == pytest.approx(log_loss(y, p, sample_weight=w), **EXACT)
    _, tie = np.unique(p, return_inverse=True)
    weight = np.bincount(tie, w)
    events = np.bincount(tie, y if w is None else w * y)
    fitted = isotonic_regression(events / weight, sample_weight=weight)[tie]
    assert result.brier.mcb == pytest.approx(
        result.brier.value - brier(y, fitted, sample_weight=w), **EXACT
    )


# --- many rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MANY)
def test_many_rows_are_looked_into_only_where_the_minorant_may_turn(kind):
    rng = np.random.default_rng(5)
    p = MANY[kind](rng)
    y = (rng.random(len(p)) < p).astype(int)
    result = secant.assess(y, p, method="asymptotic")
    assert result.brier.exact
    ties = collapse(p, y, None)
    wanted = scores.taken_apart(BRIER, scores.brier_sum(ties), ties)
    assert result.brier.value == pytest.approx(wanted.value, **EXACT)
    assert result.brier.mcb == pytest.approx(wanted.value - wanted.recalibrated[0], **EXACT)
    total = scores.log_loss_sum(ties.low, ties.w0, ties.w1)
    assert result.log_loss.value == pytest.approx(total / len(p), **EXACT)
    stored = gone(result)
    assert (stored.brier, stored.log_loss) == (result.brier, result.log_loss)


def test_printing_very_many_rows_sorts_nothing(monkeypatch):
    monkeypatch.setattr("secant._results.predictions._QUICKLY_SORTED", 100_000)
    y, p = miscalibrated(200_000)
    result = secant.assess(y, p)
    printed = str(result)
    assert "monotone" not in result._predictions.by_score.__dict__
    brier, log_loss = result.proper_scores
    assert not brier.exact
    assert not log_loss.exact
    assert brier.mcb_bounds[0] <= result.brier.mcb <= brier.mcb_bounds[1]
    assert result.proper_scores[0] is result.brier  # known by now
    assert printed.count("Brier score") == 1


# --- degenerate data ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [100, 70_000])
@pytest.mark.parametrize("events", [0, 2])
@pytest.mark.parametrize("largest", [1e-3, 1e-9, 1e-15, 1e-17, 1e-40])
def test_log_loss_of_small_scores_keeps_its_digits(largest, events, n):
    p = np.random.default_rng(0).random(n) * largest
    y = np.arange(n) < events
    found = secant.assess(y, p, method="asymptotic")
    lost = math.fsum(np.where(y, -np.log(p), -np.log1p(-p))) / n
    assert found.log_loss.value == pytest.approx(lost, rel=1e-12, abs=0)
    assert found.to_dict()["log_loss"]["value"] == found.log_loss.value


@pytest.mark.parametrize(
    ("y", "p", "brier", "log_loss"),
    [
        ([1], [0.25], (0.5625, 0.5625, 0, 0), (math.log(4), math.log(4), 0, 0)),
        ([1, 1, 1], [1.0, 1.0, 1.0], (0, 0, 0, 0), (0, 0, 0, 0)),
        ([0, 1], [0.0, 1.0], (0, 0, 0.25, 0.25), (0, 0, math.log(2), math.log(2))),
        ([1, 0], [0.0, 1.0], (1, 0.75, 0, 0.25), (math.inf, math.inf, 0, math.log(2))),
        ([0, 1], [0.5, 0.5], (0.25, 0, 0, 0.25), (math.log(2), 0, 0, math.log(2))),
        ([0, 0], [0.5, 0.0], (0.125, 0.125, 0, 0), (math.log(2) / 2, math.log(2) / 2, 0, 0)),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_degenerate_data(y, p, brier, log_loss, many):
    with as_many(many):
        result = secant.assess(y, p)
        assert parts(result.brier) == pytest.approx(brier, **EXACT)
        assert parts(result.log_loss) == pytest.approx(log_loss, **EXACT)


def test_a_constant_forecast_is_calibrated_and_tells_nothing_apart():
    score = secant.assess([0, 1, 0, 1], [0.5] * 4).brier
    assert (score.mcb, score.dsc) == (0, 0)


@pytest.mark.parametrize("at", [5e-324, 1e-300, 1 - 2**-53])
def test_scores_next_to_0_and_1_lose_much_but_not_all(at):
    score = secant.assess([1, 0], [at, at]).log_loss
    assert score.value == pytest.approx(-(math.log(at) + math.log1p(-at)) / 2, rel=1e-12)


@given(predictions())
def test_pools_of_blocks_are_those_of_their_weights(rows):
    y, p, w, kind = rows
    ties = collapse(p + 0.0, y, w, counted=kind == "frequency")
    forecast = isotonic(*copies(y, p + 0.0, w, kind))
    _, first = np.unique(copies(y, p + 0.0, w, kind)[1], return_index=True)
    rises = np.flatnonzero(np.diff(forecast[first]) > 1e-9) + 1
    starts = scores.pools(ties)
    assert set(rises.tolist()) <= set(starts.tolist())
    rate = np.add.reduceat(ties.w1, starts) / np.add.reduceat(ties.weight, starts)
    # Rates that weights of 1 and 1.00001 set apart may be rounded to the same number.
    assert (np.diff(rate) >= -2 * np.spacing(rate[:-1])).all()
