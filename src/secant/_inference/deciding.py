"""Which way the mean and the shape are tested: the P-value that decides.

=========================================  =====================================  ================
what is known of the rows                  how                                    ``method``
=========================================  =====================================  ================
nothing can vary                           0 or 1                                 exact
equal weights, ties at hand, a variance    of ties                                exact
below 200
the same, of sums over cells               of sums                                upper bound
equal weights, all else                    the same, as in large samples          large-sample
unequal, where ECCE-R's P is drawn or      rank among drawn paths; below what     simulated
walked to                                  draws can tell that of ECCE-R
unequal, neither rows nor steps stand out  limit of large samples; below one in   large-sample
                                           10,000 that of ECCE-R
=========================================  =====================================  ================

``method="exact"`` walks over ties whatever their variance, ``"monte-carlo"`` takes the rank among
drawn paths, ``"asymptotic"`` the limit as it is. Along another order ties are those of places and
scores, unless there are very many.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.key_sums import Ask
from secant._inference import bridge
from secant._inference.draws import PValue
from secant._inference.mean_and_shape import (
    MeanAndShape,
    asked_for,
    from_draws,
    needs_shifted_sums,
    of_limits,
    of_sums,
    of_ties,
    sums_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from secant._base.types import BoolArray, FloatArray, NumberArray
    from secant._blocks.key_sums import KeySums
    from secant._blocks.looking import Source
    from secant._blocks.table import Blocks, Totals
    from secant._inference.choose import Case
    from secant._inference.draws import PValues
    from secant._inference.mean_and_shape import Sums
    from secant._input.options import Method

    Asked = Callable[[Sequence[Ask]], Sequence[KeySums]]

__all__ = ["UNSHIFTED", "decide", "needed", "of_cells", "place_of"]

# A shift that leaves scores as they are: what is asked for are variances.
UNSHIFTED = 2.0**-40
# Rows along another order up to which places and scores are told apart.
_MANY_ROWS = 1 << 16
# Below this decimal logarithm limits of weighted rows are not relied on.
_RARE = -4.0


def needed(blocks: Blocks, totals: Totals, source: Source) -> BoolArray:
    """Mark the blocks to resolve, so that the answer does not depend on where cells end.

    Certain scores that were wrong stand by themselves. A large sample is looked at where it may
    stray furthest, and one that is walked over where it is looked at.
    """
    marked = np.zeros(len(blocks), np.bool_)
    if source.axis is not None or not totals.equal_weights or not blocks.open.any():
        return marked
    if source.forbidden.count:
        marked |= (blocks.lowest <= 0.0) | (blocks.highest >= 1.0)
    sums = sums_of(blocks)
    if not 0 < sums.n1.sum() < sums.n.sum():
        return marked
    if bridge.is_brownian(sums.spread):
        wrong = sums.before + sums.after
        reached = np.cumsum(sums.spread) / sums.spread.sum()
        path = np.cumsum(sums.n1 - sums.shifted) + sums.before - reached * wrong
        start, q = np.append(sums.before, path[:-1]), sums.shifted / sums.n
        rise, fall = sums.n1 * (1.0 - q), (sums.n - sums.n1) * q
        further = np.maximum(start + rise, fall - start) > np.abs(path).max()
    else:
        reached = np.cumsum(sums.variance) / sums.variance.sum()
        part = np.floor(reached * (bridge.LOOKS * (1.0 - 1e-12)))
        further = part != np.append(0.0, part[:-1])
    marked[(blocks.highest > 0.0) & (blocks.lowest < 1.0)] |= further
    return marked


def decide(
    cases: Mapping[int, Case], pvalues: Mapping[int, PValues], method: Method, sums: Asked
) -> dict[int, MeanAndShape]:
    """Test the mean and the shape of groups, with one further look at the data at most.

    Parameters
    ----------
    cases
        The groups, by number.
    pvalues
        Those of ECCE-R and ECCE-MAD.
    method
        How to obtain P-values.
    sums
        Answers questions about groups.
    """
    ties, cells, limits, found = {}, {}, {}, {}
    for i, case in cases.items():
        if case.totals.sigma == 0:
            found[i] = _certain(wrong=case.found.ecce_r > 0)
        elif method == "asymptotic" or not case.totals.equal_weights or case.is_drawn(method):
            limits[i] = case
        elif case.ties is not None:
            ties[i] = case.ties
        elif _pairs_are_at_hand(case, method):
            found[i] = _along(case, method)
        else:
            cells[i] = _sums(case)
    large = math.inf if method == "exact" else None
    found |= zip(ties, of_ties([*ties.values()], large=large), strict=True)
    asks = {
        i: Ask(cases[i].blocks, i, shift=each.theta or UNSHIFTED)
        for i, each in cells.items()
        if needs_shifted_sums(each)
    }
    asks |= {
        i: Ask(case.blocks, i, shift=UNSHIFTED)
        for i, case in limits.items()
        if case.blocks.moments is None and not _are_narrow(case)
    }
    answers = dict(zip(asks, sums([*asks.values()]), strict=True)) if asks else {}
    for i, each in cells.items():
        known = each
        if i in answers:
            known = asked_for(each, cases[i].blocks, answers[i], _unit(cases[i]))
        tested = of_sums(known)
        found[i] = tested._replace(place=_among_all(cases[i].blocks, tested.place))
    for i, case in limits.items():
        limit = of_limits(case.blocks.gain, _variance(case, answers.get(i)))
        found[i] = _weighted(case, limit, pvalues[i], method)
    return found


def of_cells(blocks: Blocks, totals: Totals) -> MeanAndShape:
    """Test the mean and the shape by sums over cells alone: of what is possible, the larger P."""
    moments = blocks.moments
    assert moments is not None  # noqa: S101
    if totals.sigma == 0:
        wrong = float(blocks.up.sum() + blocks.down.sum()) > 0.0
        return _certain(wrong=wrong)
    if not totals.equal_weights:
        return of_limits(blocks.gain, moments.variance)
    return of_sums(sums_of(blocks, moments.wv * (totals.n / totals.weight)))


def place_of(case: Case, found: MeanAndShape) -> NumberArray:
    """Return the score, or the key, up to which the path strays furthest, as an array of one."""
    blocks = case.blocks
    return blocks.low[:1] if found.place < 0 else blocks.high[[found.place]]


# --- one way each ---------------------------------------------------------------------------------


def _certain(*, wrong: bool) -> MeanAndShape:
    """Return what there is to say where nothing can vary."""
    none = PValue(0.0, "exact")
    mean = PValue(-math.inf, "exact") if wrong else none
    return MeanAndShape(mean, mean, none, 0, 0.0)


def _pairs_are_at_hand(case: Case, method: Method) -> bool:
    along = case.along
    if along is None or not along.has_pairs:
        return False
    return method == "exact" or case.totals.n <= _MANY_ROWS


def _along(case: Case, method: Method) -> MeanAndShape:
    pairs = case.along.pairs
    table = pairs.ties.low, pairs.ties.n, pairs.ties.n1
    [found] = of_ties([table], pairs.ends, large=math.inf if method == "exact" else None)
    place = int(np.searchsorted(pairs.ends, found.place)) if found.place >= 0 else -1
    return found._replace(place=place)


def _unit(case: Case) -> float:
    return case.totals.weight / case.totals.n


def _sums(case: Case) -> Sums:
    moments = case.blocks.moments
    variance = None if moments is None else moments.wv / _unit(case)
    scores = None if case.along is None else case.along.score_counts()
    return sums_of(case.blocks, variance, scores)


def _among_all(blocks: Blocks, place: int) -> int:
    """Return the block of one among those in which anything is random."""
    if place < 0:
        return place
    return int(np.flatnonzero((blocks.highest > 0.0) & (blocks.lowest < 1.0))[place])


def _are_narrow(case: Case) -> bool:
    """Tell whether scores of a block may stand where their mean is."""
    if case.along is not None or not case.totals.equal_weights:
        return False
    return not needs_shifted_sums(sums_of(case.blocks))


def _variance(case: Case, asked: KeySums | None) -> FloatArray:
    """Return the variance of each block: as asked for, as stored, or that of its mean score."""
    blocks = case.blocks
    if asked is not None:
        assert asked.spread is not None  # noqa: S101
        return np.bincount(asked.cell, asked.spread, len(blocks)).astype(np.float64, copy=False)
    if blocks.moments is not None:
        return blocks.moments.variance
    score = blocks.mean_score
    return blocks.n * score * (1.0 - score) * _unit(case) ** 2


def _weighted(case: Case, limit: MeanAndShape, known: PValues, method: Method) -> MeanAndShape:
    """Return the rank among drawn paths, or the limit of many observations while it is good."""
    if case.is_drawn(method):
        _, _, both, mean, shape = case.drawn
        return limit._replace(pvalue=from_draws(both, known.r), mean=mean, shape=shape)
    if method == "asymptotic" or limit.pvalue.log10 >= _RARE:
        return limit
    return limit._replace(pvalue=from_draws(PValue(_RARE, "upper bound"), known.r))
