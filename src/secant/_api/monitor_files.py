"""A monitor fed from files, a batch a period; what it knows already is recognised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._inference.evalues import WHOLE, Tally
from secant._inference.monitor_state import ENOUGH, RowBatch, Summed
from secant._input.columns import named_columns
from secant._input.options import Reading
from secant._input.periods import in_order, number_in, period_of, written
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from secant._api.monitor import Monitor
    from secant._inference.monitor_state import Batch, State
    from secant._input.periods import Time
    from secant.sources.files.periods import PeriodFiles

__all__ = ["Updated", "add_files"]


@dataclass(frozen=True, slots=True)
class Updated:
    """What became of the periods found in files.

    Attributes
    ----------
    added, known, later : tuple
        Periods that are new; those the monitor had with the same sums; those left for later.
    """

    added: tuple[Time, ...]
    known: tuple[Time, ...]
    later: tuple[Time, ...]


def add_files(
    monitor: Monitor,
    data: Any,
    y_true: str,
    y_prob: str,
    *,
    time: str | None = None,
    every: str | None = None,
    until: Any = None,
    pos_label: Any = None,
) -> Updated:
    """Add the periods of files to a monitor, all of them or, where one is at fault, none.

    Parameters
    ----------
    monitor
        The monitor.
    data
        A path, a glob, a folder, or a list of them.
    y_true, y_prob, pos_label
        As in :func:`secant.assess`.
    time
        The column of times; None where the files have dates in their names.
    every
        How long a period is: ``"day"``, ``"week"`` or ``"month"``; a day where times are dates,
        and each of them by itself where they are not.
    until
        The last period to add; those after it are left for later, as when their outcomes are not
        all known.

    Raises
    ------
    InputError
        If files cannot be used; if a period has other sums than when it was added; or if one is
        new that comes before the last.
    """
    from secant.sources.files.periods import PeriodFiles  # noqa: PLC0415  (pyarrow is an extra)

    reading = Reading(pos_label=pos_label)
    try:
        columns = named_columns(y_true, y_prob, by=time, reading=reading)
        files = PeriodFiles(data, columns, every)
        rows = files.count()
    except InputError as error:
        raise error.renamed({"by": "time"}) from error
    state = monitor._state  # noqa: SLF001  (of the same house)
    known, new, later = _sorted(state, list(rows), _until(until, every))
    files.leave_out(later)  # their outcomes may be missing yet
    batches = _read(files, rows, state, known, new)
    _compare(state, dict(zip(known, batches[: len(known)], strict=True)))
    for each, batch in zip(new, batches[len(known) :], strict=True):
        state = state.after(batch, each)
    monitor._state = state  # noqa: SLF001
    return Updated(tuple(new), tuple(known), tuple(later))


def _until(value: Any, every: str | None) -> Time | None:
    if value is None:
        return None
    try:
        return period_of(number_in(value), every)
    except InputError as error:
        raise error.renamed({"time": "until"}) from error


def _sorted(
    state: State, times: list[Time], until: Time | None
) -> tuple[list[Time], list[Time], list[Time]]:
    """Return the periods that are known, those that are new, and those left for later.

    Raises
    ------
    InputError
        If a new one comes before one that has been added.
    """
    before = {record.time for record in state.records}
    in_order([*before, *times, *([] if until is None else [until])])  # all of one kind
    later = [] if until is None else [time for time in times if time > until]  # type: ignore[operator]
    now = times[: len(times) - len(later)]
    last = state.last
    new = [time for time in now if last is None or time > last]  # type: ignore[operator]
    known = now[: len(now) - len(new)]
    for time in known:
        if time not in before:
            raise InputError(
                Argument("time"),
                f": the period {written(time)} is new, and {written(last)} has been added before "  # type: ignore[arg-type]
                "it; periods are added in their order, each when all its outcomes are known",
            )
    return known, new, later


def _read(
    files: PeriodFiles, rows: dict[Time, int], state: State, known: list[Time], new: list[Time]
) -> list[Any]:
    """Return what is known of each period, the known ones first: sums, or batches.

    Ranges are cut by the first scores. Until they are, rows are kept; afterwards added up.
    """
    total = sum(rows.values())
    first = _first(state, rows, new) if state.edges is None else 0
    tallies: dict[int, Tally] = {
        number: Tally(WHOLE, 0.0, evidence=False) for number in range(len(known))
    }
    kept: dict[int, list[Any]] = {len(known) + number: [] for number in range(first)}
    rest = range(len(known) + first, len(known) + len(new))
    if state.edges is not None:
        tallies |= {number: Tally(state.edges, state.tolerance) for number in rest}
    everything = {time: number for number, time in enumerate([*known, *new])}
    _feed(files, everything, total, tallies, kept)
    batches: list[Any] = [tallies[number].sums() for number in range(len(known))]
    batches += [_rows(pieces) for pieces in kept.values()]
    if state.edges is not None:
        return batches + [Summed(tallies[each].sums()) for each in rest]
    for time, batch in zip(new, batches[len(known) :], strict=False):
        state = state.after(batch, time)
    if rest:
        assert state.edges is not None  # noqa: S101
        tallies = {number: Tally(state.edges, state.tolerance) for number in rest}
        _feed(files, everything, total, tallies, {})
    return batches + [Summed(tallies[each].sums()) for each in rest]


def _first(state: State, rows: dict[Time, int], new: list[Time]) -> int:
    """Return how many of the new periods it takes until ranges can be cut."""
    seen = state.waiting + np.cumsum([rows[time] for time in new])
    return min(int(np.searchsorted(seen, ENOUGH)) + 1, len(new))


def _feed(
    files: PeriodFiles,
    wanted: dict[Time, int],
    total: int,
    tallies: dict[int, Tally],
    kept: dict[int, list[Any]],
) -> None:
    """Walk over the files once; add up rows, or keep them."""
    for number, scores, labels in files.read(wanted, total):
        if number in tallies:
            tallies[number].add(scores, labels)
        elif number in kept:
            kept[number].append((scores, labels.astype(np.int8)))


def _rows(pieces: list[Any]) -> Batch:
    scores, labels = zip(*pieces, strict=True)
    return RowBatch(np.concatenate(scores), np.concatenate(labels))


def _compare(state: State, sums: dict[Time, Any]) -> None:
    """Refuse a period that has other sums than when it was added."""
    records = {record.time: record for record in state.records}
    for time, now in sums.items():
        then = records[time]
        same = all(
            math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
            for a, b in zip(then.totals, now.totals, strict=True)
        )
        if not same:
            n, events, *_ = now.totals
            raise InputError(
                Argument("time"),
                f": the period {written(time)} was added with {then.n:,} predictions and "
                f"{then.events:,} events, and now has {n:,} and {events:,}, or other scores; what "
                "has been added cannot be changed",
                hint="; add a period when all its outcomes are known, or begin a new state",
            )
