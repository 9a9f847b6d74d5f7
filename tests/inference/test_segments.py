"""The search: all segments by brute force, the step-down maximum by full enumeration."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from secant import null
from secant._api.assess_segments import _Search
from secant._blocks.score_cells import finest
from secant._inference import walk
from secant._inference.segments import (
    Catalogue,
    Redraw,
    Segments,
    Verdicts,
    by_holm,
    reported,
    spans,
    taken_off,
)
from secant._input.observations import observations
from secant._input.options import Reading
from secant.sources.segments import InMemory


def slow_segments(y, p, columns, *, depth, min_rows, most=256):
    """Enumerate all conjunctions of levels; return rows, statistic and conditions of each set."""
    anchors, cell = finest(p, most)
    found = {}
    for length in range(1, depth + 1):
        for names in combinations(columns, length):
            for values in product(*(sorted(set(columns[name])) for name in names)):
                rows = np.ones(len(p), bool)
                for name, value in zip(names, values, strict=True):
                    rows &= columns[name] == value
                if rows.sum() >= min_rows:
                    # the first of those with the same rows has the fewest conditions
                    found.setdefault(tuple(np.flatnonzero(rows)), (names, values))
    return {
        rows: (slow_statistic(y, p, cell, list(rows), len(anchors)), conditions)
        for rows, conditions in found.items()
    }


def slow_statistic(y, p, cell, rows, cells):
    """Return sqrt(2 V h(R/V)), R the largest sum over consecutive cells in absolute value."""
    steps = [sum(y[i] - p[i] for i in rows if cell[i] == c) for c in range(cells)]
    sums = [abs(sum(steps[a:b])) for a in range(cells + 1) for b in range(a + 1, cells + 1)]
    v = sum(p[i] * (1 - p[i]) for i in rows)
    u = max(sums) / v
    return math.sqrt(2 * v * ((1 + u) * math.log(1 + u) - u))


def search(y, p, columns, *, depth=2, min_rows=1, most=256):
    data = InMemory(observations(y, p), columns, bins=10, most=20)
    data.cells_for_draws(most)
    return _Search(data, depth=depth, min_rows=min_rows, level=0.95), data


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_all_segments_are_those_of_brute_force(depth, seed):
    rng = np.random.default_rng(seed)
    n = 60
    columns = {name: rng.choice(list("abc"), n) for name in ("one", "two")}
    columns["three"] = rng.integers(0, 3, n)
    columns["copy"] = np.char.upper(columns["one"])  # the same rows under other names
    p, y = rng.uniform(0.1, 0.9, n).round(2), rng.integers(0, 2, n)
    slow = slow_segments(y, p, columns, depth=depth, min_rows=5, most=16)
    one, data = search(y, p, columns, depth=depth, min_rows=5, most=16)
    segments = one._catalogue()
    statistic = segments.surprise(spans(segments.gain))
    rows = [tuple(np.flatnonzero(data._member(each))) for each in segments.conditions]
    assert set(rows) == set(slow)
    for each, value in zip(rows, statistic, strict=True):
        assert value == pytest.approx(slow[each][0], rel=1e-9)
    # A set of rows that a single level describes is searched once, as that level; that two levels
    # are the same is seen where pairs are looked at.
    alone = [
        each
        for each, conditions in zip(rows, segments.conditions, strict=True)
        if len(conditions) == 1
    ]
    assert len(set(alone)) == len(alone) - 3 * (depth == 1)


@pytest.mark.parametrize("weights", [None, "sampling", "frequency"])
def test_step_down_against_all_outcomes(weights):
    rng = np.random.default_rng(3)
    n = 9
    p = np.array([0.2, 0.3, 0.3, 0.45, 0.5, 0.6, 0.7, 0.85, 0.9])
    columns = {"one": np.array(list("aabbabbab")), "two": np.array(list("xyxyxyxyy"))}
    y = np.array([1, 1, 0, 0, 1, 0, 1, 0, 1])
    mass = {None: None, "sampling": rng.uniform(0.5, 2, n), "frequency": None}[weights]
    if weights == "frequency":  # the rows twice are all rows
        n, p, y = 5, p[:5], y[:5]
        columns = {name: column[:5] for name, column in columns.items()}
    every = np.array(list(product([0, 1], repeat=n)))
    chance = np.prod(np.where(every == 1, p, 1 - p), axis=1)
    data = InMemory(observations(y, p, mass), columns, bins=5, most=5)
    redraw, segments, labels = redrawing(data)
    outcomes = {}
    for outcome in every:
        other, same, ordered = redrawing(
            InMemory(observations(outcome, p, mass), columns, bins=5, most=5)
        )
        outcomes[tuple(outcome)] = same.surprise(other.observed(ordered))
    statistic = outcomes[tuple(y)]
    order = np.argsort(-statistic)
    exact, highest = np.empty(len(order)), 0.0
    for place, number in enumerate(order):
        rest = order[place:]
        as_extreme = [
            outcomes[tuple(each)][rest].max() >= statistic[number] * (1 - 1e-9) for each in every
        ]
        highest = max(highest, chance[as_extreme].sum())
        exact[number] = highest
    draws = 4000
    found = redraw.verdicts(labels, alpha=0.05, rng=rng, draws=draws, enough=draws + 1)
    error = 4.5 * np.sqrt(exact * (1 - exact) / draws) + 2 / draws
    assert (np.abs(found.pvalues - exact) <= error).all()
    assert len(segments) == len(order)


def redrawing(data):
    """Return what draws outcomes of all rows, the segments, and outcomes in its order."""
    one = _Search(data, depth=2, min_rows=1, level=0.95)
    segments = one._catalogue()
    made = []
    original = Redraw.verdicts
    try:
        Redraw.verdicts = lambda self, labels, **_: made.append((self, labels))
        one._drawn(segments, 1, np.random.default_rng(0))
    finally:
        Redraw.verdicts = original
    return made[0][0], segments, made[0][1]


def test_frequency_weights_are_drawn_as_repeated_rows():
    rng = np.random.default_rng(0)
    p, y = rng.uniform(0.2, 0.8, 40), rng.integers(0, 2, 40)
    column, copies = rng.choice(list("ab"), 40), rng.integers(1, 4, 40)
    counted = InMemory(
        observations(y, p, copies, Reading("frequency")), {"x": column}, bins=5, most=5
    )
    repeated = InMemory(
        observations(np.repeat(y, copies), np.repeat(p, copies)),
        {"x": np.repeat(column, copies)},
        bins=5,
        most=5,
    )
    for one, other in zip(redrawing(counted)[1].gain, redrawing(repeated)[1].gain, strict=True):
        assert one == pytest.approx(other, abs=1e-12)
    a, b = (redrawing(each) for each in (counted, repeated))
    assert a[0].observed(a[2]) == pytest.approx(b[0].observed(b[2]), abs=1e-12)
    tests = [
        each[0].verdicts(each[2], alpha=0.05, rng=np.random.default_rng(1), draws=2000, enough=2001)
        for each in (a, b)
    ]
    assert tests[0].pvalues == pytest.approx(tests[1].pvalues, abs=0.05)


@pytest.mark.parametrize("variance", [0.05, 0.5, 3, 30])
def test_a_segment_by_itself_never_has_a_smaller_pvalue_than_the_exact_one(variance):
    # The Brownian range at Bennett's scale; the paths here are read at every score.
    n = 400
    p = np.linspace(0.5, 1.5, n) * variance / n
    v = (p * (1 - p)).sum()
    for events in range(1, 40):
        y = np.zeros(n, int)
        y[
            np.linspace(0, n - 1, events).round().astype(int) if events < 4 else np.arange(events)
        ] = 1
        gain = (y - p)[None, :]
        span = spans(gain)
        one = Segments(
            ((),),
            np.array([n]),
            np.array([events]),
            np.ones((1, n)),
            gain,
            np.array([v]),
            np.ones(1),
        )
        p_value = one.tails(span, 1.0)[0]
        if p_value < 1e-12:
            break
        exact = walk.log10_pvalues([(p, np.ones(n, int), y)])[0, 0]
        assert p_value >= 10**exact


def test_unlike_weights_are_judged_by_the_heaviest():
    span, variance = np.array([8.0]), np.array([4.0])
    rows = ((),), np.array([9]), np.array([4]), np.ones((1, 1)), np.ones((1, 1)), variance
    alike, unlike = Segments(*rows, np.ones(1)), Segments(*rows, np.array([1.5]))
    assert alike.tails(span, 50.0) == pytest.approx(alike.tails(span, 1.0))
    assert unlike.tails(span, 50.0) > unlike.tails(span, 1.5)


def test_degenerate_segments():
    rows = ((), ()), np.ones(2), np.ones(2), np.ones((2, 1)), np.array([[0.0], [1.0]])
    certain = Segments(*rows, np.zeros(2), np.ones(2))
    assert certain.surprise(spans(certain.gain)).tolist() == [0, math.inf]
    assert certain.tails(spans(certain.gain), 1.0).tolist() == [1, 0]
    assert by_holm(certain, 0.05, 1.0).pvalues.tolist() == [1, 0]


def test_holm_starts_from_the_range_of_brownian_motion():
    gain = np.array([[30.0, 10.0], [1.0, -2.0]])
    both = Segments(
        ((), ()), np.ones(2), np.ones(2), np.ones((2, 2)), gain, np.full(2, 1e6), np.ones(2)
    )
    found = by_holm(both, 0.05, 1.0)
    assert found.pvalues[0] == pytest.approx(min(1, 2 * null.range.sf(0.04)), rel=1e-4)
    assert found.critical == pytest.approx(null.range.isf(0.025))


# --- what is reported -----------------------------------------------------------------------------


def test_what_is_taken_off_leaves_the_segment_itself_with_nothing():
    rng = np.random.default_rng(0)
    gain, weight = rng.standard_normal(9), rng.integers(0, 5, 9).astype(float)
    gain[weight == 0] = 0
    assert (gain - taken_off(gain, weight) * weight) == pytest.approx(np.zeros(9), abs=1e-12)


def case(seed=0, n=6000, off=0.2):
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(list("abcd"), n) for name in ("one", "two", "three")}
    p = rng.uniform(0.3, 0.7, n)
    rows = (columns["one"] == "a") & (columns["two"] == "b")
    return columns, p, rows, (rng.random(n) < np.where(rows, p - off, p)).astype(int)


def report(y, p, columns, **options):
    one, data = search(y, p, columns, **options)
    segments = one._catalogue()
    found = by_holm(segments, 0.05, 1.0)
    groupings = list(segments.places)
    chosen = reported(segments, found, 0.05, lambda each: data.inside(each, groupings))
    return segments, found, [one._words(segments.conditions[i]) for i in chosen]


def test_one_cause_is_reported_once():
    columns, p, _, y = case()
    segments, found, names = report(y, p, columns, min_rows=50)
    assert (found.pvalues <= 0.05).sum() > 1
    assert names == ["one = a and two = b"]
    assert len(segments) > 50


def test_a_near_duplicate_with_fewer_conditions_is_preferred():
    columns, p, rows, y = case()
    rng = np.random.default_rng(5)
    # A single feature that marks nearly the same rows, a little less well.
    mark = rows ^ (rng.random(len(p)) < 0.004)
    _, _, names = report(y, p, {**columns, "mark": mark}, min_rows=50)
    assert names == ["mark = True"]


def test_a_part_is_reported_only_for_what_it_says_beyond_the_whole():
    columns, p, rows, _ = case()
    rng = np.random.default_rng(1)
    whole = columns["one"] == "a"
    chance = np.where(whole, p - 0.1, p)
    y = (rng.random(len(p)) < chance).astype(int)
    assert report(y, p, columns, min_rows=50)[2] == ["one = a"]
    more = (rng.random(len(p)) < np.where(rows, p - 0.3, chance)).astype(int)
    assert set(report(more, p, columns, min_rows=50)[2]) == {"one = a", "one = a and two = b"}


def test_at_most_ten_are_reported():
    rng = np.random.default_rng(2)
    n = 20_000
    p = rng.uniform(0.3, 0.7, n)
    level = rng.integers(0, 15, n)
    y = (rng.random(n) < p + 0.25 * (-1) ** level).astype(int)
    assert len(report(y, p, {"x": level.astype(str)}, min_rows=50)[2]) == 10


def entangled(seed, n=40_000, alike=0.85):
    """Three features that go together: what is taken off one throws the others off again."""
    rng = np.random.default_rng(seed)
    one = rng.choice(list("ab"), n)
    two = np.where(rng.random(n) < alike, one, rng.choice(list("ab"), n))
    three = np.where(rng.random(n) < alike, two, rng.choice(list("ab"), n))
    p = rng.uniform(0.3, 0.7, n)
    off = 0.25 * (one == "a") - 0.25 * (two == "a") + 0.2 * (three == "a")
    y = (rng.random(n) < np.clip(p + off, 0, 1)).astype(int)
    return y, p, {"one": one, "two": two, "three": three}


@pytest.mark.parametrize("seed", range(3))
def test_what_stands_out_again_is_taken_off_again_and_reported_once(monkeypatch, seed):
    y, p, columns = entangled(seed)
    one, data = search(y, p, columns, depth=1, min_rows=50)
    segments = one._catalogue()
    verdicts = by_holm(segments, 0.05, 1.0)
    groupings, asked = list(segments.places), []

    def inside(each):
        asked.append(each)
        return data.inside(each, groupings)

    found = reported(segments, verdicts, 0.05, inside)
    assert len(found) == len(set(found)) >= 3
    assert len(set(found)) < len(asked) <= 2 * len(found)  # remembered from the second time on
    # Remembering changes nothing.
    remembered = len(asked)
    monkeypatch.setattr("secant._inference.segments._REMEMBER", 0)
    assert reported(segments, verdicts, 0.05, inside) == found
    assert len(asked) >= 2 * remembered


def test_rounds_run_out(monkeypatch):
    y, p, columns = entangled(0, alike=0.97)
    whole = report(y, p, columns, depth=1, min_rows=50)[2]
    monkeypatch.setattr("secant._inference.segments._MOST", 3)
    few = report(y, p, columns, depth=1, min_rows=50)[2]
    assert few == whole[: len(few)]


def test_nothing_is_reported_that_the_first_pass_did_not_find():
    columns, p, _, y = case()
    one, data = search(y, p, columns, min_rows=50)
    segments = one._catalogue()
    nothing = Verdicts(np.ones(len(segments)), 0.0, None)
    assert reported(segments, nothing, 0.05, lambda each: data.inside(each, [])) == []


def test_no_more_segments_than_there_is_room_for():
    columns, p, _, y = case()
    _, data = search(y, p, columns)
    catalogue = Catalogue(50, 5)
    groupings = [(0,), (1,), (0, 1)]
    for grouping, sums in zip(groupings, data.sums(groupings), strict=True):
        catalogue.add(grouping, sums)
    assert len(catalogue.segments()) == 5
    assert catalogue.beyond == 4 + 4 + 16 - 5
