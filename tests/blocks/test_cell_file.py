"""Stored cells: nothing is lost, and no damaged, foreign or forged file is believed."""

import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
import zlib
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from forgeries import Forgery, as_version_1, judge
from forgeries import forge as forge_any
from secant import Cells, InputError
from states import CELLS, P, W, Y, assert_same, batches, state


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


@pytest.mark.parametrize("weights", [None, W])
def test_version_1_loads_and_says_what_it_cannot_answer(tmp_path, weights):
    """Gaps survive merging, saving and loading; unweighted states have none that limits need."""
    cells = state(64, {"y_true": Y, "y_prob": P, "sample_weight": weights})
    (tmp_path / "old").write_bytes(as_version_1(cells))
    old = Cells.load(tmp_path / "old")
    assert_same(old, cells)
    both = old + cells
    both.save(tmp_path / "both")
    for each in (old, both, Cells.load(tmp_path / "both")):
        assert each._sums.totals().log_loss is None
        if weights is None:
            assert each.bounds().ecce_r_ci[1] <= 1
        else:
            assert each.bounds().sigma_hat >= each.bounds().sigma
            with pytest.raises(InputError, match="from a file of version 1"):
                each.bounds().ecce_r_ci  # noqa: B018
            with pytest.raises(secant.SecantError, match="third moments of weights were not"):
                each._sums.totals().rho3  # noqa: B018
    assert_same(both, cells + cells)


def test_what_is_in_a_file_of_version_2(tmp_path):
    """All that limits, tails and proper scores need, and infinite losses, which JSON has not."""
    cells = Cells(64, outcome_weights=(20, 1))
    cells.update([1, 0, 1], [0.0, 0.5, 0.7], [1, 2, 3])
    cells.save(tmp_path / "state")
    loaded = Cells.load(tmp_path / "state")
    assert loaded._sums.totals() == cells._sums.totals()
    assert loaded._sums.totals().log_loss == math.inf
    assert loaded.outcome_weights == (20, 1)
    header = Forgery((tmp_path / "state").read_bytes()).header
    assert header["version"] == 2
    assert header["totals"]["log_loss"] == 0  # as the forbidden response tells


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


def totals_of(**batch):
    """Return the totals that the header of a saved state has."""
    totals = asdict(state(64, batch)._sums.totals())
    del totals["pooled"]  # found again from the cells
    return json.loads(json.dumps(totals))


TOTALS = totals_of(y_true=Y, y_prob=P, sample_weight=W)


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
    for header in ({}, {"totals": TOTALS}):
        forge(tmp_path / "state", header, bytes)
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
        {"totals": {**TOTALS, "more": 1}},
        {"totals": {**TOTALS, "n": 6}},
        {"totals": {**TOTALS, "weight": "8"}},
        {"totals": {**TOTALS, "weight": 0}},
        {"totals": {**TOTALS, "variance": -1}},
        {"totals": {**TOTALS, "variance": math.nan}},
        {"totals": {**TOTALS, "third": None}},
        {"totals": {**TOTALS, "steps": [3.0]}},
        {"totals": {**TOTALS, "steps": TOTALS["steps"][::-1]}},
        {"totals": {**TOTALS, "steps": 3.0}},
        {"totals": {**TOTALS, "outcome_weights": [1.0]}},
        {"totals": {**TOTALS, "outcome_weights": [1.0, 1.0]}},
        {"totals": {**TOTALS, "outcome_weights": [20.0, 1.0]}},
        {"totals": {**TOTALS, "outcome_weights": [0.0, 1.0]}},
        {"totals": {**TOTALS, "outcome_weights": ["20", 1.0]}},
        {"version": 0},
        {"version": 10**6},
        {"version": "1"},
    ],
    ids=lambda header: text if len(text := json.dumps(header, default=str)) < 80 else None,
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


@pytest.mark.parametrize("seed", range(8))
def test_a_forged_state_is_refused_or_is_like_any_other(tmp_path, seed):
    """What the checksum no longer guards: see ``forgeries`` for what is tried."""
    rng = np.random.default_rng(seed)
    found = Counter()
    for _ in range(250):
        content, is_honest = forge_any(rng, tmp_path)
        (tmp_path / "forged").write_bytes(content)
        found[judge(tmp_path / "forged", is_honest=is_honest)] += 1
    assert found["refused"] > 100
    assert found["loaded"] > 25


NAMES = ["n", "weight", "ww", "ww1", "variance", "squares", "third", "squared_error", "log_loss"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [0.5, 0.999, 1.001, 2, 1e9])
@pytest.mark.parametrize("weights", [None, W])
def test_a_total_that_is_not_the_sum_is_refused(tmp_path, name, factor, weights):
    target = tmp_path / "forged"
    state(64, {"y_true": Y, "y_prob": P, "sample_weight": weights}).save(target)
    forgery = Forgery(target.read_bytes())
    before = forgery.header["totals"][name]
    forgery.header["totals"][name] = before * factor if name != "n" else before + int(factor) + 1
    if not before:
        forgery.header["totals"][name] = factor
    target.write_bytes(forgery.content())
    if name in {"squares", "log_loss"} and abs(factor - 1) < 0.01:
        judge(target)  # known within limits only: where in their cells scores lie
    else:
        refuses(target)


@pytest.mark.parametrize("name", ["count", "offset", "weight", "wv", "wwv", "ww"])
@pytest.mark.parametrize("factor", [0.5, 2])
def test_a_column_that_does_not_go_with_the_others_is_refused(tmp_path, name, factor):
    """Twice the sum of squares, say, of the same weights: even with totals that agree."""
    target = tmp_path / "forged"
    weights = {"sample_weight": [*W, 1]} if name != "count" else {}  # weights may be of any number
    state(64, {"y_true": [*Y, 0], "y_prob": [*P, 0.2], **weights}).save(target)
    forgery = Forgery(target.read_bytes())
    column = forgery.columns[name]
    forgery.columns[name] = (column * factor * (1 if name != "offset" else 3)).astype(column.dtype)
    total = {"count": "n"}.get(name, name)
    if total in forgery.header["totals"]:
        whole = forgery.columns[name].sum().item()
        forgery.header["totals"][total] = whole
    target.write_bytes(forgery.content())
    refuses(target)


def text_of_header(path, old, new):
    forgery = Forgery(path.read_bytes())
    forgery.line = json.dumps(forgery.header).replace(old, new, 1)
    assert forgery.line != json.dumps(forgery.header)
    path.write_bytes(forgery.content())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"n_cells": 64', '"n_cells": 64, "n_cells": 64'),
        ('"n": 5', '"n": 5, "n": 5'),
        ('"n": 5', '"n": 5.0'),
        ('"n": 5', '"n": true'),
        ('"n": 5', f'"n": {2**63 + 5}'),
        ('"n": 5', f'"n": {2**64 + 5}'),
        ('"version": 2', '"version": true'),
        ('"version": 2', '"version": 1.0'),
        ('"version": 2', '"version": [1]'),
        ('"filled": 5', '"filled": true'),
        ('"forbidden": 0', '"forbidden": false'),
        ('"forbidden": 0', '"forbidden": 1'),
        ('"forbidden": 0', '"forbidden": -0.0'),
        ('"forbidden": 0', '"forbidden": 0, "more": 0'),
        ('"weight": 8.0', '"weight": NaN'),
        ('"weight": 8.0', '"weight": Infinity'),
        ('"weight": 8.0', '"weight": 1e999'),
        ('"weight": 8.0', '"weight": true'),
        ('"weight": 8.0', f'"weight": {"9" * 400}'),
        ('"weight": 8.0', f'"weight": {"9" * 5000}'),
        ('"weight": 8.0', f'"weight": {"[" * 900}{"]" * 900}'),
        ('"weight": 8.0', '"weight": 8.0' + " " * 3000),
    ],
    ids=lambda text: text[:40],
)
def test_a_header_that_json_would_forgive_is_refused(saved, old, new):
    text_of_header(saved, old, new)
    refuses(saved)


def test_counts_too_large_to_add_are_refused(tmp_path):
    target = tmp_path / "forged"
    state(64, {"y_true": Y, "y_prob": P}).save(target)
    for count, n in ((2**62, 2**62 + 4), (2**63 - 1, 2**63 + 3), (2**63 - 1, 3), (2**62 - 1, 5)):
        forgery = Forgery(target.read_bytes())
        forgery.columns["count"][forgery.columns["count"].argmax()] = count
        forgery.header["totals"]["n"] = n
        (tmp_path / "many").write_bytes(forgery.content())
        refuses(tmp_path / "many")


def test_negative_zero_is_no_sum(saved):
    forgery = Forgery(saved.read_bytes())
    forgery.columns["offset"][forgery.columns["offset"] == 0] = -0.0
    saved.write_bytes(forgery.content())
    refuses(saved)


def test_nothing_may_follow_the_numbers(saved):
    content = saved.read_bytes()
    for more in (b"\0", zlib.compress(b""), b"more"):
        forgery = Forgery(content)
        raw = b"".join(column.tobytes() for column in forgery.columns.values())
        forgery.packed = zlib.compress(raw) + more
        saved.write_bytes(forgery.content())
        refuses(saved)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes and devices are POSIX")
def test_only_files_are_read(tmp_path):
    """None of these ends, or is ever answered: a test that fails here hangs."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to zero").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "to zero", Path("/dev/zero"), tmp_path):
        refuses(path)


def test_a_file_longer_than_any_state_is_not_read(tmp_path):
    target = tmp_path / "endless"
    for start in (b"", b"secant cells\n"):
        with target.open("wb") as file:
            file.write(start)
            file.truncate(1 << 40)  # of which the disk holds nothing
        refuses(target)


def peak(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_takes_memory_for_what_it_holds(tmp_path):
    """Not for how fine it says its grid is: 16 million cells, one of them filled."""
    target = tmp_path / "fine"
    state(64, {"y_true": [1], "y_prob": [0.5]}).save(target)
    forgery = Forgery(target.read_bytes())
    forgery.header["n_cells"] = 1 << 24
    forgery.columns["cells"][0] = 1 << 23
    target.write_bytes(forgery.content())
    found = []
    assert peak(lambda: found.append(Cells.load(target))) < 1 << 20
    (fine,) = found
    assert (fine.n, fine.n_cells, fine.bounds().sigma) == (1, 1 << 24, 0.5)
    assert peak(lambda: found.append(fine + fine)) < 1 << 20
    assert peak(lambda: found.append(fine + Cells(64))) < 1 << 20
    assert [each.n for each in found[1:]] == [2, 1]
    assert_same(found[2], state(64, {"y_true": [1], "y_prob": [0.5]}))


@pytest.mark.parametrize("filled", [65537, (1 << 24) + 1])
def test_sizes_are_compared_with_what_the_file_can_hold(tmp_path, filled):
    target = tmp_path / "forged"
    state(64, {"y_true": Y, "y_prob": P}).save(target)
    forgery = Forgery(target.read_bytes())
    forgery.header.update(n_cells=filled - 1, filled=filled)
    forgery.header["totals"]["n"] = filled
    for packed in (None, zlib.compress(bytes(1 << 26))):
        forgery.packed = packed
        target.write_bytes(forgery.content())
        assert peak(lambda: refuses(target)) < 1 << 23


@given(st.lists(batches(), min_size=1, max_size=3), st.sampled_from(CELLS))
def test_states_add_up_alike_before_and_after_a_file(tmp_path_factory, parts, n_cells):
    folder = tmp_path_factory.mktemp("states")
    loaded = []
    for number, part in enumerate(parts):
        state(n_cells, part).save(folder / str(number))
        loaded.append(Cells.load(folder / str(number)))
    assert_same(sum(loaded), state(n_cells, *parts))
    assert_same(sum(loaded, Cells(16)), sum((state(n_cells, part) for part in parts), Cells(16)))
    first, *others = loaded
    for part in parts[1:]:
        first.update(**part)
    assert_same(first, state(n_cells, *parts))
    assert sum(others, Cells(n_cells)).n == state(n_cells, *parts[1:]).n
