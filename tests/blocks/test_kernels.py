"""Compiled passes: they tell what plain numpy tells, of every type of array."""

import os
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._blocks import kernels
from secant._blocks.grids import Scratch, SpreadGrid
from secant.sources.rows import _ranges

LABELS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]

scores = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 2.0**-12, 0.5, 1 - 2**-53, 1.0])
)
rows = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=60)


def looked(p, y, grid=None):
    """Look at rows without compiling; return the facts about them, and their sums in cells."""
    grid = SpreadGrid(np.array([0.5]), 1, -2) if grid is None else grid
    facts, sums = kernels.no_facts(), np.zeros((2 * grid.n_buckets, 2), np.int64)
    place, mixed = (grid.table, grid.shift, grid.bottom), np.ones(grid.n_buckets, bool)
    kernels.add_rows(p, y, None, None, None, 1, *place, facts, sums, mixed, np.zeros(1))
    return facts, sums


def columns(pairs):
    p, y = zip(*pairs, strict=True)
    return np.array(p), np.array(y).astype(np.int64)


@given(rows)
def test_what_is_told_of_usable_rows(pairs):
    p, y = columns(pairs)
    facts, _ = looked(p, y)
    extent = facts[[kernels.LOWEST, kernels.HIGHEST]].view(np.float64)
    assert extent.tolist() == [p.min(), p.max()]
    assert not facts[kernels.OTHER]
    assert facts[kernels.REFUSED] == np.count_nonzero(np.where(y == 1, p == 0, p == 1))


@given(rows, st.sampled_from([np.nan, -np.nan, np.inf, -np.inf, -1e-300, 1 + 1e-15, -5e-324]))
def test_no_unusable_score_goes_unseen(pairs, bad):
    p, y = columns([*pairs, (bad, True)])
    facts, _ = looked(p, y)
    assert facts[kernels.LOWEST] < 0 or facts[kernels.HIGHEST] > kernels.ONE


@given(rows, st.sampled_from([-1, 2, 3, 256, -(2**63)]))
def test_no_other_label_goes_unseen(pairs, bad):
    p, y = columns(pairs)
    y = np.append(y, bad)
    facts, _ = looked(np.append(p, 0.5), y)
    assert facts[kernels.OTHER] != 0


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_are_whole_numbers_without_a_copy(kind):
    labels = np.array([0, 1, 1, 0], kind)
    whole, one = kernels.as_whole(labels)
    assert np.shares_memory(whole, labels)
    assert ((whole == one) == [False, True, True, False]).all()
    assert (whole[[0, 3]] == 0).all()


@pytest.mark.parametrize("kind", ["U1", "O", "c16", ">i8", "M8[s]"])
def test_labels_of_other_types_are_left_to_numpy(kind):
    assert kernels.as_whole(np.zeros(3, kind)) is None


@given(rows, st.integers(1, 40))
def test_python_adds_up_what_the_grid_says(pairs, n_cells):
    p, y = columns(pairs)
    grid = SpreadGrid(np.sort(p + 0.0), n_cells, -2)
    cell = grid.bucket(p, Scratch())
    _, sums = looked(p, y, grid)
    expected = np.zeros_like(sums)
    units = [round(Fraction(s) * 2**52) for s in p]  # of two that are as near, the even one
    for k, happened, unit in zip(cell, y, units, strict=True):
        expected[2 * k + happened] += [1, unit]
    assert (sums == expected).all()


@given(rows, st.integers(1, 3), st.integers(1, 30))
def test_cells_are_settled_as_their_rows_say(pairs, threads, n_cells):
    """Heights at the ends of cells, and whether a cell's rows could lie beyond all of them."""
    p, y = columns(pairs)
    grid = SpreadGrid(np.sort(p + 0.0), n_cells, -2)
    parts = [looked(p[k::threads], y[k::threads], grid)[1] for k in range(threads)]
    start = (grid.low + 1.0).view(np.int64) - kernels.ONE
    cells = grid.n_buckets
    count, high, low = np.zeros((3, 2 * cells), np.int64)
    heights, path = np.empty((cells + 1, 2), np.int64), np.empty(cells + 1)
    wanted, extremes = np.ones(cells, bool), np.empty(2)
    kernels.fold(np.array(parts), start, count, high, low)
    sums = start, count, high, low
    taken = kernels.undecided_cells(*sums, wanted, heights, path, extremes, 0.0)
    cell = grid.bucket(p, Scratch())
    units = [(int(r) << 52) - round(Fraction(s) * 2**52) for s, r in zip(p, y, strict=True)]
    sums = [sum(u for u, c in zip(units, cell, strict=True) if c < k) for k in range(cells + 1)]
    assert [(upper << 26) + lower for upper, lower in heights.tolist()] == sums
    assert path.tolist() == [float(Fraction(each, 2**52)) for each in sums]
    assert extremes.tolist() == [max(path.max(), 0.0), min(path.min(), 0.0)]
    filled = np.unique(cell)
    for k in filled:
        inside = cell == k
        rise, fall = (1 - p)[inside & (y == 1)].sum(), p[inside & (y == 0)].sum()
        beyond = max(path[k] + rise - extremes[0], extremes[1] - path[k] + fall)
        assert wanted[k] == (beyond >= 0) or abs(beyond) < 1e-12
    assert not np.delete(wanted, filled).any()
    assert taken == (np.isin(cell, np.flatnonzero(wanted)).sum(), filled.size - wanted.sum())


@given(rows, st.lists(scores, min_size=8, max_size=8).map(sorted))
def test_python_selects_what_lies_in_ranges(pairs, ends):
    p, _ = columns(pairs)
    low, high = np.array(ends[::2]), np.array(ends[1::2])
    found = np.empty(p.shape[0] + 1, np.int64)
    count = kernels.select(p, low, high, found)
    inside = ((p[:, None] >= low) & (p[:, None] <= high)).any(axis=1)
    assert found[:count].tolist() == np.flatnonzero(inside).tolist()


@given(rows, st.sets(st.integers(0, 30)))
def test_python_collects_the_rows_of_wanted_cells(pairs, cells):
    p, y = columns(pairs)
    grid = SpreadGrid(np.sort(p + 0.0), 20, -2)
    wanted = np.isin(np.arange(grid.n_buckets), list(cells))
    if not wanted.any():
        return
    low, high = _ranges(grid.low[wanted], grid.high[wanted], kernels.MORE_RANGES)
    low, high = low.view(np.uint64), high.view(np.uint64)
    place, keys = (grid.table, grid.shift, grid.bottom), np.empty(p.shape[0] + 1, np.int64)
    with np.errstate(over="ignore"):
        count = kernels.collect(p, y, 1, *place, wanted, low, high - low, keys)
    mine = wanted[grid.bucket(p, Scratch())]
    assert ((keys[:count] >> 1).view(np.float64) == p[mine] + 0.0).all()
    assert (keys[:count] & 1 == y[mine]).all()


@pytest.mark.parametrize("layout", ["contiguous", "strided", "backwards", "read-only"])
@pytest.mark.parametrize(("score", "label"), [("f8", "i8"), ("f4", "?")])
def test_compiled_code_has_the_numbers_of_python(score, label, layout):
    optional("numba")
    rng = np.random.default_rng(0)
    p, y = rng.random(5000).astype(score), rng.integers(0, 2, 5000).astype(label)
    p[:3], y[:3] = [0, 1, -0.0], [1, 0, 0]
    if layout == "strided":
        p, y = np.repeat(p, 2)[::2], np.repeat(y, 3)[::3]
    elif layout == "backwards":
        p, y = p[::-1], y[::-1]
    elif layout == "read-only":
        p.flags.writeable = y.flags.writeable = False
    whole, one = kernels.as_whole(y)
    grid = SpreadGrid(np.sort(np.abs(p.astype(float))), 64, -4)
    anchor = grid.low.view(np.int64)
    kinds = kernels.kind_of(p), kernels.kind_of(whole)

    def run(python):
        def of(function, *types):
            return function if python else kernels.compiled(function, *types)

        facts, sums = kernels.no_facts(), np.zeros((2 * grid.n_buckets, 2), np.int64)
        mixed = np.zeros(grid.n_buckets, bool)
        place = grid.table, grid.shift, grid.bottom
        # Few enough in a cell that no sum wraps around, which numpy would warn of.
        few = slice(0, 1000)
        plain = *kinds, "none", "none", "numbers"
        columns, besides = (p[few], whole[few], None, None, anchor, one), (mixed, np.zeros(1))
        of(kernels.add_rows, *plain)(*columns, *place, facts, sums, *besides)
        found = np.empty(p.shape[0] + 1, np.int64)
        ends = np.array([[0.0, 0.3, 0.5, 0.9], [0.0, 0.31, 0.5, 1.0]])
        count = of(kernels.select, kinds[0])(p, *ends, found)
        keys, wanted = np.empty(p.shape[0] + 1, np.int64), np.arange(grid.n_buckets) % 3 == 0
        low = np.array([0.0, 0.3, 0.3, 0.5, 0.7, 0.9]).view(np.uint64)
        width = np.array([0.0, 0.31, 0.4, 0.6, 0.8, 1.0]).view(np.uint64) - low
        with np.errstate(over="ignore"):  # of which numpy would warn
            packed = of(kernels.collect, *kinds)(p, whole, one, *place, wanted, low, width, keys)
        return facts, sums, mixed, found[:count], keys[:packed]

    for python, quick in zip(run(python=True), run(python=False), strict=True):
        assert (python == quick).all()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_chunks_are_shared_out_whole_and_once(most, monkeypatch):
    monkeypatch.setattr(kernels, "CHUNK", 10)
    monkeypatch.setattr(kernels, "_A_THREAD", 10)
    taken = [[] for _ in range(most)]
    kernels.share_out(95, lambda number, chunks: taken[number].extend(chunks), most)
    every = sorted((chunk.start, chunk.stop) for mine in taken for chunk in mine)
    assert every == [(k, min(k + 10, 95)) for k in range(0, 95, 10)]


def test_what_fails_in_a_thread_is_not_lost(monkeypatch):
    monkeypatch.setattr(kernels, "_A_THREAD", 1)
    begun = threading.Event()

    def work(number, chunks):
        list(chunks)
        if number:
            begun.set()
            raise KeyError(number)
        begun.wait()

    with pytest.raises(KeyError):
        kernels.share_out(10, work, 2)


def test_a_thread_that_is_busy_elsewhere_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(kernels, "_A_THREAD", 1)
    monkeypatch.setattr(kernels, "CHUNK", 1)
    done, taken = threading.Event(), []
    busy = kernels._pool(os.getpid(), 2).submit(done.wait)
    kernels.share_out(10, lambda number, chunks: taken.extend((number, c) for c in chunks), 2)
    done.set()
    assert busy.result()
    assert [number for number, _ in taken] == [0] * 10


def test_another_process_has_threads_of_its_own():
    assert kernels._pool(-1, 2) is not kernels._pool(-2, 2)


numbers = st.one_of(
    st.integers(0, 2**63 - 1), st.integers(0, 40), st.integers(0, 62).map(lambda k: 1 << k)
)


@given(st.lists(numbers, max_size=300))
def test_numbers_are_put_in_order(values):
    keys = np.array(values, np.int64)
    kernels.arrange(None, None, keys, np.empty_like(keys))
    assert keys.tolist() == sorted(values)


@pytest.mark.parametrize("n", [0, 1, 2, 17, kernels._BUCKETS, kernels._BUCKETS + 1, 100_000])
@pytest.mark.parametrize("name", ["spread", "equal", "two values", "descending", "crowded"])
def test_compiled_code_puts_numbers_in_order(name, n):
    optional("numba")
    rng = np.random.default_rng(n)
    keys = {
        "spread": rng.integers(0, 2**63 - 1, n),
        "equal": np.full(n, 2**62),
        "two values": rng.integers(0, 2, n) * (2**63 - 1),
        "descending": np.arange(n)[::-1].copy(),
        "crowded": 2 ** rng.integers(0, 62, n) + rng.integers(0, 3, n),
    }[name]
    expected = np.sort(keys)
    arrange = kernels.compiled(kernels.arrange, "none", "none")
    arrange(None, None, keys, np.empty_like(keys))
    assert (keys == expected).all()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_sort_has_one_answer(compiled, monkeypatch):
    if compiled:
        optional("numba")
    monkeypatch.setattr(kernels, "should_use_numba", lambda *_, **__: compiled)
    keys = np.random.default_rng(0).integers(0, 2**63 - 1, 1000)
    expected = np.sort(keys)
    kernels.sort(keys)
    assert (keys == expected).all()


@given(rows)
def test_python_multiplies_chances_before_it_takes_a_logarithm(pairs):
    p, y = columns(pairs)
    chance = np.where(y == 1, p, 1 - p)
    with np.errstate(divide="ignore"):
        expected = np.log(chance).sum()
    # Each factor may move the logarithm by as much as it moves the product.
    assert kernels.log_loss(p, y, None, 1) == pytest.approx(expected, rel=1e-14, abs=2e-16 * len(p))


def test_compiled_code_loses_what_python_does():
    optional("numba")
    rng = np.random.default_rng(1)
    small = np.where(rng.random(4000) < 0.3, 1e-300 * rng.random(4000), rng.random(4000))
    for p in (rng.random(4001), small, np.zeros(9), np.array([0.0, 1.0])):
        y = (rng.random(p.shape[0]) < 0.5).astype(np.int8)
        quick = kernels.compiled(kernels.log_loss, *map(kernels.kind_of, (p, y, None)))
        assert quick(p, y, None, 1) == pytest.approx(kernels.log_loss(p, y, None, 1), rel=1e-14)


def test_threads_are_as_many_as_numba_is_told_to_use(monkeypatch):
    numba = optional("numba")
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 7)
    assert kernels.threads() == 7


class TestWhenItPays:
    @pytest.fixture(autouse=True)
    def usable(self, monkeypatch):
        monkeypatch.setattr(kernels, "is_usable", lambda _: True)
        monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)

    def test_the_number_of_rows_alone_decides(self):
        few, many = kernels.FEWEST_ROWS - 1, kernels.FEWEST_ROWS
        calls = 0, few, many, few, many
        assert list(map(kernels.should_use_numba, calls)) == [False, False, True, False, True]

    def test_without_a_numba_that_starts_it_never_does(self, monkeypatch):
        monkeypatch.setattr(kernels, "is_usable", lambda _: False)
        assert not kernels.should_use_numba(1 << 40)

    def test_with_the_compiler_turned_off_it_never_does(self, monkeypatch):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
        assert not kernels.should_use_numba(1 << 40)

    def test_whether_it_starts_is_not_asked_for_few_rows(self, monkeypatch):
        monkeypatch.setattr(kernels, "is_usable", lambda _: pytest.fail("it was started"))
        assert not kernels.should_use_numba(kernels.FEWEST_ROWS - 1)


_BEFORE = {
    "nothing": "",
    "numba": "import numba",
    "compiled passes": "secant.ecce_r(*some(kernels.FEWEST_ROWS))",
}


@pytest.mark.parametrize("rows", [100_000, kernels.FEWEST_ROWS - 1, kernels.FEWEST_ROWS])
def test_the_same_call_gives_the_same_bits_whatever_the_process_did_before(rows):
    """Ten calls, in a process that is fresh and in two that are not."""
    optional("numba")
    script = """
import sys, numpy as np, secant
from secant._blocks import kernels
def some(n):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p
{before}
y, p = some({rows})
for _ in range(10):
    r, mad = secant.assess(y, p).ecce_r, secant.assess(y, p).ecce_mad
    print(*(float(x).hex() for x in (r.pvalue, r.value, mad.pvalue, mad.value)))
"""
    found = set()
    for before in _BEFORE.values():
        command = [sys.executable, "-c", script.format(before=before, rows=rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        assert len(lines) == 10
        found |= set(lines)
    assert len(found) == 1


def test_where_nothing_can_be_kept_on_disk_it_is_compiled_all_the_same():
    class Numba:
        @staticmethod
        def njit(signatures, *, cache=False, nogil):
            if cache:
                msg = "cannot cache function: no locator available"
                raise RuntimeError(msg)
            assert nogil
            return lambda function: (function, signatures)

    assert kernels._dispatcher(Numba, kernels.fold, "types") == (kernels.fold, ["types"])


def test_a_small_job_imports_no_numba():
    code = """
import sys, numpy as np, secant
p = np.random.default_rng(0).random(200_000)
for _ in range(30):
    secant.ecce_r(p > 0.5, p)
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("variable", "script"),
    [
        ("NUMBA_DISABLE_JIT", "print(secant.ecce_r(y, p))"),
        ("SECANT_NOTHING", "import atexit; atexit.register(lambda: print(secant.ecce_r(y, p)))"),
    ],
)
def test_without_compiler_or_threads_the_answer_is_the_same(variable, script):
    """People turn the compiler off to debug, and measure when a process ends."""
    optional("numba")
    data = (
        "import numba, numpy as np, secant; from secant._blocks import kernels; "
        "kernels.FEWEST_ROWS = 1 << 13; "
        "p = np.random.default_rng(0).random(200_000); y = np.arange(200_000) % 2; "
    )
    environment = {**os.environ, variable: "1", "NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-c", data + script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    p = np.random.default_rng(0).random(200_000)
    assert float(done.stdout) == pytest.approx(secant.ecce_r(np.arange(200_000) % 2, p), rel=1e-12)
    assert not done.stderr


@pytest.mark.parametrize("threads", ["0", "-1"])
def test_with_settings_that_numba_refuses_the_answer_is_the_same(threads):
    """In a process of its own: passes over many rows, and a P-value worth compiling for."""
    optional("numba")
    script = (
        "import numpy as np, secant; from secant._blocks import kernels; "
        "from secant._inference import walk; "
        "kernels.FEWEST_ROWS = 1 << 13; walk._WORTH_COMPILING = 0; "
        "p = np.random.default_rng(0).random(200_000); y = np.arange(200_000) % 2; "
        "print(secant.ecce_r(y, p), secant.assess(y[:300], p[:300]).ecce_r.pvalue)"
    )
    environment = {**os.environ, "NUMBA_NUM_THREADS": threads}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    p, y = np.random.default_rng(0).random(200_000), np.arange(200_000) % 2
    expected = secant.ecce_r(y, p), secant.assess(y[:300], p[:300]).ecce_r.pvalue
    assert [float(word) for word in done.stdout.split()] == pytest.approx(expected, rel=1e-12)
    assert not done.stderr
