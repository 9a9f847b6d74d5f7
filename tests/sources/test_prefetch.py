"""Reading ahead: the same items in the same order, errors where they are used, no thread left."""

import gc
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant.sources.files.prefetch import THREAD, prefetched


@pytest.fixture(autouse=True)
def _no_thread_stays():
    yield
    assert not running()


def running():
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


@given(items=st.lists(st.integers()), depth=st.integers(1, 5))
def test_every_item_in_its_order(items, depth):
    assert list(prefetched(items, depth)) == items


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("gone")

    taken = []
    with pytest.raises(OSError, match="gone"):
        taken.extend(prefetched(items()))
    ahead = prefetched(items())
    assert [next(ahead), next(ahead)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(ahead)


def test_where_no_thread_can_be_started_items_are_taken_here(monkeypatch, tmp_path):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(prefetched(iter([1, 2, 3]))) == [1, 2, 3]
    closed = []

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.append(True)

    ahead = prefetched(endless())
    assert next(ahead) == 0
    ahead.close()
    assert closed
    pyarrow = optional("pyarrow")
    rng = np.random.default_rng(0)
    p = rng.random(200_000).round(4)
    y = rng.integers(0, 2, 200_000)
    table = pyarrow.table({"y": y, "p": p})
    optional("pyarrow.csv").write_csv(table, tmp_path / "a.csv")
    optional("pyarrow.parquet").write_table(table, tmp_path / "a.parquet", row_group_size=50_000)
    wanted = secant.assess(y, p)
    for name in ("a.csv", "a.parquet"):
        found = secant.assess("y", "p", data=tmp_path / name)
        assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-12)


@pytest.mark.parametrize("taken", [0, 1, 5])
def test_whoever_stops_early_stops_the_reading(taken):
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    ahead = prefetched(endless())
    for _ in range(taken):
        next(ahead)
    ahead.close()
    assert closed.is_set() or not taken  # a generator that never began has nothing to close
    assert not running()


def test_a_forgotten_walk_ends_as_well():
    ahead = prefetched(iter(range(1000)))
    next(ahead)
    del ahead
    gc.collect()
    assert not running()


def test_no_more_than_asked_for_is_read_ahead():
    read = []
    enough = threading.Event()

    def items():
        for i in range(100):
            read.append(i)
            if i == 3:
                enough.set()
            yield i

    ahead = prefetched(items(), depth=2)
    next(ahead)
    # One is taken, two wait in the queue, and one waits for room in it.
    assert enough.wait(10)
    assert len(read) <= 4
    ahead.close()
