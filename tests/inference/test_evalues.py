"""Evidence: a bet that is fair at best under calibration, whatever the order of rows."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from monitor_oracle import slow_log_e, slow_monitor, slow_prior
from secant._inference import evalues
from secant._inference.evalues import (
    COMPONENTS,
    FINE,
    GRID,
    SLOPES,
    TILTS,
    WHOLE,
    Evidence,
    Sums,
    Tally,
    component,
    cuts,
    log_evalues,
    log_prior,
    sums_of_cells,
)

EDGES = np.arange(FINE + 1) / FINE
SCORES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.3, 1e-9, 1 - 1e-9]), st.floats(0, 1, allow_nan=False)
)
BATCHES = st.lists(st.tuples(SCORES, st.integers(0, 1)), min_size=1, max_size=40)


def sums(rows, tolerance=0.0, edges=EDGES):
    tally = Tally(edges, tolerance)
    tally.add(np.array([s for s, _ in rows]), np.array([r for _, r in rows]))
    return tally.sums()


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(0, 1)), min_size=1, max_size=12))
@settings(max_examples=25)  # five hundred components a row, in plain Python
@pytest.mark.parametrize("tolerance", [0.0, 0.03])
def test_they_are_what_the_definition_says(tolerance, rows):
    assert log_evalues(sums(rows, tolerance)) == pytest.approx(
        slow_log_e(rows, tolerance, EDGES), rel=1e-9, abs=1e-9
    )


# Fair at best -------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 64).map(lambda k: Fraction(k, 64)), min_size=1, max_size=6))
@settings(max_examples=25)
def test_bets_are_fair_under_calibration(scores):
    # Every outcome of a small batch, each with its exact chance.
    expected = np.zeros(COMPONENTS)
    for outcome in product((0, 1), repeat=len(scores)):
        chance = math.prod((s if r else 1 - s for s, r in zip(scores, outcome, strict=True)))
        rows = [(float(s), r) for s, r in zip(scores, outcome, strict=True)]
        expected += float(chance) * np.exp(log_evalues(sums(rows)))
    assert expected == pytest.approx(1, abs=1e-10)


@given(
    st.lists(st.integers(0, 64).map(lambda k: Fraction(k, 64)), min_size=1, max_size=5),
    st.lists(st.integers(-4, 4), min_size=5, max_size=5),
)
@settings(max_examples=25)
def test_bets_are_no_better_than_fair_within_the_tolerance(scores, quarters):
    tolerance = Fraction(1, 32)
    chances = [
        min(max(s + tolerance * Fraction(k, 4), Fraction(0)), Fraction(1))
        for s, k in zip(scores, quarters, strict=False)
    ]
    expected = np.zeros(COMPONENTS)
    for outcome in product((0, 1), repeat=len(scores)):
        chance = math.prod((p if r else 1 - p for p, r in zip(chances, outcome, strict=True)))
        rows = [(float(s), r) for s, r in zip(scores, outcome, strict=True)]
        expected += float(chance) * np.exp(log_evalues(sums(rows, float(tolerance))))
    assert (expected <= 1 + 1e-10).all()


def test_the_worst_chance_that_is_allowed_makes_a_bet_fair():
    scores, tolerance = [0.25, 0.5], 0.125
    for sign in (-1, 1):
        expected = np.zeros(COMPONENTS)
        for outcome in product((0, 1), repeat=2):
            chances = [s + sign * tolerance for s in scores]
            weight = math.prod(p if r else 1 - p for p, r in zip(chances, outcome, strict=True))
            rows = list(zip(scores, outcome, strict=True))
            expected += weight * np.exp(log_evalues(sums(rows, tolerance)))
        directions = [component(number).direction for number in range(COMPONENTS - SLOPES.size)]
        ours = np.array(directions) == ("too low" if sign > 0 else "too high")
        assert expected[: ours.size][ours] == pytest.approx(1, abs=1e-12)
        assert (expected[: ours.size][~ours] <= 1 + 1e-12).all()
        assert expected[ours.size :] == pytest.approx(1)  # slopes are not looked at


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_stakes_add_up_to_one(tolerance):
    prior = np.exp(log_prior(tolerance))
    assert prior.sum() == pytest.approx(1, abs=1e-12)
    assert prior[-SLOPES.size :].sum() == pytest.approx(0.25 if tolerance == 0 else 0)
    levels = [prior[16 * (2**k - 1) : 16 * (2 ** (k + 1) - 1)].sum() for k in range(5)]
    assert levels == pytest.approx([levels[0]] * 5)
    assert prior == pytest.approx(slow_prior(tolerance), rel=1e-12)


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_false_alarms_are_rare_however_often_one_looks(tolerance):
    rng = np.random.default_rng(0)
    prior, alarms, streams = log_prior(tolerance), 0, 60
    for _ in range(streams):
        evidence = Evidence.none()
        for _ in range(20):
            scores = rng.beta(1, 3, 60)
            chance = np.clip(scores + tolerance, 0, 1)
            rows = list(zip(scores, rng.random(60) < chance, strict=True))
            evidence = evidence.after(log_evalues(sums(rows, tolerance)))
            if evidence.log_mixture(prior) >= math.log(5):  # alpha = 0.2
                alarms += 1
                break
    assert alarms / streams <= 0.2


# The same to the last bit -------------------------------------------------------------------------


@settings(max_examples=60)
@given(BATCHES, st.randoms(use_true_random=False), st.integers(0, 40))
@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_order_and_pieces_make_no_difference(tolerance, rows, random, cut):
    whole = sums(rows, tolerance)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    tally = Tally(EDGES, tolerance)
    for piece in (shuffled[:cut], shuffled[cut:]):
        tally.add(np.array([s for s, _ in piece]), np.array([r for _, r in piece]))
    again = tally.sums()
    assert (log_evalues(whole) == log_evalues(again)).all()
    assert whole.totals == again.totals
    assert (whole.scored == again.scored).all()
    assert whole.impossible == again.impossible


def test_more_rows_than_are_added_up_at_once():
    rng = np.random.default_rng(1)
    scores, labels = rng.random(9_001), rng.integers(0, 2, 9_001)
    tally, order = Tally(EDGES, 0.0), rng.permutation(9_001)
    tally.add(scores, labels)
    other = Tally(EDGES, 0.0)
    other.add(scores[order].astype(np.float64), labels[order].astype(bool))
    assert (log_evalues(tally.sums()) == log_evalues(other.sums())).all()
    assert tally.sums().sum_of_scores == pytest.approx(scores.sum(), rel=1e-12)
    assert tally.sums().sum_of_hits == pytest.approx(scores[labels == 1].sum(), rel=1e-12)
    rows = list(zip(scores.tolist(), labels.tolist(), strict=True))
    expected = slow_log_e(rows, 0.0, EDGES)
    assert log_evalues(tally.sums()) == pytest.approx(expected, rel=1e-9, abs=1e-7)


@given(BATCHES)
def test_totals_do_not_depend_on_the_cells(rows):
    assert sums(rows).totals == sums(rows, edges=WHOLE).totals
    tally = Tally(WHOLE, 0.0, evidence=False)
    tally.add(np.array([s for s, _ in rows]), np.array([r for _, r in rows]))
    assert tally.sums().totals == sums(rows).totals


def test_extreme_scores_stay_finite():
    rows = [(5e-324, 1), (1e-300, 1), (1 - 2**-53, 0), (0.0, 1), (1.0, 0)]
    found = sums(rows)
    assert np.isfinite(log_evalues(found)).all()
    assert found.impossible == (1, 1)


# From cells ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(BATCHES, st.sampled_from([0.0, 0.01, 0.3]), st.sampled_from([64, 1024, 65536]))
def test_cells_never_give_more_evidence_than_rows(rows, tolerance, n_cells):
    cells = secant.Cells(n_cells)
    cells.update([r for _, r in rows], [s for s, _ in rows])
    bound = log_evalues(sums_of_cells(cells._sums.means(), EDGES, tolerance, (0, 0)))
    truth = log_evalues(sums(rows, tolerance))
    ranges = slice(COMPONENTS - SLOPES.size)
    assert (bound[ranges] <= truth[ranges] + 1e-9).all()
    assert (bound[COMPONENTS - SLOPES.size :] == 0).all()


def test_cells_lose_next_to_nothing():
    rng = np.random.default_rng(2)
    scores = rng.random(100_000)
    happened = rng.random(100_000) < scores
    cells = secant.Cells()
    cells.update(happened, scores)
    bound = log_evalues(sums_of_cells(cells._sums.means(), EDGES, 0.0, (0, 0)))
    tally = Tally(EDGES, 0.0)
    tally.add(scores, happened)
    lost = (log_evalues(tally.sums()) - bound)[: -SLOPES.size]
    assert (lost > -1e-9).all()
    assert lost.max() < 2e-5  # a tenth of what a million rows lose


# Where ranges lie ---------------------------------------------------------------------------------


def test_cuts_hold_equal_numbers_of_scores():
    scores = np.random.default_rng(3).beta(1, 30, 50_000)
    edges = cuts(np.bincount((scores * GRID).astype(int), minlength=GRID + 1))
    assert edges[0] == 0
    assert edges[-1] == 1
    assert not (edges * GRID % 1).any()
    counts = np.histogram(scores, edges)[0]
    assert abs(counts - 50_000 / FINE).max() < 300


@pytest.mark.parametrize("scores", [[0.5] * 500, [0.0] * 300 + [1.0] * 300, [1.0] * 200])
def test_cuts_of_few_distinct_scores(scores):
    places = (np.array(scores) * GRID).astype(int)
    edges = cuts(np.bincount(places, minlength=GRID + 1))
    assert (np.diff(edges) >= 0).all()
    tally = Tally(edges, 0.0)
    tally.add(np.array(scores), np.zeros(len(scores), int))
    assert tally.sums().n.sum() == len(scores)


def test_components_cover_all_ranges_and_directions():
    found = [component(number) for number in range(COMPONENTS)]
    ranges = {(each.first, each.last) for each in found}
    assert len(ranges) == 31
    assert all((last - first) in {64, 32, 16, 8, 4} for first, last in ranges)
    assert {each.direction for each in found} == {
        "too high",
        "too low",
        "too extreme",
        "too moderate",
    }
    assert sorted(TILTS.tolist()) == TILTS.tolist()
    # The slope that wins is the one that is true.
    rng = np.random.default_rng(4)
    scores = rng.random(20_000)
    for power, direction in ((0.7, "too extreme"), (1.4, "too moderate")):
        odds = (scores / (1 - scores)) ** power
        rows = list(zip(scores, rng.random(20_000) < odds / (1 + odds), strict=True))
        best = int(np.argmax(log_evalues(sums(rows))))
        assert component(best).direction == direction


# Over time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_the_recursion_is_the_sum_over_all_starts(tolerance):
    rng = np.random.default_rng(5)
    batches = []
    for day in range(6):
        scores = rng.random(80)
        chance = scores if day < 3 else np.minimum(scores * 1.5, 1)
        batches.append(list(zip(scores, (rng.random(80) < chance).astype(int), strict=True)))
    log_es = [slow_log_e(rows, tolerance, EDGES) for rows in batches]
    prior, evidence = log_prior(tolerance), Evidence.none()
    assert evidence.log_mixture(prior) == 0
    for rows, (log_m, heaviest, start) in zip(
        batches, slow_monitor(log_es, slow_prior(tolerance)), strict=True
    ):
        evidence = evidence.after(log_evalues(sums(rows, tolerance)))
        assert evidence.log_mixture(prior) == pytest.approx(log_m, abs=1e-9)
        assert evidence.heaviest(prior) == heaviest
        assert evidence.start[heaviest] == start


def test_a_batch_of_nothing_leaves_the_evidence_alone():
    prior, evidence = log_prior(0.0), Evidence.none()
    rows = [(0.3, 1)] * 30
    evidence = evidence.after(log_evalues(sums(rows)))
    before = evidence.log_mixture(prior)
    for _ in range(20):
        evidence = evidence.after(np.zeros(COMPONENTS))
    assert evidence.log_mixture(prior) == pytest.approx(before, abs=1e-12)


def test_evidence_beyond_doubles():
    prior, evidence = log_prior(0.0), Evidence.none()
    for _ in range(3):
        evidence = evidence.after(np.full(COMPONENTS, 500.0))
    assert 1400 < evidence.log_mixture(prior) < 1500


def test_several_streams_at_once():
    rng = np.random.default_rng(6)
    batches = [[(s, int(rng.random() < s)) for s in rng.random(50)] for _ in range(2)]
    alone = [sums(rows) for rows in batches]
    events, tilted, sloped = (
        np.stack([getattr(each, name) for each in alone]) for name in ("events", "tilted", "sloped")
    )
    together = log_evalues(Sums(events, events, events, tilted, sloped, (0, 0), 0.0, 0.0))
    assert (together == np.stack([log_evalues(each) for each in alone])).all()
    evidence = Evidence.none(2).after(together)
    assert evidence.log_mixture(log_prior(0.0)).shape == (2,)
    assert together.shape[1] == evalues.COMPONENTS
