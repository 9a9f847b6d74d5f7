"""Cells: a summary that can be fed, added up and stored, and what it is certain of."""

import copy
import math
import pickle
from fractions import Fraction
from itertools import chain
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant import Cells, InputError
from states import CELLS, P, W, Y, assert_same, batches, rows_of, state


def truth(y, p, w):
    """Return ECCE-R, ECCE-MAD and sigma squared in exact arithmetic, by sorting."""
    rows = sorted((Fraction(s), r, Fraction(x)) for r, s, x in zip(y, p, w, strict=True))
    total, path = Fraction(0), [Fraction(0)]
    for k, (s, r, x) in enumerate(rows):
        total += x * (r - s)
        if k + 1 == len(rows) or rows[k + 1][0] != s:
            path.append(total)
    weight = sum(x for _, _, x in rows)
    high, low = max(path) / weight, min(path) / weight
    return high - low, max(high, -low), sum(x * x * s * (1 - s) for s, _, x in rows) / weight**2


# --- what the bounds say --------------------------------------------------------------------------


@given(st.sampled_from(CELLS), st.lists(batches(), min_size=1, max_size=4))
def test_bounds_contain_the_truth(n_cells, parts):
    y, p, w = (list(chain(*columns)) for columns in zip(*map(rows_of, parts), strict=True))
    ecce_r, ecce_mad, variance = truth(y, p, w)
    bounds = state(n_cells, *parts).bounds()
    # Among the smallest doubles (a score of 5e-324) neither sums nor their rounding can be told.
    subnormal = Fraction(1e-300)
    assert bounds.ecce_r[0] - subnormal <= ecce_r <= bounds.ecce_r[1] + subnormal
    assert bounds.ecce_mad[0] - subnormal <= ecce_mad <= bounds.ecce_mad[1] + subnormal
    assert bounds.sigma == pytest.approx(math.sqrt(variance), rel=1e-12, abs=1e-150)
    assert bounds.n == len(y)
    for name, law in (("ecce_r", secant.null.range), ("ecce_mad", secant.null.mad)):
        low, high = getattr(bounds, f"{name}_pvalue")
        assert 0 <= low <= high <= 1
        metric = {"ecce_r": ecce_r, "ecce_mad": ecce_mad}[name]
        if variance > 1e-300 and metric > 1e-9:
            expected = law.sf(float(metric) / math.sqrt(variance))
            assert low <= expected * (1 + 1e-12)
            assert high >= expected * (1 - 1e-12)


@pytest.mark.parametrize("n_cells", CELLS)
@pytest.mark.parametrize("score", [0.1, 0.99, 0.999])
def test_bounds_contain_the_truth_when_a_score_is_very_common(n_cells, score):
    """A hundred thousand equal numbers added one by one drift by more than the bounds allow."""
    n = 1 << 17
    y = np.zeros(n, int)
    y[::1000] = 1
    expected = abs(Fraction(int(y.sum()), n) - Fraction(score))
    bounds = state(n_cells, {"y_true": y, "y_prob": np.full(n, score)}).bounds()
    assert bounds.ecce_r[0] <= expected <= bounds.ecce_r[1]
    assert bounds.ecce_mad[0] <= expected <= bounds.ecce_mad[1]


@pytest.mark.parametrize("n_cells", CELLS)
@pytest.mark.parametrize("score", [1 - 1e-9, 1 - 1e-12, 1 - 2**-53])
@pytest.mark.parametrize("weight", [None, 3.0])
def test_bounds_contain_the_truth_when_forecasts_are_almost_certain(n_cells, score, weight):
    """What is left of w(1 - s) is as small as the rounding of w s."""
    n = 1000
    batch = {"y_true": np.ones(n, int), "y_prob": np.full(n, score)}
    if weight:
        batch["sample_weight"] = np.full(n, weight)
    bounds = state(n_cells, batch).bounds()
    assert bounds.ecce_r[0] <= 1 - Fraction(score) <= bounds.ecce_r[1]
    assert bounds.ecce_mad[0] <= 1 - Fraction(score) <= bounds.ecce_mad[1]
    # Rounding is allowed for, and no more than that.
    assert bounds.ecce_mad[1] - bounds.ecce_mad[0] < 1e-12


@pytest.mark.parametrize("n_cells", [65536, 1 << 20])
@pytest.mark.parametrize("regular", [False, True])
def test_bounds_contain_the_truth_when_every_cell_adds(n_cells, regular):
    """Regular steps round the same way many times over, and a running sum drifts."""
    n = 1 << 18
    steps = np.arange(n) / n if regular else 0.99 * np.random.default_rng(0).random(n)
    p = 0.5 + steps / 2 + 2**-30 / 3
    # From 0.5 up 1 - p is exact and a multiple of 2**-53, so whole numbers give the exact sum.
    metric = Fraction(sum(map(int, ((1 - p) * 2**53).tolist())), n << 53)
    bounds = state(n_cells, {"y_true": np.ones(n, int), "y_prob": p}).bounds()
    assert bounds.ecce_r[0] <= metric <= bounds.ecce_r[1]
    assert bounds.ecce_mad[0] <= metric <= bounds.ecce_mad[1]


def test_bounds_are_as_narrow_as_promised():
    """About 0.02 sigma for a million predictions in 65,536 cells."""
    rng = np.random.default_rng(0)
    p = rng.random(1_000_000)
    bounds = state(65536, {"y_true": rng.random(1_000_000) < p, "y_prob": p}).bounds()
    assert bounds.ecce_r[1] - bounds.ecce_r[0] < 0.025 * bounds.sigma
    assert bounds.ecce_mad[1] - bounds.ecce_mad[0] < 0.025 * bounds.sigma


def test_bounds_are_exact_where_every_cell_holds_one_row():
    bounds = state(64, {"y_true": Y, "y_prob": P, "sample_weight": W}).bounds()
    ecce_r, ecce_mad, _ = truth(Y, P, W)
    assert bounds.ecce_r == pytest.approx((ecce_r, ecce_r), rel=0, abs=1e-12)
    assert bounds.ecce_mad == pytest.approx((ecce_mad, ecce_mad), rel=0, abs=1e-12)


@pytest.mark.parametrize("n_cells", [1, 64, 65536])
@pytest.mark.parametrize(
    ("y", "p", "metric", "pvalue"),
    [
        ([0, 1, 1], [0.0, 1.0, 1.0], 0.0, 1.0),
        ([1, 1], [0.0, 1.0], 0.5, 0.0),
        ([0], [1.0], 1.0, 0.0),
    ],
)
def test_scores_of_zero_and_one_alone(n_cells, y, p, metric, pvalue):
    cells = state(n_cells, {"y_true": y, "y_prob": p})
    bounds = cells.bounds()
    assert cells.forbidden == sum(r != s for r, s in zip(y, p, strict=True))
    assert bounds.sigma == 0
    for name in ("ecce_r", "ecce_mad"):
        assert getattr(bounds, name)[0] <= metric <= getattr(bounds, name)[1]
        assert getattr(bounds, f"{name}_pvalue")[bool(metric) - 1] == pvalue


def test_bounds_are_plain_numbers_and_frozen():
    bounds = state(16, {"y_true": Y, "y_prob": P}).bounds()
    assert type(bounds.n) is int
    flat = [bounds.sigma, *bounds.ecce_r, *bounds.ecce_mad]
    flat += [*bounds.ecce_r_pvalue, *bounds.ecce_mad_pvalue]
    assert {type(number) for number in flat} == {float}
    with pytest.raises(AttributeError):
        bounds.n = 3


# --- order, chunks, merging -----------------------------------------------------------------------


@given(st.lists(batches(), min_size=1, max_size=3), st.lists(batches(), min_size=1, max_size=3))
def test_merging_another_grid_equals_the_coarser_one(fine_parts, coarse_parts):
    for fine, coarse in ((64, 16), (65536, 1), (4096, 2048)):
        expected = state(coarse, *fine_parts, *coarse_parts)
        a, b = state(fine, *fine_parts), state(coarse, *coarse_parts)
        assert_same(a + b, expected)
        assert_same(b + a, expected)
        assert (a.n_cells, b.n_cells) == (fine, coarse)
        b.merge(a)
        assert_same(b, expected)
        a.merge(state(coarse, *coarse_parts))  # the finer one becomes coarse
        assert_same(a, expected)


def test_adding_leaves_the_parts_alone():
    a, b = state(64, {"y_true": Y, "y_prob": P}), state(64, {"y_true": Y, "y_prob": P[::-1]})
    before = a.bounds(), b.bounds()
    both = a + b
    both.update(Y, P)
    assert (a.bounds(), b.bounds()) == before
    assert both.n == 15
    a += b
    assert (a.n, b.n) == (10, 5)


def test_sum_of_states():
    a = state(64, {"y_true": Y, "y_prob": P})
    assert_same(sum([a]), a)
    assert sum([a]) is not a
    assert sum([a, Cells(64), a]).n == 10
    with pytest.raises(TypeError):
        sum([a], 1)


def test_an_empty_state_is_neutral():
    a = state(64, {"y_true": Y, "y_prob": P, "sample_weight": W})
    assert_same(a + Cells(64), a)
    assert_same(Cells(64) + a, a)


def test_merging_a_state_with_itself():
    a = state(64, {"y_true": Y, "y_prob": P})
    a.merge(a)
    assert_same(a, state(64, {"y_true": Y * 2, "y_prob": P * 2}))


@pytest.mark.parametrize("other", [None, 0, 1, [1], "cells", {"n": 1}])
def test_only_states_can_be_merged(other):
    a = state(64, {"y_true": Y, "y_prob": P})
    with pytest.raises(TypeError):
        a.merge(other)
    with pytest.raises(TypeError):
        a + other
    assert a.n == 5


def test_more_than_can_be_counted_is_refused():
    """Counts would turn negative without a word."""
    cells = state(1, {"y_true": [1], "y_prob": [0.5], "sample_weight": [2.0**53],
                      "weight_kind": "frequency"})  # fmt: skip
    for _ in range(8):
        cells.merge(cells)
    assert cells.n == 2**61
    with pytest.raises(InputError, match=r"2\*\*62"):
        cells.merge(cells)
    with pytest.raises(InputError, match=r"2\*\*62"):
        cells + cells
    assert cells.n == 2**61
    assert cells.bounds().n == 2**61


# --- making and feeding ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "n_cells", [0, -1, -64, 3, 65535, 1 << 25, 10**30, True, 64.0, "64", None, [64], np.array(64)]
)
def test_bad_n_cells(n_cells):
    with pytest.raises(InputError, match="n_cells must be a power of two"):
        Cells(n_cells)


@pytest.mark.parametrize("n_cells", [1, 2, np.int64(64), 1 << 20])
def test_good_n_cells(n_cells):
    cells = Cells(n_cells)
    assert (cells.n_cells, cells.n, cells.forbidden) == (int(n_cells), 0, 0)
    cells.update(Y, P)
    assert (cells.n, type(cells.n), type(cells.n_cells)) == (5, int, int)
    words = "1 cell" if n_cells == 1 else f"{int(n_cells):,} cells"
    assert repr(cells) == f"<secant.Cells: 5 predictions in {words}>"


def test_an_empty_state_has_no_bounds():
    with pytest.raises(InputError, match="empty"):
        Cells().bounds()


@pytest.mark.parametrize(
    "fault",
    [
        {"y_prob": [0.2, 0.3, 0.6, 0.8, math.nan]},
        {"y_prob": [0.2, 0.3, 0.6, 0.8, 1 + 1e-7]},
        {"y_true": [0, 1, 0, 1, 2]},
        {"y_true": [0, 1]},
        {"sample_weight": [1, 1, 1, 1, -1]},
        {"sample_weight": [1, 1, 1, 1, 0.5], "weight_kind": "frequency"},
        {"weight_kind": "other"},
        {"y_true": [], "y_prob": []},
    ],
)
def test_a_failed_update_changes_nothing(fault, tmp_path):
    cells = state(64, {"y_true": Y, "y_prob": P, "sample_weight": W})
    cells.save(tmp_path / "before")
    with pytest.raises(InputError):
        cells.update(**{"y_true": Y, "y_prob": P} | fault)
    cells.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_an_interrupted_update_changes_nothing(tmp_path):
    cells = state(64, {"y_true": Y, "y_prob": P})
    cells.save(tmp_path / "before")
    with (
        mock.patch("secant._blocks.cell_sums.CellSums.plus", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        cells.update([1], [0.0])
    cells.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_forbidden_rows_are_counted():
    cells = state(64, {"y_true": [1, 0, 1, 1], "y_prob": [0.0, 1.0, 0.5, 0.0]})
    assert cells.forbidden == 3
    # A row of weight zero is absent; a row that stands for five counts as five.
    cells.update([1, 1], [0.0, 0.0], [0, 2.5])
    assert cells.forbidden == 4
    cells.update([1, 1], [0.0, 0.5], [5, 1], weight_kind="frequency")
    assert cells.forbidden == 9
    assert (cells + cells).forbidden == 18


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "twin",
    [copy.copy, copy.deepcopy, lambda cells: pickle.loads(pickle.dumps(cells))],  # noqa: S301
)
def test_a_copy_is_equal_and_independent(twin):
    cells = state(64, {"y_true": Y, "y_prob": P, "sample_weight": W})
    before = cells.bounds()
    other = twin(cells)
    assert other.bounds() == before
    other.update([1] * 5, P)
    other.merge(other)
    assert cells.bounds() == before
    assert (cells.n, other.n) == (5, 20)


def test_confidence_limits_are_those_of_the_rows_around_the_bounds():
    rng = np.random.default_rng(3)
    p = rng.beta(1, 5, 4000)
    y, w = rng.random(4000) < p**1.2, rng.lognormal(0, 1, 4000)
    for weights, pair in ((None, None), (w, None), (w, (20, 1)), (None, (1, 3))):
        cells = Cells(65536, outcome_weights=pair)
        cells.update(y, p, weights)
        result = secant.assess(
            y, p, sample_weight=weights, outcome_weights=pair, method="asymptotic",
            confidence_level=0.9,
        )  # fmt: skip
        bounds = cells.bounds(confidence_level=0.9)
        assert bounds.confidence_level == 0.9
        # Where cells end may move the pools of responses, by hardly anything.
        tight = 1e-9 if pair is None else 1e-3
        assert bounds.sigma_hat == pytest.approx(result._totals.sigma_hat, rel=tight)
        for (low, high), (least, most), statistic in (
            (bounds.ecce_r_ci, bounds.ecce_r, result.ecce_r),
            (bounds.ecce_mad_ci, bounds.ecce_mad, result.ecce_mad),
        ):
            half = statistic.ci[1] - statistic.value
            assert high == pytest.approx(min(most + half, 1), rel=tight)
            assert low == pytest.approx(max(least - half, 0), rel=tight, abs=1e-6)
    with pytest.raises(InputError, match="confidence_level"):
        cells.bounds(confidence_level=95)


@pytest.mark.parametrize("weighted", [False, True])
def test_proper_scores_are_exact_but_for_what_they_are_made_of(weighted, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 5000)
    y = (rng.random(5000) < p).astype(int)
    w = rng.lognormal(0, 1, 5000) if weighted else None
    exact = secant.assess(y, p, sample_weight=w, method="asymptotic")
    cells = secant.Cells(256)
    for part in (slice(0, 2000), slice(2000, None)):
        cells.update(y[part], p[part], None if w is None else w[part])
    cells.save(tmp_path / "state")
    for stored in (cells, secant.Cells.load(tmp_path / "state")):
        bounds = stored.bounds()
        for found, wanted in ((bounds.brier, exact.brier), (bounds.log_loss, exact.log_loss)):
            assert found.value == pytest.approx(wanted.value, rel=1e-12)
            assert not found.exact
            assert found.mcb_bounds[0] <= wanted.mcb <= found.mcb_bounds[1]
            assert found.dsc_bounds[0] <= wanted.dsc <= found.dsc_bounds[1]


def test_a_score_of_0_or_1_that_was_wrong_makes_the_log_loss_infinite():
    cells = secant.Cells()
    cells.update([1, 0, 1], [0.0, 0.3, 0.4])
    bounds = cells.bounds()
    assert bounds.log_loss.value == np.inf
    assert bounds.brier.value == pytest.approx((1 + 0.09 + 0.36) / 3)


def test_cells_are_shown_in_a_notebook():
    assert "0 predictions in 65,536 cells" in secant.Cells()._repr_html_()
