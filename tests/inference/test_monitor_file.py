"""Files of monitors: the same numbers after reading, and nothing is believed blindly."""

import copy
import hashlib
import json
import os
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors import fed, rows, same
from secant import InputError
from secant._inference.evalues import FINE, GRID
from secant._inference.monitor_file import pack, unpack
from secant._inference.monitor_state import State


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
        inner[last] = None if value is NULL else value
    return changed


NULL = object()  # None takes a field away
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
    (("best",), NULL), (("start",), NULL), (("won",), NULL), (("waiting",), "x"),
    (("more",), 1), (("batches", 0, "more"), 1), (("waiting", "more"), 1), (("batches",), "x"),
    (("batches",), {}), (("batches", 0, "table"), NULL),
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
    monkeypatch.setattr("secant._inference.monitor_file._MOST_BYTES", 100)
    path = tmp_path / "state.json"
    path.write_bytes(b" " * 101)
    with pytest.raises(InputError, match="larger than the state of any monitor"):
        unpack(path)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
    for path in (tmp_path, *tmp_path.iterdir()):
        with pytest.raises(InputError, match=r"of a secant\.Monitor: it is no file"):
            unpack(path)


def test_what_was_changed_is_not_parsed(tmp_path, monkeypatch):
    path, content = tmp_path / "state.json", pack(fed(rows(300)))
    path.write_bytes(content.replace(b"0.05", b"0.04", 1))
    monkeypatch.setattr("secant._inference.monitor_file._state", lambda _: pytest.fail("parsed"))
    with pytest.raises(InputError, match="cut short or changed"):
        unpack(path)


def test_reading_takes_a_few_times_the_size_of_the_file(tmp_path):
    path, state = tmp_path / "state.json", fed(*(rows(2000, seed) for seed in range(300)))
    path.write_bytes(pack(state))
    tracemalloc.start()
    unpack(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * path.stat().st_size


@pytest.mark.parametrize("filling", ["[], ", "[0], ", "{}, ", "[[]], ", "0, "])
def test_a_forged_state_takes_a_few_times_its_size(tmp_path, filling):
    """Its checksum is right; a list of nothing takes twenty times what it is written in."""
    path = tmp_path / "state.json"
    text, _, _ = pack(fed(rows(300))).decode().rpartition(', "sha256": ')
    text = text.replace('"batch": [', f'"batch": [{filling * 500_000}', 1) + "}"
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(f'{text[:-1]}, "sha256": "{digest}"}}\n')
    tracemalloc.start()
    with pytest.raises(InputError, match="its numbers make no sense"):
        unpack(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * path.stat().st_size


def test_a_state_stays_small():
    state = State.new(0.05, 0.0)
    for seed in range(30):
        state = state.after(rows(1000, seed), None)
    assert len(pack(state)) < 30 * 2500 + 50_000
    assert FINE < GRID
