"""The numbers behind the page, all of them the library's; what a reader downloads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._blocks.table import running_sum
from secant._drawing.findings import cut_at, ends_of
from secant._drawing.thin import thin
from secant._metrics.ecce import path
from secant._metrics.ece import Binning, across_edges
from secant._results.base import plain, say
from secant._results.words import words_of
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.table import Blocks, Totals
    from secant._input.options import Strategy
    from secant._results.calibration import Calibration
    from secant._results.parts import ECE, Interval, Reliability

__all__ = ["POSITIONS", "curve", "histogram", "in_bins", "model", "needed", "readable"]

POSITIONS = (
    4,
    5,
    6,
    8,
    10,
    12,
    15,
    16,
    20,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    512,
    1024,
    2048,
    4096,
)
"""Numbers of bins for which the page knows the ECE."""

STRATEGIES: tuple[Strategy, ...] = ("uniform", "quantile")

# Limits are kept for bins up to here; of more one sees nothing but bars.
_LIMITS_UP_TO = 256
# Bars of the histogram: about so many over the range that holds nearly all scores.
_BARS = 50
_NEARLY_ALL = (0.005, 0.995)
_MOST_CELLS = 200_000


def model(result: Calibration, *, most: int, diagrams: int = POSITIONS[-1]) -> dict[str, Any]:
    """Return everything the page shows about one result.

    Parameters
    ----------
    result : Calibration
        The result.
    most : int
        The number of curve points, about.
    diagrams : int
        Most bins of a reliability diagram; the ECE is known for more.
    """
    return {
        **result.to_dict(),
        "text": say(result).text(),
        "detectable": result.detectable,
        **readable(result, result.intervals, most=most, steepest=result.steepest),
        **in_bins(result, diagrams=diagrams),
    }


def readable(
    result: Calibration,
    found: Sequence[Interval],
    *,
    most: int,
    steepest: Interval | None = None,
) -> dict[str, Any]:
    """Return what the secant tool needs to read a result."""
    places = [*found, result.worst, *filter(None, [steepest])]
    return {
        "along": None if result.axis is None else result.axis.title,
        "coverage": words_of(result).coverage,
        "noise": result.noise,
        "half_width": result._predictions.half_width(1.0),  # noqa: SLF001  (limits as in Calibration.between)
        "intervals": [each.to_dict() for each in found],
        "steepest": None if steepest is None else steepest.to_dict(),
        "curve": curve(result, places, most=most),
    }


def curve(result: Calibration, ranges: Sequence[Interval], *, most: int) -> dict[str, Any]:
    """Return points of the curve with the sums up to them.

    The difference of two points says everything about the predictions between them, exactly:
    those with scores from ``next`` of the first to ``score`` of the second.

    Parameters
    ----------
    result : Calibration
        The result.
    ranges : sequence of Interval
        Ranges of scores whose ends are kept, as the extremes of the curve are.
    most : int
        The number of points otherwise.

    Returns
    -------
    dict
        Columns: ``score`` up to which predictions are counted and ``next``, the first score not
        counted; their number ``n``; and as shares of all weight the weight (``fraction``), what was
        forecast (``scored``) and what happened minus what was forecast (``difference``).
    """
    blocks = cut_at(result, [each for each in ranges if each.n])
    weight = result._totals.weight  # noqa: SLF001  (sums that no attribute has)
    difference = path(blocks, weight)
    fraction = np.concatenate([[0.0], np.cumsum(blocks.weight)])
    fraction /= fraction[-1]
    ends = [ends_of(blocks, each) for each in ranges if each.n]
    kept = np.union1d(thin(fraction, difference, max(most // 4, 1)), np.ravel(ends)).astype(int)
    columns = {
        "score": _values(result, np.concatenate([blocks.low[:1], blocks.high])),
        "next": np.append(_values(result, blocks.low), np.nan),
        "n": np.concatenate([[0], np.cumsum(blocks.n)]),
        "fraction": fraction,
        "scored": np.concatenate([[0.0], running_sum(blocks.scored)]) / weight,
        "difference": difference,
    }
    return {name: plain(column[kept]) for name, column in columns.items()}


def _values(result: Calibration, keys: Any) -> Any:
    """Return scores, or what stands along another axis as JSON has it."""
    axis = result.axis
    if axis is None:
        return keys
    return np.array([axis.plain(axis.value(key)) for key in keys], dtype=object)


def in_bins(result: Calibration, *, diagrams: int) -> dict[str, Any]:
    """Return what takes bins: the ECE with its diagrams, and the distribution of scores.

    All of it comes from the same few looks at the predictions. Where they are gone it is None.

    Parameters
    ----------
    result : Calibration
        The result.
    diagrams : int
        Most bins of a reliability diagram; the ECE is known for more.

    Returns
    -------
    dict
        ``bins``: for each strategy a row a number of bins; ``distribution``: see `histogram`.
    """
    try:
        seen = result._predictions.by_score  # noqa: SLF001  (bins are about scores in any order)
        low, high, cells = _range_of_nearly_all(seen.blocks, seen.totals)
        *found, fine = seen.eces(_binnings(result.n, cells), "clopper-pearson")
    except InputError:  # an unpickled result of many predictions has left them behind
        return {"bins": None, "distribution": None}
    rows = {
        strategy: [_row(each, diagrams) for each in found if each.strategy == strategy]
        for strategy in STRATEGIES
    }
    return {"bins": rows, "distribution": histogram(fine.bins, low, high)}


def needed(blocks: Blocks, totals: Totals) -> BoolArray:
    """Mark the blocks that :func:`in_bins` will look into, to have it done in an earlier look."""
    *_, cells = _range_of_nearly_all(blocks, totals)
    return across_edges(totals, _binnings(totals.n, cells))(blocks)


def _binnings(n: int, cells: int) -> list[Binning]:
    """Return all sets of bins that the page shows, the bars of the distribution last."""
    wanted = [
        Binning(m, strategy)
        for strategy in STRATEGIES
        for m in POSITIONS
        if strategy == "uniform" or m <= n
    ]
    return [*wanted, Binning(cells)]


def _row(ece: ECE, diagrams: int) -> dict[str, Any]:
    numbers = {"n_bins": ece.n_bins, "ece": ece.value, "noise_floor": ece.noise_floor}
    if ece.n_bins > diagrams:
        return numbers
    few = ece.n_bins <= _LIMITS_UP_TO
    shown = ["mean_score", "mean_response", *(["low", "high", "weight"] if few else [])]
    filled = ece.bins.weight > 0
    columns = {name: _drawn(getattr(ece.bins, name)[filled], 7 if few else 4) for name in shown}
    return {**numbers, **columns}


def _drawn(values: FloatArray, digits: int) -> list[float]:
    """Round what is only drawn."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def _range_of_nearly_all(blocks: Blocks, totals: Totals) -> tuple[float, float, int]:
    """Return the range of nearly all scores, and how many bars of its scale the unit takes."""
    score = np.concatenate([blocks.low[:1], blocks.high])
    fraction = np.concatenate([[0.0], np.cumsum(blocks.weight)]) / totals.weight
    place = np.searchsorted(fraction, _NEARLY_ALL).clip(1, len(score) - 1)
    low, high = (float(end) for end in score[place])
    if low == high:  # one score has no scale of its own
        low, high = 0.0, 1.0
    return low, high, _round_cells(_BARS / max(high - low, _BARS / _MOST_CELLS))


def histogram(bins: Reliability, low: float, high: float) -> dict[str, Any]:
    """Return how scores are distributed: bars from ``low`` to ``high``, and what lies outside.

    Parameters
    ----------
    bins : Reliability
        Bars of equal width over the unit interval.
    low, high : float
        The range to show; all of the unit interval where it is most of it.

    Returns
    -------
    dict
        Edges of the bars, the share of all weight in each and the share that is events; and the
        shares ``below`` and ``above``.
    """
    cells = len(bins.weight)
    # A score on an edge belongs to the bar below it.
    start = max(0, math.ceil(low * cells - 1e-9) - 1)
    stop = min(cells, max(math.ceil(high * cells - 1e-9), start + 1))
    if stop - start > 0.6 * cells:
        start, stop = 0, cells
    weight = bins.weight[start:stop]
    happened = np.where(weight > 0, bins.mean_response[start:stop], 0.0) * weight
    return {
        "edges": plain(bins.edges[start : stop + 1]),
        "weight": plain(weight),
        "happened": plain(happened),
        "below": float(bins.weight[:start].sum()),
        "above": float(bins.weight[stop:].sum()),
    }


def _round_cells(wanted: float) -> int:
    """Return a number of equal cells whose width is a round number, near the wanted one."""
    power = 10 ** math.floor(math.log10(wanted))
    return int(max(10, min((f * power for f in (1, 2, 5, 10)), key=lambda c: abs(c - wanted))))
