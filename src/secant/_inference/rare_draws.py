"""Paths of rare events, drawn event by event: however many rows they hide among, few numbers.

A row of score s has an event if at least one point of a Poisson process falls on it that expects
-log(1 - s) points there. So points are drawn, a few hundred for a path, in place of a coin for
every row. What share of paths goes as far as the observed one is an estimate of its P-value, and
is used between limits that are certified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._inference.path import Path

__all__ = ["events", "share_as_extreme"]

# Points drawn at once.
_POINTS = 1 << 18


def events(path: Path) -> float | None:
    """Return how many points a path expects; None where scores are on both sides of 1/2."""
    low = path.score < 0.5
    if low.any() and not low.all():
        return None
    return float(_points_at(path).sum())


def share_as_extreme(path: Path, c: float, *, rng: np.random.Generator, draws: int) -> float:
    """Return the share of paths whose range is at least c, the observed one counted among them.

    Parameters
    ----------
    path
        Ties, or grains of them, all on one side of 1/2.
    c
        What the range must reach.
    rng, draws
        Where the draws come from, and how many there are.
    """
    expected = _points_at(path)
    reached = np.cumsum(expected)
    starts = np.concatenate([[0.0], reached[:-1]])
    rows = path.trials - path.size
    step = np.searchsorted(path.ends, np.arange(len(expected)))
    # What the path falls by if nothing happens; where failures are rare it is turned over.
    fallen = path.after if path.score[0] < 0.5 else path.total - path.after
    fallen = np.concatenate([[0.0], fallen])
    found, made = 0, 0
    while made < draws:
        batch = min(draws - made, max(1, int(_POINTS / (reached[-1] + 1.0))))
        count = rng.poisson(reached[-1], batch)
        drawn = rng.random((batch, max(int(count.max()), 1))) * reached[-1]
        drawn[np.arange(drawn.shape[1]) >= count[:, np.newaxis]] = np.inf
        drawn.sort(axis=1)
        there = drawn < np.inf
        tie = np.minimum(np.searchsorted(reached, drawn, side="right"), len(reached) - 1)
        place = np.clip((drawn - starts[tie]) / expected[tie], 0.0, 1.0)
        row = rows[tie] + np.minimum(path.size[tie] * place, path.size[tie] - 1).astype(np.int64)
        there[:, 1:] &= row[:, 1:] != row[:, :-1]  # two points on one row are one event
        found += int((_ranges(there, step[tie], fallen) >= c).sum())
        made += batch
    return (1 + found) / (1 + draws)


def _points_at(path: Path) -> FloatArray:
    """Return how many points each tie expects."""
    size = path.size.astype(np.float64)
    expected: FloatArray = -size * np.log1p(-path.rare / size)
    return expected


def _ranges(there: BoolArray, step: IntArray, fallen: FloatArray) -> FloatArray:
    """Return the range of each path: events so far, less what it has fallen by, at ends of steps.

    Between two steps with events the path only falls, so it is looked at before and after these.
    """
    happened = there.astype(np.int64)
    events = np.cumsum(happened, axis=1)
    index = np.arange(there.shape[1])
    new = np.append(np.ones((len(step), 1), bool), step[:, 1:] != step[:, :-1], axis=1)
    first = np.maximum.accumulate(np.where(new, index, 0), axis=1)
    last = np.append(new[:, 1:], np.ones((len(step), 1), bool), axis=1)
    last = np.minimum.accumulate(np.where(last, index, len(index))[:, ::-1], axis=1)[:, ::-1]
    earlier: IntArray = np.take_along_axis(events - happened, first, axis=1)
    later: IntArray = np.take_along_axis(events, last, axis=1)
    heights = np.concatenate(
        [earlier - fallen[step], later - fallen[step + 1], events[:, -1:] - fallen[-1]], axis=1
    )
    ranges: FloatArray = np.maximum(heights.max(axis=1), 0.0) - np.minimum(heights.min(axis=1), 0.0)
    return ranges
