"""Reading ahead: the next batches are read while the last one is being worked on."""

from __future__ import annotations

import threading
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = ["THREAD", "prefetched"]

T = TypeVar("T")
THREAD = "secant-read-ahead"
_PATIENCE = 0.05  # seconds until a thread that waits looks whether anybody still waits for it
_DEPTH = 2


def prefetched(items: Iterable[T], depth: int = _DEPTH) -> Generator[T]:
    """Yield the items, up to ``depth`` of them taken in advance by another thread.

    An error in the thread is raised here. Whoever stops early, or fails, closes this generator,
    which ends the thread before it returns. Where no thread can be started, as in a browser, items
    are taken here, when they are asked for.
    """
    queue: Queue[tuple[bool, Any]] = Queue(depth)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(items, queue, stop), name=THREAD)
    try:
        thread.start()
    except RuntimeError:
        yield from items
        return
    try:
        while True:
            is_item, item = queue.get()
            if not is_item:
                if item is not None:
                    raise item
                return
            yield item
    finally:
        stop.set()
        _drain(queue)
        thread.join()


def _fill(items: Iterable[Any], queue: Queue[tuple[bool, Any]], stop: threading.Event) -> None:
    end: BaseException | None = None
    iterator = iter(items)
    try:
        while not stop.is_set():
            try:
                item = next(iterator)
            except StopIteration:
                break
            _put(queue, (True, item), stop)
            del item  # its memory is the consumer's alone
    except BaseException as error:  # noqa: BLE001  (it is raised again where the items are used)
        end = error
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
    _put(queue, (False, end), stop)


def _put(queue: Queue[tuple[bool, Any]], entry: tuple[bool, Any], stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            queue.put(entry, timeout=_PATIENCE)
        except Full:
            continue
        return


def _drain(queue: Queue[tuple[bool, Any]]) -> None:
    while True:
        try:
            queue.get_nowait()
        except Empty:
            return
