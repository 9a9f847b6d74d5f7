"""A signal that ends the process is remembered, in case the exception it raises gets lost.

Where Python is called back by compiled code, as by a compiler, an exception is printed and ignored,
and the process would go on as if nobody had asked it to end.
"""

from __future__ import annotations

__all__ = ["end_if_asked", "note"]

_received: list[int] = []


def note(signal: int) -> None:
    """Remember that a signal has asked this process to end."""
    _received.append(signal)


def end_if_asked() -> None:
    """End the process, as the first signal would have, if one has come."""
    if _received:
        raise SystemExit(128 + _received[0])
