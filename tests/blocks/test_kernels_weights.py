"""Compiled passes over rows with weights: they tell what exact arithmetic tells."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import optional
from secant._blocks import kernels
from secant._blocks.grids import Scratch, SpreadGrid

scores = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 2.0**-12, 0.5, 1 - 2**-53, 1.0])
)
weights = st.one_of(
    st.floats(2.0**-40, 1), st.sampled_from([0.0, -0.0, 1.0, 2.0**-30, 1 / 3, 1e-100])
)
rows = st.lists(st.tuples(scores, st.booleans(), weights), min_size=1, max_size=40)


def columns(triples):
    p, y, w = map(np.array, zip(*triples, strict=True))
    return p, y.astype(np.int64), w


def weighed(p, y, w, grid):
    """Look at rows; return the facts about them, sums in cells, and steps."""
    facts, steps = kernels.no_facts(), np.zeros(3)
    sums, mixed = np.zeros((2 * grid.n_buckets, 5), np.int64), np.ones(grid.n_buckets, bool)
    place = grid.table, grid.shift, grid.bottom
    kernels.add_rows(p, y, w, np.ones(1), None, 1, *place, facts, sums, mixed, steps)
    return facts, sums, steps


def exactly(value, bits):
    """Return the nearest whole number of units, to the one of two that is even."""
    return round(Fraction(float(value)) * 2**bits)


@given(rows, st.integers(1, 20))
def test_weights_are_added_up_in_units(triples, n_cells):
    p, y, w = columns(triples)
    grid = SpreadGrid(np.sort(p + 0.0), n_cells, -2)
    _, sums, _ = weighed(p, y, w, grid)
    expected = [[0, 0, 0] for _ in range(2 * grid.n_buckets)]
    for cell, s, happened, weight in zip(grid.bucket(p, Scratch()), p, y, w, strict=True):
        mine = expected[2 * cell + happened]
        mine[0] += int(weight > 0)
        mine[1] += exactly(weight, 72)
        mine[2] += exactly(weight * s, 72)
    for (n, upper, lower, high, low), mine in zip(sums.tolist(), expected, strict=True):
        assert [n, (upper << 36) + lower, (high << 36) + low] == mine


@given(rows)
def test_sums_over_all_rows_are_right_to_2_to_the_minus_82_a_row(triples):
    p, y, w = columns(triples)
    facts, _, steps = weighed(p, y, w, SpreadGrid(np.array([0.5]), 1, -2))
    s = [Fraction(float(score)) for score in p]
    a = [Fraction(float(weight)) for weight in w]
    r = [int(label) for label in y]
    each = list(zip(a, s, r, strict=True))
    expected = {
        "ww": sum(a * a for a, _, _ in each),
        "variance": sum(a * a * s * (1 - s) for a, s, _ in each),
        "squares": sum(a * a * (r - s) ** 2 for a, s, r in each),
        "ww1": sum(a * a * r for a, _, r in each),
        "third": sum(a**3 * s * (1 - s) for a, s, _ in each),
        "squared_error": sum(a * (r - s) ** 2 for a, s, r in each),
    }
    for name, (upper, lower, rest) in zip(
        kernels.WEIGHED_SUMS, facts[kernels.WEIGHED :].reshape(-1, 3).tolist(), strict=True
    ):
        found = Fraction((((upper << 26) + lower) << 30) + rest, 2**82)
        # A few roundings of each product, and one to units.
        slack = expected[name] * Fraction(5, 2**53) + Fraction(len(p), 2**82)
        assert abs(found - expected[name]) <= slack, name
    largest = sorted((w * np.maximum(p, 1 - p)).tolist())[-3:]
    assert steps.tolist() == [0.0] * (3 - len(largest)) + largest


@given(rows, st.sampled_from([np.nan, np.inf, -1e-300, 1 + 1e-15]))
def test_no_unusable_score_goes_unseen(triples, bad):
    p, y, w = columns([*triples, (bad, True, 1.0)])
    with np.errstate(invalid="ignore"):  # of which numpy would warn
        facts, _, _ = weighed(p, y, w, SpreadGrid(np.array([0.5]), 1, -2))
    assert facts[kernels.LOWEST] < 0 or facts[kernels.HIGHEST] > kernels.ONE


@given(st.lists(weights, min_size=1, max_size=30))
def test_what_is_told_of_usable_weights(values):
    w = np.array(values)
    facts = kernels.no_weight_facts()
    kernels.survey_weights(w, facts)
    heaviest = facts[[kernels.HEAVIEST]].view(np.float64)[0]
    assert heaviest == w.max()
    assert facts[kernels.NEGATIVE] == 0
    assert facts[kernels.ZEROS] == np.count_nonzero(w == 0)
    if w.any():
        assert facts[[kernels.LIGHTEST]].view(np.float64)[0] == w[w > 0].min()
    assert bool(facts[kernels.FRACTIONS]) == bool((w != np.floor(w)).any())


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=30))
def test_copies_are_counted(values):
    facts = kernels.no_weight_facts()
    kernels.survey_weights(np.array(values, float), facts)
    assert not facts[kernels.FRACTIONS]
    assert facts[kernels.COPIES] == sum(values)


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf, -1e-300])
def test_no_unusable_weight_goes_unseen(bad):
    facts = kernels.no_weight_facts()
    kernels.survey_weights(np.array([1.0, bad, 2.0]), facts)
    heaviest = facts[[kernels.HEAVIEST]].view(np.float64)[0]
    assert facts[kernels.NEGATIVE] < 0 or not heaviest < np.inf


@given(st.lists(st.tuples(scores, st.booleans(), st.integers(0, 2**20)), min_size=1, max_size=40))
def test_a_tally_is_that_of_rows_repeated(triples):
    p, y, n = columns(triples)
    grid = SpreadGrid(np.sort(p + 0.0), 9, -2)
    facts, sums = kernels.no_facts(), np.zeros((2 * grid.n_buckets, 3), np.int64)
    place, mixed = (grid.table, grid.shift, grid.bottom), np.ones(grid.n_buckets, bool)
    copies = p, y, n.astype(float), None, None
    kernels.add_rows(*copies, 1, *place, facts, sums, mixed, np.zeros(1))
    expected = [[0, 0] for _ in range(2 * grid.n_buckets)]
    for cell, s, happened, times in zip(grid.bucket(p, Scratch()), p, y, n.tolist(), strict=True):
        expected[2 * cell + happened][0] += times
        expected[2 * cell + happened][1] += times * exactly(s, 52)
    assert [[k, (high << 26) + low] for k, high, low in sums.tolist()] == expected
    coarse, fine = (
        (int(facts[k]) << 26) + int(facts[k + 1]) for k in (kernels.VARIANCE, kernels.FINE)
    )
    variance = math.fsum(float(k) * s * (1 - s) for k, s in zip(n, p, strict=True))
    slack = float(n.sum()) * 2**-52
    assert ((coarse << 12) + fine) / 2**64 == pytest.approx(variance, rel=1e-15, abs=slack)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_halves_add_up_to_the_value(values):
    high, low = kernels.halves(np.array(values))
    for value, upper, lower in zip(values, high.tolist(), low.tolist(), strict=True):
        assert (upper << 36) + lower == exactly(value, 72)


@pytest.mark.parametrize("kinds", [("f8", "i8", "f8"), ("f4", "?", "f4"), ("f8", "f8", "f4")])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_compiled_code_has_the_numbers_of_python(kinds, step):
    optional("numba")
    rng = np.random.default_rng(0)
    p, y, w = rng.random(3000), rng.integers(0, 2, 3000), rng.random(3000)
    p[:3], y[:3], w[3:9] = [0, 1, -0.0], [1, 0, 0], 0
    whole, one = kernels.as_whole(y.astype(kinds[1])[::step])
    p, w = p.astype(kinds[0])[::step], w.astype(kinds[2])[::step]
    grid = SpreadGrid(np.sort(np.abs(p.astype(float))), 64, -4)
    types = [kernels.kind_of(column) for column in (p, whole, w)]

    def run(python):
        def of(function, *kinds):
            return function if python else kernels.compiled(function, *kinds)

        anchor, place = grid.low.view(np.int64), (grid.table, grid.shift, grid.bottom)
        facts, steps = kernels.no_facts(), np.zeros(12)
        sums, mixed = np.zeros((2 * grid.n_buckets, 5), np.int64), np.zeros(grid.n_buckets, bool)
        weights = w, np.array([0.5]), anchor, one, *place
        add = of(kernels.add_rows, *types, "doubles", "numbers")
        add(p, whole, *weights, facts, sums, mixed, steps)
        counted, many = kernels.no_facts(), np.zeros((2 * grid.n_buckets, 3), np.int64)
        copies = np.floor(9 * w), None, anchor, one, *place
        add = of(kernels.add_rows, *types, "none", "numbers")
        add(p, whole, *copies, counted, many, mixed, steps)
        surveyed = kernels.no_weight_facts()
        of(kernels.survey_weights, types[2])(w, surveyed)
        lost = of(kernels.log_loss, *types)(p[3:], whole[3:], w[3:], one)
        return facts, sums, steps, mixed, counted, many, surveyed, np.array([lost])

    *python, lost = run(python=True)
    *quick, same = run(python=False)
    for mine, theirs in zip(python, quick, strict=True):
        assert (mine == theirs).all()
    assert lost == pytest.approx(same, rel=1e-13)


def test_what_a_score_ruled_out_costs_everything_but_not_without_weight():
    p, y = np.array([0.0, 0.5]), np.array([1, 1])
    assert kernels.log_loss(p, y, np.array([1.0, 1.0]), 1) == -math.inf
    assert kernels.log_loss(p, y, np.array([0.0, 3.0]), 1) == pytest.approx(3 * math.log(0.5))


@given(st.lists(st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 40)), max_size=200))
def test_numbers_are_put_in_order_with_their_weights(values):
    keys, weights = np.array(values, np.int64), np.arange(len(values)) * 1.0
    kernels.arrange(weights, np.empty_like(weights), keys, np.empty_like(keys))
    assert keys.tolist() == sorted(values)
    assert [values[int(place)] for place in weights] == sorted(values)
    assert sorted(weights) == list(range(len(values)))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("n", [0, 1, 17, kernels._BUCKETS + 1, 50_000])
def test_a_sort_with_weights_has_one_answer(n, compiled, monkeypatch):
    if compiled:
        optional("numba")
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: compiled)
    rng = np.random.default_rng(n)
    keys = np.where(rng.random(n) < 0.3, 7, rng.integers(0, 2**63 - 1, n))
    before = keys.copy()
    found, weights = kernels.sort(keys, np.arange(n) * 1.0)
    assert (found == np.sort(before)).all()
    assert (before[weights.astype(int)] == found).all()
    assert np.unique(weights).size == n
