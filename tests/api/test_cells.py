"""Cells: a summary that can be fed, added up and stored, and what it is certain of."""

import copy
import errno
import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
import zlib
from fractions import Fraction
from itertools import chain
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from secant import Cells, InputError

Y, P, W = [0, 1, 0, 1, 1], [0.2, 0.3, 0.6, 0.8, 1.0], [1, 2.5, 3, 0.5, 1]
CELLS = [1, 2, 16, 4096, 65536]


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


def state(n_cells, *batches):
    cells = Cells(n_cells)
    for batch in batches:
        cells.update(**batch)
    return cells


def assert_same(one, other):
    """Assert that two states know the same, within 1e-12."""
    a, b = one.bounds(), other.bounds()
    assert (one.n, one.n_cells, one.forbidden) == (other.n, other.n_cells, other.forbidden)
    assert a.ecce_r == pytest.approx(b.ecce_r, rel=0, abs=1e-12)
    assert a.ecce_mad == pytest.approx(b.ecce_mad, rel=0, abs=1e-12)
    # Below the absolute limit w^2 s(1 - s) underflows: it stands for scores such as 5e-324.
    assert a.sigma == pytest.approx(b.sigma, rel=1e-12, abs=1e-150)
    assert a.n == b.n


# --- data -----------------------------------------------------------------------------------------

near = st.integers(-9, 9).map(lambda k: k * 1e-10)
scores = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0, 5e-324, 1e-9, 1 - 2**-53]),
    st.tuples(st.sampled_from([0.25, 0.7]), near).map(sum),  # two clusters of width 2e-9
    st.integers(0, 16).map(lambda k: k / 16),  # edges of cells
)


@st.composite
def batches(draw, kinds=(None, "sampling", "frequency")):
    """Return a batch: rows without weights, with sampling weights or with copies."""
    rows = draw(st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=12))
    y, p = map(list, zip(*rows, strict=True))
    kind = draw(st.sampled_from(kinds))
    if kind is None:
        return {"y_true": y, "y_prob": p}
    positive = st.integers(1, 4) if kind == "frequency" else st.floats(1e-3, 1e3)
    others = st.lists(positive | st.just(0), min_size=len(y) - 1, max_size=len(y) - 1)
    weights = [draw(positive), *draw(others)]
    return {"y_true": y, "y_prob": p, "sample_weight": weights, "weight_kind": kind}


def rows_of(batch):
    """Return labels, scores and weights, copies of rows as rows of weight one."""
    y, p = batch["y_true"], batch["y_prob"]
    w = batch.get("sample_weight", [1] * len(y))
    if batch.get("weight_kind") == "frequency":
        y, p = (np.repeat(column, w).tolist() for column in (y, p))
        w = [1] * len(y)
    kept = [i for i, x in enumerate(w) if x]
    return [[column[i] for i in kept] for column in (y, p, w)]


def half_tied(rng, n):
    return np.where(rng.random(n) < 0.5, 0.3, rng.random(n))


def two_clusters(rng, n):
    return rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n)


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
    """About 0.02 sigma for a million predictions in 65,536 cells (METHOD, section 6)."""
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


@given(st.sampled_from(CELLS), st.lists(batches(), min_size=1, max_size=5), st.data())
def test_order_and_way_of_merging_do_not_matter(n_cells, parts, data):
    expected = state(n_cells, *parts)
    shuffled = data.draw(st.permutations(parts))
    assert_same(state(n_cells, *shuffled), expected)
    assert_same(sum(state(n_cells, part) for part in shuffled), expected)

    # A random tree of sums.
    states = [state(n_cells, part) for part in shuffled]
    while len(states) > 1:
        left = states.pop(data.draw(st.integers(0, len(states) - 1)))
        right = states.pop(data.draw(st.integers(0, len(states) - 1)))
        states.append(left + right)
    assert_same(states[0], expected)

    grown = Cells(n_cells)
    for part in shuffled:
        grown.merge(state(n_cells, part))
    assert_same(grown, expected)


@pytest.mark.parametrize("n_cells", CELLS)
@pytest.mark.parametrize("make", [half_tied, two_clusters])
@pytest.mark.parametrize("weighted", [False, True])
def test_chunking_of_many_rows_does_not_matter(n_cells, make, weighted):
    rng = np.random.default_rng(1)
    n = 150_000
    p = make(rng, n)
    columns = {"y_true": (rng.random(n) < p).astype(int), "y_prob": p}
    if weighted:
        columns["sample_weight"] = rng.choice([0.1, 0.7, 3.3], n)
    whole = state(n_cells, columns)
    cuts = np.sort(rng.integers(0, n, 40))
    order = rng.permutation(n)
    pieces = [
        {name: column[rows] for name, column in columns.items()}
        for rows in np.split(order, cuts)
        if rows.size
    ]
    assert_same(state(n_cells, *pieces), whole)
    assert_same(sum(state(n_cells, piece) for piece in reversed(pieces)), whole)


@pytest.mark.parametrize("n_cells", CELLS)
def test_a_very_common_score_does_not_drift(n_cells):
    n = 1 << 17
    y, p = np.arange(n) % 7 == 0, np.full(n, 0.99)
    whole = state(n_cells, {"y_true": y, "y_prob": p})
    pieces = [{"y_true": y[i::128], "y_prob": p[i::128]} for i in range(128)]
    assert_same(state(n_cells, *pieces), whole)


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


@given(batches(kinds=["frequency"]))
def test_copies_equal_repeated_rows(batch):
    y, p, _ = rows_of(batch)
    for n_cells in (2, 4096):
        repeated = state(n_cells, {"y_true": y, "y_prob": p})
        assert_same(state(n_cells, batch), repeated)


@given(batches(kinds=["sampling"]), st.floats(1e-6, 1e6))
def test_the_scale_of_sampling_weights_does_not_matter(batch, scale):
    scaled = {**batch, "sample_weight": [scale * w for w in batch["sample_weight"]]}
    assert_same(state(64, scaled), state(64, batch))


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
    assert repr(cells) == f"<secant.Cells: 5 predictions in {int(n_cells):,} cells>"


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


# --- files ----------------------------------------------------------------------------------------


def test_what_cannot_be_saved_names_the_file_asked_for(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere" / "cells", tmp_path / "file" / "cells"):
        with pytest.raises(OSError, match="cells") as caught:
            Cells().save(path)
        assert caught.value.filename == str(path)


@given(st.lists(batches(), max_size=3), st.sampled_from(CELLS))
def test_saving_and_loading_loses_nothing(tmp_path_factory, parts, n_cells):
    folder = tmp_path_factory.mktemp("states")
    cells = state(n_cells, *parts)
    cells.save(folder / "one")
    loaded = Cells.load(str(folder / "one"))
    loaded.save(str(folder / "two"))
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    assert (loaded.n, loaded.n_cells, loaded.forbidden) == (cells.n, n_cells, cells.forbidden)
    if parts:
        assert loaded.bounds() == cells.bounds()
    # A loaded state goes on like the one that was saved.
    for later in (loaded, cells):
        later.update(Y, P, W)
    assert loaded.bounds() == cells.bounds()


def test_a_state_from_another_process(tmp_path):
    script = """
        import sys
        import numpy as np, secant
        rng = np.random.default_rng(3)
        cells = secant.Cells(4096)
        cells.update(rng.integers(0, 2, 5000), rng.random(5000), rng.random(5000))
        cells.save(sys.argv[1])
        print(repr(cells.bounds()))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "state")]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    rng = np.random.default_rng(3)
    here = Cells(4096)
    here.update(rng.integers(0, 2, 5000), rng.random(5000), rng.random(5000))
    loaded = Cells.load(tmp_path / "state")
    assert repr(loaded.bounds()) == run.stdout.strip() == repr(here.bounds())
    assert_same(loaded + here, here + here)


def test_an_empty_state_can_be_saved(tmp_path):
    Cells(16).save(tmp_path / "empty")
    loaded = Cells.load(tmp_path / "empty")
    assert (loaded.n, loaded.n_cells) == (0, 16)
    loaded.update(Y, P)
    assert loaded.bounds() == state(16, {"y_true": Y, "y_prob": P}).bounds()


def test_saving_replaces_an_older_state(tmp_path):
    target = tmp_path / "état 1.cells"
    for n in (1, 2):
        state(16, *[{"y_true": Y, "y_prob": P}] * n).save(target)
        assert Cells.load(target).n == 5 * n
    assert os.listdir(tmp_path) == [target.name]  # noqa: PTH208


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "ordinary").touch()
    state(16, {"y_true": Y, "y_prob": P}).save(tmp_path / "state")
    modes = {(tmp_path / name).stat().st_mode for name in ("ordinary", "state")}
    assert len(modes) == 1, "others could read an ordinary file"


@pytest.fixture
def saved(tmp_path):
    target = tmp_path / "a state"
    state(64, {"y_true": Y, "y_prob": P, "sample_weight": W}).save(target)
    return target


def refuses(path):
    """Assert that a file is refused, and that the message says which."""
    with pytest.raises(InputError) as caught:
        Cells.load(path)
    assert str(path) in str(caught.value)


def test_a_truncated_file_is_refused(saved):
    content = saved.read_bytes()
    for length in range(len(content)):
        saved.write_bytes(content[:length])
        refuses(saved)
    saved.write_bytes(content + b"\0")
    refuses(saved)
    saved.write_bytes(content)
    assert Cells.load(saved).n == 5


def test_a_flipped_bit_is_noticed(saved):
    content = saved.read_bytes()
    unnoticed = []
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        saved.write_bytes(damaged)
        try:
            Cells.load(saved)
        except InputError as error:
            assert str(saved) in str(error)  # noqa: PT017
        else:
            unnoticed.append(place)
    assert not unnoticed, bytes(content[place] for place in unnoticed)


class Trap:
    """Unpickling this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"secant", b"secant cells\n", b"secant cells\n{}\n", b"secant cells\nnull\n",
     b"secant cells\n\xff\xfe\n", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"y,p\n0,0.5\n",
     b"secant cells\n" + b"[" * 100_000, b"secant cells\n" + b"9" * 10_000 + b"\n"],
    ids=lambda content: repr(content[:20]),
)  # fmt: skip
def test_foreign_files_are_refused(tmp_path, content):
    target = tmp_path / "something else"
    target.write_bytes(content)
    refuses(target)


def test_a_pickle_is_not_executed(tmp_path):
    target, sprung = tmp_path / "pickle", tmp_path / "sprung"
    target.write_bytes(pickle.dumps(Trap(sprung)))
    refuses(target)
    assert not sprung.exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Cells.load(tmp_path / "nowhere")
    with pytest.raises((InputError, OSError), match=tmp_path.name):
        Cells.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing folder"):
        Cells(16).save(tmp_path / "missing folder" / "state")


# Files made to deceive: right magic, right checksum, wrong content --------------------------------


def forge(path, header=None, payload=None):
    """Save a state after tampering with what goes into the file, so that checksums agree."""

    def dumps(value, *args, **kwargs):
        if isinstance(value, dict) and "n_cells" in value:
            value = {**value, **(header or {})}
            value = {name: item for name, item in value.items() if item is not ...}
        return real_dumps(value, *args, **kwargs)

    def compress(data, *args, **kwargs):
        return real_compress(payload(data) if payload else data, *args, **kwargs)

    real_dumps, real_compress = json.dumps, zlib.compress
    with mock.patch("json.dumps", dumps), mock.patch("zlib.compress", compress):
        state(64, {"y_true": Y, "y_prob": P, "sample_weight": W}).save(path)


def test_forging_nothing_makes_a_good_file(tmp_path):
    forge(tmp_path / "state", {}, bytes)
    assert Cells.load(tmp_path / "state").n == 5


@pytest.mark.parametrize(
    "header",
    [
        {"n_cells": 10**9},
        {"n_cells": 1 << 40},
        {"n_cells": -64},
        {"n_cells": 63},
        {"n_cells": 32},
        {"n_cells": 0},
        {"n_cells": "64"},
        {"n_cells": 64.0},
        {"n_cells": None},
        {"n_cells": ...},
        {"filled": -1},
        {"filled": -5},
        {"filled": 4},
        {"filled": 6},
        {"filled": 10**18},
        {"filled": 2.5},
        {"filled": "5"},
        {"filled": ...},
        {"sampling": ...},
        {"sampling": False},
        {"sampling": "yes"},
        {"forbidden": ...},
        {"forbidden": -1},
        {"forbidden": "none"},
        {"totals": ...},
        {"totals": {}},
        {"totals": []},
        {"totals": {"n": 5}},
        {"totals": {"n": 5, "weight": 8, "ww": 1, "wwv": 1, "wwe": 1, "largest": 1, "more": 1}},
        {"totals": {"n": 6, "weight": 8, "ww": 1, "wwv": 1, "wwe": 1, "largest": 1}},
        {"totals": {"n": 5, "weight": "8", "ww": 1, "wwv": 1, "wwe": 1, "largest": 1}},
        {"totals": {"n": 5, "weight": 0, "ww": 1, "wwv": 1, "wwe": 1, "largest": 1}},
        {"totals": {"n": 5, "weight": 8, "ww": 1, "wwv": -1, "wwe": 1, "largest": 1}},
        {"totals": {"n": 5, "weight": 8, "ww": 1, "wwv": math.nan, "wwe": 1, "largest": 1}},
        {"version": 0},
        {"version": 10**6},
        {"version": "1"},
    ],
    ids=lambda header: json.dumps(header, default=lambda _: "missing"),
)
def test_a_false_header_is_refused(tmp_path, header):
    forge(tmp_path / "forged", header)
    refuses(tmp_path / "forged")


def with_number(place, value, kind="<i8"):
    """Return a function that puts a number into the place of another."""

    def change(data):
        numbers = np.frombuffer(data, kind).copy()
        numbers[place] = value
        return numbers.tobytes()

    return change


@pytest.mark.parametrize(
    "payload",
    [
        lambda data: data[:0],
        lambda data: data[:-1],
        lambda data: data[:-8],
        lambda data: data + bytes(8),
        lambda data: bytes(len(data)),
        with_number(0, 65),
        with_number(0, 10**9),
        with_number(0, -1),
        with_number(1, 12),
        with_number(5, -7),
    ],
    ids=[
        "nothing", "a byte less", "a number less", "a number more", "zeros", "no such cell",
        "far beyond", "negative cell", "cell twice", "negative count",
    ],
)  # fmt: skip
def test_false_numbers_are_refused(tmp_path, payload):
    forge(tmp_path / "forged", None, payload)
    refuses(tmp_path / "forged")


def test_a_bomb_is_not_unpacked(tmp_path):
    """A small file that unpacks to 64 MB is refused before it takes that much memory."""
    forge(tmp_path / "bomb", None, lambda data: data + bytes(1 << 26))
    assert (tmp_path / "bomb").stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        refuses(tmp_path / "bomb")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


# Whole or not at all ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function", ["os.fsync", "os.replace", "pathlib.Path.replace", "os.rename"]
)
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_a_failing_save_leaves_the_old_file(saved, function, error):
    before = saved.read_bytes()
    cells = state(64, {"y_true": Y * 2, "y_prob": P * 2})
    with mock.patch(function, side_effect=error) as called:
        try:
            cells.save(saved)
        except (OSError, KeyboardInterrupt) as raised:
            assert raised is error  # noqa: PT017
    if called.called:
        assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]  # noqa: PTH208
    assert Cells.load(saved).n == (5 if called.called else 10)


def test_at_least_one_of_these_failures_can_happen(saved):
    with (
        mock.patch("os.fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")),
        pytest.raises(OSError, match="No space left"),
    ):
        Cells(16).save(saved)


def test_a_disk_that_is_full_half_way(saved):
    """The system itself cuts the write short, in a process of its own."""
    pytest.importorskip("resource", reason="limits on file sizes exist on POSIX only")
    before = saved.read_bytes()
    script = """
        import resource, signal, sys
        import numpy as np, secant
        rng = np.random.default_rng(0)
        cells = secant.Cells()
        cells.update(rng.integers(0, 2, 20_000), rng.random(20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            cells.save(sys.argv[1])
        except OSError:
            sys.exit(7)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(saved)]
    assert subprocess.run(command, check=False).returncode == 7
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]  # noqa: PTH208
