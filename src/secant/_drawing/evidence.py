"""Evidence against calibration over time, described."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from secant._drawing.chart import Axis, Chart, Mark, Space
from secant._drawing.style import text_width
from secant._drawing.timeline import evidence_ticks, places, time_ticks
from secant._results.monitor_words import written_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray
    from secant._drawing.chart import Ticks
    from secant._results.monitor import MonitorHistory

__all__ = ["evidence", "mood_of"]

_FEW = 40  # batches up to which each has a dot
_MOODS = {"too high": "high", "too low": "low"}


def mood_of(history: MonitorHistory) -> str:
    """Return the colour of what is off; none where nothing is."""
    return "" if history.where is None else _MOODS.get(history.where.direction, "unsure")


def evidence(history: MonitorHistory, space: Space, *, words: bool = True) -> Chart:
    """Describe the evidence after every batch, the line that raises an alarm, and what it found.

    Parameters
    ----------
    history : MonitorHistory
        What a monitor has seen.
    space : Space
        The room there is.
    words : bool
        Whether to write what was found.
    """
    times = [each.time for each in history]
    at = places(times)
    values = np.array([each.log10_evidence for each in history])
    alarm = -math.log10(history.alpha)
    side = 0.5 if len(at) == 1 else 0.012 * float(at[-1] - at[0])
    left, right = float(at[0] - side), float(at[-1] + side)
    found = list(_found(history, at, values, right))
    lines = _words(history, space) if words else []
    low, high = min(float(values.min()), 0.0), max(float(values.max()), alarm)
    unit = (high - low) / (1 - min((len(lines) + 1.5) * space.line, 0.5))
    low, high = low - 0.07 * (high - low), low + unit
    ends = np.asarray([left, right])
    marks = [
        *found,
        Mark("line", "threshold", ends, np.full(2, alarm)),
        Mark("line", "batches" if len(at) <= _FEW else "evidence", at, values),
    ]
    if lines:
        begins = found[0].x[0]
        share = (begins + right) / 2
        half = max(space.share(text, "head") for text in lines) / 2 * (right - left)
        share = (
            float(np.clip(share, left + half, right - half)) if 2 * half < right - left else begins
        )
        for row, text in enumerate(lines):
            role = "note" if text.startswith("since") else "head"
            mood = "" if role == "note" else mood_of(history)
            marks.append(Mark("text", role, share, math.inf, text, mood, anchor="s", row=row))
    name = f"alarm at {history.threshold:,.4g}"
    wide = space.share(name) * (right - left)
    near = (values > alarm - 0.02 * unit) & (values < alarm + 1.5 * space.line * unit)
    ends_near = near[at <= left + wide].any(), near[at >= right - wide].any()
    place, anchor = (math.inf, "nw") if ends_near[0] and not ends_near[1] else (-math.inf, "ne")
    marks.append(Mark("text", "hint", place, alarm, name, anchor=anchor))

    def written(inches: float, size: float) -> Ticks:
        return time_ticks(times, int(0.8 * inches / text_width("0", size)))

    def powers(inches: float, _: float) -> Ticks:
        return evidence_ticks(low, high, max(2, int(inches / 0.5)))

    across = "Batch" if isinstance(times[0], int) else ""
    return Chart(
        "Evidence against calibration: low is good",
        Axis(left, right, across, across, written),
        Axis(low, high, "Evidence against calibration", "Evidence", powers),
        marks,
        short="Low is good",
        says="Evidence against calibration over time, in powers of ten; the dashed line raises an "
        "alarm.",
    )


def _found(
    history: MonitorHistory, at: FloatArray, values: FloatArray, right: float
) -> Iterator[Mark]:
    """Shade the batches since it began, and mark the one that raised the alarm."""
    if history.first_off is not None:
        mood = mood_of(history)
        yield Mark("span", "since", np.asarray([at[history.first_off], right]), mood=mood)
        number = next(i for i, each in enumerate(history) if each.alarm)
        yield Mark("dots", "alarm", at[[number]], values[[number]], mood=mood)


def _words(history: MonitorHistory, space: Space) -> list[str]:
    """Say what is off, in lines that have room, and since when."""
    if history.where is None:
        return []
    words = history.where.words
    letters = int(0.9 * space.width / text_width("0", space.size))
    lines = textwrap.wrap(f"{words[0].upper()}{words[1:]}", max(letters, 12))
    since, alarm = written_time(history.since), written_time(history.alarm_time)
    more = f"since about {since}; alarm at {alarm}"
    return [*lines, *([more] if space.share(more) < 1 else [])]
