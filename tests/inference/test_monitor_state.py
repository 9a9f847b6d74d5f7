"""What a monitor remembers: cuts that wait, and files that are not believed blindly."""

import copy
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from secant import InputError
from secant._inference.evalues import FINE, GRID, cuts
from secant._inference.monitor_state import (
    ENOUGH,
    CellBatch,
    RowBatch,
    State,
    Summed,
    Table,
    pack,
    unpack,
)


def rows(n, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return RowBatch(scores, rng.random(n) < scores**power)


def fed(*batches, alpha=0.05, tolerance=0.0):
    state = State.new(alpha, tolerance)
    for batch in batches:
        state = state.after(batch, None)
    return state


def same(one, other):
    assert pack(one) == pack(other)


# Cuts wait ----------------------------------------------------------------------------------------


def test_cuts_are_quantiles_of_the_first_batch():
    batch = rows(5000)
    state = fed(batch, rows(5000, 1))
    assert (state.edges == cuts(batch.counts())).all()
    assert [record.table.n.sum() for record in state.records] == [5000, 5000]


def test_sums_added_up_elsewhere_are_a_batch():
    first, then = rows(1000), rows(300, 1, 1.4)
    state = fed(first)
    sums = Summed(then.sums(state.edges, 0.0))
    assert sums.n == then.n
    same(state.after(sums, None), fed(first, then))


def test_tables_add_up_to_that_of_all_rows():
    parts = [rows(200, seed) for seed in range(3)]
    state = fed(rows(1000), *parts)
    together = Table.added(record.table for record in state.records[1:])
    whole = RowBatch(
        *(
            np.concatenate([getattr(each, name) for each in parts])
            for name in ("_scores", "_labels")
        )
    )
    wanted = fed(rows(1000), whole).records[1].table
    assert (together.n == wanted.n).all()
    assert (together.events == wanted.events).all()
    assert together.scored == pytest.approx(wanted.scored, rel=1e-12)
    nothing = Table.added([])
    assert (nothing.n.sum(), nothing.events.sum(), nothing.scored.sum()) == (0, 0, 0)
    assert nothing.n.shape == together.n.shape


def test_cuts_wait_until_enough_scores_have_been_seen():
    small = [rows(20, seed) for seed in range(7)]
    state = fed(*small)
    assert state.edges is None
    assert state.waiting.n == 140
    assert all(record.table is None for record in state.records)
    # Meanwhile the whole range is watched, and nothing else.
    assert np.count_nonzero(state.evidence.won[16:-8] != state.evidence.won[16]) == 0
    after = state.after(rows(20, 8), None)
    assert after.waiting.n == 0
    assert [record.table.n.sum() for record in after.records] == [20] * 8
    everything = RowBatch(
        np.concatenate([batch._scores for batch in [*small, rows(20, 8)]]), np.zeros(160, int)
    )
    assert (after.edges == cuts(everything.counts())).all()
    assert [record.totals for record in after.records[:7]] == [
        record.totals for record in state.records
    ]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=6))
@settings(max_examples=20)
def test_however_small_batches_are_all_rows_are_kept(sizes):
    state = fed(*(rows(size, seed) for seed, size in enumerate(sizes)))
    assert (state.edges is not None) == (sum(sizes) >= ENOUGH)
    assert [record.n for record in state.records] == sizes
    if state.edges is not None:
        assert [int(record.table.n.sum()) for record in state.records] == sizes


def test_coarse_cells_cut_at_their_own_edges():
    cells = secant.Cells(256)
    rng = np.random.default_rng(2)
    cells.update(rng.integers(0, 2, 1000), rng.random(1000))
    batch = CellBatch(cells._sums, cells.n_cells, cells.forbidden)
    state = fed(batch, batch)
    assert not (state.edges * 256 % 1).any()
    state = state.after(rows(100), None)  # rows fit any cuts
    with pytest.raises(InputError, match=r"n_cells=256.*n_cells=\d+ or more are needed"):
        fed(rows(5000), batch)


def test_few_cells_wait_too():
    cells = secant.Cells(1024)
    cells.update([0, 1, 1], [0.2, 0.2001, 1.0])
    state = fed(CellBatch(cells._sums, cells.n_cells, 0), rows(200))
    assert state.waiting.n == 0
    assert not (state.edges * 1024 % 1).any()
    assert state.records[0].table.n.sum() == 3


# The file -----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 400), max_size=5), st.integers(0, 5), st.sampled_from([0.0, 0.01]))
@settings(max_examples=20)
def test_saved_anywhere_on_the_way_it_goes_on_with_the_same_numbers(
    tmp_path_factory, sizes, stop, tolerance
):
    path = tmp_path_factory.mktemp("state") / "monitor.json"
    batches = [rows(size, seed, 1.2) for seed, size in enumerate(sizes)]
    straight = fed(*batches, tolerance=tolerance)
    state = fed(*batches[:stop], tolerance=tolerance)
    path.write_bytes(pack(state))
    state = unpack(path)
    for batch in batches[stop:]:
        state = state.after(batch, None)
    same(state, straight)
    assert (state.evidence.won == straight.evidence.won).all()


@pytest.fixture
def fields(tmp_path):
    """Return what a file holds, and a way to write it with a checksum that is right."""
    state = fed(rows(500), rows(300, 1), rows(0))
    content = json.loads(pack(state))

    def write(changed):
        changed = {name: value for name, value in changed.items() if name != "sha256"}
        text = json.dumps(changed)
        digest = hashlib.sha256(text.encode()).hexdigest()
        path = tmp_path / "changed.json"
        path.write_text(f'{text[:-1]}, "sha256": "{digest}"}}\n')
        return path

    same(unpack(write(content)), state)
    return content, write


def put(content, place, value):
    changed = copy.deepcopy(content)
    *way, last = place
    inner = changed
    for step in way:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return changed


HOSTILE = [
    (("alpha",), 0), (("alpha",), 1.5), (("alpha",), "0.05"), (("alpha",), True),
    (("alpha",), None),
    (("tolerance",), -0.1), (("tolerance",), 1), (("tolerance",), [0]),
    (("edges",), []), (("edges", 3), 0.9), (("edges", 0), 0.1), (("edges", 64), 0.5),
    (("edges", 1), 1 / 3), (("edges",), "0"),
    (("batches",), 3), (("batches", 0), []), (("batches", 0, "n"), -1), (("batches", 0, "n"), 1.5),
    (("batches", 0, "n"), 10**30), (("batches", 0, "events"), 501), (("batches", 0, "events"), 3),
    (("batches", 0, "scored"), 501), (("batches", 0, "scored"), -1), (("batches", 0, "hits"), 490),
    (("batches", 0, "impossible"), [1]), (("batches", 0, "impossible"), [0, 9999]),
    (("batches", 0, "sloped"), 1), (("batches", 0, "heaviest"), 504), (("batches", 0, "start"), 0),
    (("batches", 0, "start"), 2), (("batches", 0, "table"), [[0] * 64] * 3),
    (("batches", 0, "table", 0, 0), -5), (("batches", 0, "table", 2, 0), 1e300),
    (("batches", 0, "table"), [[0], [0], [0]]), (("batches", 0, "kind"), "date"),
    (("batches", 0, "kind"), "pickle"), (("batches", 0, "time"), "2"),
    (("batches", 0, "time"), "x"),
    (("batches", 0, "time"), "9" * 300), (("batches", 2, "log_evidence"), 50.0),
    (("batches", 0, "log_evidence"), None),
    (("won",), [0.0] * 503), (("won", 0), "nan"), (("won", 0), 1e6), (("best", 0), None),
    (("start", 0), 4), (("start", 0), 0), (("start", 0), 1.0), (("won",), None),
    (("waiting",), {}), (("waiting", "grid"), 3), (("waiting", "grid"), 0),
    (("waiting", "batch"), [0]), (("waiting", "mean"), [0.5]),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value"), HOSTILE)
def test_what_makes_no_sense_is_refused(fields, place, value):
    content, write = fields
    with pytest.raises(InputError, match="is a damaged state"):
        unpack(write(put(content, place, value)))


def test_waiting_rows_are_checked_too(fields, tmp_path):
    _, write = fields
    content = json.loads(pack(fed(rows(20), rows(10, 1))))
    unpack(write(content))
    for place, value in [
        (("waiting", "mean", 0), 1.5),
        (("waiting", "n0", 0), -1),
        (("waiting", "n1", 0), 7),
        (("waiting", "batch", 0), 2),
        (("batches", 0, "table"), []),
    ]:
        with pytest.raises(InputError, match="is a damaged state"):
            unpack(write(put(content, place, value)))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not the state"),
        (b"{}", "is not the state"),
        (b"[1, 2]", "is not the state"),
        (b"\x80\x04pickle", "is not the state"),
        (b"[" * 100_000, "is not the state"),
        (b'{"what": "secant monitor", "alpha": NaN}', "is not the state"),
        (b'{"what": "secant monitor", "version": 2}', "has version 2"),
        (b'{"what": "secant monitor", "version": true}', "has version True"),
        (b'{"what": "secant monitor", "version": 1}', "cut short or changed"),
    ],
)
def test_other_files_are_refused(tmp_path, content, complaint):
    path = tmp_path / "state.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        unpack(path)


def test_a_file_that_was_cut_or_changed_is_refused(tmp_path):
    path, content = tmp_path / "state.json", pack(fed(rows(300)))
    for changed in (content[:-2], content[:-200], content.replace(b"0.05", b"0.01", 1)):
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"is not the state|cut short or changed"):
            unpack(path)


def test_a_file_too_large_for_any_state_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("secant._inference.monitor_state._MOST_BYTES", 100)
    path = tmp_path / "state.json"
    path.write_bytes(b" " * 101)
    with pytest.raises(InputError, match="larger than the state of any monitor"):
        unpack(path)


def test_a_state_stays_small():
    state = State.new(0.05, 0.0)
    for seed in range(30):
        state = state.after(rows(1000, seed), None)
    assert len(pack(state)) < 30 * 2500 + 50_000
    assert FINE < GRID
