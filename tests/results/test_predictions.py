"""Questions asked when the rows are gone, or were changed after they were assessed."""

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
    as_many,
    assert_covers,
    copies,
    gone,
    miscalibrated,
    predictions,
    scores,
)
from secant import InputError, SecantError
from secant.sources import rows as row_source

ends = st.one_of(scores, st.floats(-2, 3), st.sampled_from([-math.inf, math.inf, 0, 1, -0.0]))


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
    a, b = min(a, 1), max(b, 0)  # beyond all scores nothing can be asked
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


def test_a_pickled_result_leaves_the_rows_behind():
    y, p = miscalibrated(2_000_000)
    stored = pickle.dumps(secant.assess(y, p))
    assert len(stored) < p.nbytes / 4
    assert p[1000:1010].tobytes() not in stored


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
