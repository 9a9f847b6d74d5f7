"""A subpopulation against the full population at equal scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._blocks.table import Totals, running_sum
from secant._inference.design import refuse_outcome_weights
from secant._inference.draws import PValues, same_every_time
from secant._inference.limits import half_width, interval, normalize
from secant._input.arraylike import one_dimensional, one_value_a_row, plain_value
from secant._input.observations import check_alignment, observations
from secant._input.options import GroupMethod, Reading, check_choice, check_level, generator
from secant._metrics.ecce import METRICS
from secant._metrics.subgroup import compared_rows, stretches
from secant._results.group_comparison import Contrast, GroupComparison
from secant._results.parts import Curve, Statistic
from secant._results.wording import metric
from secant.errors import Argument, InputError
from secant.sources.open import open_columns
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray, Obtained
    from secant._metrics.subgroup import Compared, Stretches

__all__ = ["compare_groups"]

# Variance, in units of an average squared weight, below which the Brownian limit is only rough.
_LITTLE_VARIANCE = 10
# Share of sigma from which unequal scores could be taken for a difference between the groups.
_LARGE_MISMATCH = 0.5
# Share of members compared with nobody else from which that is worth a word.
_MANY_ALONE = 0.5


def compare_groups(
    y_true: Any,
    y_prob: Any,
    member: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    method: GroupMethod = "auto",
    rng: Any = None,
) -> GroupComparison:
    r"""Compare a subpopulation with the full population at equal scores.

    Does a "30%" mean the same for the members of a group as for everybody? Each member is compared
    with the rows of the full population whose scores are the member's or the nearest to it, and the
    differences are added up in the order of scores. The scores only say who is to be compared with
    whom: they need not be calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened: 0 or 1 (also False or True, -1 or 1, or any two values with ``pos_label``).
    y_prob : array-like of shape (n,)
        Predicted probabilities of a 1, in [0, 1].
    member : array-like of bool, shape (n,)
        Which rows belong to the subpopulation. The full population is all rows, members included.
    data : optional
        Where the predictions are, if not in arrays: a data frame, a mapping of arrays, or files,
        all of whose rows are read into memory. An engine keeps its rows, which this needs.
    sample_weight : array-like of shape (n,), optional
        Sampling weights, zero or positive; a row of weight zero is left out.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.
    confidence_level : float
        Level of all intervals, and one minus the level of the printed answer's test.
    method : {"auto", "asymptotic", "monte-carlo"}
        How to compute P-values. ``"asymptotic"``: the limit of many members. ``"monte-carlo"``:
        from responses exchanged within stretches, valid at any size. ``"auto"``: simulated so where
        few events, or few failures, leave the limit no ground, else large-sample.
    rng : int or numpy.random.Generator, optional
        Randomness for simulated P-values, which are the same in every run without it.

    Returns
    -------
    GroupComparison
        ECCE-R and ECCE-MAD of the members against everybody, with P-values and limits, and the
        range of scores where they differ most. Print it to read the answer.

    Raises
    ------
    InputError
        If anything in the input is unusable, or no row of positive weight is a member.

    Notes
    -----
    The distinct scores of members are the points of comparison. The full population is cut at the
    midpoints between neighbouring points, so that each point has a stretch of scores around it; a
    score exactly at a midpoint goes to the lower point. Members with one score share a stretch.
    Where others have the very score of a member, the stretch is that score alone: a comparison at
    equal scores needs no neighbours then, and rows whose score is near that of a member who has
    better company are not used.

    With :math:`R_k` the weighted mean response of the members at point k, :math:`W_k` their weight,
    and :math:`\tilde R_k` the weighted mean response of everybody in the stretch, members included,

    .. math:: C_k = \sum_{j \le k} W_j (R_j - \tilde R_j) \Big/ \sum_j W_j,

    and the metrics are the range and the largest absolute value of this path. If everybody in a
    stretch has one chance of the event, the step k has mean 0 and a variance that is estimated
    without bias by

    .. math:: W_k^2 \, \tilde R_k (1 - \tilde R_k)
              \frac{\sum_i (b_i - a_i)^2}{1 - \sum_i a_i^2},

    where :math:`a_i` is the share of row i in the weight of the stretch and :math:`b_i` its share
    in the weight of the point's members, 0 for other rows. For a single member this is
    :math:`(1 - 2 a_k + \sum a_i^2) / (1 - \sum a_i^2)`, which is 1 without weights. Steps are
    independent since stretches do not overlap, and large-sample P-values are those of Brownian
    motion. Simulated P-values suppose no more than that: given how often the event happened
    in a stretch, it is equally likely to have happened to any of its rows.

    Within a stretch scores are only nearly equal. ``mismatch`` says what that amounts to: the
    largest difference that the scores themselves would make, were they the true probabilities.

    Where the scores of members and of the others share no range, or where the scores compared
    differ so much that they alone would make the difference seen, there are no equal scores to
    compare at: ``comparable`` is False, nothing counts as found, and the printed answer says so.

    A difference says that the scores mean something else for members than for everybody. It does
    not say why, nor that either is miscalibrated. A member is part of everybody: in a stretch of
    which members make up half the weight, they differ twice as much from the other half.

    References
    ----------
    .. [1] M. Tygert (2021). "Cumulative deviation of a subpopulation from the full population."
       Journal of Big Data 8. https://doi.org/10.1186/s40537-021-00494-y

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> forecast, member = rng.random(5000), rng.random(5000) < 0.2
    >>> happened = rng.random(5000) < np.where(member, forecast**1.5, forecast)
    >>> result = secant.compare_groups(happened, forecast, member)
    >>> result.ecce_r.pvalue < 1e-6
    True
    >>> result.worst.direction
    'less often'
    """
    check_level(confidence_level)
    check_choice("method", method, GroupMethod)
    chosen = generator(rng)
    if data is not None:
        names = {"y_true": y_true, "y_prob": y_prob, "member": member}
        names["sample_weight"] = sample_weight
        found = open_columns(data, names, asked="compare_groups")
        y_true, y_prob, member, sample_weight = found.values()
    seen = observations(y_true, y_prob, sample_weight, Reading(pos_label=pos_label))
    if seen.sampling:
        refuse_outcome_weights(*RowSource(seen).blocks(moments=True))
    check_alignment(y_true=y_true, y_prob=y_prob, member=member, sample_weight=sample_weight)
    is_member = _membership(member, seen.rows)
    scores, happened, weights = seen.scores.astype(np.float64), seen.labels == 1, seen.weights
    if seen.has_zero_weights:
        assert weights is not None  # noqa: S101
        used = weights > 0
        scores, happened, weights = scores[used], happened[used], weights[used]
        is_member = is_member[used]
    if not is_member.any():
        nobody = " is False in every row that counts; there is nobody to compare"
        raise InputError(Argument("member"), nobody)
    if weights is not None and (weights == weights[0]).all():  # equal weights are no weights
        weights = None
    rows = compared_rows(scores, happened, is_member, weights)
    overlap = _overlap(scores[is_member], scores[~is_member])
    return _result(rows, len(scores), float(confidence_level), method, chosen, overlap=overlap)


def _overlap(members: FloatArray, others: FloatArray) -> bool:
    """Tell whether the scores of members and of the others share any range."""
    if not others.size:
        return True
    return bool(max(members.min(), others.min()) <= min(members.max(), others.max()))


def _membership(member: Any, rows: int) -> BoolArray:
    """Check that every row is said to be a member or not."""
    array = one_dimensional("member", member)
    if array.shape[0] != rows:
        raise one_value_a_row("member", array.shape[0], rows)
    if array.dtype.kind == "b":
        return array
    known = np.fromiter((_is_yes_or_no(item) for item in array), bool, rows)
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        shown = repr(plain_value(array[first]))
        must = "; it must be True or False"
        raise InputError(must, argument="member", value=shown, row=first)
    return array.astype(bool)


def _is_yes_or_no(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return True
    return isinstance(item, (int, float, np.number)) and bool(item in (0, 1))


def _result(
    rows: Compared,
    n: int,
    confidence_level: float,
    method: GroupMethod,
    rng: np.random.Generator | None,
    *,
    overlap: bool,
) -> GroupComparison:
    sums = stretches(rows)
    totals = _totals(sums)
    difference = np.concatenate([[0.0], running_sum(sums.gain) / totals.weight])
    score_gain = sums.members * sums.point - sums.members * (sums.scored / sums.everybody)
    score_path = running_sum(score_gain) / totals.weight
    mismatch = float(score_path.max(initial=0.0) - score_path.min(initial=0.0))
    fraction = np.concatenate([[0.0], np.cumsum(sums.members)])
    largest, smallest = float(difference.max()), float(difference.min())
    values = largest - smallest, max(largest, -smallest)
    if method == "auto":
        little = totals.variance * totals.n < _LITTLE_VARIANCE * float(sums.members_ww.sum())
        method = "monte-carlo" if little else "asymptotic"
    r, mad = (
        Statistic(
            value=value,
            normalized=normalize(value, totals.sigma),
            pvalue=10**p.log10,
            log10_pvalue=p.log10,
            method=p.method,
            draws=p.draws,
            ci=interval(value, named.law, totals, 1 - confidence_level),
            name=named.name,
        )
        for value, named, p in zip(
            values,
            METRICS,
            _pvalues(rows, sums, values, totals.sigma, method=method, rng=rng),
            strict=True,
        )
    )
    rate = float(sums.members1.sum()) / totals.weight
    opposite = _contrast(sums, *_other_way(difference), totals, confidence_level)
    return GroupComparison(
        n=n,
        n_members=totals.n,
        sigma=totals.sigma,
        ecce_r=r,
        ecce_mad=mad,
        member_rate=rate,
        population_rate=min(max(rate - float(difference[-1]), 0.0), 1.0),
        worst=_contrast(sums, *_ends(difference), totals, confidence_level),
        opposite=opposite if opposite.certain else None,
        curve=Curve(
            score=np.concatenate([sums.point[:1], sums.point]),
            fraction=fraction / fraction[-1],
            difference=difference,
        ),
        mismatch=mismatch,
        confidence_level=confidence_level,
        warnings=tuple(_warnings(sums, totals, mismatch, r.method)),
        overlap=overlap,
        _totals=totals,
    )


def _totals(sums: Stretches) -> Totals:
    variance = sums.variance
    return Totals(
        n=int(sums.n.sum()),
        weight=float(sums.members.sum()),
        ww=math.fsum(sums.coefficients.tolist()),
        variance=math.fsum(variance.tolist()),
        squares=math.fsum((sums.gain**2).tolist()),
    )


def _pvalues(
    rows: Compared,
    sums: Stretches,
    values: tuple[float, float],
    sigma: float,
    *,
    method: GroupMethod,
    rng: np.random.Generator | None,
) -> PValues:
    """Return the P-values of ECCE-R and ECCE-MAD."""
    if sigma == 0:  # no stretch holds two different responses, and both metrics are exactly 0
        return PValues.of([0.0, 0.0], "exact")
    if method == "asymptotic":
        laws = zip(values, (null.range, null.mad), strict=True)
        logs = (law.logsf(value / sigma) / math.log(10) for value, law in laws)
        return PValues.of(logs, "large-sample")
    from secant._inference.permutation import exchanged  # noqa: PLC0415  (few comparisons need it)

    return exchanged(rows, sums, rng=same_every_time(rng))


def _ends(difference: FloatArray) -> tuple[int, int]:
    """Return where the range between the extremes of the path begins and ends."""
    first, last = sorted((int(difference.argmin()), int(difference.argmax())))
    return first, last


def _other_way(difference: FloatArray) -> tuple[int, int]:
    """Return where the range begins and ends over which the path goes the other way most."""
    falls = difference.argmax() > difference.argmin()  # after or before it has risen to its top
    path = -difference if falls else difference
    last = int((path - np.minimum.accumulate(path)).argmax())
    return int(path[: last + 1].argmin()), last


def _contrast(
    sums: Stretches, first: int, last: int, totals: Totals, confidence_level: float
) -> Contrast:
    """Describe a range, from one place of the path to another."""
    covered = slice(first, last)
    if first == last:
        nothing = float(sums.point[0])
        return Contrast(nothing, nothing, 0, 0.0, *(math.nan,) * 3, (math.nan, math.nan))
    weight = float(sums.members[covered].sum())
    gap = float(sums.gain[covered].sum()) / weight
    rate = float(sums.members1[covered].sum()) / weight
    half = half_width(null.range, totals, 1 - confidence_level) * totals.weight / weight
    return Contrast(
        low=float(sums.point[first]),
        high=float(sums.point[last - 1]),
        n=int(sums.n[covered].sum()),
        weight=weight / totals.weight,
        member_rate=rate,
        population_rate=min(max(rate - gap, 0.0), 1.0),
        difference=gap,
        ci=(max(gap - half, -1.0), min(gap + half, 1.0)),
    )


def _warnings(sums: Stretches, totals: Totals, mismatch: float, method: Obtained) -> Iterator[str]:
    """Say what to keep in mind when reading the numbers, a line each."""
    if 0 < totals.variance * totals.n < _LITTLE_VARIANCE * float(sums.members_ww.sum()):
        what = "P-values and limits" if method == "large-sample" else "confidence limits"
        yield f"Few events, or few failures, to compare: {what} are approximate."
    if mismatch > _LARGE_MISMATCH * totals.sigma:
        yield (
            f"Scores compared are not equal enough: their own differences amount to an ECCE-R of "
            f"{metric(mismatch)}."
        )
    alone = int(sums.n[sums.others == 0].sum())
    if _MANY_ALONE * totals.n < alone < totals.n:
        yield f"{alone:,} of the members had nobody else with a score near enough to compare with."
