"""What depends on bins, described: reliability diagrams, the ECE by bins, the scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.chart import Axis, Chart, Mark, hold, round_ticks
from secant._drawing.thin import thin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._drawing.chart import Space, Ticks
    from secant._results.parts import Reliability
    from secant._results.scores import IsotonicFit

__all__ = ["by_bins", "counts", "distribution", "reliability"]

# More bins than this are drawn finer.
_MANY_BINS = 32
# Scores that leave at least this share of the axis empty are drawn larger.
_MOST_EMPTY = 0.5
# Points of a staircase that one sees.
_COLUMNS = 500
# Least distance of neighbouring labels at the side of a chart, as a share of its height.
_APART = 0.085
# The largest share of the width that words in a corner may take.
_MOST_WORDS = 0.62
_MEAN = "Mean forecast"


def reliability(
    space: Space,
    bins: Sequence[Reliability] = (),
    *,
    first: int = 0,
    limits: bool = False,
    resamples: Sequence[tuple[Any, Any]] = (),
    recalibrated: Sequence[IsotonicFit] = (),
    seen: Iterable[float] = (),
    hints: Sequence[str] = (),
) -> Chart:
    """Describe a reliability diagram.

    Parameters
    ----------
    space : Space
        The room there is.
    bins : sequence of Reliability
        The bins of each model.
    first : int
        How many models there are already.
    limits : bool
        Whether to draw the limits of each bin.
    resamples : sequence of (mean scores, mean responses)
        For each model the diagrams of its resamples, one a row.
    recalibrated : sequence of IsotonicFit
        For each model what its scores would have to become.
    seen : iterable of float
        More values that have to be on the axes.
    hints : sequence of str
        What limits and lines are.
    """
    ends = np.asarray([0.0, 1.0])
    marks = [
        Mark("line", "diagonal", ends, ends),
        # Which side is which, and not what was found.
        Mark("text", "hint", -math.inf, math.inf, "too low", anchor="se"),
        Mark("text", "hint", math.inf, -math.inf, "too high", anchor="nw"),
    ]
    marks += [
        Mark("text", "hint", math.inf, -math.inf, text, anchor="nw", row=row)
        for row, text in enumerate((each for each in hints if each), 1)
        if space.share(text) < _MOST_WORDS
    ]
    values = [*seen]
    # What explains one model is grey; what explains several has their colours.
    behind = "muted" if first + len(bins) == 1 else ""
    for number, (scores, responses) in enumerate(resamples, first):
        marks.append(Mark("lines", "resamples", scores, responses, "", behind, number))
    for number, found in enumerate(recalibrated, first):
        scores, forecasts = found.line
        kept = thin(scores, forecasts, _COLUMNS)
        stairs = scores[kept], forecasts[kept]
        marks.append(Mark("line", "recalibrated", *stairs, "", behind, number))
    for number, each in enumerate(bins, first):
        filled = each.count > 0
        score, response = each.mean_score[filled], each.mean_response[filled]
        if limits:
            ups = np.column_stack([each.low, each.high])[filled]
            marks.append(Mark("lines", "limits", np.column_stack([score] * 2), ups, number=number))
        role = "bins" if len(filled) <= _MANY_BINS else "many bins"
        marks.append(Mark("line", role, score, response, number=number))
        values += [*score.tolist(), *response.tolist()]
    across, up = _MEAN + _kinds(bins), "Mean outcome (how often it happened)"
    low, high = _square(values)
    return Chart(
        "Distance from the diagonal is miscalibration",
        Axis(low, high, across, _MEAN),
        Axis(low, high, up, "Mean outcome"),
        marks,
        short="The diagonal is good",
    )


def _square(values: Iterable[float]) -> tuple[float, float]:
    """Return the unit interval, or the part of it that holds all values where that is small."""
    low, high = hold([*values] or (0.0, 1.0))
    return hold((0, 1), margin=0.03) if high - low > 1 - _MOST_EMPTY else (low, high)


def _kinds(bins: Sequence[Reliability]) -> str:
    kinds = {(len(each.count), each.strategy) for each in bins}
    if len(kinds) != 1:
        return ""
    [(m, strategy)] = kinds
    equal = "width" if strategy == "uniform" else "count"
    return f" ({m} bins of equal {equal})" if m > 1 else " (1 bin)"


def counts(bins: Sequence[Reliability], across: Axis, first: int = 0) -> Chart:
    """Describe how many predictions each bin holds: bars, or outlines of several models."""
    alone = first + len(bins) == 1
    marks = [
        Mark(
            "bars" if alone else "stairs",
            "counts" if alone else "outline",
            each.edges,
            each.count,
            number=number,
        )
        for number, each in enumerate(bins, first)
    ]
    most = max(float(each.count.max()) for each in bins)
    return Chart("", across, Axis(0, 1.06 * most, "Predictions", "Predictions"), marks)


def distribution(numbers: dict[str, Any], share: str) -> Chart:
    """Describe the distribution of scores, with the part of each bar that is events."""
    edges, weight = np.asarray(numbers["edges"]), np.asarray(numbers["weight"])
    most = 1.06 * float(weight.max())

    def percents(inches: float, _: float) -> Ticks:
        return [(at / 100, f"{text}%") for at, text in round_ticks(0, 100 * most, round(inches))]

    return Chart(
        "How scores are distributed",
        Axis(float(edges[0]), float(edges[-1]), "Score", "Score"),
        Axis(0, most, share, share, percents),
        [
            Mark("bars", role, edges, values)
            for role, values in (("weight", weight), ("happened", np.asarray(numbers["happened"])))
        ],
    )


def by_bins(bins: dict[str, list[dict[str, Any]]], ecce_r: float) -> Chart:
    """Describe the ECE against the number of bins, its noise floor, and the ECCE without any.

    Each kind of bins is a view of its own.
    """
    values = [row[key] for rows in bins.values() for row in rows for key in ("ece", "noise_floor")]
    up = Axis(0.0, 1.08 * max(*values, ecce_r, 1e-9), "ECE", "ECE")
    across = Axis(
        2, 12, "Number of bins", "Bins", lambda *_: [(k, f"{2**k}") for k in range(2, 13, 2)]
    )
    marks = [Mark("line", "ecce", np.asarray([2.0, 12.0]), np.full(2, ecce_r))]
    for view, rows in bins.items():
        if not rows:
            continue
        at = np.log2([row["n_bins"] for row in rows])
        ends = [(ecce_r, "ECCE-R")]
        for key, name in (("ece", "ECE"), ("noise_floor", "noise floor")):
            heights = np.asarray([row[key] for row in rows])
            marks.append(Mark("line", key, at, heights, view=view))
            ends.append((float(heights[-1]), name))
        marks += [
            Mark("text", "hint", math.inf, height, name, anchor="e", view=view)
            for height, name in _apart(ends, up.high)
        ]
    return Chart("A binned error changes with the bins", across, up, marks)


def _apart(places: list[tuple[float, str]], high: float) -> list[tuple[float, str]]:
    """Move labels apart that would stand on top of each other along an axis from 0."""
    placed: list[tuple[float, str]] = []
    for at, text in sorted(places):
        placed.append((max(at, placed[-1][0] + _APART * high if placed else 0.0), text))
    over = max(placed[-1][0] - high, 0.0)
    return [(at - over, text) for at, text in placed]
