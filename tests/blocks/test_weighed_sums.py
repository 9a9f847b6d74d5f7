"""Weighted sums in whole numbers: bit for bit the same in any order, and right."""

import math
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._blocks import kernels, weighed_sums
from secant._blocks.fixed_sums import FixedSums
from secant._blocks.weighed_sums import CopiedSums, WeighedSums, surveyed
from secant._input.observations import Chunk, observations
from secant._input.options import Reading
from secant.sources import rows

optional("numba")

N = 30_000
SCORES = {
    "uniform": lambda rng: rng.random(N),
    "confident": lambda rng: rng.beta(5, 0.3, N),
    "rare": lambda rng: rng.beta(1, 200, N),
    "ties": lambda rng: rng.integers(0, 101, N) / 100,
    "clusters": lambda rng: rng.choice([0.2, 0.7], N) + 1e-9 * rng.random(N),
}
WEIGHTS = {
    "lognormal": lambda rng: rng.lognormal(0, 1, N),
    "equal": lambda _: np.full(N, 0.3),
    "many zeros": lambda rng: rng.random(N) * (rng.random(N) < 0.4),
    "tiny": lambda rng: 1e-90 * rng.lognormal(0, 1, N),
    "huge": lambda rng: 1e90 * rng.lognormal(0, 1, N),
    "one of a million": lambda rng: np.where(np.arange(N) == 77, 1e6, rng.random(N) + 0.5),
}


@pytest.fixture(autouse=True)
def compiled_always(monkeypatch):
    """Few rows are enough here, in small chunks so that threads have something to share."""
    monkeypatch.setattr(rows, "SORT_UP_TO", 0)
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: True)
    monkeypatch.setattr(kernels, "CHUNK", 1 << 10)
    monkeypatch.setattr(kernels, "_A_THREAD", 1 << 10)


def data(scores="uniform", weights="lognormal", seed=0):
    rng = np.random.default_rng(seed)
    p = SCORES[scores](rng)
    return (rng.random(N) < p).astype(np.int64), p, WEIGHTS[weights](rng)


def assessed(y, p, w, **how):
    return secant.assess(y, p, sample_weight=w, method="asymptotic", **how)


def bits(result):
    """Return every number that comes from sums alone, as exact text."""
    numbers = [
        result.n,
        result.sigma,
        result._totals.weight,
        result._totals.ww,
        *result._totals.steps,
    ]
    for each in (result.ecce_r, result.ecce_mad):
        numbers += [each.value, each.normalized, each.pvalue, *each.ci]
    return [float(number).hex() for number in numbers]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_order_and_threads_do_not_change_a_bit(scores, weights, monkeypatch):
    y, p, w = data(scores, weights)
    result = assessed(y, p, w)
    if result._blocks.fixed is None:
        assert weights == "one of a million"  # where the heavy row hides what the others add
    rng = np.random.default_rng(1)
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "threads", lambda threads=threads: threads)
        order = rng.permutation(N)
        again = assessed(y[order], p[order], w[order])
        if result._blocks.fixed is not None:
            assert bits(again) == bits(result)
        assert again.ecce_r.value == pytest.approx(result.ecce_r.value, rel=0, abs=1e-14)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_numpy_gives_the_same_answers(scores, weights, monkeypatch):
    y, p, w = data(scores, weights)
    quick = assessed(y, p, w)
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: False)
    slow = assessed(y, p, w)
    assert quick.ecce_r.value == pytest.approx(slow.ecce_r.value, rel=0, abs=1e-12)
    assert quick.ecce_mad.value == pytest.approx(slow.ecce_mad.value, rel=0, abs=1e-12)
    assert (quick.worst.low, quick.worst.high) == (slow.worst.low, slow.worst.high)
    inside, same = quick.between(0.001, 0.6), slow.between(0.001, 0.6)
    assert inside.n == same.n
    assert inside.miscalibration == pytest.approx(same.miscalibration, rel=0, abs=1e-12)
    for field in fields(quick._totals):
        mine, theirs = getattr(quick._totals, field.name), getattr(slow._totals, field.name)
        assert mine == theirs or mine == pytest.approx(theirs, rel=1e-12), field.name


@pytest.mark.parametrize("scores", SCORES)
def test_counted_copies_have_the_bits_of_rows_repeated(scores):
    y, p, _ = data(scores)
    n = np.random.default_rng(5).integers(0, 4, N)
    counted = assessed(y, p, n, weight_kind="frequency")
    repeated = assessed(np.repeat(y, n), np.repeat(p, n), None)
    assert counted._blocks.fixed is not None
    assert counted.n == repeated.n
    assert bits(counted) == bits(repeated)


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_rows_without_weight_are_as_good_as_absent(kind):
    y, p, _ = data("ties")
    w = np.random.default_rng(6).integers(0, 3, N).astype(float)
    p[w == 0] = np.random.default_rng(7).random(np.count_nonzero(w == 0))  # no ties at all
    some = w > 0
    there = assessed(y, p, w, weight_kind=kind)
    absent = assessed(y[some], p[some], w[some], weight_kind=kind)
    assert bits(there) == bits(absent)
    assert len(there._blocks) == len(absent._blocks)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.booleans(), st.floats(1e-9, 1)), min_size=20, max_size=60
    ),
    st.integers(-90, 90),
)
def test_sums_are_those_of_exact_arithmetic(triples, power):
    p, y, w = map(np.array, zip(*triples, strict=True))
    y, w = y.astype(np.int64), w * 10.0**power
    sums = WeighedSums(np.sort(p + 0.0), len(p), 5, weights=surveyed(w))
    sums.add_rows(p, y, 1, w)
    blocks, totals = sums.blocks(), sums.totals()
    exact = [tuple(map(Fraction, map(float, row))) for row in zip(w, p, y, strict=True)]
    weight = sum(a for a, _, _ in exact)
    assert abs(Fraction(totals.weight) - weight) <= weight / 10**15
    gain = sum(a * (r - s) for a, s, r in exact)
    assert abs(Fraction(blocks.total_gain) - gain) <= weight / 10**15
    assert (
        abs(Fraction(float(blocks.down.sum())) - sum(a * s for a, s, r in exact if not r))
        <= weight / 10**15
    )
    if sums.suffice:
        variance = sum(a * a * s * (1 - s) for a, s, _ in exact)
        assert abs(Fraction(totals.variance) - variance) <= variance / 10**12
        third = sum(a**3 * s * (1 - s) for a, s, _ in exact)
        assert abs(Fraction(totals.third) - third) <= third / 10**12


@pytest.mark.parametrize("heavy", [1e12, 1e30, 1e99])
def test_weights_of_any_size_are_right(heavy):
    y, p, w = data()
    w[5], p[5], y[5] = heavy, 0.4, 1
    result = assessed(y, p, w)
    order = np.argsort(p)
    steps = (w * (y - p))[order]
    path = [math.fsum(steps[:k]) for k in range(0, N + 1, 997)] + [math.fsum(steps)]
    total = math.fsum(w)
    assert result.ecce_mad.value >= max(map(abs, path)) / total - 1e-12
    variance = math.fsum(w * w * p * (1 - p))
    assert result.sigma == pytest.approx(math.sqrt(variance) / total, rel=1e-12)


def test_a_heavy_row_that_is_certain_does_not_blur_the_others():
    """Its variance is zero, so that what the others add must not be lost beside its weight."""
    y, p, w = data()
    w[5], p[5], y[5] = 1e9, 1.0, 1
    result = assessed(y, p, w)
    assert result._blocks.fixed is None
    expected = math.sqrt(math.fsum(w * w * p * (1 - p))) / math.fsum(w)
    assert result.sigma == pytest.approx(expected, rel=1e-12)


def test_a_cell_of_light_rows_alone_is_left_to_doubles():
    y, p, w = data()
    some = p < 0.01
    w[some] *= 2.0**-45
    result = assessed(y, p, w)
    inside = result.between(0.0, 0.005)
    mine = p <= 0.005
    rate = math.fsum((w * y)[mine]) / math.fsum(w[mine])
    assert result._blocks.fixed is None
    assert inside.mean_response == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("order", ["ascending", "descending", "any"])
def test_sums_grow_coarser_as_heavier_rows_come(order):
    """As of files, whose weights are not known before they are read."""
    y, p, w = data()
    w[::1000] *= 1e4
    place = {"ascending": np.argsort(w), "descending": np.argsort(-w), "any": np.arange(N)}[order]
    known = WeighedSums(np.sort(p[::50]), N, 500, weights=surveyed(w))
    known.add_rows(p, y, 1, w)
    grown = WeighedSums(np.sort(p[::50]), N, 500, log_loss=True)
    for piece in np.array_split(place, 13):
        grown.add(Chunk(p[piece], y[piece], w[piece]))
    assert grown.suffice
    mine, theirs = grown.totals(), known.totals()
    for field in fields(mine):
        if field.name != "log_loss":
            found, expected = getattr(mine, field.name), getattr(theirs, field.name)
            assert found == expected or found == pytest.approx(expected, rel=1e-13), field.name
    lost = -(w * np.log(np.where(y == 1, p, 1 - p))).sum()
    assert mine.log_loss == pytest.approx(lost, rel=1e-12)
    for name in ("w0", "w1", "down", "up"):
        a, b = getattr(grown.blocks(), name), getattr(known.blocks(), name)
        assert a == pytest.approx(b, rel=1e-12)
    assert (grown.blocks().n == known.blocks().n).all()


@pytest.mark.parametrize("kind", [WeighedSums, CopiedSums])
def test_sums_of_threads_are_joined(kind):
    y, p, _ = data()
    w = np.random.default_rng(3).integers(1, 9, N) * 1.0
    w[-1] = 1e5  # the last thread has to make units coarser
    alone = kind(np.sort(p[::50]), N, 500, log_loss=True)
    alone.add(Chunk(p, y, w))
    joined = kind(np.sort(p[::50]), N, 500, log_loss=True)
    others = [joined.beside() for _ in range(4)]  # one of which finds nothing to do
    for other, piece in zip(others, np.array_split(np.arange(N), 3), strict=False):
        assert other.add_unchecked(Chunk(p[piece], y[piece], w[piece]))
    for other in others:
        joined.join(other)
    mine, theirs = joined.totals(), alone.totals()
    assert mine.log_loss == pytest.approx(theirs.log_loss, rel=1e-13)
    assert replace(mine, log_loss=None) == replace(theirs, log_loss=None)
    for name in ("n0", "n1", "w0", "w1", "down", "up"):
        assert (getattr(joined.blocks(), name) == getattr(alone.blocks(), name)).all()


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
@pytest.mark.parametrize("weights", ["few", "heavy at last"])
def test_files_have_the_numbers_of_arrays(tmp_path, monkeypatch, kind, weights):
    optional("pyarrow")
    from secant.sources.files import held
    from secant.sources.files.source import write_parquet

    monkeypatch.setattr(held, "HOLD", 0)
    y, p, _ = data("confident")
    w = np.random.default_rng(3).integers(0, 5, N) * 1.0
    w[-1] = 3 if weights == "few" else 2.0**45  # more than units are fine enough for
    write_parquet(tmp_path / "a.parquet", {"y": y, "p": p, "w": w})
    found = assessed("y", "p", "w", data=tmp_path / "a.parquet", weight_kind=kind)
    arrays = assessed(y, p, w, weight_kind=kind)
    assert (found._blocks.fixed is not None) is (weights == "few")
    assert found.ecce_r.value == pytest.approx(arrays.ecce_r.value, rel=0, abs=1e-14)
    assert found._totals.agrees(arrays._totals)
    assert found.sigma == pytest.approx(arrays.sigma, rel=1e-12)
    if weights == "few":
        assert bits(found) == bits(arrays)


def test_weights_that_cannot_be_used_are_noticed():
    y, p, w = data()
    w[7] = np.nan
    assert not WeighedSums(np.sort(p[::50]), N, 500).add_unchecked(Chunk(p, y, w))


@pytest.mark.parametrize(("score", "label", "weight"), [("f4", "?", "f4"), ("f8", "i1", "f8")])
def test_types_and_strides_change_nothing(score, label, weight):
    y, p, w = data()
    p, w = p.astype(score), w.astype(weight)
    expected = bits(assessed(y, p.astype(np.float64), w.astype(np.float64)))
    assert bits(assessed(y.astype(label), p, w)) == expected
    wide = np.repeat(w, 3)
    assert bits(assessed(np.repeat(y.astype(label), 2)[::2], p[::-1][::-1], wide[::3])) == expected


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (np.nan, "sampling", r"sample_weight\[80\] is nan"),
        (-1.0, "sampling", r"sample_weight\[80\] is -1.0"),
        (1e101, "sampling", r"sample_weight\[80\] is 1e\+101"),
        (1e-101, "sampling", r"sample_weight\[80\] is 1e-101"),
        (0.5, "frequency", r"sample_weight\[80\] is 0.5"),
    ],
)
def test_what_is_wrong_is_said_as_ever(value, kind, message):
    y, p, w = data()
    w = np.ones(N)
    w[80] = value
    with pytest.raises(secant.InputError, match=message):
        assessed(y, p, w, weight_kind=kind)


def test_weights_that_are_all_zero_are_refused():
    y, p, _ = data()
    with pytest.raises(secant.InputError, match="is zero in every row"):
        assessed(y, p, np.zeros(N))


def test_forbidden_rows_without_weight_do_not_count():
    y, p, w = data()
    p[[5, 9]], y[[5, 9]], w[5] = [0, 1], [1, 0], 0
    assert assessed(y, p, w).forbidden == (9,)


@pytest.mark.parametrize("more", [0, 1])
def test_copies_are_counted_up_to_a_limit(more, monkeypatch):
    monkeypatch.setattr(weighed_sums, "_MOST_COPIES", 3 * N)
    y, p, _ = data()
    n = np.full(N, 3)
    n[7] += more
    source = rows.RowSource(observations(y, p, n, Reading("frequency")))
    assert (source._compiled_look() is None) is (more == 1)


@pytest.mark.parametrize(("power", "whole"), [(29, True), (31, False)])
def test_weights_too_light_beside_the_heaviest_are_left_to_numpy(power, whole):
    w = np.ones(N)
    w[3] = 2.0**power
    assert WeighedSums.suit_weights(surveyed(w)) is whole


def test_words_do_not_overflow_where_there_are_many_rows():
    """Weights are scaled down by what more rows than a word has room for would need."""
    few = WeighedSums(np.array([0.5]), 1 << 26, 1, weights=surveyed(np.ones(9)))
    many = WeighedSums(np.array([0.5]), 1 << 30, 1, weights=surveyed(np.ones(9)))
    assert few._scale == 0.25
    assert many._scale == 2.0**-6


def test_copies_in_chunks_have_the_bits_of_rows():
    y, p, _ = data("rare")
    n = np.random.default_rng(8).integers(1, 1000, N).astype(float)
    whole, parts = (CopiedSums(np.sort(p[::50]), N, 500) for _ in range(2))
    whole.add(Chunk(p, y, n))
    for piece in np.array_split(np.random.default_rng(2).permutation(N), 7):
        parts.add(Chunk(p[piece], y[piece], n[piece]))
    assert parts.totals() == whole.totals()
    assert whole.totals().n == n.sum()
    alone = FixedSums(np.sort(p[::50]), N, 500)
    alone.add(Chunk(p, y, None))
    once = CopiedSums(np.sort(p[::50]), N, 500)
    once.add(Chunk(p, y, np.ones(N)))
    assert once.totals() == alone.totals()
    assert (once.blocks().down == alone.blocks().down).all()
