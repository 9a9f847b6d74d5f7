"""A second look at predictions that were assessed: what was kept, and the data while at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from secant._metrics.scores import brier_sum, log_loss_sum
from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from secant._blocks.looking import Refine, Source
    from secant._blocks.table import Blocks, Totals

__all__ = ["Again", "gone"]


@dataclass(frozen=True, slots=True)
class Again:
    """What was kept of predictions, and where they can be looked at again; None if they are gone.

    Whatever is seen at a second look is compared with what was kept, so that data that changed
    meanwhile are refused.
    """

    blocks: Blocks
    totals: Totals
    source: Source | None

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

    def by_score(self) -> Again:
        """Return predictions along another axis in the order of their scores."""
        source = self._checked()
        blocks, totals = self._with_moments_of(source.by_score)
        return Again(blocks, totals, source.by_score)

    def squared_error(self) -> float:
        """Return the sum of w(r - s)^2."""
        if not self.blocks.open.any():
            return brier_sum(self.blocks)
        if self.totals.squared_error is None:  # of a state that an earlier version stored
            raise gone()
        return self.totals.squared_error

    def log_loss(self) -> float:
        """Return the sum of -w log(chance given to what happened), where none is infinite."""
        blocks = self.blocks
        if not blocks.open.any():
            return log_loss_sum(blocks.low, blocks.w0, blocks.w1)
        if self.totals.log_loss is not None:
            return self.totals.log_loss
        sums = self._checked().score_sums()
        if sums is None:
            raise gone()
        before = float(blocks.up.sum() + blocks.down.sum())
        if not math.isclose(sums.residual, before, rel_tol=1e-9):
            raise _changed()
        return sums.log_loss

    def _checked(self) -> Source:
        """Return the data, which are there and were not seen to change."""
        if self.source is None:
            raise gone()
        self.source.recheck()
        return self.source

    def _with_moments_of(self, source: Source) -> tuple[Blocks, Totals]:
        blocks, totals = source.blocks(moments=True)
        if not totals.agrees(self.totals):
            raise _changed()
        return blocks, totals


def gone() -> InputError:
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
