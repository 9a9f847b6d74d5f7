"""Finite-sample P-values of a group against everybody: responses exchanged within stretches.

If members are like everybody, any arrangement of the responses of a stretch among its rows is as
likely as any other. Arrangements are drawn again and again, and the P-value is the share of those
whose metric is at least as large as the observed one, which counts among them. No estimate
of a variance and no limit of many rows enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._inference.draws import DRAWS, ENOUGH, PValues, count
from secant._inference.path import compensated_sum, guarded, r_and_mad

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._base.types import FloatArray
    from secant._metrics.subgroup import Compared, Stretches

    Paths = Callable[[np.random.Generator, int], FloatArray]

__all__ = ["exchanged"]


def exchanged(
    rows: Compared,
    sums: Stretches,
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
    enough: int | None = ENOUGH,
) -> PValues:
    """Return Monte Carlo P-values of ECCE-R and ECCE-MAD of members against everybody.

    ``rng``, ``draws`` and ``enough`` are those of :func:`secant._inference.draws.count`. At least
    one stretch must hold both outcomes and somebody who is no member.
    """
    path, paths, cost = _by_counts(sums) if rows.weight is None else _by_rows(rows, sums)
    limits = guarded(r_and_mad(path), float(sums.members.sum()))
    return PValues(*count(paths, limits, rng=rng, cost=cost, draws=draws, enough=enough))


def _by_counts(sums: Stretches) -> tuple[FloatArray, Paths, int]:
    """Draw how many of a stretch's events happen to its members, all rows counting once.

    Returns
    -------
    path, paths, cost
        The observed path; what draws others, a row each; and the numbers drawn for each.
    """
    mixed = sums.mixed
    members1, members, everybody = sums.members1[mixed], sums.members[mixed], sums.everybody[mixed]
    happened = members1 + sums.others1[mixed]
    reached = compensated_sum(members * happened / everybody)
    ours = members.astype(np.int64)
    events, failures = happened.astype(np.int64), (everybody - happened).astype(np.int64)

    def paths(rng: np.random.Generator, draws: int) -> FloatArray:
        drawn = rng.hypergeometric(events, failures, ours, size=(draws, len(ours)))
        found: FloatArray = np.cumsum(drawn, axis=1) - reached
        return found

    return np.cumsum(members1) - reached, paths, len(members)


def _by_rows(rows: Compared, sums: Stretches) -> tuple[FloatArray, Paths, int]:
    """Deal the responses of a stretch out to its rows, which carry weights; return the same."""
    assert rows.weight is not None  # noqa: S101
    # Rows that are alike stand together, so that the order in which they came is forgotten.
    order = np.lexsort((rows.happened, rows.weight, rows.is_member, rows.stretch))
    order = order[sums.mixed[rows.stretch[order]]]
    stretch, weight = rows.stretch[order], rows.weight[order]
    responses, of_members = rows.happened[order].astype(float), weight * rows.is_member[order]
    first = np.flatnonzero(np.diff(stretch, prepend=-1))
    share = sums.members[stretch[first]] / sums.everybody[stretch[first]]

    def path(happened: FloatArray) -> FloatArray:
        """Return the sums of W_k (R_k - Rt_k) for rows of responses."""
        member_events = np.add.reduceat(happened * of_members, first, axis=1)
        events = np.add.reduceat(happened * weight, first, axis=1)
        sums: FloatArray = np.cumsum(member_events - events * share, axis=1)
        return sums

    def paths(rng: np.random.Generator, draws: int) -> FloatArray:
        keys = stretch + rng.random((draws, len(stretch)))
        return path(responses[np.argsort(keys, axis=1)])

    return path(responses[None, :])[0], paths, len(stretch)
