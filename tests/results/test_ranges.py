"""Ranges asked for: what lies between two limits, and one range fixed in advance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from samples import (
    ORDINARY,
    as_many,
    assert_covers,
    assert_plain,
    copies,
    predictions,
    scores,
    stepped,
)
from secant import InputError

ends = st.one_of(scores, st.floats(-2, 3), st.sampled_from([-math.inf, math.inf, 0, 1, -0.0]))


@given(predictions(), st.data(), st.booleans())
def test_between_equals_counting(data, draw, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
        observed = st.sampled_from(p.tolist())
        for _ in range(4):
            a, b = sorted(draw.draw(st.tuples(ends | observed, ends | observed)))
            interval = result.between(a, b)
            rows = copies(y, p, w, kind)
            inside = (a <= rows[1]) & (rows[1] <= b)
            assert_covers(interval, *rows, inside)
            if not inside.any():
                assert (interval.low, interval.high) == (a, b)
                assert interval.direction == "even"
                continue
            limits = rows[1][inside].min(), rows[1][inside].max()
            assert a <= interval.low <= limits[0]
            assert limits[1] <= interval.high <= b
            if not cut:
                assert (interval.low, interval.high) == limits


def test_between_of_many_rows(many):
    y, p = many
    rng = np.random.default_rng(3)
    w = rng.lognormal(0, 1, len(y))
    plain, weighted = secant.assess(y, p), secant.assess(y, p, sample_weight=w, method="asymptotic")
    limits = [sorted(rng.random(2)) for _ in range(4)]
    limits += [sorted(rng.choice(p, 2)) for _ in range(4)]
    limits += [
        [p[5], p[5]],
        [np.nextafter(p[5], 1), np.nextafter(p[5], 1)],
        [-1, 2],
        [0.7, 0.7 + 5e-10],
    ]
    for a, b in limits:
        inside = (a <= p) & (p <= b)
        for result, weights in ((plain, np.ones(len(y))), (weighted, w)):
            interval = result.between(a, b)
            assert_covers(interval, y, p, weights, inside)
            assert a <= interval.low <= interval.high <= b
            # Whatever was counted is what the reported limits hold.
            assert interval.n == np.count_nonzero((interval.low <= p) & (p <= interval.high))


def test_answers_about_many_rows_do_not_depend_on_their_order(many):
    y, p = many
    rng = np.random.default_rng(6)
    order = rng.permutation(len(y))
    one, other = secant.assess(y, p), secant.assess(y[order], p[order])
    assert str(one) == str(other)
    assert (one.worst.low, one.worst.high, one.worst.n) == (
        other.worst.low, other.worst.high, other.worst.n,
    )  # fmt: skip
    for a, b in [sorted(rng.random(2)) for _ in range(40)]:
        first, second = one.between(a, b), other.between(a, b)
        assert (first.low, first.high, first.n) == (second.low, second.high, second.n)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *((0.5, 0.4), (1, 0), (math.inf, -math.inf)),
        *((math.nan, 0.5), (0.5, math.nan), (math.nan, math.nan)),
        *((None, 0.5), (0.5, None), ("0.1", "0.5"), (0.1j, 0.5)),
        *(([0.1], [0.5]), (np.array([0.1, 0.2]), 0.5)),
    ],
    ids=str,
)
def test_limits_that_are_refused(a, b):
    with pytest.raises(InputError, match=r"between\(a, b\)"):
        secant.assess(*ORDINARY).between(a, b)


def test_limits_of_any_number_type():
    result = secant.assess(*ORDINARY)
    expected = result.between(0.25, 0.5)
    for a, b in ((np.float32(0.25), np.float32(0.5)), (np.float64(0.25), np.float64(0.5))):
        assert result.between(a, b) == expected
    assert result.between(0, 1).n == result.between(False, True).n == 6
    assert_plain(result.between(np.float32(0.25), np.int64(1)))
    assert_plain(result.between(np.float32(0.95), np.int64(3)))  # nothing is there


def test_fixed_in_advance_is_clopper_and_pearson():
    from helpers import optional

    stats = optional("scipy.stats")
    y, p = stepped(800)
    result = secant.assess(y, p)
    inside = (p >= 0.2) & (p <= 0.3)
    each = result.between(0.2, 0.3, fixed_in_advance=True)
    limits = stats.binomtest(int(y[inside].sum()), int(inside.sum())).proportion_ci(0.95, "exact")
    assert each.limits == "clopper-pearson"
    assert each.ci == pytest.approx(
        (limits.low - p[inside].mean(), limits.high - p[inside].mean()), abs=1e-9
    )
    simultaneous = result.between(0.2, 0.3)
    assert simultaneous.limits == "simultaneous"
    assert simultaneous.ci[0] < each.ci[0] < each.ci[1] < simultaneous.ci[1]
    assert simultaneous.miscalibration == each.miscalibration


def test_fixed_in_advance_is_not_narrower_where_scores_are_sure_and_differ():
    """Of scores near 0 and 1 Clopper and Pearson only see that half of the events happened."""
    rng = np.random.default_rng(0)
    p = np.where(rng.random(2000) < 0.5, 0.02, 0.98)
    result = secant.assess(rng.random(2000) < p, p, method="asymptotic")
    one, all_at_once = result.between(0, 1, fixed_in_advance=True), result.between(0, 1)
    assert one.ci[0] < all_at_once.ci[0] < all_at_once.ci[1] < one.ci[1]


def test_fixed_in_advance_counts_copies():
    y, p, w = [0, 1, 1, 0], [0.2, 0.3, 0.6, 0.7], [3, 1, 2, 4]
    copies = secant.assess(y, p, sample_weight=w, weight_kind="frequency")
    written_out = secant.assess(np.repeat(y, w), np.repeat(p, w))
    asked = {"fixed_in_advance": True}
    assert copies.between(0, 1, **asked).ci == written_out.between(0, 1, **asked).ci
    assert secant.assess(y, p).between(0.31, 0.32, fixed_in_advance=True).n == 0


def test_fixed_in_advance_with_weights():
    """Narrower than for all ranges at once, from cells as from rows, and never beyond 0 and 1."""
    rng = np.random.default_rng(5)
    p = rng.random(3000)
    y, w = rng.random(3000) < p, rng.lognormal(0, 0.5, 3000)
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    part = result.between(0.2, 0.4, fixed_in_advance=True)
    assert part.limits == "normal"
    inside = (p >= 0.2) & (p <= 0.4)
    mean = np.average(y[inside], weights=w[inside])
    sigma = math.sqrt((w[inside] ** 2 * (y[inside] - mean) ** 2).sum())
    half = (part.ci[1] - part.ci[0]) / 2 * w[inside].sum()
    assert 1.96 * sigma < half < 1.3 * 1.96 * sigma
    low, high = result.between(0.2, 0.4).ci
    assert low < part.ci[0] < part.miscalibration < part.ci[1] < high
    with as_many(on=True):
        cells = secant.assess(y, p, sample_weight=w, method="asymptotic")
        again = cells.between(0.2, 0.4, fixed_in_advance=True)
    assert again.ci == pytest.approx(part.ci, rel=1e-9)
    alone = result.between(float(p[7]), float(p[7]), fixed_in_advance=True)
    assert -alone.mean_score <= alone.ci[0] <= alone.ci[1] <= 1 - alone.mean_score
