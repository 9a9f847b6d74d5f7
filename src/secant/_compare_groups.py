"""A subpopulation against the full population at equal scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant import null
from secant._arraylike import one_dimensional, plain_value
from secant._blocks import Totals
from secant._ecce import running_sum
from secant._inference import detectable, half_width, interval, normalize
from secant._input import check_level, observations
from secant._results import Curve, Statistic, plain
from secant._stretches import stretches
from secant._wording import metric, percent, points, pvalue, score
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._stretches import Stretches
    from secant._types import BoolArray, FloatArray

__all__ = ["Contrast", "GroupComparison", "compare_groups"]

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
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
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
    sample_weight : array-like of shape (n,), optional
        Sampling weights, zero or positive; a row of weight zero is left out.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.
    confidence_level : float
        Level of all intervals, and one minus the level of the printed answer's test.

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
    :math:`(1 - 2 a_k + \sum a_i^2) / (1 - \sum a_i^2)`, which is 1 without weights. The P-values
    are those of Brownian motion. Steps are independent since stretches do not overlap.

    Within a stretch scores are only nearly equal. ``mismatch`` says what that amounts to: the
    largest difference that the scores themselves would make, were they the true probabilities.

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
    seen = observations(y_true, y_prob, sample_weight, pos_label=pos_label)
    is_member = _membership(member, seen.rows)
    scores, happened, weights = seen.scores.astype(np.float64), seen.labels == 1, seen.weights
    if seen.has_zero_weights:
        assert weights is not None  # noqa: S101
        used = weights > 0
        scores, happened, weights = scores[used], happened[used], weights[used]
        is_member = is_member[used]
    if not is_member.any():
        msg = "member is False in every row that counts; there is nobody to compare"
        raise InputError(msg)
    sums = stretches(scores, happened, is_member, weights)
    return _result(sums, int(is_member.sum()), len(scores), float(confidence_level))


@dataclass(frozen=True, slots=True)
class Contrast:
    """A range of scores, and how much more often the event happens among members there.

    Attributes
    ----------
    low, high : float
        The smallest and the largest score of the members covered.
    n : int
        Members with such a score.
    weight : float
        Their share of the weight of all members.
    member_rate, population_rate : float
        How often the event happens among these members, and in everybody at their scores.
    difference : float
        ``member_rate - population_rate``.
    ci : tuple of float
        Limits for the true difference that hold for all ranges of scores at once, also for those
        picked after looking.
    """

    low: float
    high: float
    n: int
    weight: float
    member_rate: float
    population_rate: float
    difference: float
    ci: tuple[float, float]

    @property
    def direction(self) -> Literal["more often", "less often", "equally often"]:
        """How often the event happens among members, compared with everybody."""
        if self.difference > 0:
            return "more often"
        return "less often" if self.difference < 0 else "equally often"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON; what is not finite becomes None."""
        numbers: dict[str, Any] = plain(self)
        return {**numbers, "direction": self.direction}

    def __str__(self) -> str:
        if not self.n:
            return "No range of scores shows any difference."
        low, high = (points(limit) for limit in self.ci)
        return (
            f"Scores {score(self.low)} to {score(self.high)}, {_members(self.n)}: "
            f"happened to {percent(self.member_rate)} of them and to "
            f"{percent(self.population_rate)} of everybody at equal scores, "
            f"difference {points(self.difference)} points ({low} to {high})."
        )


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """A subpopulation against the full population at equal scores; print it to read the answer.

    Attributes
    ----------
    n, n_members : int
        Rows of positive weight, and members among them.
    sigma : float
        Standard deviation of the last cumulative difference if members are like everybody, the
        unit of the normalised metrics.
    ecce_r, ecce_mad : Statistic
        Range and largest absolute value of the cumulative differences. Their P-values suppose that
        the event is equally likely for members and everybody at equal scores.
    member_rate, population_rate : float
        How often the event happens among members, and in everybody at the members' scores.
    worst : Contrast
        The range of scores that attains ECCE-R.
    curve : Curve
        The cumulative differences at the distinct scores of members.
    mismatch : float
        ECCE-R if every row had its score as response: how much of ECCE-R may come from
        comparing scores that are only nearly equal.
    confidence_level : float
        Level of all intervals; the printed answer tests at one minus it.
    warnings : tuple of str
        What to keep in mind when reading the numbers, a line each.
    """

    n: int
    n_members: int
    sigma: float
    ecce_r: Statistic
    ecce_mad: Statistic
    member_rate: float
    population_rate: float
    worst: Contrast
    curve: Curve
    mismatch: float
    confidence_level: float
    warnings: tuple[str, ...]
    _totals: Totals

    @property
    def detectable(self) -> float:
        """The true ECCE-R that groups like these would show about 99 times in 100.

        1 where nobody is compared with anybody else, so that nothing can show.
        """
        if not self._totals.ww:
            return 1.0
        effective = self._totals.weight**2 / self._totals.ww
        return detectable(self.sigma, effective, self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return every number but the curve as plain JSON; what is not finite becomes None."""
        shown = ("n", "n_members", "sigma", "ecce_r", "ecce_mad", "member_rate", "population_rate")
        return {
            "verdict": self._headline(),
            **{name: plain(getattr(self, name)) for name in shown},
            "worst": self.worst.to_dict(),
            "mismatch": self.mismatch,
            "confidence_level": self.confidence_level,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        found = self._found()
        lines = [
            f"{self._headline()}. {self._where() if found else self._would_have_shown()}",
            *(
                f"{name} {metric(value.value)} = {metric(value.normalized)} sigma, where equal "
                f"rates give about {law.mean:.2g} "
                f"(P {pvalue(value)}, {value.method})."
                for name, value, law in (
                    ("ECCE-R", self.ecce_r, null.range),
                    ("ECCE-MAD", self.ecce_mad, null.mad),
                )
            ),
            self._rates(),
            *(f"Note: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _found(self) -> bool:
        return self.ecce_r.pvalue <= (1 - self.confidence_level) * (1 + 1e-12)

    def _headline(self) -> str:
        if not self._found():
            return "No difference found between members and everybody at equal scores"
        return (
            f"At equal scores the event happens {self.worst.direction} among members than in "
            "everybody"
        )

    def _where(self) -> str:
        worst = self.worst
        sign = -1 if worst.difference < 0 else 1
        limits = sorted(sign * limit for limit in worst.ci)
        return (
            f"Over scores {score(worst.low)} to {score(worst.high)} it happens "
            f"{worst.direction} by {points(abs(worst.difference))} points "
            f"({100 * self.confidence_level:g}% limits {points(limits[0])} to "
            f"{points(limits[1])}, valid for all ranges at once; {_members(worst.n)})."
        )

    def _rates(self) -> str:
        return (
            f"{_members(self.n_members)} of {self.n:,}: happened to "
            f"{percent(self.member_rate)} of members and to {percent(self.population_rate)} of "
            "everybody at equal scores."
        )

    def _would_have_shown(self) -> str:
        if self.n == self.n_members:
            return "Everybody is a member, so there is nobody else to compare with."
        if self.sigma == 0:
            return "No member was compared with anybody to whom something else happened."
        if self.detectable >= 1:
            return f"{_members(self.n_members)} can show next to nothing."
        return (
            f"With {_members(self.n_members)} of {self.n:,} an ECCE-R of "
            f"{metric(self.detectable)} or more would almost surely have shown."
        )


def _membership(member: Any, rows: int) -> BoolArray:
    """Check that every row is said to be a member or not."""
    array = one_dimensional("member", member)
    if array.shape[0] != rows:
        msg = f"member must have one value a row; it has {array.shape[0]:,}, not {rows:,}"
        raise InputError(msg)
    if array.dtype.kind == "b":
        return array
    known = np.fromiter((_is_yes_or_no(item) for item in array), bool, rows)
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        msg = f"member[{first}] is {plain_value(array[first])!r}; it must be True or False"
        raise InputError(msg)
    return array.astype(bool)


def _is_yes_or_no(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return True
    return isinstance(item, (int, float, np.number)) and bool(item in (0, 1))


def _result(sums: Stretches, n_members: int, n: int, confidence_level: float) -> GroupComparison:
    weight = float(sums.members.sum())
    difference = np.concatenate([[0.0], running_sum(sums.gain) / weight])
    variance = sums.variance
    totals = Totals(
        n=n_members,
        weight=weight,
        ww=math.fsum(sums.coefficients.tolist()),
        wwv=math.fsum(variance.tolist()),
        # So that sigma_hat is the larger of sigma and what the steps themselves show, whose
        # squares have their variance plus their squared mean as expectation.
        wwe=math.fsum((variance + sums.gain**2).tolist()),
        largest=float(variance.max()),
    )
    score_gain = sums.members * sums.point - sums.members * (sums.scored / sums.everybody)
    score_path = running_sum(score_gain) / weight
    mismatch = float(score_path.max(initial=0.0) - score_path.min(initial=0.0))
    fraction = np.concatenate([[0.0], np.cumsum(sums.members)])
    largest, smallest = float(difference.max()), float(difference.min())
    rate = float(sums.members1.sum()) / weight
    return GroupComparison(
        n=n,
        n_members=n_members,
        sigma=totals.sigma,
        ecce_r=_statistic(largest - smallest, null.range, totals, confidence_level),
        ecce_mad=_statistic(max(largest, -smallest), null.mad, totals, confidence_level),
        member_rate=rate,
        population_rate=min(max(rate - float(difference[-1]), 0.0), 1.0),
        worst=_worst(sums, difference, totals, confidence_level),
        curve=Curve(
            score=np.concatenate([sums.point[:1], sums.point]),
            fraction=fraction / fraction[-1],
            difference=difference,
        ),
        mismatch=mismatch,
        confidence_level=confidence_level,
        warnings=tuple(_warnings(sums, totals, mismatch)),
        _totals=totals,
    )


def _statistic(
    value: float, law: null.BrownianLaw, totals: Totals, confidence_level: float
) -> Statistic:
    # Where sigma is 0 no stretch holds two different responses, and the metric is exactly 0.
    log10 = law.logsf(value / totals.sigma) / math.log(10) if totals.sigma > 0 else 0.0
    return Statistic(
        value=value,
        normalized=normalize(value, totals.sigma),
        pvalue=10**log10,
        log10_pvalue=log10,
        method="asymptotic",
        bracket=None,
        ci=interval(value, law, totals, confidence_level),
    )


def _worst(
    sums: Stretches, difference: FloatArray, totals: Totals, confidence_level: float
) -> Contrast:
    """Describe the range between the extremes of the path."""
    first, last = sorted((int(difference.argmin()), int(difference.argmax())))
    covered = slice(first, last)
    if first == last:
        nothing = float(sums.point[0])
        return Contrast(nothing, nothing, 0, 0.0, *(math.nan,) * 3, (math.nan, math.nan))
    weight = float(sums.members[covered].sum())
    gap = float(sums.gain[covered].sum()) / weight
    rate = float(sums.members1[covered].sum()) / weight
    half = half_width(null.range, totals, confidence_level) * totals.weight / weight
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


def _warnings(sums: Stretches, totals: Totals, mismatch: float) -> Iterator[str]:
    """Say what to keep in mind when reading the numbers, a line each."""
    if 0 < totals.wwv * totals.n < _LITTLE_VARIANCE * float(sums.members_ww.sum()):
        yield "Few events, or few failures, to compare: P-values and limits are approximate."
    if mismatch > _LARGE_MISMATCH * totals.sigma:
        yield (
            f"Scores compared are not equal enough: their own differences amount to an ECCE-R of "
            f"{metric(mismatch)}."
        )
    alone = int(sums.n[sums.others == 0].sum())
    if _MANY_ALONE * totals.n < alone < totals.n:
        yield f"{alone:,} of the members had nobody else with a score near enough to compare with."


def _members(n: int) -> str:
    return f"{n:,} member{'' if n == 1 else 's'}"
