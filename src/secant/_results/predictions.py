"""Predictions that were assessed: what was kept of them, and the data while they are at hand."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._blocks.looking import resolve
from secant._inference.limits import critical, half_width, range_limits
from secant._input.options import BinLimits, check_choice
from secant._metrics.ece import binned, cut_at_edges, debiased, error, noise_floor
from secant._metrics.scores import (
    BRIER,
    LOG_LOSS,
    brier_sum,
    log_loss_sum,
    resolved,
    taken_apart,
)
from secant._results.parts import ECE, Interval, Reliability
from secant._results.scores import Cox, Spiegelhalter, isotonic_fit, score_of
from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import BoolArray
    from secant._blocks.looking import Refine, Source
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips
    from secant._input.axis import Axis
    from secant._metrics.ece import Binning, BinSums
    from secant._metrics.scores import Rule
    from secant._results.parts import Kind
    from secant._results.scores import IsotonicFit, Score

__all__ = ["Predictions"]

# Predictions up to which a number that takes a sort of them is printed without being asked for.
_QUICKLY_SORTED = 1_000_000
# A range beyond which lies no more than this share of all weight ends where the scores end.
_NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was kept of predictions, and where they can be looked at again; None if they are gone.

    Whatever is seen at a second look is compared with what was kept, so that data that changed
    meanwhile are refused. What takes time is computed when first asked for. Pickled predictions
    leave their source behind.

    Attributes
    ----------
    blocks, totals, source
        What was kept, and the data.
    confidence_level
        Level of all limits.
    axis
        What predictions are put along in place of their scores; None where that is the scores.
    flips
        What the signs of clusters have shown; None where rows were taken to be independent.
    n_forbidden
        Rows whose score rules out what happened.
    """

    blocks: Blocks
    totals: Totals
    source: Source | None
    confidence_level: float
    axis: Axis | None = None
    flips: Flips | None = None
    n_forbidden: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    # Another look -------------------------------------------------------------------------------

    @property
    def refine(self) -> Refine | None:
        """How to cut blocks finer; None where the predictions are gone."""
        return None if self.source is None else self.look

    @property
    def refine_at_hand(self) -> Refine | None:
        """How to look again where that takes no reading of files and no query."""
        return self.look if self.source is not None and self.source.at_hand else None

    @property
    def sorts(self) -> bool:
        """Whether all scores are at hand, and may be sorted."""
        source = self.source
        at_hand = source is not None and source.at_hand and source.axis is None
        return at_hand or not self.blocks.open.any()

    def look(self, blocks: Blocks) -> Blocks:
        """Return the same predictions in finer blocks."""
        finer = self._checked().refine(blocks)
        if not _hold_the_same(blocks, finer):
            msg = (
                "the data were changed after they were assessed: a second look at the same scores "
                "found other observations; assess them again"
            )
            raise SecantError(msg)
        return finer

    def with_moments(self) -> tuple[Blocks, Totals]:
        """Return blocks that know the noise of each, from another look if need be."""
        if self.blocks.moments is not None:
            return self.blocks, self.totals
        return self._with_moments_of(self._checked())

    @property
    def by_score(self) -> Predictions:
        """The same in the order of their scores, for what is about scores."""
        return self if self.axis is None else self._by_score

    @cached_property
    def _by_score(self) -> Predictions:
        source = self._checked().by_score
        blocks, totals = self._with_moments_of(source)
        return replace(self, blocks=blocks, totals=totals, source=source, axis=None)

    def _checked(self) -> Source:
        """Return the data, which are there and were not seen to change."""
        if self.source is None:
            raise _gone()
        self.source.recheck()
        return self.source

    def _with_moments_of(self, source: Source) -> tuple[Blocks, Totals]:
        blocks, totals = source.blocks(moments=True)
        if not totals.agrees(self.totals):
            raise _changed()
        return blocks, totals

    # Ranges -------------------------------------------------------------------------------------

    @property
    def inflation(self) -> float:
        """By how much clusters make variances larger: the design effect, for the path's range."""
        if self.flips is None or self.totals.sigma == 0:
            return 1.0
        alpha = 1 - self.confidence_level
        drawn = self.flips.quantile(null.range, alpha)
        return max(1.0, (drawn / (critical(null.range, alpha) * self.totals.sigma)) ** 2)

    def half_width(self, share: float) -> float:
        """Return the half-width of simultaneous limits for a range with this share of weight."""
        return half_width(null.range, self.totals, 1 - self.confidence_level, self.flips) / share

    def interval(self, blocks: Blocks, *, fixed_in_advance: bool = False) -> Interval:
        """Describe consecutive blocks, of which there is one at least."""
        weight = float(blocks.weight.sum())
        share = weight / self.totals.weight
        gap = float(blocks.gain.sum()) / weight
        mean_score = min(max(float(blocks.scored.sum()) / weight, 0.0), 1.0)
        method: Kind = "simultaneous"
        if fixed_in_advance and not self.totals.equal_weights:
            limits = range_limits(blocks, self.totals, self.confidence_level)
            method = "normal"
        elif fixed_in_advance:
            low, high = _binomial_limits(blocks, self.confidence_level)
            limits = low - mean_score, high - mean_score
            method = "clopper-pearson"
        else:
            half = self.half_width(share)
            # The truth lies between nothing and everything happening, whatever the noise.
            limits = max(gap - half, -mean_score), min(gap + half, 1 - mean_score)
        return Interval(
            low=self._value(blocks.low[0]),
            high=self._value(blocks.high[-1]),
            n=int(blocks.n.sum()),
            weight=share,
            mean_score=mean_score,
            mean_response=float(blocks.w1.sum()) / weight,
            miscalibration=gap,
            ci=limits,
            limits=method,
            _axis=self.axis,
            _last=self._is_last(blocks.high[-1]),
        )

    def between(self, a: Any, b: Any, *, fixed_in_advance: bool = False) -> Interval:
        """Describe the predictions between two values, both included."""
        low, high = self._keys(a, b)
        weighted = not self.totals.equal_weights
        whole = self.with_moments()[0] if fixed_in_advance and weighted else self.blocks
        inside = self._inside(whole, low, high)
        if not len(inside):
            return self.nothing(a, b)
        return self.interval(inside, fixed_in_advance=fixed_in_advance)

    def nothing(self, low: Any, high: Any) -> Interval:
        """Describe a range between two values that holds no prediction."""
        ends = [float(end) if self.axis is None else self.axis.exact(end) for end in (low, high)]
        unknown = (math.nan, math.nan)
        numbers = (0, 0.0, math.nan, math.nan, math.nan, unknown)
        return Interval(ends[0], ends[1], *numbers, _axis=self.axis)

    def _is_last(self, high: Any) -> bool:
        """Tell whether next to nothing lies above a score."""
        above = self.blocks.weight[self.blocks.low > high] if self.axis is None and high < 1 else []
        return float(np.sum(above)) <= _NEXT_TO_NOTHING * self.totals.weight

    def _keys(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return the first and the last key between two values, both included."""
        if self.axis is None:
            if not (isinstance(a, Real) and isinstance(b, Real) and a <= b):
                raise _descending("numbers", a, b)
            low, high = float(a), float(b)
            if high < 0 or low > 1:
                needs = f"between(a, b) needs scores, from 0 to 1; got a={low:g}, b={high:g}"
                percent = f" (percentages? between({low / 100:g}, {high / 100:g}))"
                raise InputError(needs, hint=percent if 1 < low <= high <= 100 else "")
            return low, high
        low, high = self.axis.key(a), self.axis.key(b)
        kind: np.dtype[Any] = self.blocks.low.dtype
        if low > high:
            raise _descending("values", a, b)
        if kind.kind == "f":
            return float(low), float(high)
        # Whole keys beyond 2^53 are compared as such.
        most, least = int(np.iinfo(kind).max), int(np.iinfo(kind).min)
        low = most if low == math.inf else max(math.ceil(max(low, least)), least)
        high = least if high == -math.inf else min(math.floor(min(high, most)), most)
        return np.array(min(low, most), kind)[()], np.array(max(high, least), kind)[()]

    def _inside(self, blocks: Blocks, a: Any, b: Any) -> Blocks:
        """Return the blocks between two keys, cut at both where that can be done.

        Raises
        ------
        InputError
            If they cannot be cut, and would have to be.
        """

        def at_either_end(blocks: Blocks) -> BoolArray:
            ends = np.zeros(len(blocks), bool)
            first, last = np.searchsorted(blocks.high, a), np.searchsorted(blocks.low, b, "right")
            if first < last:  # the first and the last block that meet [a, b]
                ends[[first, last - 1]] = True
            return ends

        blocks = resolve(blocks, at_either_end, self.refine)
        if self.refine is None:
            self._refuse_to_cut(blocks, a, b)
        return blocks.select((blocks.high >= a) & (blocks.low <= b))

    def _value(self, key: Any) -> Any:
        """Return the score, or what a key along another axis stands for."""
        return float(key) if self.axis is None else self.axis.value(key)

    def _refuse_to_cut(self, blocks: Blocks, a: Any, b: Any) -> None:
        """Refuse limits inside a block of which only sums are left; name the nearest not so."""
        first = int(np.searchsorted(blocks.high, a))
        last = int(np.searchsorted(blocks.low, b, "right")) - 1
        if first > last or (blocks.low[first] >= a and blocks.high[last] <= b):
            return
        low, high = blocks.low[first], blocks.high[last]
        # Outward, or inward where that is nearer and leaves something.
        starts, ends = blocks.low[first : last + 1], blocks.high[first : last + 1]
        start = a if low >= a else starts[np.argmin(np.abs(starts - a))]
        end = b if high <= b else ends[np.argmin(np.abs(ends - b))]
        if start > end:
            start, end = low, high
        asked, nearest = (
            ", ".join(repr(self._value(key)) for key in keys) for keys in ((a, b), (start, end))
        )
        raise InputError(
            f"the predictions are gone, and between({asked}) would cut what was kept of them; "
            f"the nearest that can be answered is between({nearest})"
        )

    # Scores -------------------------------------------------------------------------------------

    @cached_property
    def brier(self) -> Score:
        """The Brier score, as exact as the source allows."""
        return self.score(BRIER, self.monotone, exact=self.sorts)

    @cached_property
    def log_loss(self) -> Score:
        """The log loss, as exact as the source allows."""
        return self.score(LOG_LOSS, self.monotone, exact=self.sorts)

    @property
    def proper_scores(self) -> tuple[Score | None, Score | None]:
        """Both as they are printed; None where the predictions are needed and are gone."""
        return self._as_printed("brier", BRIER), self._as_printed("log_loss", LOG_LOSS)

    def _as_printed(self, name: str, rule: Rule) -> Score | None:
        with suppress(InputError):
            if name in self.__dict__ or self.totals.n <= _QUICKLY_SORTED:
                found: Score = getattr(self, name)
                return found
            return self.score(rule, self.blocks)
        return None

    def score(self, rule: Rule, blocks: Blocks, *, exact: bool = False) -> Score:
        """Take a proper score apart."""
        total = self._brier_sum if rule is BRIER else self._log_loss_sum
        return score_of(rule.name, taken_apart(rule, total, blocks, exact=exact))

    @cached_property
    def _brier_sum(self) -> float:
        """The sum of w(r - s)^2."""
        if not self.blocks.open.any():
            return brier_sum(self.blocks)
        if self.totals.squared_error is None:  # of a state that an earlier version stored
            raise _gone()
        return self.totals.squared_error

    @cached_property
    def _log_loss_sum(self) -> float:
        """The sum of -w log(chance given to what happened)."""
        if self.n_forbidden:
            return math.inf
        blocks = self.blocks
        if not blocks.open.any():
            return log_loss_sum(blocks.low, blocks.w0, blocks.w1)
        if self.totals.log_loss is not None:
            return self.totals.log_loss
        sums = self._checked().score_sums()
        if sums is None:
            raise _gone()
        before = float(blocks.up.sum() + blocks.down.sum())
        if not math.isclose(sums.residual, before, rel_tol=1e-9):
            raise _changed()
        return sums.log_loss

    @cached_property
    def monotone(self) -> Blocks:
        """Blocks, resolved as far as a monotone recalibration needs if all scores are at hand."""
        return resolved(self.blocks, self.refine if self.sorts else None)

    @cached_property
    def recalibrated(self) -> IsotonicFit:
        """The recalibrated forecast."""
        return isotonic_fit(self.monotone, self.totals.weight)

    @cached_property
    def cox(self) -> Cox:
        """Cox's intercept and slope."""
        from secant._inference.classic_tests import cox_fit  # noqa: PLC0415  (for whoever asks)

        blocks = self.blocks
        fit = cox_fit(blocks)
        known = self.totals.equal_weights and self.flips is None
        errors = fit.errors if known else (math.nan, math.nan)
        pvalue = math.exp(-fit.chi2 / 2) if known else math.nan
        return Cox(fit.intercept, fit.slope, *errors, pvalue, fit.left_out, not blocks.open.any())

    @cached_property
    def spiegelhalter(self) -> Spiegelhalter:
        """Spiegelhalter's Z."""
        from secant._inference.classic_tests import spiegelhalter  # noqa: PLC0415  (as cox)

        blocks, totals = self.blocks, self.totals
        summed = totals.equal_weights or blocks.moments is not None
        found = (math.nan, math.nan)
        if summed and self.flips is None:
            found = spiegelhalter(blocks, totals)
        return Spiegelhalter(*found, not blocks.open.any())

    def certain(self, score: int) -> tuple[int, int]:
        """Return how many scores of exactly 0, or of exactly 1, were wrong, and how many are."""
        blocks = self.blocks
        there = (blocks.low == score) & (blocks.high == score)
        wrong = blocks.n0 if score else blocks.n1
        return int(wrong[there].sum()), int(blocks.n[there].sum())

    # Bins ---------------------------------------------------------------------------------------

    def bins(self, binnings: Sequence[Binning]) -> list[BinSums]:
        """Sort the predictions into several sets of bins, with as few looks at them as for one."""
        blocks, totals = self.with_moments()
        blocks = cut_at_edges(blocks, totals, binnings, self.look)
        return [binned(blocks, totals, binning, None) for binning in binnings]

    def reliability(self, bins: BinSums, binning: Binning, limits: BinLimits) -> Reliability:
        """Return bins with limits for each."""
        from secant._inference.binomial import clopper_pearson, wilson  # noqa: PLC0415  (bins alone need it)

        check_choice("limits", limits, BinLimits)
        assert bins.aa is not None  # noqa: S101
        method = clopper_pearson if limits == "clopper-pearson" else wilson
        filled = bins.filled
        rate = bins.mean(bins.weight1)
        low, high = np.full((2, len(filled)), np.nan)
        # Kish's effective number of predictions; their number itself when nothing is weighted.
        effective = bins.weight[filled] ** 2 / bins.aa[filled]
        effective = np.minimum(effective, bins.count[filled]) / self.inflation
        successes = np.clip(rate[filled], 0, 1) * effective
        low[filled], high[filled] = method(successes, effective, self.confidence_level)
        return Reliability(
            edges=bins.edges,
            count=bins.count,
            weight=bins.weight / bins.weight.sum(),
            mean_score=bins.mean(bins.scored),
            mean_response=rate,
            low=low,
            high=high,
            strategy=binning.strategy,
            limits=limits,
            confidence_level=self.confidence_level,
            _of=self,
        )

    def eces(self, binnings: Sequence[Binning], limits: BinLimits) -> Iterator[ECE]:
        """Return binned metrics with their noise floors and their bins, from the same looks."""
        for binning, bins in zip(binnings, self.bins(binnings), strict=True):
            value, dropped = debiased(bins, binning)
            yield ECE(
                value=error(bins, binning),
                noise_floor=noise_floor(bins, binning),
                debiased=value,
                dropped_bins=dropped,
                bins=self.reliability(bins, binning, limits),
                n_bins=int(binning.n_bins),
                strategy=binning.strategy,
                norm=binning.norm,
                squared=bool(binning.squared),
                weighting=binning.weighting,
            )


def _gone() -> InputError:
    """Return the complaint that a question needs predictions that are no longer at hand."""
    return InputError("the predictions are gone, and bins need them: assess them again")


def _changed() -> SecantError:
    return SecantError("the predictions were changed after they were assessed: assess them again")


def _hold_the_same(blocks: Blocks, finer: Blocks) -> bool:
    """Tell whether finer blocks hold what each of some blocks held, as far as sums can tell."""
    owner = np.searchsorted(blocks.low, finer.low, "right") - 1
    if not len(finer) or owner[0] < 0 or (finer.high > blocks.high[owner]).any():
        return False
    slack = 1e-9 * blocks.weight
    return all(
        bool((np.abs(np.bincount(owner, new, len(blocks)) - old) <= slack).all())
        for old, new in (
            (getattr(blocks, name), getattr(finer, name))
            for name in ("n0", "n1", "w0", "w1", "down", "up")
        )
    )


def _descending(what: str, a: Any, b: Any) -> InputError:
    return InputError(f"between(a, b) needs two {what} in ascending order; got a={a!r}, b={b!r}")


def _binomial_limits(blocks: Blocks, confidence_level: float) -> tuple[float, float]:
    """Return limits for how often the event happens in some blocks."""
    from secant._inference.binomial import clopper_pearson  # noqa: PLC0415  (not what `import secant` pays for)

    n, n1 = (np.array([float(count.sum())]) for count in (blocks.n, blocks.n1))
    low, high = clopper_pearson(n1, n, confidence_level)
    return float(low[0]), float(high[0])
