"""Questions asked afterwards: ranges, and what is left when the rows are gone or changed."""

import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from samples import (
    EXACT,
    N_MANY,
    ORDINARY,
    as_many,
    assert_covers,
    assert_plain,
    copies,
    gone,
    miscalibrated,
    predictions,
    scores,
    stepped,
)
from secant import InputError, SecantError
from secant.sources import rows as row_source

# --- between --------------------------------------------------------------------------------------


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
    assert_plain(result.between(np.float32(2), np.int64(3)))


# --- after the rows are gone ----------------------------------------------------------------------


def nearest(error):
    """Return the limits that a refusal names."""
    found = re.search(r"answered is between\((.+), (.+)\)$", str(error))
    return [float(limit) for limit in found.groups()]


def assert_exact_or_refused(result, limits, y, p, w):
    """Assert that a result without its rows answers what was asked, or names what it can answer."""
    a, b = limits
    try:
        interval = result.between(a, b)
    except InputError as error:
        assert result._blocks.open.any(), "nothing is cut where every score was kept"
        low, high = nearest(error)
        assert (low, high) != (a, b)
        interval = result.between(low, high)
        assert_covers(interval, y, p, w, (low <= p) & (p <= high))
        return False
    assert_covers(interval, y, p, w, (a <= p) & (p <= b))
    return True


@given(predictions(), st.data(), st.booleans())
def test_a_pickled_result_answers_exactly_or_refuses(data, draw, cut):
    y, p, w, kind = data
    with as_many(cut):
        result = secant.assess(y, p, sample_weight=w, weight_kind=kind)
        stored = gone(result)
    assert str(stored) == str(result)
    assert stored.to_dict() == result.to_dict()
    a, b = sorted(draw.draw(st.tuples(ends, ends)))
    assert_exact_or_refused(stored, (a, b), *copies(y, p, w, kind))


def test_a_pickled_result_of_many_rows(many):
    y, p = many
    rng = np.random.default_rng(4)
    for weights in (None, rng.lognormal(0, 1, len(y))):
        result = secant.assess(y, p, sample_weight=weights, method="asymptotic")
        stored = gone(result)
        assert (str(stored), stored.to_dict()) == (str(result), result.to_dict())
        w = np.ones(len(y)) if weights is None else weights
        for limits in [sorted(rng.random(2)) for _ in range(5)] + [[p[3], p[3]]]:
            assert_exact_or_refused(stored, limits, y, p, w)
        assert assert_exact_or_refused(stored, (0, 1), y, p, w)
        # What was kept can be asked for: every point of the curve is an end.
        blocks = stored._blocks
        for i, j in [sorted(rng.integers(0, len(blocks), 2)) for _ in range(5)]:
            limits = blocks.low[i].item(), blocks.high[j].item()
            assert assert_exact_or_refused(stored, limits, y, p, w)
    whole = stored.between(0, 1)
    assert (whole.n, whole.weight) == (len(y), pytest.approx(1, **EXACT))


def test_limits_inside_what_was_kept_are_refused():
    """An answer about wider limits, however small the difference, answers another question."""
    y, p = miscalibrated(N_MANY)
    stored = gone(secant.assess(y, p, method="asymptotic"))
    number = np.flatnonzero(stored._blocks.open)[100]
    low, high = (getattr(stored._blocks, end)[number].item() for end in ("low", "high"))
    for a, b in ((np.nextafter(low, 1), 1), (0, np.nextafter(high, 0)), (low, low), (high, high)):
        with pytest.raises(InputError, match="gone") as caught:
            stored.between(a, b)
        assert stored.between(*nearest(caught.value)).n > 0
    middle = (low + high) / 2
    with pytest.raises(InputError, match="gone") as caught:
        stored.between(middle, middle)
    assert nearest(caught.value) == [low, high]


def test_a_pickled_result_of_few_rows_stays_exact():
    y, p = miscalibrated(500)
    result, stored = secant.assess(y, p), gone(secant.assess(y, p))
    assert stored.between(0.2, 0.7) == result.between(0.2, 0.7)
    assert stored.ece(norm="l2").to_dict() == result.ece(norm="l2").to_dict()


def test_bins_of_many_rows_need_the_rows(many):
    stored = gone(secant.assess(*many))
    with pytest.raises(InputError, match="gone"):
        stored.ece()
    with pytest.raises(InputError, match="gone"):
        stored.reliability()


def test_bins_across_cells_need_the_rows():
    """Groups of an engine, and classes of many rows, keep sums for bins but not every score."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(20, 0.3), 70_000)
    truth = (probs.cumsum(axis=1) < rng.random((70_000, 1))).sum(axis=1)
    found = secant.assess_classes(truth, probs, kind="one-vs-rest", draws=9)[3]
    assert found.ece().value > 0
    stored = gone(found)
    if stored._blocks.moments is not None:
        assert stored._blocks.open.any()
    with pytest.raises(InputError, match="gone"):
        stored.ece(n_bins=1000)


def test_a_pickled_result_leaves_the_rows_behind():
    y, p = miscalibrated(2_000_000)
    stored = pickle.dumps(secant.assess(y, p))
    assert len(stored) < p.nbytes / 4
    assert p[1000:1010].tobytes() not in stored


# --- data changed after they were assessed --------------------------------------------------------


# The argument that is changed (0 labels, 1 scores, 2 weights), and how.
CHANGES = {
    "other scores": (1, lambda p: np.square(p, out=p)),
    "shuffled scores": (1, np.random.default_rng(0).shuffle),
    "scores not there": (1, lambda p: p.fill(math.nan)),
    "scores out of range": (1, lambda p: p.fill(7)),
    "one score for all": (1, lambda p: p.fill(0.125)),
    "other labels": (0, lambda y: np.subtract(1, y, out=y)),
    "labels of another code": (0, lambda y: y.fill(-7)),
    "other weights": (2, lambda w: np.square(w, out=w)),
    "weights all zero": (2, lambda w: w.fill(0)),
}


@pytest.mark.parametrize(("position", "change"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("n", [1000, N_MANY])
def test_data_changed_in_place(position, change, n):
    """Every later answer is either the one for the data that were assessed, or a refusal."""
    y, p = miscalibrated(n)
    w = np.linspace(1, 2, n)
    questions = [
        lambda r: r.between(0.300001, 0.6).to_dict(),
        lambda r: r.ece(norm="l2").to_dict(),
        lambda r: r.reliability(strategy="quantile").to_dict(),
        lambda r: (str(r), r.to_dict(), r.curve.difference.tolist()),
    ]
    before = [
        question(secant.assess(y, p, sample_weight=w, method="asymptotic"))
        for question in questions
    ]
    for question, expected in zip(questions, before, strict=True):
        columns = y.copy(), p.copy(), w.copy()
        result = secant.assess(*columns[:2], sample_weight=columns[2], method="asymptotic")
        change(columns[position])
        try:
            answer = question(result)
        except SecantError as error:
            assert n > row_source.SORT_UP_TO, "few rows are kept as they were"
            assert "changed" in str(error)  # noqa: PT017
        else:
            assert answer == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_outcomes_that_change_places_are_noticed(weighted):
    """Within a stretch of scores counts stay the same, and so does what it adds to the path."""
    y, p = miscalibrated(N_MANY)
    w = np.linspace(1, 2, N_MANY) if weighted else None
    result = secant.assess(y, p, sample_weight=w, method="asymptotic")
    block = next(
        each
        for each in np.flatnonzero(result._blocks.open)
        if result._blocks.n0[each] and result._blocks.n1[each]
    )
    low, high = result._blocks.low[block], result._blocks.high[block]
    rows = np.flatnonzero((low <= p) & (p <= high))
    event, failure = rows[y[rows] == 1][0], rows[y[rows] == 0][0]
    limits = sorted((p[event], p[failure]))
    before = result.between(*limits)
    assert before.n >= 2
    y[event], y[failure] = 0, 1
    with pytest.raises(SecantError, match="changed"):
        result.between(*limits)
    y[event], y[failure] = 1, 0
    assert result.between(*limits) == before


# --- one range fixed in advance -------------------------------------------------------------------


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


def test_weights_are_weights_only_if_they_differ():
    y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.7, 0.4, 0.6, 0.9, 0.1]
    counts = [1, 2, 1, 3, 1, 1]
    assert secant.assess(y, p, sample_weight=counts).weighted
    assert not secant.assess(y, p, sample_weight=counts, weight_kind="frequency").weighted
    assert not secant.assess(y, p).weighted
    equal = secant.assess(y, p, sample_weight=[2.0] * 6)
    assert not equal.weighted
    # What needs counts, not weights, is then answered as without any.
    plain = secant.assess(y, p).between(0.3, 0.8, fixed_in_advance=True)
    np.testing.assert_allclose(equal.between(0.3, 0.8, fixed_in_advance=True).ci, plain.ci)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_decisions_are_on_the_result(level):
    rng = np.random.default_rng(4)
    p = rng.random(3000)
    y = rng.random(3000) < p**1.3
    result = secant.assess(y, p, confidence_level=level)
    assert result.found == (result.ecce_r.pvalue <= 1 - level)
    low, high = result.worst.ci
    assert result.located == (result.found and not low <= 0 <= high)
    assert [metric.name for metric, _ in result.statistics] == ["ECCE-R", "ECCE-MAD"]
