"""Who is compared with whom: stretches of scores around the members of a subpopulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = ["Compared", "Stretches", "compared_rows", "stretches"]


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows that are compared: members, and those whose scores are a member's or near it.

    ``point`` are the distinct scores of members; ``stretch`` tells to which of them a row belongs.
    ``weight`` is None when every row counts once.
    """

    point: FloatArray
    stretch: IntArray
    scores: FloatArray
    happened: BoolArray
    is_member: BoolArray
    weight: FloatArray | None


@dataclass(frozen=True, slots=True)
class Stretches:
    """Sums over the stretch of each distinct score of members, in the order of scores.

    ``members0``, ``members1`` are the weights of members with response 0 and 1, ``others0`` and
    ``others1`` those of the rest of the stretch; ``members_ww`` and ``others_ww`` are sums of
    squared weights, ``scored`` the sum of w s over the whole stretch.
    """

    point: FloatArray
    n: IntArray
    members0: FloatArray
    members1: FloatArray
    others0: FloatArray
    others1: FloatArray
    members_ww: FloatArray
    others_ww: FloatArray
    scored: FloatArray

    @property
    def members(self) -> FloatArray:
        return self.members0 + self.members1

    @property
    def others(self) -> FloatArray:
        return self.others0 + self.others1

    @property
    def everybody(self) -> FloatArray:
        return self.members + self.others

    @property
    def mixed(self) -> BoolArray:
        """Whether both outcomes occur in a stretch, so that it can show a difference."""
        happened, not_happened = self.members1 + self.others1, self.members0 + self.others0
        mixed: BoolArray = (happened > 0) & (not_happened > 0) & (self.others > 0)
        return mixed

    @property
    def gain(self) -> FloatArray:
        """W_k (R_k - Rt_k), written so that it is exactly 0 where all responses are alike."""
        cross = self.members1 * self.others0 - self.members0 * self.others1
        return cross / self.everybody

    @property
    def coefficients(self) -> FloatArray:
        """W_k^2 sum (b - a)^2: the variance of a step whose responses have variance one."""
        inside = self.members_ww * self.others**2 + self.others_ww * self.members**2
        return inside / self.everybody**2

    @property
    def variance(self) -> FloatArray:
        """Unbiased estimate of the variance of each step."""
        happened, not_happened = self.members1 + self.others1, self.members0 + self.others0
        product = happened * not_happened
        # W^2 (1 - sum a^2) adds up the products of all pairs of different rows, so it is at least
        # that of the pairs of different responses; rounding must not make it less.
        pairs = np.maximum(self.everybody**2 - self.members_ww - self.others_ww, 2 * product)
        response = np.divide(product, pairs, out=np.zeros(len(pairs)), where=product > 0)
        return response * self.coefficients


def compared_rows(
    scores: FloatArray, happened: BoolArray, is_member: BoolArray, weights: FloatArray | None
) -> Compared:
    """Give each distinct score of members the rows to compare with."""
    point = np.unique(scores[is_member] + 0.0)  # not -0.0
    nearest = np.searchsorted(point[:-1] + np.diff(point) / 2, scores)
    # Between neighbouring doubles a midpoint is one of the two: put equal scores where they belong.
    above = np.minimum(np.searchsorted(point, scores), len(point) - 1)
    equal = point[above] == scores
    nearest[equal] = above[equal]
    company = np.zeros(len(point), bool)
    company[nearest[equal & ~is_member]] = True
    used = equal | ~company[nearest]
    weight = None if weights is None else weights[used].astype(np.float64)
    return Compared(point, nearest[used], scores[used], happened[used], is_member[used], weight)


def stretches(rows: Compared) -> Stretches:
    """Add up the rows of each stretch."""
    stretch, happened, is_member, size = (
        rows.stretch,
        rows.happened,
        rows.is_member,
        len(rows.point),
    )
    weight = np.ones(len(stretch)) if rows.weight is None else rows.weight

    def total(chosen: BoolArray, values: FloatArray) -> FloatArray:
        sums: FloatArray = np.bincount(stretch[chosen], values[chosen], size).astype(np.float64)
        return sums

    return Stretches(
        point=rows.point,
        n=np.bincount(stretch[is_member], minlength=size),
        members0=total(is_member & ~happened, weight),
        members1=total(is_member & happened, weight),
        others0=total(~is_member & ~happened, weight),
        others1=total(~is_member & happened, weight),
        members_ww=total(is_member, weight**2),
        others_ww=total(~is_member, weight**2),
        scored=total(np.ones(len(stretch), bool), rows.scores * weight),
    )
