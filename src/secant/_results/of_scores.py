"""What is asked of the scores themselves, in whatever order predictions were assessed."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from secant._metrics.ece import binned, cut_at_edges
from secant._metrics.scores import BRIER, LOG_LOSS, resolved, taken_apart
from secant._results.scores import Cox, Spiegelhalter, recalibrated, score_of
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._blocks.table import Blocks
    from secant._metrics.ece import Binning, BinSums
    from secant._metrics.scores import Rule
    from secant._results.again import Again
    from secant._results.scores import IsotonicFit, Score

__all__ = ["OfScores"]

# Predictions up to which a number that takes a sort of them is printed without being asked for.
_QUICKLY_SORTED = 1_000_000


@dataclass(frozen=True, eq=False)
class OfScores:
    """Predictions in the order of their scores, and what is computed when first asked for.

    Attributes
    ----------
    again
        What was kept of them, and where they can be looked at again.
    n, n_forbidden, n_clusters
        As in a :class:`Calibration`, whose properties describe what is found here.
    """

    again: Again
    n: int
    n_forbidden: int
    n_clusters: int | None

    @cached_property
    def brier(self) -> Score:
        """The Brier score, as exact as the source allows."""
        return self.score(BRIER, self.monotone, exact=self.again.sorts)

    @cached_property
    def log_loss(self) -> Score:
        """The log loss, as exact as the source allows."""
        return self.score(LOG_LOSS, self.monotone, exact=self.again.sorts)

    @property
    def proper_scores(self) -> tuple[Score | None, Score | None]:
        """Both as they are printed; None where the predictions are needed and are gone."""
        return self._as_printed("brier", BRIER), self._as_printed("log_loss", LOG_LOSS)

    def _as_printed(self, name: str, rule: Rule) -> Score | None:
        with suppress(InputError):
            if name in self.__dict__ or self.n <= _QUICKLY_SORTED:
                found: Score = getattr(self, name)
                return found
            return self.score(rule, self.again.blocks)
        return None

    def score(self, rule: Rule, blocks: Blocks, *, exact: bool = False) -> Score:
        """Take a proper score apart."""
        total = self._brier_sum if rule is BRIER else self._log_loss_sum
        return score_of(rule.name, taken_apart(rule, total, blocks, exact=exact))

    @cached_property
    def _brier_sum(self) -> float:
        return self.again.squared_error()

    @cached_property
    def _log_loss_sum(self) -> float:
        return math.inf if self.n_forbidden else self.again.log_loss()

    @cached_property
    def monotone(self) -> Blocks:
        """Blocks, resolved as far as a monotone recalibration needs if all scores are at hand."""
        again = self.again
        return resolved(again.blocks, again.refine if again.sorts else None)

    @property
    def recalibrated(self) -> IsotonicFit:
        """The recalibrated forecast."""
        return recalibrated(self.monotone, self.again.totals.weight)

    @property
    def cox(self) -> Cox:
        """Cox's intercept and slope."""
        from secant._inference.classic_tests import cox_fit  # noqa: PLC0415  (for whoever asks)

        blocks = self.again.blocks
        fit = cox_fit(blocks)
        known = self.again.totals.equal_weights and self.n_clusters is None
        errors = fit.errors if known else (math.nan, math.nan)
        pvalue = math.exp(-fit.chi2 / 2) if known else math.nan
        return Cox(fit.intercept, fit.slope, *errors, pvalue, fit.left_out, not blocks.open.any())

    @property
    def spiegelhalter(self) -> Spiegelhalter:
        """Spiegelhalter's Z."""
        from secant._inference.classic_tests import spiegelhalter  # noqa: PLC0415  (as cox)

        blocks, totals = self.again.blocks, self.again.totals
        summed = totals.equal_weights or blocks.moments is not None
        found = (math.nan, math.nan)
        if summed and self.n_clusters is None:
            found = spiegelhalter(blocks, totals)
        return Spiegelhalter(*found, not blocks.open.any())

    def certain(self, score: int) -> tuple[int, int]:
        """Return how many scores of exactly 0, or of exactly 1, were wrong, and how many are."""
        blocks = self.again.blocks
        there = (blocks.low == score) & (blocks.high == score)
        wrong = blocks.n0 if score else blocks.n1
        return int(wrong[there].sum()), int(blocks.n[there].sum())

    def bins(self, binnings: Sequence[Binning]) -> list[BinSums]:
        """Sort the predictions into several sets of bins, with as few looks at them as for one."""
        blocks, totals = self.again.with_moments()
        blocks = cut_at_edges(blocks, totals, binnings, self.again.look)
        return [binned(blocks, totals, binning, None) for binning in binnings]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "again": replace(self.again, source=None)}
