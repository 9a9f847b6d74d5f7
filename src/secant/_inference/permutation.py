"""Finite-sample P-values of a group against everybody: responses exchanged within stretches.

If members are like everybody, any arrangement of the responses of a stretch among its rows is as
likely as any other. Arrangements are drawn again and again, and the P-value is the share of those
whose metric is at least as large as the observed one, which counts among them. No estimate
of a variance and no limit of many rows enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from secant._inference.draws import DRAWS, ENOUGH, count
from secant._inference.path import compensated_sum, thresholds

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant._inference.draws import Estimate
    from secant._metrics.subgroup import Compared, Stretches

__all__ = ["exchanged"]


def exchanged(
    rows: Compared,
    sums: Stretches,
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
    enough: int | None = ENOUGH,
) -> list[Estimate]:
    """Return Monte Carlo P-values of ECCE-R and ECCE-MAD of members against everybody.

    ``rng``, ``draws`` and ``enough`` are those of :func:`secant._inference.draws.count`. At least
    one stretch must hold both outcomes and somebody who is no member.
    """
    model: _Counts | _Rows
    if rows.weight is None:
        model = _Counts.of(sums)
        path = np.cumsum(sums.members1[sums.mixed]) - model.reached
        cost = len(path)
    else:
        model = _Rows.of(rows, sums)
        path = model.path(model.happened[None, :])[0]
        cost = len(model.stretch)
    deviation, span = thresholds(float(path.max()), float(path.min()), float(sums.members.sum()))
    limits = span, deviation
    return count(model.paths, limits, rng=rng, cost=cost, draws=draws, enough=enough)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Draws how many of a stretch's events happen to its members, all rows counting once."""

    happened: IntArray
    not_happened: IntArray
    members: IntArray
    reached: FloatArray

    @classmethod
    def of(cls, sums: Stretches) -> _Counts:
        mixed = sums.mixed
        happened = sums.members1[mixed] + sums.others1[mixed]
        members, everybody = sums.members[mixed], sums.everybody[mixed]
        return cls(
            happened=happened.astype(np.int64),
            not_happened=(everybody - happened).astype(np.int64),
            members=members.astype(np.int64),
            reached=compensated_sum(members * happened / everybody),
        )

    def paths(self, rng: np.random.Generator, draws: int) -> FloatArray:
        size = draws, len(self.members)
        drawn = rng.hypergeometric(self.happened, self.not_happened, self.members, size=size)
        paths: FloatArray = np.cumsum(drawn, axis=1) - self.reached
        return paths


@dataclass(frozen=True, slots=True)
class _Rows:
    """Deals the responses of a stretch out to its rows, which carry weights.

    Rows stand in the order of stretches, ``first`` being the first row of each; ``of_members`` is
    the weight of a member and 0 for others. ``share`` is the members' share of a stretch's weight.
    """

    stretch: IntArray
    first: IntArray
    happened: FloatArray
    weight: FloatArray
    of_members: FloatArray
    share: FloatArray

    @classmethod
    def of(cls, rows: Compared, sums: Stretches) -> _Rows:
        assert rows.weight is not None  # noqa: S101
        # Rows that are alike stand together, so that the order in which they came is forgotten.
        order = np.lexsort((rows.happened, rows.weight, rows.is_member, rows.stretch))
        order = order[sums.mixed[rows.stretch[order]]]
        stretch, weight = rows.stretch[order], rows.weight[order]
        first = np.flatnonzero(np.diff(stretch, prepend=-1))
        share = sums.members[stretch[first]] / sums.everybody[stretch[first]]
        happened = rows.happened[order].astype(np.float64)
        return cls(stretch, first, happened, weight, weight * rows.is_member[order], share)

    def path(self, happened: FloatArray) -> FloatArray:
        """Return the sums of W_k (R_k - Rt_k) for rows of responses."""
        of_members = np.add.reduceat(happened * self.of_members, self.first, axis=1)
        of_all = np.add.reduceat(happened * self.weight, self.first, axis=1)
        sums: FloatArray = np.cumsum(of_members - of_all * self.share, axis=1)
        return sums

    def paths(self, rng: np.random.Generator, draws: int) -> FloatArray:
        keys = self.stretch + rng.random((draws, len(self.stretch)))
        return self.path(self.happened[np.argsort(keys, axis=1)])
