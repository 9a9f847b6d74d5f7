"""The result of an assessment: the metrics, the worst range, and ways to ask for more."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._inference.expected import Expected, expected
from secant._inference.limits import at_level, detectable, interval
from secant._inference.mean_and_shape import mean_of
from secant._input.options import BinLimits, in_units_of_the_smaller
from secant._metrics.ecce import METRICS, path
from secant._metrics.ece import Binning
from secant._metrics.inverted import inverted
from secant._metrics.shape import pieces
from secant._results import verdict
from secant._results.base import SCHEMA, Result, Said, Text, plain, public
from secant._results.parts import (
    DIRECTIONS,
    DIRECTIONS_ALONG,
    ECE,
    Bridge,
    Curve,
    Interval,
    Intervals,
    MeanDifference,
    Reliability,
    Statistic,
    power_of_ten,
)
from secant._results.tolerance import VERY_LITTLE
from secant.errors import Argument, InputError, SecantError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from secant._base.types import NumberArray, Obtained
    from secant._blocks.looking import Source
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips
    from secant._inference.mean_and_shape import Mean, MeanAndShape
    from secant._input.axis import Axis
    from secant._input.options import Norm, Strategy, Weighting
    from secant._metrics.ecce import Extremes, Metric
    from secant._results.parts import Directions, Kind
    from secant._results.predictions import Predictions
    from secant._results.scores import Cox, IsotonicFit, Score, Spiegelhalter
    from secant._results.tolerance import Tolerance
    from secant.plot import CumulativeDisplay

__all__ = ["Calibration"]


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """The calibration of a set of predictions; print it to read the answer.

    Attributes
    ----------
    n : int
        Number of predictions.
    sigma : float
        Standard deviation of the cumulative difference under perfect calibration, the unit of
        the normalised metrics.
    ecce_r, ecce_mad : Statistic
        The two cumulative metrics.
    mean_score, base_rate : float
        What was predicted on average and how often the event happened.
    confidence_level : float
        Level of all intervals; the verdict tests at one minus it.
    forbidden : tuple of int
        Rows whose score rules out what happened: a score of exactly 0 before an event, of
        exactly 1 before none. Empty where rows have no numbers, as in an engine.
    n_forbidden : int
        How many such rows there are.
    warnings : tuple of str
        What to keep in mind when reading the numbers, a line each.
    top_label : bool
        Whether scores are confidences in the most likely class, so that "too high" is called
        "overconfident".
    n_clusters : int or None
        How many clusters the predictions are in; None where rows were taken to be independent.
    axis : Axis or None
        What predictions were put along in place of their scores; None where that is the scores.
    n_left_out : int
        How many rows lacked a score or an outcome, where ``missing="drop"`` left them out.
    pvalue : float
        Whether predictions are calibrated: the P-value that decides. It puts together those of
        :attr:`mean` and :attr:`bridge`; 0.0 where it is too small for a double.
    log10_pvalue : float
        Its decimal logarithm, which never underflows.
    pvalue_method : {"exact", "upper bound", "large-sample", "simulated"}
        How it was obtained, as in :class:`secant.Statistic`.
    mean : MeanDifference
        Whether predictions are right on average.
    bridge : Bridge
        Whether they are right in shape: neither too extreme nor too moderate, score by score.

    Notes
    -----
    The P-value that decides is x (1 - log x), x being the product of two: that of the number of
    events, and that of the path given this number. It is valid at every sample size, and finds
    slopes that ECCE-R misses. Weights of rows, and clusters: the rank of x among draws.

    For many predictions in memory the result refers to the arrays it was given, so that
    :meth:`between` and :meth:`ece` are exact. Do not change them: where they are looked at again
    and their sums are others than before, the question is refused. A pickled result leaves the
    arrays behind and answers exactly from the points of :attr:`curve`, or not at all.
    """

    __module__ = "secant"

    n: int
    sigma: float
    ecce_r: Statistic
    ecce_mad: Statistic
    mean_score: float
    base_rate: float
    confidence_level: float
    forbidden: tuple[int, ...]
    n_forbidden: int
    warnings: tuple[str, ...]
    n_clusters: int | None
    _predictions: Predictions
    _extremes: Extremes
    _decided: MeanAndShape
    _where: NumberArray
    top_label: bool = False
    axis: Axis | None = None
    n_left_out: int = 0
    _tolerance: Tolerance = VERY_LITTLE
    # Between quantiles of the scores, where rows that told them did not stay at hand.
    _cells: Blocks | None = None

    def asked(self, tolerance: Tolerance) -> Calibration:
        """Return the same result, whose words go by another tolerance; what is known is kept."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _tolerance=tolerance)
        return other

    @property
    def statistics(self) -> tuple[tuple[Metric, Statistic], ...]:
        """The cumulative metrics, each with its name and its law under perfect calibration."""
        return tuple((metric, getattr(self, metric.attribute)) for metric in METRICS)

    @cached_property
    def expected(self) -> Expected:
        """What calibrated predictions with these scores give on average, in units of sigma.

        ``expected.ecce_r`` is about 1.6 and ``expected.ecce_mad`` 1.25 for many distinct scores,
        less for few of them or few events: both are 0.8 for one score. Within about 2%.
        """
        return expected(self._blocks, self._totals)

    @property
    def pvalue(self) -> float:
        """The P-value that decides whether predictions are calibrated."""
        return power_of_ten(self.log10_pvalue)

    @property
    def log10_pvalue(self) -> float:
        """The decimal logarithm of the P-value that decides."""
        return self._decided.pvalue.log10

    @property
    def pvalue_method(self) -> Obtained:
        """How the P-value that decides was obtained."""
        return self._decided.pvalue.method

    @cached_property
    def mean(self) -> MeanDifference:
        """Whether predictions are right on average: by how much they are not, with limits."""
        p, n, found = self._decided.mean, self.n, self._mean
        return MeanDifference(
            value=found.value,
            ci=found.ci,
            pvalue=power_of_ten(p.log10),
            method=p.method,
            observed=self.base_rate * n,
            expected=self.mean_score * n,
            ratio=found.ratio,
            ratio_ci=found.ratio_ci,
            log10_pvalue=p.log10,
            draws=p.draws,
        )

    @cached_property
    def _mean(self) -> Mean:
        spread = 0.0 if self._flips is None else self._flips.spread
        return mean_of(self._blocks, self._totals, self.confidence_level, spread)

    @cached_property
    def bridge(self) -> Bridge:
        """Whether predictions are right in shape: how far the path strays once its mean is."""
        p, value, where = self._decided.shape, self._decided.excursion, self._where
        signs = {1.0: "+-", -1.0: "-+"}.get(float(np.sign(value)))
        names = DIRECTIONS if self.axis is None else DIRECTIONS_ALONG
        there = None
        if signs is not None:
            there = float(where[0]) if self.axis is None else self.axis.value(where[0])
        return Bridge(
            value=value,
            pvalue=power_of_ten(p.log10),
            direction=None if signs is None else names[signs],
            where=there,
            method=p.method,
            log10_pvalue=p.log10,
            draws=p.draws,
            _axis=self.axis,
        )

    @property
    def wrong_in(self) -> tuple[str, ...]:
        """Which parts are found to be wrong by themselves: ``"mean"``, ``"shape"``, or both.

        There are none unless miscalibration was found; nor need there be any then. The mean is
        asked with the spread that outcomes show, if that is more than scores let expect.
        """
        if not self.found:
            return ()
        alpha = 1 - self.confidence_level
        parts = {"mean": max(self.mean.pvalue, self._mean.named), "shape": self.bridge.pvalue}
        return tuple(part for part, p in parts.items() if at_level(p, alpha))

    @property
    def mean_is_unsure(self) -> bool:
        """Whether the mean's P-value is small, but not with the spread that outcomes show."""
        small = at_level(self.mean.pvalue, 1 - self.confidence_level)
        return self.found and small and "mean" not in self.wrong_in

    @property
    def found(self) -> bool:
        """Whether miscalibration was found: its P-value is at most one minus the level."""
        return at_level(self.pvalue, 1 - self.confidence_level)

    @property
    def doubtful(self) -> bool:
        """Whether it was found, and a level ten times as strict would not have found it."""
        strict = at_level(self.pvalue, (1 - self.confidence_level) / 10)
        return self.found and not strict and not self.n_forbidden

    @property
    def found_in_ranges(self) -> bool:
        """Whether ranges of scores may be named: ECCE-R's P-value is as small too."""
        return self.found and at_level(self.ecce_r.pvalue, 1 - self.confidence_level)

    @property
    def located(self) -> bool:
        """Whether it was found and the limits of the worst range exclude 0: it can be named."""
        return self.found_in_ranges and self.worst.certain

    @property
    def pieces(self) -> Sequence[Interval]:
        """The ranges found to be off, in the order of scores; none where they cannot be had.

        They cannot once the data have changed: what is known is still worth saying.
        """
        with suppress(SecantError):
            return self._pieces
        return ()

    @property
    def farthest(self) -> Interval | None:
        """The steepest range; None where there is none, or it cannot be had, as :attr:`pieces`."""
        with suppress(SecantError):
            return self.steepest
        return None

    @property
    def negligible(self) -> bool:
        """Whether what was found is very little, or within the tolerance asked for, everywhere."""
        return self._tolerance.covers(self)

    @property
    def trifling(self) -> bool:
        """Whether it is very little by itself too: what somebody tolerates need not be."""
        return self.negligible and VERY_LITTLE.covers(self)

    @property
    def shown_within(self) -> bool:
        """Whether ECCE-R is asked to be shown within a tolerance, and is."""
        asked = self._tolerance
        return asked.within is not None and self.ecce_r_interval(asked.at)[1] <= asked.within

    @property
    def tolerance(self) -> Tolerance:
        """What the words call negligible."""
        return self._tolerance

    @property
    def weighted(self) -> bool:
        """Whether predictions have different sampling weights."""
        return not self._totals.equal_weights

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What rows of outcome 0 and of outcome 1 weigh, the smaller being 1; None if the same."""
        return in_units_of_the_smaller(self._totals.outcome_weights)

    @cached_property
    def worst(self) -> Interval:
        """The range of scores that attains ECCE-R: the largest deviation in total.

        A narrower range may be further off on average, over fewer predictions.
        """
        first, last = sorted((self._extremes.argmin, self._extremes.argmax))
        if first == last:
            score = self.curve.score[0]
            return self._predictions.nothing(score, score)
        return self._predictions.interval(self._blocks.select(slice(first, last)))

    @cached_property
    def _pieces(self) -> tuple[Interval, ...]:
        """The ranges found to be off, in the order of scores."""
        if not self.found_in_ranges:
            return ()
        found = pieces(
            self._blocks,
            self._totals.weight,
            self._predictions.half_width(1.0),
            self._predictions.refine,
        )
        return tuple(self._predictions.interval(blocks) for blocks in found)

    @property
    def intervals(self) -> Intervals:
        """The ranges of scores found to be off, the largest deviation in total first.

        They are the pieces in which the graph of cumulative differences rises or falls by more
        than noise does, each as wide as it is one: neighbours are off in opposite directions. There
        are none unless :attr:`pvalue` and the P-value of ECCE-R are at most one minus the
        confidence level, and the limits of each exclude 0, so that the chance of any false one
        stays at that level.
        :attr:`worst` need not be among them: it may span several, if they leave more behind.
        """
        return Intervals(sorted(self._pieces, key=lambda each: -abs(each.total)))

    @property
    def direction(self) -> Directions:
        """In which directions predictions are off, from the lowest score to the highest.

        ``"too high"`` or ``"too low"`` throughout; ``"too extreme"``: too low below some score and
        too high above it; ``"too moderate"``: the reverse; ``"alternating"`` where it changes more
        often; ``""`` where nothing was found, or not where. Along another axis than the scores two
        directions are ``"too low, then too high"`` and ``"too high, then too low"``.
        """
        signs = "".join("+" if each.miscalibration > 0 else "-" for each in self._pieces)
        names = DIRECTIONS if self.axis is None else DIRECTIONS_ALONG
        return names.get(signs, "alternating")

    @cached_property
    def steepest(self) -> Interval | None:
        """The range of scores that is shown to be farthest off: somewhere it is at least so much.

        Of all ranges it is the one whose limits lie farthest from 0, and its ``at_least`` is that
        distance: with the confidence asked for, somewhere predictions are off by at least so much.
        :attr:`worst` adds up the most over many predictions; this one may be narrow. None unless
        :attr:`pvalue` and the P-value of ECCE-R are at most one minus the confidence level, or if
        no limits exclude 0.

        Notes
        -----
        Its limits hold for all ranges at once, at a level shared by two ways to find them: those of
        the path of cumulative differences, and Clopper and Pearson's for the ranges of
        :func:`secant.scan` (with sampling weights or clusters the first alone). These end at
        quantiles of the scores: where the expected events, and the expected failures, reach 1/256,
        2/256, ... of all. So it holds the same rows wherever the data are; an engine knows less
        about sampling weights, and shows a little less. With clusters, and for more than 128 groups
        in files or engines, only the ends of what is kept are tried. The limits hold in any case.
        """
        from secant._inference.tolerance import steepest  # noqa: PLC0415  (not what `import secant` pays for)

        if not self.found_in_ranges:
            return None
        found = steepest(
            self._blocks,
            self._totals,
            self.confidence_level,
            self._predictions.refine_at_hand,
            self._flips,
            cells=self._cells,
        )
        if found is None:
            return None
        alone = self.weighted or self._flips is not None
        kind: Kind = "simultaneous" if alone else "shared"
        return replace(self._predictions.interval(found.blocks), ci=found.limits, limits=kind)

    def pvalue_beyond(self, tolerance: Any) -> float:
        """Test whether some range of scores is truly off by more than a tolerance.

        A small value shows that one is. A large one does not show that none is: ranges too narrow
        to tell always remain.

        Parameters
        ----------
        tolerance : float
            The mean miscalibration allowed over any range of scores, in units of probability.

        Returns
        -------
        float
            A P-value for the claim that every range is off by no more than this. It is never below
            :attr:`pvalue` and that of ECCE-R, the larger of which stands for a tolerance of 0; for
            that, a score of 0 or 1 that
            was wrong has the P-value 0.

        Notes
        -----
        With C the cumulative difference, F the share of weight and H the half-width of simultaneous
        limits, P is the smallest level at which ``|C_y - C_x| - tolerance (F_y - F_x)`` exceeds H
        for some x < y, or at which :attr:`steepest` is off by more than the tolerance at least.

        Examples
        --------
        >>> import numpy as np
        >>> import secant
        >>> rng = np.random.default_rng(0)
        >>> forecast = rng.uniform(0.1, 0.9, 5000)
        >>> result = secant.assess(rng.random(5000) < forecast + 0.1 * (forecast > 0.7), forecast)
        >>> [result.pvalue_beyond(tolerance) < 0.05 for tolerance in (0.02, 0.05, 0.1)]
        [True, True, False]
        """
        from secant._inference.tolerance import shown_beyond  # noqa: PLC0415  (as above)

        if not (isinstance(tolerance, Real) and 0 <= float(tolerance) < 1):
            raise InputError(Argument("tolerance"), f" must lie in [0, 1); got {tolerance!r}")
        chance = 0.0 if self.n_forbidden else max(self.pvalue, self.ecce_r.pvalue)
        if tolerance == 0:
            return chance
        refine = self._predictions.refine_at_hand
        about = self._blocks, self._totals, float(tolerance), refine, self._flips
        shown = shown_beyond(*about, cells=self._cells)
        return max(chance, shown)

    def ecce_r_interval(self, confidence_level: float | None = None) -> tuple[float, float]:
        """Return the confidence interval of the true ECCE-R, also at another level than its own."""
        if confidence_level is None or confidence_level == self.confidence_level:
            return self.ecce_r.ci
        value = self.ecce_r.value
        return interval(value, null.range, self._totals, 1 - confidence_level, self._flips)

    @property
    def detectable(self) -> float:
        """The true ECCE-R that predictions like these would show 99 times in 100; 1 if none."""
        effective = self._totals.weight**2 / self._totals.ww
        inflation = self._predictions.inflation
        sigma = self.sigma * math.sqrt(inflation)
        return min(1.0, detectable(sigma, effective / inflation, self.confidence_level))

    def by_chance(self, metric: Metric) -> float:
        """Return a metric's mean under perfect calibration, in units of sigma."""
        if self._flips is None or self._flips.too_few or self.sigma == 0:
            return float(getattr(self.expected, metric.attribute))
        return self._flips.mean(metric.law) / self.sigma

    @property
    def noise(self) -> float:
        """How far from 0 the graph of calibrated predictions ends, typically.

        Sigma, and more where rows that belong together go astray together.
        """
        return self.sigma * math.sqrt(self._predictions.inflation)

    def certain_scores(self, certain: int) -> tuple[int, int]:
        """Return how many scores of exactly 0, or of exactly 1, were wrong, and how many there are.

        Both are 0 where such scores were added up with others.
        """
        return self._predictions.by_score.certain(certain)

    @property
    def inverted(self) -> bool:
        """Whether scores look like chances of the opposite: 1 - score fits far better."""
        seen = self._predictions.by_score
        return inverted(seen.blocks, seen.totals)

    @property
    def details(self) -> Text:
        """Every number there is to say, in words: both metrics, all ranges, what to keep in mind.

        Examples
        --------
        >>> import secant
        >>> secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9]).details  # doctest: +ELLIPSIS
        No miscalibration found.
        P = 0.93 (exact): mean P = 1, shape P = 0.64.
        ECCE-R 0.150, or 0.733 sigma (calibrated predictions average 1.1; P = 1, exact). ...
        ECCE-MAD 0.125, or 0.611 sigma (calibrated predictions average 1.1; P = 1, exact). ...
        4 predictions: mean forecast 47.5%, mean outcome 50.0%.
        The range that ECCE-R measures: Scores 0.500 to 0.900, 2 predictions: ...
        Brier score 0.108 = 0.108 miscalibration - 0.250 discrimination + 0.250 uncertainty.
        Log loss 0.354 = 0.354 miscalibration - 0.693 discrimination + 0.693 uncertainty.
        Cox's slope is infinite: the scores tell outcomes apart without a fault.
        Spiegelhalter's Z -0.679 (P = 0.98).
        Note: Few events were expected, or few failures: confidence limits are approximate.
        """
        notes = (f"Note: {each}" for each in self.warnings)
        return Text("\n".join([*verdict.details(self), *notes]))

    @cached_property
    def curve(self) -> Curve:
        """The cumulative differences, exact at every point, their extremes among them."""
        blocks = self._blocks
        fraction = np.concatenate([[0.0], np.cumsum(blocks.weight)])
        ends = np.concatenate([blocks.low[:1], blocks.high])
        return Curve(
            score=ends if self.axis is None else self.axis.values(ends),
            fraction=fraction / fraction[-1],
            difference=path(blocks, self._totals.weight),
        )

    @property
    def brier(self) -> Score:
        """The Brier score, the mean of (r - s)^2, and how much of it is miscalibration.

        It is computed when first asked for: exactly for arrays, for other sources with bounds
        on what it is made of. See :class:`secant.Score`.
        """
        return self._predictions.by_score.brier

    @property
    def log_loss(self) -> Score:
        """The mean of -log(chance given to what happened), and how much of it is miscalibration.

        Infinite where a score of exactly 0 or 1 was wrong. Computed when first asked for, as
        :attr:`brier`.
        """
        return self._predictions.by_score.log_loss

    @property
    def cox(self) -> Cox:
        """Cox's intercept and slope, computed when first asked for."""
        return self._predictions.by_score.cox

    @property
    def spiegelhalter(self) -> Spiegelhalter:
        """Spiegelhalter's Z, computed when first asked for."""
        return self._predictions.by_score.spiegelhalter

    @property
    def proper_scores(self) -> tuple[Score | None, Score | None]:
        """Brier score and log loss as they are printed.

        Those of more than a million predictions come with bounds on what they are made of, unless
        they were asked for by name, which takes longer. None where the predictions are needed
        and are gone.
        """
        return self._predictions.by_score.proper_scores

    @property
    def recalibrated(self) -> IsotonicFit:
        """The recalibrated forecast, to be drawn through a reliability diagram.

        Exact for arrays; of other sources scores are taken together in some ten thousand ranges.
        """
        return self._predictions.by_score.recalibrated

    def between(self, a: Any, b: Any, *, fixed_in_advance: bool = False) -> Interval:
        """Assess the predictions with scores from ``a`` to ``b``, both included.

        The answer is exact. While the predictions are at hand that is so for any limits. When they
        are gone, as for a pickled result, of many predictions only sums over ranges of scores
        are left: limits that would cut one are refused, and the message names the nearest
        that do not.

        Parameters
        ----------
        a, b : float
            Limits of the scores. Along another axis its values: numbers, or dates and times, also
            as texts such as ``"2026-03-09"``. Along times with a zone, those without one are local
            times of that zone; ``numpy.datetime64`` alone is in UTC, as ``worst.low`` is.
        fixed_in_advance : bool
            Whether the limits were chosen before looking at the outcomes, and no others are. Then
            the confidence limits are Clopper and Pearson's for how often the event happens, minus
            the mean score. They hold for one such range at a time and are narrower, unless scores
            within it differ much: that one near 0 or 1 leaves little to chance they do not know.
            Where weights differ they are those of a normal variable, with an allowance for heavy
            events that did not show.

        Returns
        -------
        Interval
            With ``n == 0`` and NaN for averages where no score lies between.

        Raises
        ------
        InputError
            If the limits are not numbers in ascending order; if the predictions are gone and the
            limits lie inside what was kept of them; or if ``fixed_in_advance`` is asked of
            predictions in clusters, for which there is no such answer.
        SecantError
            If the predictions are seen to have changed since they were assessed.

        References
        ----------
        .. [1] C. J. Clopper, E. S. Pearson (1934). "The use of confidence or fiducial limits
           illustrated in the case of the binomial." Biometrika 26(4).
           https://doi.org/10.1093/biomet/26.4.404

        Examples
        --------
        >>> import secant
        >>> result = secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9])
        >>> result.between(0.3, 0.6).n
        2
        """
        if fixed_in_advance and self._flips is not None:
            knows = "=True knows no clusters; leave it out"
            raise InputError(Argument("fixed_in_advance"), knows)
        return self._predictions.between(a, b, fixed_in_advance=fixed_in_advance)

    def ece(
        self,
        *,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        norm: Norm = "l1",
        squared: bool = False,
        weighting: Weighting = "count",
        limits: BinLimits = "clopper-pearson",
    ) -> ECE:
        """Compute a binned metric with its noise floor and its bins.

        Parameters
        ----------
        n_bins, strategy, norm, squared, weighting
            As in :func:`secant.ece`.
        limits : {"clopper-pearson", "wilson"}
            Confidence limits for the mean response of each bin.

        Returns
        -------
        ECE
            The metric, its noise floor, its debiased form and the bins.

        Raises
        ------
        InputError
            If an option is unknown, quantile bins outnumber the predictions, or the predictions
            are gone.

        Examples
        --------
        >>> import secant
        >>> result = secant.assess([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.8])
        >>> ece = result.ece(n_bins=2)
        >>> round(ece.value, 3), round(ece.noise_floor, 3)
        (0.225, 0.247)
        """
        binning = Binning(n_bins, strategy, norm, squared, weighting)
        return next(self._predictions.by_score.eces([binning], limits))

    def reliability(
        self,
        *,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        limits: BinLimits = "clopper-pearson",
    ) -> Reliability:
        """Return mean score against mean response, bin by bin.

        Parameters
        ----------
        n_bins, strategy
            As in :func:`secant.ece`.
        limits : {"clopper-pearson", "wilson"}
            Confidence limits for the mean response of each bin.

        Returns
        -------
        Reliability
            The bins.

        Raises
        ------
        InputError
            As :meth:`ece`.
        """
        predictions, binning = self._predictions.by_score, Binning(n_bins, strategy)
        (bins,) = predictions.bins([binning])
        return predictions.reliability(bins, binning, limits)

    def plot(
        self, ax: Any = None, *, worst: bool = True, band: bool = False, **kwargs: Any
    ) -> CumulativeDisplay:
        """Draw the graph of cumulative differences: slope is miscalibration, flat is good.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        worst : bool
            Mark the ranges found to be off with their secants, and write how far off they are; in
            grey the largest deviation where none was found, since it could be noise.
        band : bool
            Shade what the graph does not leave under perfect calibration.
        **kwargs
            ``label``, ``title``, and what ``ax.plot`` takes for the curve, as in
            :meth:`CumulativeDisplay.plot`.

        Returns
        -------
        CumulativeDisplay
            The picture and its parts.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        from secant.plot import CumulativeDisplay  # noqa: PLC0415  (drawing stands above numbers)

        return CumulativeDisplay(self).plot(ax, worst=worst, band=band, **kwargs)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report: one HTML file that works offline, to open, print or send.

        Parameters
        ----------
        path : path-like
            Where to, ending in .html or .htm; the file appears whole or not at all.
        title : str, optional
            Title of the page.

        See Also
        --------
        secant.report.write : The same for several models, with groups and provenance.
        """
        from secant.report import write  # noqa: PLC0415  (pages stand above numbers)

        write(path, self, title=title)

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        return verdict.headline(self)

    @property
    def where(self) -> str:
        """Where predictions are off and in which direction, or what would have been seen."""
        return verdict.where(self)

    def summary(self) -> dict[str, Any]:
        """Return the numbers already known as plain JSON, without another look at the data."""
        names = (*public(self), "pvalue", "log10_pvalue", "pvalue_method", "mean", "bridge")
        names += ("worst", "outcome_weights")
        return {name: plain(getattr(self, name)) for name in names}

    def _facts(self) -> dict[str, Any]:
        looked_up = ("where", "direction", "intervals", "cox", "spiegelhalter", "steepest")
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            **self.summary(),
            **{name: getattr(self, name) for name in looked_up},
            **dict(zip(("brier", "log_loss"), self.proper_scores, strict=True)),
        }

    def _say(self) -> Said:
        return verdict.said(self)

    def _picture(self) -> str:
        from secant.report import small_picture  # noqa: PLC0415  (pages stand above numbers)

        return small_picture(self)

    def __getstate__(self) -> dict[str, Any]:
        with suppress(SecantError):  # of data that changed meanwhile
            # Found now, while the rows are at hand.
            self._pieces, self.steepest  # noqa: B018
            if self._blocks.open.any() or self.axis is not None:
                self.proper_scores  # noqa: B018
        return self.__dict__

    # Short for what other rooms look at behind a result.

    @property
    def _blocks(self) -> Blocks:
        return self._predictions.blocks

    @property
    def _totals(self) -> Totals:
        return self._predictions.totals

    @property
    def _source(self) -> Source | None:
        return self._predictions.source

    @property
    def _flips(self) -> Flips | None:
        return self._predictions.flips
