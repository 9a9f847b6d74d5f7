"""Reading ahead: the same items in the same order, errors where they are used, no thread left."""

import gc
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
