"""Sums in whole numbers: bit for bit the same in any order, and right."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

import secant
from helpers import optional
from secant._blocks import fixed_sums, kernels
from secant._blocks.fixed_sums import FixedSums
from secant._input.observations import Chunk, observations
from secant.sources import rows

optional("numba")

N = 40_000


def grid_of_ties(rng, n):
    return rng.integers(0, 101, n) / 100


DATA = {
    "uniform": lambda rng, n: rng.random(n),
    "confident": lambda rng, n: rng.beta(5, 0.3, n),
    "rare": lambda rng, n: rng.beta(1, 200, n),
    "ties": grid_of_ties,
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
    "both ends": lambda rng, n: rng.choice([0.0, 1.0, 0.5], n),
    "very small": lambda rng, n: np.where(rng.random(n) < 0.1, rng.random(n), 1e-300),
}


@pytest.fixture(autouse=True)
def compiled_always(monkeypatch):
    """Few rows are enough here, in small chunks so that threads have something to share."""
    monkeypatch.setattr(rows, "SORT_UP_TO", 0)
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: True)
    monkeypatch.setattr(kernels, "CHUNK", 1 << 10)
    monkeypatch.setattr(kernels, "_A_THREAD", 1 << 10)


def data(name, seed=0, n=N):
    rng = np.random.default_rng(seed)
    p = DATA[name](rng, n)
    return (rng.random(n) < p).astype(np.int64), p


def answers(y, p, **where):
    """Return every number that comes from sums alone, as exact text."""
    result = secant.assess(y, p, method="asymptotic", **where)
    ties = not result._blocks.open.any()
    assert ties or result._blocks.fixed is not None or result.sigma < 1e-3  # sums are whole
    numbers = [result.n, result.sigma, result.mean_score, result.base_rate]
    for each in (result.ecce_r, result.ecce_mad):
        numbers += [each.value, each.normalized, each.pvalue, each.log10_pvalue, *each.ci]
    numbers += [secant.ecce_r(y, p, **where), secant.ecce_mad(y, p, **where)]
    return [float(number).hex() for number in numbers]


@pytest.mark.parametrize("name", DATA)
def test_order_and_threads_do_not_change_a_bit(name, monkeypatch):
    y, p = data(name)
    rng = np.random.default_rng(1)
    expected = answers(y, p)
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "threads", lambda threads=threads: threads)
        order = rng.permutation(N)
        assert answers(y[order], p[order]) == expected
    order = np.argsort(p)
    assert answers(y[order], p[order]) == expected


@pytest.mark.parametrize("name", DATA)
def test_numpy_gives_the_same_answers(name, monkeypatch):
    y, p = data(name)
    quick = secant.assess(y, p, method="asymptotic")
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: False)
    slow = secant.assess(y, p, method="asymptotic")
    assert quick.ecce_r.value == pytest.approx(slow.ecce_r.value, rel=0, abs=1e-12)
    assert quick.ecce_mad.value == pytest.approx(slow.ecce_mad.value, rel=0, abs=1e-12)
    assert quick.sigma == pytest.approx(slow.sigma, rel=1e-12)
    assert (quick.worst.low, quick.worst.high) == (slow.worst.low, slow.worst.high)
    for field in fields(quick._totals):
        mine, theirs = getattr(quick._totals, field.name), getattr(slow._totals, field.name)
        assert mine == theirs or mine == pytest.approx(theirs, rel=1e-11), field.name


@pytest.mark.parametrize("name", DATA)
def test_a_metric_alone_has_the_bits_of_a_whole_assessment(name):
    y, p = data(name, seed=3)
    result = secant.assess(y, p, method="asymptotic")
    assert secant.ecce_r(y, p).hex() == result.ecce_r.value.hex()
    assert secant.ecce_mad(y, p).hex() == result.ecce_mad.value.hex()


@pytest.mark.parametrize(
    ("name", "directly"), [("uniform", True), ("confident", True), ("rare", True), ("ties", False)]
)
def test_a_metric_alone_makes_no_blocks(name, directly):
    """But where ties are all that is left of them, which are added up in another way."""
    y, p = data(name)
    source = rows.of_arrays(y, p)
    assert (source.heights() is not None) is directly


@pytest.mark.parametrize("more", [-1, 0])
def test_a_metric_alone_sorts_no_more_rows_than_it_may(more, monkeypatch):
    y, p = data("uniform")
    cells = rows.of_arrays(y, p)._fixed.undecided()
    monkeypatch.setattr(rows, "COLLECT_UP_TO", cells.rows + more)
    monkeypatch.setattr(rows, "COLLECT_SHARE", 0)
    assert (rows.of_arrays(y, p).heights() is None) is (more < 0)
    whole = secant.assess(y, p, method="asymptotic")
    assert secant.ecce_r(y, p).hex() == whole.ecce_r.value.hex()


@pytest.mark.parametrize("change", ["score", "label", "elsewhere", "nan"])
def test_rows_that_changed_since_they_were_checked_are_refused(change):
    y, p = data("uniform")
    source = rows.of_arrays(y, p)
    cells = source._fixed.undecided()
    row = np.flatnonzero((p >= cells.low[0]) & (p <= cells.high[0]))[0]
    if change == "label":
        y[row] ^= 1
    else:
        p[row] = {"score": cells.low[0], "elsewhere": 0.99, "nan": np.nan}[change]
    with pytest.raises(secant.SecantError, match="were changed after they were assessed"):
        source.heights()


@pytest.mark.parametrize("fold", [8, 11])
def test_folding_changes_nothing(fold, monkeypatch):
    y, p = data("confident")
    expected = answers(y, p)
    monkeypatch.setattr(fixed_sums, "_FOLD_BITS", fold)
    assert answers(y, p) == expected


def test_chunks_do_not_change_a_bit():
    y, p = data("rare")
    whole, parts = (FixedSums(np.sort(p[::50]), N, 500) for _ in range(2))
    whole.add(Chunk(p, y, None))
    for piece in np.array_split(np.random.default_rng(2).permutation(N), 37):
        parts.add(Chunk(p[piece], y[piece], None))
    assert parts.totals() == whole.totals()
    for field in ("low", "high", "n0", "n1", "down", "up"):
        assert (getattr(parts.blocks(), field) == getattr(whole.blocks(), field)).all()


def test_sums_are_right_where_a_sample_told_nothing():
    """Everything lies in one cell, as wide as there is one."""
    y = np.tile([0, 1], N // 2)
    p = np.where(y == 1, 0.75, 0.25) + np.linspace(0, 1e-3, N)
    sums = FixedSums(np.array([0.5]), N, 1)
    sums.add(Chunk(p, y, None))
    blocks, totals = sums.blocks(), sums.totals()
    assert totals.variance == pytest.approx((p * (1 - p)).sum(), rel=1e-13)
    assert blocks.down.sum() == pytest.approx(p[y == 0].sum(), rel=1e-13)
    assert blocks.up.sum() == pytest.approx((1 - p)[y == 1].sum(), rel=1e-13)


@pytest.mark.parametrize(("score", "label"), [("f8", "f8"), ("f8", "i4"), ("f4", "?")])
def test_types_and_strides_change_nothing(score, label):
    y, p = data("uniform")
    p = p.astype(score)
    expected = answers(y, p.astype(np.float64))
    pairs = np.zeros((N, 2), score)
    pairs[:, 1] = p
    assert answers(y.astype(label), p) == expected
    assert answers(np.repeat(y.astype(label), 2)[::2], pairs[:, 1]) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, p: p.__setitem__(77, np.nan), r"y_prob\[77\] is nan"),
        (lambda y, p: p.__setitem__(78, 1 + 1e-7), r"y_prob\[78\] is 1.0000001"),
        (lambda y, p: p.__setitem__(79, -1e-9), r"y_prob\[79\] is -1e-09"),
        (lambda y, p: y.__setitem__(80, 2), r"y_true\[80\] is 2"),
    ],
)
def test_what_is_wrong_is_said_as_ever(change, message):
    y, p = data("uniform")
    change(y, p)
    with pytest.raises(secant.InputError, match=message):
        secant.assess(y, p)


def test_labels_of_minus_one_and_one_are_understood():
    y, p = data("uniform")
    expected = secant.ecce_r(y, p)
    assert secant.ecce_r(2 * y - 1, p) == pytest.approx(expected, rel=0, abs=1e-12)


def test_forbidden_rows_are_found():
    y, p = data("uniform")
    p[[5, 9]], y[[5, 9]] = [0, 1], [1, 0]
    assert secant.assess(y, p, method="asymptotic").forbidden == (5, 9)


def test_scores_too_small_for_whole_numbers_are_left_to_numpy():
    p = np.full(N, 1e-300)
    result = secant.assess(np.zeros(N, int), p, method="asymptotic")
    assert result.sigma == pytest.approx(np.sqrt(1e-300 / N), rel=1e-12)


@pytest.mark.parametrize("hold", [0, N])
def test_files_have_the_bits_of_arrays_however_they_are_cut(tmp_path, monkeypatch, hold):
    optional("pyarrow")
    from secant.sources.files import held
    from secant.sources.files.source import write_parquet

    monkeypatch.setattr(held, "HOLD", hold)

    y, p = data("confident")
    expected = answers(y, p)
    order = np.random.default_rng(3).permutation(N)
    for count in (1, 3):
        paths = []
        for number, part in enumerate(np.array_split(order, count)):
            paths.append(tmp_path / f"{count}-{number}.parquet")
            write_parquet(paths[-1], {"y": y[part], "p": p[part]})
        assert answers("y", "p", data=paths) == expected


@pytest.mark.parametrize("keep", [0, 1 << 18])
def test_models_in_files_have_the_bits_of_arrays(tmp_path, monkeypatch, keep):
    optional("pyarrow")
    from secant.sources.files import first
    from secant.sources.files.source import write_parquet

    monkeypatch.setattr(first, "KEEP", keep)
    y, p = data("uniform")
    write_parquet(tmp_path / "a.parquet", {"y": y, "a": p, "b": p**2, "small": 1e-300 * p})
    names = {"one": "a", "other": "b", "too small": "small"}
    models = secant.assess_models("y", names, data=tmp_path / "a.parquet", method="asymptotic")
    for name, scores in (("one", p), ("other", p**2)):
        alone = secant.assess(y, scores, method="asymptotic")
        assert models[name]._blocks.fixed is not None
        assert models[name].ecce_r.value.hex() == alone.ecce_r.value.hex()
        assert models[name].sigma.hex() == alone.sigma.hex()
        assert models[name].log_loss.value == pytest.approx(alone.log_loss.value, rel=1e-13)
    # Sums in whole numbers do not suffice here.
    alone = secant.assess(y, 1e-300 * p, method="asymptotic")
    assert models["too small"]._blocks.fixed is None
    assert models["too small"].sigma == pytest.approx(alone.sigma, rel=1e-12)


def test_sums_that_do_not_suffice_are_made_again(tmp_path, monkeypatch):
    """As where a sample has seen none of the scores that are too small."""
    optional("pyarrow")
    from secant.sources.files import held
    from secant.sources.files.source import write_parquet

    monkeypatch.setattr(held, "HOLD", 0)
    monkeypatch.setattr(FixedSums, "suit", staticmethod(lambda _: True))
    y, p = data("uniform")
    write_parquet(tmp_path / "a.parquet", {"y": y, "p": 1e-9 * p})
    alone = secant.assess(y, 1e-9 * p, method="asymptotic")
    for found in (
        secant.assess("y", "p", data=tmp_path / "a.parquet", method="asymptotic"),
        secant.assess_models("y", {"m": "p"}, data=tmp_path / "a.parquet", method="asymptotic")[
            "m"
        ],
    ):
        assert found.ecce_r.value == pytest.approx(alone.ecce_r.value, abs=1e-12)
        assert found.sigma == pytest.approx(alone.sigma, rel=1e-12)


def test_groups_have_the_bits_of_their_rows_alone():
    y, p = data("uniform")
    group = np.random.default_rng(4).integers(0, 3, N)
    found = secant.assess_by(y, p, group, method="asymptotic")
    for key in range(3):
        mine = group == key
        alone = secant.assess(y[mine], p[mine], method="asymptotic")
        assert found[key].ecce_r.value.hex() == alone.ecce_r.value.hex()
        assert found[key].sigma.hex() == alone.sigma.hex()


def test_memory_does_not_grow_with_threads(monkeypatch):
    y, p = data("uniform")
    expected = answers(y, p)
    monkeypatch.setattr(kernels, "threads", lambda: 64)
    monkeypatch.setattr(fixed_sums, "_MOST_BYTES", 1 << 20)
    sums = FixedSums(np.sort(p[::50]), N, 4000)
    sums.add(Chunk(p, y, None))
    assert sums._open.nbytes <= 1 << 20
    assert answers(y, p) == expected


def test_a_result_can_be_pickled():
    y, p = data("uniform")
    result = secant.assess(y, p, method="asymptotic")
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    assert again.ecce_r == result.ecce_r
    assert again.mean_score == result.mean_score
    assert result.between(0.2, 0.4).n == np.count_nonzero((p >= 0.2) & (p <= 0.4))


@pytest.mark.parametrize(("tied", "whole"), [(0.5, False), (0.03, False), (0.005, True)])
def test_a_common_score_among_many_is_left_to_cells_that_are_cut_at_it(tied, whole):
    """Or all rows of that score would be collected where an extreme is near it."""
    rng = np.random.default_rng(2)
    p = np.where(rng.random(N) < tied, 0.3, rng.random(N))
    found = rows.RowSource(observations(rng.random(N) < p, p))._compiled_look()
    assert (found is not None) is whole


@pytest.mark.parametrize("low", [0.5, 0.02, 0.999 / (1 + 2**-8)])
def test_scores_close_together_are_left_to_cells_that_are_cut_there(low):
    def sample(width):
        return low * (1 + width * np.linspace(-1 / 18, 19 / 18, 4096).clip(0, 1))

    assert not FixedSums.suit(sample(0.999 * 2**-8))
    assert FixedSums.suit(sample(1.001 * 2**-8))
    assert FixedSums.suit(np.full(4096, low))  # one score has a cell of its own
