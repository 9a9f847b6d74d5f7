"""What a comparison of a group with everybody returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from secant._inference.limits import at_level, detectable
from secant._metrics.ecce import METRICS
from secant._results.base import Result, Said
from secant._results.wording import metric, off_by, percent, points, scores, statistic

if TYPE_CHECKING:
    from secant._blocks.table import Totals
    from secant._results.parts import Curve, Statistic

__all__ = ["Contrast", "GroupComparison"]


@dataclass(frozen=True, slots=True, repr=False)
class Contrast(Result):
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

    __module__ = "secant"

    low: float
    high: float
    n: int
    weight: float
    member_rate: float
    population_rate: float
    difference: float
    ci: tuple[float, float]
    _also = ("direction",)

    @property
    def direction(self) -> Literal["more often", "less often", "equally often"]:
        """How often the event happens among members, compared with everybody."""
        if self.difference > 0:
            return "more often"
        return "less often" if self.difference < 0 else "equally often"

    @property
    def certain(self) -> bool:
        """Whether the limits exclude 0."""
        return self.ci[0] > 0 or self.ci[1] < 0

    def _say(self) -> Said:
        if not self.n:
            return Said("No range of scores shows any difference.")
        low, high = (points(limit) for limit in self.ci)
        return Said(
            f"{scores(self).capitalize()}, {_members(self.n)}: "
            f"the event rate is {percent(self.member_rate)} for them, "
            f"{percent(self.population_rate)} for everybody with the same scores, "
            f"difference {points(self.difference)} points ({low} to {high})."
        )


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result):
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
    opposite : Contrast or None
        The range that differs most in the other direction, where its limits exclude 0.
    curve : Curve
        The cumulative differences at the distinct scores of members.
    mismatch : float
        ECCE-R if every row had its score as response: how much of ECCE-R may come from
        comparing scores that are only nearly equal.
    confidence_level : float
        Level of all intervals; the printed answer tests at one minus it.
    warnings : tuple of str
        What to keep in mind when reading the numbers, a line each.
    overlap : bool
        Whether the scores of members and of the others share any range.
    """

    __module__ = "secant"

    n: int
    n_members: int
    sigma: float
    ecce_r: Statistic
    ecce_mad: Statistic
    member_rate: float
    population_rate: float
    worst: Contrast
    opposite: Contrast | None
    curve: Curve
    mismatch: float
    confidence_level: float
    warnings: tuple[str, ...]
    overlap: bool
    _totals: Totals
    _leads = ("verdict",)
    _also = ("comparable",)

    @property
    def comparable(self) -> bool:
        """Whether there are scores equal enough to compare members with everybody at.

        Not where scores share no range, nor where a difference shows that the scores compared,
        which are not equal, would make by themselves.
        """
        return self.overlap and not (self._shows and self.mismatch >= self.ecce_r.value)

    @property
    def found(self) -> bool:
        """Whether a difference was found: ECCE-R has a P-value of at most one minus the level.

        None is where members and everybody are not comparable.
        """
        return self.comparable and self._shows

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        return {name: facts[name] for name in facts if name not in {"curve", "overlap"}}

    @property
    def _shows(self) -> bool:
        return at_level(self.ecce_r.pvalue, 1 - self.confidence_level)

    @property
    def detectable(self) -> float:
        """The true ECCE-R that groups like these would show about 99 times in 100.

        1 where nothing can be counted on to show, as where nobody is compared with anybody else.
        """
        if not self._totals.ww:
            return 1.0
        effective = self._totals.weight**2 / self._totals.ww
        return min(1.0, detectable(self.sigma, effective, self.confidence_level))

    def _say(self) -> Said:
        if not self.comparable:
            return Said(f"{self.verdict}.", self._why_not())
        metrics = (
            statistic(each, getattr(self, each.attribute), expected="equal rates average")
            for each in METRICS
        )
        then = self._where() if self.found else self._would_have_shown()
        return Said(f"{self.verdict}.", then, [*metrics, self._rates()], notes=self.warnings)

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        if not self.comparable:
            return "Members and everybody cannot be compared at equal scores"
        if not self.found:
            return "No difference found between members and everybody at equal scores"
        if not self.worst.certain:
            return "At equal scores the event is not as likely for members as for everybody"
        if self.opposite is not None:
            first, second = (each.direction for each in self._shown)
            return (
                f"At some scores the event happens {first} among members than in everybody with "
                f"the same score, at others {second}"
            )
        return (
            f"At equal scores the event happens {self.worst.direction} among members than in "
            "everybody"
        )

    @property
    def _shown(self) -> list[Contrast]:
        """The ranges to name, in the order of scores."""
        both = [self.worst] if self.opposite is None else [self.worst, self.opposite]
        return sorted(both, key=lambda each: each.low)

    def _where(self) -> str:
        if not self.worst.certain:
            return (
                "These data do not show for certain where; the largest difference is over "
                f"{scores(self.worst)}, where it happens {self._off(self.worst)}."
            )
        first, *others = self._shown
        others_said = "".join(f", over {scores(each)} {self._off(each)}" for each in others)
        return f"Over {scores(first)} it happens {self._off(first)}{others_said}."

    def _off(self, each: Contrast) -> str:
        return off_by(each, each.difference, at=self.confidence_level, count=_members(each.n))

    def _why_not(self) -> str:
        who = f"({_members(self.n_members)} of {self.n:,})."
        if not self.overlap:
            return f"The scores of members and of the others do not overlap {who}"
        return (
            "Hardly any member has others near its score: the scores compared differ by as much "
            f"as would make all of the difference seen {who}"
        )

    def _rates(self) -> str:
        return (
            f"{_members(self.n_members)} of {self.n:,}: the event rate is "
            f"{percent(self.member_rate)} for members, {percent(self.population_rate)} for "
            "everybody with the same scores."
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


def _members(n: int) -> str:
    return f"{n:,} member{'' if n == 1 else 's'}"
