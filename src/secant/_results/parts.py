"""What secant returns: frozen results that print as an answer in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._results import coverage_words, where_words
from secant._results.shown import Shown, to_width
from secant._results.tables import html_table, text_table
from secant._results.wording import (
    between,
    how,
    level,
    limits,
    metric,
    percent,
    points,
    pvalue,
    score,
)
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, Obtained
    from secant._input.axis import Axis
    from secant._input.options import BinLimits, Norm, Strategy, Uncertainty, Weighting
    from secant._results.calibration import Calibration
    from secant.plot import ReliabilityDisplay

__all__ = [
    "DIRECTIONS",
    "DIRECTIONS_ALONG",
    "ECE",
    "SCHEMA",
    "Curve",
    "Directions",
    "Interval",
    "Intervals",
    "Reliability",
    "Statistic",
    "Words",
    "fields_of",
    "plain",
]

# The version of what `to_dict` returns: raised when a key changes its meaning or goes, never when
# one is added. docs/json.md lists the keys.
SCHEMA = 2

Direction = Literal["too high", "too low", "even"]
Kind = Literal["simultaneous", "shared", "clopper-pearson", "normal"]
Directions = Literal[
    "too high",
    "too low",
    "too extreme",
    "too moderate",
    "too low, then too high",
    "too high, then too low",
    "alternating",
    "",
]
# What the signs of the ranges found are called, in the order of scores: + happened more often.
DIRECTIONS: dict[str, Directions] = {
    "": "",
    "+": "too low",
    "-": "too high",
    "+-": "too extreme",
    "-+": "too moderate",
}
# Along another axis what is too extreme in scores is not what two signs show.
DIRECTIONS_ALONG: dict[str, Directions] = {
    **DIRECTIONS,
    "+-": "too low, then too high",
    "-+": "too high, then too low",
}

# Bins that a printed table shows; it says how many more there are.
_MOST_BINS = 30


@dataclass(frozen=True, slots=True, repr=False)
class Statistic(Shown):
    """A cumulative metric with what it means.

    Attributes
    ----------
    value : float
        The metric, in units of probability.
    normalized : float
        The metric in units of sigma, its scale under perfect calibration; infinite where
        sigma is 0 and the metric is not.
    pvalue : float
        Probability of a metric at least this large under perfect calibration; 0.0 where it is too
        small for a double.
    log10_pvalue : float
        Its decimal logarithm, which never underflows.
    method : {"exact", "upper bound", "large-sample", "simulated"}
        How the P-value was obtained. An upper bound may be somewhat larger than the true one, and
        is never smaller. The large-sample one of ``method="asymptotic"`` is that of the limit of
        many observations; that of ``"auto"`` is tilted to the law of the outcomes.
    draws : int or None
        How many draws the P-value rests on, where there were any; where none of them is as extreme
        as what was seen, it is an upper bound.
    ci : tuple of float
        Confidence interval of the metric's true value.
    name : str
        What the metric is called.
    """

    __module__ = "secant"

    value: float
    normalized: float
    pvalue: float
    log10_pvalue: float
    method: Obtained
    draws: int | None
    ci: tuple[float, float]
    name: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; what is not finite becomes None."""
        return fields_of(self)

    def _text(self) -> str:
        sigma = f" = {metric(self.normalized)} sigma" if math.isfinite(self.normalized) else ""
        low, high = (metric(limit) for limit in self.ci)
        obtained = f"P {pvalue(self)}, {how(self)}"
        named = f"{self.name} {metric(self.value)}".lstrip()
        return f"{named}{sigma} ({obtained}; limits {low} to {high})"


class Words(str):
    """Text that is shown as it reads, line by line, also without ``print``."""

    __slots__ = ()

    def __str__(self) -> str:
        return to_width(str.__str__(self))

    __repr__ = __str__


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Shown):
    """A range of scores and how far predictions in it are off.

    Attributes
    ----------
    low, high : float
        The limits of the scores that were really covered, both included. Along another axis they
        are its values: numbers, ``numpy.datetime64`` or ``numpy.timedelta64``.
    n : int
        Predictions with such a score.
    weight : float
        Their share of all weight.
    mean_score, mean_response : float
        What was predicted on average and what happened.
    miscalibration : float
        ``mean_response - mean_score``: negative where predictions are too high.
    ci : tuple of float
        Limits for the true miscalibration.
    limits : {"simultaneous", "shared", "clopper-pearson", "normal"}
        What kind of limits: those that hold for all ranges of scores at once, also for ranges
        picked after looking, by one method or, for :attr:`Calibration.steepest`, at a level shared
        by two, so that one range may have both kinds; or those of a single range that was fixed in
        advance.
    """

    __module__ = "secant"

    low: float
    high: float
    n: int
    weight: float
    mean_score: float
    mean_response: float
    miscalibration: float
    ci: tuple[float, float]
    limits: Kind = "simultaneous"
    _axis: Axis | None = None
    _last: bool = True  # whether next to no prediction lies above

    @property
    def direction(self) -> Direction:
        """``"too high"`` (events happen less often than forecast), ``"too low"`` or ``"even"``."""
        if self.miscalibration < 0:
            return "too high"
        return "too low" if self.miscalibration > 0 else "even"

    @property
    def total(self) -> float:
        """Miscalibration times share: what the range adds to the cumulative difference."""
        return self.miscalibration * self.weight

    @property
    def certain(self) -> bool:
        """Whether the limits exclude 0, so that the direction is more than noise."""
        return self.ci[0] > 0 or self.ci[1] < 0

    @property
    def at_least(self) -> float:
        """How far off predictions in it are at least, by the limit nearer to 0; 0 if unknown."""
        return max(0.0, self.ci[0], -self.ci[1])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; what is not finite becomes None."""
        numbers = {**fields_of(self), "direction": self.direction, "at_least": self.at_least}
        if self._axis is not None:
            ends = {"low": self.low, "high": self.high}
            numbers |= {name: self._axis.plain(value) for name, value in ends.items()}
        return numbers

    def _text(self) -> str:
        return where_words.interval(self)


class Intervals(tuple[Interval, ...]):
    """Ranges of scores: a tuple that is shown as a table."""

    __slots__ = ()

    def _table(self) -> tuple[list[str], list[list[str]]]:
        axis = self[0]._axis if self else None  # noqa: SLF001  (made here)
        along = "scores" if axis is None else axis.title
        header = [along, "predictions", "forecast", "outcome", "points", "limits", ""]
        said = coverage_words.shape if axis is not None and axis.coverage else str
        if axis is not None and axis.coverage:
            header = coverage_words.head(axis, "limits")
        rows = [
            [
                between(each),
                f"{each.n:,}",
                percent(each.mean_score),
                percent(each.mean_response),
                points(abs(each.miscalibration)),
                limits(each.ci, each.miscalibration),
                said(each.direction),
            ]
            for each in self
        ]
        return header, rows

    def __repr__(self) -> str:
        return text_table(*self._table(), left={0, 6}) if self else "No range was found to be off."

    def _repr_html_(self) -> str:
        return html_table(*self._table(), left={0, 6}) if self else f"<p>{self!r}</p>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve(Shown):
    """The graph of cumulative differences: its slope is miscalibration.

    Attributes
    ----------
    score : ndarray
        Each point counts every prediction with at most this score. The first point is the origin,
        which stands before the smallest score. Along another axis these are its values.
    fraction : ndarray
        Share of all weight up to there, from 0 to 1.
    difference : ndarray
        Sum of w(r - s) up to there, divided by all weight.
    """

    __module__ = "secant"

    score: FloatArray
    fraction: FloatArray
    difference: FloatArray

    def __post_init__(self) -> None:
        for column in (self.score, self.fraction, self.difference):
            column.flags.writeable = False

    def _text(self) -> str:
        low, high = (metric(float(end)) for end in (self.difference.min(), self.difference.max()))
        return f"Cumulative differences at {len(self.score):,} points, from {low} to {high}."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reliability(Shown):
    """Mean score against mean response, bin by bin.

    Attributes
    ----------
    edges : ndarray
        The m + 1 limits of m bins; for quantile bins the first score of each bin, then 1.
    count : ndarray
        Predictions in each bin; a score that ties across an edge is shared.
    weight : ndarray
        Their share of all weight.
    mean_score, mean_response : ndarray
        Averages in each bin; NaN in an empty one.
    low, high : ndarray
        Limits for the true mean response of each bin taken by itself; NaN in an empty one. With
        sampling weights they are approximate: the effective number of predictions stands in for
        the number.
    strategy : str
        ``"uniform"`` or ``"quantile"``.
    limits : str
        ``"clopper-pearson"`` or ``"wilson"``.
    confidence_level : float
        Level of the limits.
    """

    __module__ = "secant"

    edges: FloatArray
    count: FloatArray
    weight: FloatArray
    mean_score: FloatArray
    mean_response: FloatArray
    low: FloatArray
    high: FloatArray
    strategy: Strategy
    limits: BinLimits
    confidence_level: float
    _of: Calibration | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; what is not finite becomes None."""
        return fields_of(self)

    def plot(
        self,
        ax: Any = None,
        *,
        uncertainty: Uncertainty | None = "bars",
        counts: bool = False,
        recalibrated: bool = False,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        uncertainty : {"bars", None}
            Whether to draw the limits of each bin.
        counts : bool
            Show below how many predictions each bin holds.
        recalibrated : bool
            Draw the recalibrated forecast too, a staircase that needs no bins.
        **kwargs
            Passed on to ``ax.plot`` for the points.

        Returns
        -------
        ReliabilityDisplay
            The picture and its parts.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        from secant.plot import ReliabilityDisplay  # noqa: PLC0415  (drawing stands above numbers)

        if recalibrated and self._of is None:
            raise InputError("bins that no result made have no recalibrated forecast to draw")
        stairs = [self._of.recalibrated] if recalibrated and self._of is not None else ()
        display = ReliabilityDisplay(self, uncertainty=uncertainty, recalibrated=stairs)
        return display.plot(ax, counts=counts, **kwargs)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the bins that hold predictions."""
        at = f"{level(self.confidence_level)} limits"
        header = ["bin", "predictions", "forecast", "outcome", at]
        rows = [
            [
                f"{score(self.edges[j])} to {score(self.edges[j + 1])}",
                f"{self.count[j]:,.10g}",
                percent(self.mean_score[j]),
                percent(self.mean_response[j]),
                f"{percent(self.low[j])} to {percent(self.high[j])}",
            ]
            for j in np.flatnonzero(self.count > 0)[:_MOST_BINS]
        ]
        return header, rows

    def _more(self) -> str:
        more = int(np.count_nonzero(self.count > 0)) - _MOST_BINS
        return f"... and {more:,} more" if more > 0 else ""

    def _text(self) -> str:
        return "\n".join(filter(None, [text_table(*self._table(), left={0}), self._more()]))

    def _repr_html_(self) -> str:
        return f"<div>{html_table(*self._table(), left={0})}{self._more()}</div>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ECE(Shown):
    """A binned metric, what noise alone would give, and the bins behind it.

    Attributes
    ----------
    value : float
        The metric.
    noise_floor : float or None
        What perfect calibration would give on average with these scores and bins. Exact for the
        squared norm, a normal approximation for ``"l1"``, the root of the squared one for ``"l2"``;
        None for ``"max"``.
    debiased : float or None
        For ``norm="l2"``: the metric with each bin's sampling variance subtracted; a squared
        one may be negative. None for other norms.
    dropped_bins : int
        Bins of a single prediction, or in which one has all but none of the weight: the debiased
        value leaves them out.
    bins : Reliability
        The bins.
    n_bins, strategy, norm, squared, weighting
        The options chosen.
    """

    __module__ = "secant"

    value: float
    noise_floor: float | None
    debiased: float | None
    dropped_bins: int
    bins: Reliability
    n_bins: int
    strategy: Strategy
    norm: Norm
    squared: bool
    weighting: Weighting

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; what is not finite becomes None."""
        return fields_of(self)

    def _text(self) -> str:
        name = "Squared ECE" if self.squared else "ECE"
        bins = "bins of equal width" if self.strategy == "uniform" else "quantile bins"
        norm = "" if self.norm == "l1" else f", norm {self.norm}"
        words = f"{name} {metric(self.value)} ({self.n_bins:,} {bins}{norm})"
        if self.noise_floor is not None:
            words += f"; calibrated predictions give about {metric(self.noise_floor)}"
        if self.debiased is not None:
            words += f", less its bias {metric(self.debiased)}"
        return f"{words}."

    def _repr_html_(self) -> str:
        return f"<div><p>{self._text()}</p>{self.bins._repr_html_()}</div>"  # no text of the user's


def fields_of(result: Any) -> dict[str, Any]:
    """Return the public fields of a result as what JSON knows."""
    names = [field.name for field in fields(result) if not field.name.startswith("_")]
    return {name: plain(getattr(result, name)) for name in names}


def plain(value: Any) -> Any:
    """Turn results into what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
