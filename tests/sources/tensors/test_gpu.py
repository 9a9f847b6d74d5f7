"""What a GPU does, with passes of numpy in the place of kernels, which they are the oracle of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import secant
from helpers import optional
from plain_passes import PlainPasses
from secant._blocks.key_sums import Ask
from secant._input.options import Reading
from secant._metrics.ecce import extremes
from secant.sources.tensors import gpu
from secant.sources.tensors.cell_table import CellTable, Kind, shares
from secant.sources.tensors.kernels import TOO_MANY
from secant.sources.tensors.reading import columns

torch = optional("torch")
N = 70_000


def tiny(rng, n):
    return rng.random(n) * 1e-15


SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "grid": lambda rng, n: rng.integers(0, 101, n) / 100,
    "half at one score": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    "one score but for a few": lambda rng, n: np.where(np.arange(n) < n - 3, 0.3, 0.7),
    "skewed": lambda rng, n: rng.random(n) ** 30,
    "confident": lambda rng, n: rng.beta(5, 0.3, n),
    "tiny": tiny,
    "certain": lambda rng, n: np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), rng.random(n)),
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
}


@pytest.fixture(autouse=True)
def _cells(monkeypatch, request):
    """Have few rows treated as many are."""
    if "sorted" not in request.node.name:
        monkeypatch.setattr(gpu, "SORT_UP_TO", 0)


def source_of(y, p, w=None, **options):
    weights = None if w is None else torch.tensor(w)
    passes = PlainPasses(p, torch.tensor(y), weights, **options)
    return gpu.GpuSource(columns(torch.tensor(y), p, weights, Reading()), passes), passes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("power", [1.05, 1])
@pytest.mark.parametrize("scores", SCORES)
def test_answers_are_the_arrays(monkeypatch, scores, power, kind, weighted):
    monkeypatch.setattr(gpu, "_COLLECT_AT_LEAST", 1 << 12)
    monkeypatch.setattr(gpu, "_COLLECT_SHARE", 0.5 if power > 1 else 0.05)
    monkeypatch.setattr(gpu, "FINE_CELLS", 1 << 14)
    rng = np.random.default_rng(3)
    tensor = torch.tensor(SCORES[scores](rng, N)).to(kind)
    p = tensor.double().numpy()
    y = rng.random(N) < p**power
    y[5] |= scores == "tiny"
    w = rng.lognormal(size=N) * (rng.random(N) < 0.8) if weighted else None
    expected = secant.assess(y, p, sample_weight=w, method="asymptotic")
    source, _ = source_of(y, tensor, w)
    blocks, totals = source.blocks()
    _, found = extremes(blocks, totals.weight, source.refine)
    assert found.ecce_r == pytest.approx(expected.ecce_r.value, abs=1e-14)
    assert found.ecce_mad == pytest.approx(expected.ecce_mad.value, abs=1e-14)
    assert totals.sigma == pytest.approx(expected.sigma, rel=1e-12)
    assert source.forbidden == expected._source.forbidden


def test_a_block_asked_for_again_comes_back_whole(monkeypatch):
    """Rows of common scores are counted, not collected, and are there the second time too."""
    monkeypatch.setattr(gpu, "_COLLECT_AT_LEAST", 1 << 14)
    monkeypatch.setattr(gpu, "_COLLECT_SHARE", 0.5)
    rng = np.random.default_rng(3)
    p = torch.tensor(rng.beta(5, 0.3, N)).half().float()  # many rows of each score
    source, _ = source_of(rng.random(N) < p.double().numpy(), p)
    blocks, _ = source.blocks()
    coarse = blocks.select(blocks.open)
    first = source.refine(coarse)
    again = source.refine(coarse)
    assert np.array_equal(first.low, again.low)
    assert np.array_equal(first.n1, again.n1)
    for i in range(len(coarse)):
        one = coarse.select(slice(i, i + 1))
        found = source.refine(one)
        assert (found.n.sum(), found.n1.sum()) == (one.n.sum(), one.n1.sum())


def test_shifted_sums_of_cells_are_those_of_rows():
    rng = np.random.default_rng(3)
    p = rng.random(N).astype(np.float32)
    y = rng.random(N) < p
    source, _ = source_of(y, torch.tensor(p))
    blocks, _ = source.blocks()
    assert blocks.open.any()
    (found,) = source.sums([Ask(blocks, shift=0.4)])
    odds = np.exp(0.4) * p.astype(float) / (1 - p.astype(float))
    q, rest = odds / (1 + odds), 1 / (1 + odds)
    place = np.searchsorted(blocks.low, p, side="right") - 1
    np.testing.assert_array_equal(found.n, blocks.n)
    np.testing.assert_allclose(found.shifted, np.bincount(place, q), rtol=1e-12)
    np.testing.assert_allclose(found.spread, np.bincount(place, q * rest), rtol=1e-12)


@pytest.mark.parametrize("scores", SCORES)
def test_not_too_many_rows_are_sorted(scores):
    rng = np.random.default_rng(3)
    tensor = torch.tensor(SCORES[scores](rng, N))
    p = tensor.numpy()
    y = rng.random(N) < p
    y[:3] = 1
    expected = secant.assess(y, p, method="asymptotic")
    source, passes = source_of(y, tensor)
    blocks, totals = source.blocks()
    _, found = extremes(blocks, totals.weight, source.refine)
    assert passes.calls == ["sort"]
    assert found.ecce_r == pytest.approx(expected.ecce_r.value, abs=1e-14)
    assert totals.sigma == pytest.approx(expected.sigma, rel=1e-12)
    assert source.forbidden == expected._source.forbidden
    tensor[7] = np.nan
    with pytest.raises(secant.InputError, match=r"y_prob\[7\] is nan"):
        source_of(y, tensor)[0].blocks()


def test_each_route_is_taken(monkeypatch):
    monkeypatch.setattr(gpu, "_COLLECT_AT_LEAST", 1 << 12)
    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N))

    def calls(y, share):
        monkeypatch.setattr(gpu, "_COLLECT_SHARE", share)
        source, passes = source_of(y, p)
        blocks, totals = source.blocks()
        extremes(blocks, totals.weight, source.refine)
        return passes.calls

    chance = rng.random(N)
    assert calls(chance < p.numpy() ** 1.5, 0.1) == ["cells", "collect"]
    monkeypatch.setattr(gpu, "CELLS", 1000)
    assert calls(chance < p.numpy(), 0.1) == ["cells", "fine", "collect"]
    monkeypatch.setattr(gpu, "_COLLECT_AT_LEAST", 0)
    assert calls(chance < p.numpy(), 0.0) == ["cells", "fine"]  # then all rows are sorted


def test_a_grid_of_scores_is_counted_and_not_collected():
    rng = np.random.default_rng(3)
    p = torch.tensor(rng.integers(0, 101, N) / 100)
    y = rng.random(N) < p.numpy()
    source, _ = source_of(y, p)
    blocks, _ = source.blocks()
    ties = source.refine(blocks.select(blocks.open))
    assert source._collections[0][1].rows == 0
    assert not ties.open.any()
    assert len(ties) == int(blocks.open.sum())


def test_joined_cells_can_be_refined():
    from secant._blocks.table import merge

    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N))
    y = rng.random(N) < p.numpy()
    source, _ = source_of(y, p)
    blocks, _ = source.blocks()
    joined = merge(blocks, np.arange(0, len(blocks), 7))
    chosen = joined.select(slice(10, 13))
    finer = source.refine(chosen)
    assert finer.n.sum() == chosen.n.sum()
    assert finer.gain.sum() == pytest.approx(chosen.gain.sum(), abs=1e-9)
    assert len(finer) > 3


def test_sums_too_large_for_their_place_are_added_up_again():
    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N, np.float32))
    y = rng.random(N) < p.numpy()

    class Full(PlainPasses):
        def cells(self, table, hot, *, wide):
            from dataclasses import replace

            self.asked = [*getattr(self, "asked", []), wide]
            found = super().cells(table, hot, wide=wide)
            return replace(found, faults=TOO_MANY) if len(self.asked) <= self.times else found

    expected = secant.ecce_r(y, p.double().numpy())
    for times, asked in ((1, [False, True]), (2, [False, True])):
        passes = Full(p, torch.tensor(y))
        passes.times = times
        source = gpu.GpuSource(columns(torch.tensor(y), p, None, Reading()), passes)
        blocks, totals = source.blocks()
        _, found = extremes(blocks, totals.weight, source.refine)
        assert found.ecce_r == pytest.approx(expected, abs=1e-14)
        assert passes.asked == asked


@pytest.mark.parametrize("fault", [np.nan, 1.5, -0.1])
def test_faults_are_told_as_of_arrays(fault):
    p = np.full(N, 0.5)
    p[66_000] = fault
    y = torch.zeros(N, dtype=torch.uint8)
    source, _ = source_of(y.numpy(), torch.tensor(p))
    with pytest.raises(secant.InputError, match=r"y_prob\[66000\] is"):
        source.blocks()


def test_binned_errors_are_the_arrays():
    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N))
    y = rng.random(N) < p.numpy()
    source, _ = source_of(y, p)
    blocks, totals = source.blocks(moments=True)
    assert blocks.moments.variance.sum() == pytest.approx(totals.variance, rel=1e-12)
    some = blocks.select(slice(0, 3))
    finer = source.refine(some).moments.variance.sum()
    assert finer == pytest.approx(some.moments.variance.sum(), rel=1e-12)
    assert next(iter(source.in_order()())).scores[0] == p.min()


# Where cells are ---------------------------------------------------------------------------------


@given(
    arrays.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1)),
    st.sampled_from([np.float32, np.float64]),
    st.integers(3, 6),
    st.integers(1, 3000),
)
def test_cells_hold_their_scores_in_order(scores, kind, leading, n_cells):
    scores = np.append(scores, [0, 1, 0.5, 2**-40, 1 - 2**-24, 1 - 2**-53]).astype(kind)
    floats = Kind.of(np.dtype(kind), leading)
    table = CellTable(floats, shares(floats, scores), n_cells)
    cell = table.cell(scores)
    low, high = table.ends
    assert ((low[cell] <= scores) & (scores <= high[cell])).all()
    order = np.argsort(scores)
    assert (np.diff(cell[order]) >= 0).all()
    held = np.unique(cell)
    assert (high[held][:-1] < low[held][1:]).all()
    assert (low == low.astype(kind)).all()
    # A score is where its cell begins and its place there, exactly.
    base, distance = floats.scores(table.start)
    for score, where in zip(scores, cell, strict=True):
        if 2**-40 <= score < 1:
            place = table.rest(score) * table.unit[where]
            exact = base[where] + place if score < 0.5 else 1 - (distance[where] - place)
            assert exact == score


@given(st.integers(0, 2**32), st.sampled_from([np.float32, np.float64]))
def test_fine_cells_lie_inside_coarse_ones(seed, kind):
    scores = np.random.default_rng(seed).beta(0.7, 0.4, 500).astype(kind)
    floats = Kind.of(np.dtype(kind), 5)
    held = shares(floats, scores)
    coarse = CellTable(floats, held, 300)
    fine = CellTable(floats, held, 5000, within=coarse)
    pairs = {(int(a), int(b)) for a, b in zip(fine.cell(scores), coarse.cell(scores), strict=True)}
    assert len({a for a, _ in pairs}) == len(pairs)


def test_limits_inside_cells_hold():
    rng = np.random.default_rng(8)
    p = rng.beta(0.7, 0.4, 20_000)
    y = rng.random(20_000) < p
    floats = Kind.of(np.dtype(np.float64), 4)
    held = shares(floats, p)
    coarse, fine = (CellTable(floats, held, 40), CellTable(floats, held, 4000))
    fine = CellTable(floats, held, 4000, within=coarse)
    weight = PlainPasses(torch.tensor(p), torch.tensor(y)).fine(fine, None)
    rise, fall = gpu._limits(fine, coarse, weight)
    cell = coarse.cell(p)
    for number in np.unique(cell):
        here = cell == number
        order = np.argsort(p[here])
        path = np.cumsum(y[here][order] - p[here][order])
        assert path.max(initial=0) <= rise[number] + 1e-9
        assert -path.min(initial=0) <= fall[number] + 1e-9
        # And they are close: at most what the fullest of the fine cells can do.
        fullest = np.bincount(fine.cell(p[here])).max()
        assert rise[number] <= path.max(initial=0) + fullest + 1
