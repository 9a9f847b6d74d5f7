"""What secant returns: frozen results that print as an answer in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._results import verdict
from secant._results.base import Result, Said, Table
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
from secant._results.words import words_along
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, Obtained
    from secant._input.axis import Axis
    from secant._input.options import BinLimits, Norm, Strategy, Uncertainty, Weighting
    from secant._results.predictions import Predictions
    from secant.plot import ReliabilityDisplay

__all__ = [
    "DIRECTIONS",
    "DIRECTIONS_ALONG",
    "ECE",
    "Bridge",
    "Curve",
    "Directions",
    "Interval",
    "Intervals",
    "MeanDifference",
    "Reliability",
    "Statistic",
    "power_of_ten",
]

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
class Statistic(Result):
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

    def _say(self) -> Said:
        sigma = f" = {metric(self.normalized)} sigma" if math.isfinite(self.normalized) else ""
        low, high = (metric(limit) for limit in self.ci)
        obtained = f"P {pvalue(self)}, {how(self)}"
        named = f"{self.name} {metric(self.value)}".lstrip()
        return Said(f"{named}{sigma} ({obtained}; limits {low} to {high})")


def power_of_ten(log10: float) -> float:
    """Return a P-value by its decimal logarithm: one of .3 shall be .3, to the last digit."""
    return float(f"{10**log10:.15g}")


@dataclass(frozen=True, slots=True, repr=False)
class MeanDifference(Result):
    """Whether predictions are right on average.

    Attributes
    ----------
    value : float
        Mean outcome minus mean forecast, in units of probability: above 0 if forecasts are too low.
    ci : tuple of float
        Confidence limits for the true difference: Clopper and Pearson's for how often the event
        happens, where rows have no weights and no clusters.
    pvalue : float
        Probability of a difference at least this large under perfect calibration.
    method : {"exact", "upper bound", "large-sample", "simulated"}
        How it was obtained, as in :class:`secant.Statistic`.
    observed, expected : float
        How many events happened, and how many the scores expect. Where rows have weights these are
        scaled to add up to the number of rows.
    ratio : float
        Observed events over expected ones; infinite where none are expected.
    ratio_ci : tuple of float
        Confidence limits for the true ratio.
    log10_pvalue : float
        Decimal logarithm of the P-value, which never underflows.
    draws : int or None
        How many draws it rests on, where there were any.
    """

    __module__ = "secant"

    value: float
    ci: tuple[float, float]
    pvalue: float
    method: Obtained
    observed: float
    expected: float
    ratio: float
    ratio_ci: tuple[float, float]
    log10_pvalue: float
    draws: int | None

    def _say(self) -> Said:
        low, high = (percent(each) for each in self.ci)
        return Said(
            f"Mean outcome minus mean forecast {percent(self.value)} (P {pvalue(self)}, "
            f"{how(self)}; limits {low} to {high}); observed over expected events "
            f"{metric(self.ratio)} ({metric(self.ratio_ci[0])} to {metric(self.ratio_ci[1])})."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Bridge(Result):
    """How far predictions are off in shape, once they are right on average.

    All logits are shifted by one number, so that as many events are expected as happened. What is
    left of the path of cumulative differences starts and ends in 0.

    Attributes
    ----------
    value : float
        How far that path strays at most, in standard deviations: above 0 where it rises first, so
        that scores are too extreme, below 0 where they are too moderate; 0 where there is no shape.
    pvalue : float
        Probability of a path that strays at least as far under perfect calibration, given how many
        events happened.
    direction : {"too extreme", "too moderate", None}
        What the sign tells, found or not; None where there is no shape. Along another axis than
        the scores ``"too low, then too high"`` or ``"too high, then too low"``.
    where : float or None
        The score up to which the path strays furthest; None where there is no shape. Along another
        axis one of its values.
    method : {"exact", "upper bound", "large-sample", "simulated"}
        How the P-value was obtained, as in :class:`secant.Statistic`.
    log10_pvalue : float
        Decimal logarithm of the P-value, which never underflows.
    draws : int or None
        How many draws it rests on, where there were any.
    """

    __module__ = "secant"

    value: float
    pvalue: float
    direction: Directions | None
    where: Any
    method: Obtained
    log10_pvalue: float
    draws: int | None
    _axis: Axis | None = None

    def _facts(self) -> dict[str, Any]:
        numbers = Result._facts(self)  # noqa: SLF001  (as for intervals)
        if self._axis is not None and self.where is not None:
            numbers["where"] = self._axis.plain(self.where)
        return numbers

    def _say(self) -> Said:
        if self.direction is None:
            return Said("The path has no shape: one score, or outcomes of one kind alone.")
        return Said(
            f"Right on average, the path strays by {metric(abs(self.value))} standard deviations "
            f"(P {pvalue(self)}, {how(self)}): {self.direction}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Result):
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
    _also = ("direction", "at_least")

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

    def _facts(self) -> dict[str, Any]:
        numbers = Result._facts(self)  # noqa: SLF001  (no super(): a class with slots is made twice)
        if self._axis is not None:
            numbers |= {name: self._axis.plain(numbers[name]) for name in ("low", "high")}
        return numbers

    def _say(self) -> Said:
        return Said(verdict.interval(self))


class Intervals(Result, tuple[Interval, ...]):
    """Ranges of scores: a tuple that is shown as a table."""

    __slots__ = ()

    def _facts(self) -> dict[str, Any]:
        return {"intervals": tuple(self)}

    def _say(self) -> Said:
        if not self:
            return Said("No range was found to be off.")
        axis = self[0]._axis  # noqa: SLF001  (made here)
        along, words = "scores" if axis is None else axis.title, words_along(axis)
        head = [along, f"{words.noun}s", words.forecast, words.outcome, "points", "limits", ""]
        rows = [
            [
                between(each),
                f"{each.n:,}",
                percent(each.mean_score),
                percent(each.mean_response),
                points(abs(each.miscalibration)),
                limits(each.ci, each.miscalibration),
                words.say(each.direction),
            ]
            for each in self
        ]
        return Said(tables=[Table(head, rows, left={0, 6})])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve(Result):
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

    def _say(self) -> Said:
        low, high = (metric(float(end)) for end in (self.difference.min(), self.difference.max()))
        many = f"{len(self.score):,} points"
        return Said(f"Cumulative differences at {many}, from {low} to {high}.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reliability(Result):
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
    _of: Predictions | None = None

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

    def _say(self) -> Said:
        at = f"{level(self.confidence_level)} limits"
        filled = np.flatnonzero(self.count > 0)
        rows = [
            [
                f"{score(self.edges[j])} to {score(self.edges[j + 1])}",
                f"{self.count[j]:,.10g}",
                percent(self.mean_score[j]),
                percent(self.mean_response[j]),
                f"{percent(self.low[j])} to {percent(self.high[j])}",
            ]
            for j in filled[:_MOST_BINS]
        ]
        more = f"... and {filled.size - _MOST_BINS:,} more" if filled.size > _MOST_BINS else ""
        head = ["bin", "predictions", "forecast", "outcome", at]
        return Said(tables=[Table(head, rows, {0}, more)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ECE(Result):
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

    def _say(self) -> Said:
        name = "Squared ECE" if self.squared else "ECE"
        bins = "bins of equal width" if self.strategy == "uniform" else "quantile bins"
        norm = "" if self.norm == "l1" else f", norm {self.norm}"
        words = f"{name} {metric(self.value)} ({self.n_bins:,} {bins}{norm})"
        if self.noise_floor is not None:
            words += f"; calibrated predictions give about {metric(self.noise_floor)}"
        if self.debiased is not None:
            words += f", less its bias {metric(self.debiased)}"
        return Said(f"{words}.")

    def _picture(self) -> str:
        return self.bins._repr_html_()
