"""Proper scores taken apart, the recalibrated forecast, and two older tests of calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant._metrics.scores import pools
from secant._results import score_words
from secant._results.base import Result, Said
from secant._results.wording import percent

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant._blocks.table import Blocks
    from secant._metrics.scores import Taken

__all__ = ["Cox", "IsotonicFit", "Score", "Spiegelhalter", "isotonic_fit", "score_of"]


@dataclass(frozen=True, slots=True, repr=False)
class Score(Result):
    """A proper score and what it is made of: ``value == mcb - dsc + unc``.

    It is the mean loss of the forecasts; smaller is better. Subtracting the loss after an ideal
    monotone recalibration leaves what miscalibration costs.

    Attributes
    ----------
    name : {"Brier score", "log loss"}
        Which one.
    value : float
        The score. Log loss is infinite where a score of exactly 0 or 1 was wrong.
    mcb : float
        Miscalibration: what the forecasts lose against the recalibrated ones. The recalibration is
        fitted to these very outcomes, so that noise raises it: it is above 0 for perfect forecasts
        too. It has no P-value; ECCE-R has.
    dsc : float
        Discrimination: what the recalibrated forecasts gain over always forecasting the base rate.
    unc : float
        Uncertainty: the loss of always forecasting the base rate, a matter of the outcomes alone.
    mcb_bounds, dsc_bounds : tuple of float
        Both lie between these, certainly. The two ends are one number where all scores were at
        hand. Of files, engines and stored sums, which are not sorted, ``mcb`` and ``dsc`` are
        those of a recalibration that is constant over each of some ten thousand ranges of
        scores, and a finer one could only make both larger, up to these.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting, A. I. Jordan (2021). "Stable reliability diagrams for
       probabilistic classifiers." PNAS 118(8). https://doi.org/10.1073/pnas.2016191118
    """

    __module__ = "secant"

    name: Literal["Brier score", "log loss"]
    value: float
    mcb: float
    dsc: float
    unc: float
    mcb_bounds: tuple[float, float]
    dsc_bounds: tuple[float, float]

    @property
    def exact(self) -> bool:
        """Whether ``mcb`` and ``dsc`` are known exactly, not between bounds alone."""
        return self.mcb_bounds[0] == self.mcb_bounds[1]

    def _say(self) -> Said:
        return Said(score_words.one(self))


def score_of(name: Literal["Brier score", "log loss"], taken: Taken) -> Score:
    """Return a score that was taken apart."""
    least, most = taken.recalibrated
    return Score(
        name=name,
        value=taken.value,
        mcb=taken.value - most,
        dsc=taken.uncertainty - most,
        unc=taken.uncertainty,
        mcb_bounds=(taken.value - most, taken.value - least),
        dsc_bounds=(taken.uncertainty - most, taken.uncertainty - least),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IsotonicFit(Result):
    """The recalibrated forecast: isotonic regression of the outcomes on the scores.

    It is a staircase: scores from ``low[k]`` to ``high[k]`` become ``forecast[k]``, how often the
    event happened there. It is fitted to these outcomes and fits them better than new ones.

    Attributes
    ----------
    low, high : ndarray
        The smallest and the largest score of each step.
    n : ndarray
        Predictions on it.
    weight : ndarray
        Their share of all weight.
    mean_score : ndarray
        What was predicted on average.
    forecast : ndarray
        How often the event happened, which rises from step to step.
    """

    __module__ = "secant"

    low: FloatArray
    high: FloatArray
    n: IntArray
    weight: FloatArray
    mean_score: FloatArray
    forecast: FloatArray

    def __len__(self) -> int:
        return int(self.low.shape[0])

    @property
    def line(self) -> tuple[FloatArray, FloatArray]:
        """Scores and forecasts at both ends of every step: the line to draw."""
        ends = np.column_stack([self.low, self.high]).ravel()
        return ends, np.repeat(self.forecast, 2)

    def _say(self) -> Said:
        low, high = (percent(float(end)) for end in self.forecast[[0, -1]])
        steps = f"{len(self):,} step{'' if len(self) == 1 else 's'}"
        return Said(f"Recalibrated forecast: {steps}, from {low} to {high}.")


def isotonic_fit(blocks: Blocks, weight: float) -> IsotonicFit:
    """Return the recalibrated forecast of blocks, constant over each, with all their weight."""
    starts = pools(blocks)
    ends = np.append(starts[1:], len(blocks)) - 1

    def total(column: Any) -> Any:
        return np.add.reduceat(column, starts)

    of_steps = total(blocks.weight)
    return IsotonicFit(
        low=blocks.low[starts],
        high=blocks.high[ends],
        n=total(blocks.n),
        weight=of_steps / weight,
        mean_score=np.clip(total(blocks.scored) / of_steps, 0, 1),
        forecast=np.clip(total(blocks.w1) / of_steps, 0, 1),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Cox(Result):
    """Cox's regression: outcomes against the logits of scores.

    Calibrated scores have intercept 0 and slope 1; a slope below 1 says too extreme, above 1 too
    moderate. It sees errors of that kind alone: a wave around the right chances passes.

    Attributes
    ----------
    intercept, slope : float
        The fit. The slope is infinite where scores tell outcomes apart without a fault, and NaN
        where all scores, or all outcomes, are the same.
    intercept_error, slope_error : float
        Standard errors; NaN with sampling weights and clusters, which they do not know.
    pvalue : float
        Of the likelihood ratio test of intercept 0 and slope 1; NaN likewise.
    left_out : int
        Predictions with a score of exactly 0 or 1, which has no logit.
    exact : bool
        Whether every distinct score was at hand. Otherwise narrow ranges of scores stand for those
        in them, which moved the fit by less than two hundredths of its errors where tried.

    References
    ----------
    .. [1] D. R. Cox (1958). "Two further applications of a model for binary regression."
       Biometrika 45. https://doi.org/10.1093/biomet/45.3-4.562
    """

    __module__ = "secant"

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float
    pvalue: float
    left_out: int
    exact: bool

    def _say(self) -> Said:
        return Said(score_words.cox(self))


@dataclass(frozen=True, slots=True, repr=False)
class Spiegelhalter(Result):
    """Spiegelhalter's test of whether the Brier score is what calibrated scores would give.

    Attributes
    ----------
    z : float
        Brier score less its expectation under calibration, in standard deviations: negative
        where it is better, which a forecast that is too moderate manages. NaN where every score is
        0, 1/2 or 1, and with clusters.
    pvalue : float
        Two-sided, from the cumulants of the sum: the normal law would be wrong where events are
        rare. It is on the safe side, by up to a third where few events are expected.
    exact : bool
        Whether every distinct score was at hand, as for :class:`Cox`.

    References
    ----------
    .. [1] D. J. Spiegelhalter (1986). "Probabilistic prediction in patient management and clinical
       trials." Statistics in Medicine 5(5). https://doi.org/10.1002/sim.4780050506
    """

    __module__ = "secant"

    z: float
    pvalue: float
    exact: bool

    def _say(self) -> Said:
        return Said(score_words.spiegelhalter(self))
