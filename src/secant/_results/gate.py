"""A gate: what a model must not be, or must be shown to be, and how it stands with that.

The one home of the decision, for tests, the command and its page.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from secant._inference.adjust import ADJUSTMENTS, holm
from secant._inference.limits import at_level
from secant._input.options import check_level
from secant._results import group_words, verdict
from secant._results.wording import decided, level, metric, points, scores, signed_pvalue
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from secant._results.assessments import Assessments, Group
    from secant._results.calibration import Calibration

__all__ = ["MAX_ECCE_R", "Gate", "GroupsStand", "Judgement", "Stand"]

Limit = Literal["max_ecce_r", "max_miscalibration", "within"]
Answer = Literal["passed", "tolerated", "crossed", "within", "beyond", "not enough data"]

# The verdict has no limits at a level of 1, which is what one minus a tiny alpha rounds to.
_HIGHEST_LEVEL = 1 - 1e-12
_MOST_NAMES = 5
# The tolerance where no limit is given.
MAX_ECCE_R = 0.02
_STANDS = {
    "passed": "Gate passed:",
    "tolerated": "Gate passed: miscalibrated, but by less than you tolerate.",
    "crossed": "Gate failed:",
}


@dataclass(frozen=True)
class Judgement:
    """One limit of a gate, and how a result stands with it.

    Attributes
    ----------
    limit : {"max_ecce_r", "max_miscalibration", "within"}
        Which limit.
    tolerance : float
        What it is.
    answer : str
        ``"passed"``, ``"tolerated"`` (beyond chance, and not too large) or ``"crossed"``;
        of ``within``: ``"within"``, ``"beyond"`` or ``"not enough data"``.
    pvalue : float or None
        What was compared with the level, adjusted where several results were judged.
    interval : tuple of float or None
        Of ``within``: the confidence interval of ECCE-R.
    words : str
        The same in a sentence.
    """

    limit: Limit
    tolerance: float
    answer: Answer
    words: str
    pvalue: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def fails(self) -> bool:
        """Whether the result fails by this limit."""
        return self.answer in {"crossed", "beyond", "not enough data"}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {
            "limit": self.limit,
            "tolerance": self.tolerance,
            "answer": self.answer,
            **({"interval": interval} if self.limit == "within" else {"pvalue": self.pvalue}),
        }


@dataclass(frozen=True)
class Stand:
    """How one result stands with a gate, limit by limit."""

    judgements: tuple[Judgement, ...]

    @property
    def crossed(self) -> bool:
        """Whether it fails by any limit."""
        return any(each.fails for each in self.judgements)

    @property
    def words(self) -> str:
        """How it stands, a sentence a limit."""
        return " ".join(each.words for each in self.judgements)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the judgements as plain JSON."""
        return [each.to_dict() for each in self.judgements]


@dataclass(frozen=True)
class GroupsStand:
    """How the groups of a table stand with a gate, in the order of its rows, and in words."""

    keys: tuple[Any, ...]
    stands: tuple[Stand, ...]
    words: str

    @property
    def crossing(self) -> tuple[Any, ...]:
        """Keys of the groups that fail by any limit."""
        pairs = zip(self.keys, self.stands, strict=True)
        return tuple(key for key, stand in pairs if stand.crossed)


@dataclass(frozen=True)
class Gate:
    """Limits for a model; one that is None is not judged.

    With many predictions chance can be ruled out for deviations nobody minds; with few, a large
    deviation can be chance. So what must not be fails only when it is beyond chance *and* beyond a
    tolerance: ``max_ecce_r`` for the whole, ``max_miscalibration`` for any range of scores.
    ``within`` asks for the reverse, and fails unless it is shown.

    Chance is ruled out by a small P-value, or by an outcome that its score ruled out: one that a
    calibrated model never shows, whatever the P-value.

    Attributes
    ----------
    alpha : float
        The P-value (adjusted, for groups and for several models) up to which chance is ruled out;
        one minus it is the level of the limits of ``within``.
    max_ecce_r : float or None
        The largest ECCE-R that is tolerated, compared with that of the predictions; 0.02 if no
        limit is given at all.
    max_miscalibration : float or None
        The largest mean miscalibration tolerated over any range of scores. It fails when some range
        is shown to be beyond, by :meth:`secant.Calibration.pvalue_beyond`.
    within : float or None
        What the true ECCE-R must be shown not to exceed, by the upper end of its confidence
        interval.

    Raises
    ------
    InputError
        If a limit is out of range.
    """

    alpha: Any = 0.05
    max_ecce_r: Any = None
    max_miscalibration: Any = None
    within: Any = None

    def __post_init__(self) -> None:
        check_level(self.alpha, "alpha")
        _check_limit("max_ecce_r", self.max_ecce_r)
        _check_limit("max_miscalibration", self.max_miscalibration)
        if self.within is not None:
            check_level(self.within, "within")  # nothing is ever shown to be within 0
        if not self.limits:
            object.__setattr__(self, "max_ecce_r", MAX_ECCE_R)

    @property
    def limits(self) -> dict[Limit, float]:
        """The limits that are judged."""
        given: dict[Limit, Any] = {
            "max_ecce_r": self.max_ecce_r,
            "max_miscalibration": self.max_miscalibration,
            "within": self.within,
        }
        return {name: float(limit) for name, limit in given.items() if limit is not None}

    @property
    def confidence_level(self) -> float:
        """The level at which a verdict agrees with the gate about chance."""
        return min(1 - float(self.alpha), _HIGHEST_LEVEL)

    def judge(self, result: Calibration, pvalue: float | None = None) -> Stand:
        """Judge a result by every limit; ``pvalue`` may be an adjusted one."""
        chance = result.pvalue if pvalue is None else pvalue
        return self._judge([result], [chance])[0]

    def crossed(self, result: Calibration, pvalue: float | None = None) -> bool:
        """Tell whether a result fails by any limit; ``pvalue`` may be an adjusted one."""
        return self.judge(result, pvalue).crossed

    def judge_models(self, results: Mapping[str, Calibration]) -> dict[str, Stand]:
        """Judge models together, so that any calibrated one fails as rarely as one alone would."""
        several = list(results.values())
        known = [_chance(each, each.pvalue) for each in several]
        stands = self._judge(several, holm(known).tolist())
        return dict(zip(results, stands, strict=True))

    def judge_groups(self, results: Assessments, models: int = 1) -> GroupsStand:
        """Judge all groups of a table, with P-values adjusted for their number.

        ``models`` is how many models have such a table. Segments are not asked to be within: of
        those that were not found to be off nothing is known.
        """
        rows = results.rows
        searched = results.searched is not None
        stands = self._judge(
            [row.calibration for row in rows],
            [min(1.0, models * row.adjusted_pvalue) for row in rows],
            tests=results.searched,
            models=models,
            named=False,
            within=not searched,
        )
        words = [
            self._group_words(limit, results, stands, models)
            for limit in self.limits
            if not (searched and limit == "within")
        ]
        return GroupsStand(tuple(results), tuple(stands), " ".join(words))

    def _judge(
        self,
        results: Sequence[Calibration],
        pvalues: Sequence[float],
        *,
        tests: int | None = None,
        models: int = 1,
        named: bool = True,
        within: bool = True,
    ) -> list[Stand]:
        """Judge results together, each with its adjusted P-value.

        ``tests`` is how many were looked at to find these, ``models`` how many times that was done.
        """
        tests = len(results) if tests is None else tests
        note = (
            f" after {ADJUSTMENTS['holm'].words} for {tests} models" if named and tests > 1 else ""
        )
        chances = [_chance(*each) for each in zip(results, pvalues, strict=True)]
        beyond = self._beyond(results, chances, tests, models)
        stands = []
        for result, chance, shown in zip(results, chances, beyond, strict=True):
            judged = (
                self._by_ecce_r(result, chance, note),
                self._by_range(result, shown, note),
                self._by_interval(result, tests * models) if within else None,
            )
            stands.append(Stand(tuple(each for each in judged if each is not None)))
        return stands

    def _beyond(
        self, results: Sequence[Calibration], chances: Sequence[float], tests: int, models: int
    ) -> list[float]:
        """Return adjusted P-values of the claim that no range exceeds ``max_miscalibration``.

        They are never below those of calibration: where these are large there is no need to look.
        """
        if self.max_miscalibration is None:
            return list(chances)
        tolerance = float(self.max_miscalibration)
        alone = [
            each.pvalue_beyond(tolerance) if self._small(chance) else 1.0
            for each, chance in zip(results, chances, strict=True)
        ]
        adjusted = holm([*alone, *[1.0] * (tests - len(alone))])[: len(alone)]
        both = zip(chances, adjusted.tolist(), strict=True)
        return [max(chance, min(1.0, models * p)) for chance, p in both]

    def _by_ecce_r(self, result: Calibration, chance: float, note: str) -> Judgement | None:
        if self.max_ecce_r is None:
            return None
        tolerance = float(self.max_ecce_r)
        answer: Answer = "passed"
        if self._small(chance):
            answer = "crossed" if result.ecce_r.value > tolerance else "tolerated"
        adjusted = ""
        if note and not result.n_forbidden:
            adjusted = f"{_written(result, chance).removeprefix('= ')}{note}, "
        words = (
            f"{_STANDS[answer]} P {decided(result)} ({adjusted}{self._level}), "
            f"{verdict.measure(result)} (tolerance {tolerance:g}), n = {result.n:,}"
            f"{self._why(result)}."
        )
        return Judgement("max_ecce_r", tolerance, answer, words, pvalue=chance)

    def _why(self, result: Calibration) -> str:
        """Say what rules out chance where the P-value does not."""
        if not result.n_forbidden or self._small(result.pvalue):
            return ""
        rule = "rules" if result.n_forbidden == 1 else "rule"
        return f"; {verdict.impossible(result)} {rule} out chance, whatever the P-value"

    def _by_range(self, result: Calibration, shown: float, note: str) -> Judgement | None:
        if self.max_miscalibration is None:
            return None
        tolerance = float(self.max_miscalibration)
        answer: Answer = "crossed" if self._small(shown) else "passed"
        allowed = f"{points(tolerance)} points"
        if answer == "passed":
            says = f"no range of scores is shown to be off by more than {allowed}"
        elif (steepest := result.steepest) is not None and steepest.at_least > tolerance:
            off = f"{steepest.direction} by at least {points(steepest.at_least)} points"
            says = f"{scores(steepest)} are {off}, where {allowed} are tolerated"
        else:
            says = f"some range of scores is off by more than {allowed}"
        # Another P than that which decides, which is against no miscalibration at all.
        against = f"P {_written(result, shown)}{note} if no range were off by more than {allowed}"
        words = f"{_STANDS[answer]} {says} ({against}, {self._level})."
        return Judgement("max_miscalibration", tolerance, answer, words, pvalue=shown)

    def _by_interval(self, result: Calibration, tests: int) -> Judgement | None:
        """Judge whether ECCE-R is shown to be within.

        Each of several results must be, which no adjustment makes safer. That one is beyond could
        be said of any of them, and pays for their number.
        """
        if self.within is None:
            return None
        tolerance, at = float(self.within), level(self.confidence_level)
        low, high = result.ecce_r_interval(self.confidence_level)
        strict = min(1 - float(self.alpha) / tests, _HIGHEST_LEVEL)
        answer: Answer = "not enough data"
        if high <= tolerance:
            answer = "within"
            says = (
                f"passed: ECCE-R is at most {metric(high)} ({at} limit), {tolerance:g} is allowed"
            )
        elif result.ecce_r_interval(strict)[0] > tolerance:
            answer = "beyond"
            says = (
                f"failed: ECCE-R is at least {metric(low)} ({at} limit), {tolerance:g} is allowed"
            )
        else:
            says = f"failed: too few predictions to show that ECCE-R is at most {tolerance:g}; "
            says += f"it is between {metric(low)} and {metric(high)} ({at} limits)"
        return Judgement("within", tolerance, answer, f"Gate {says}.", interval=(low, high))

    def _group_words(
        self, limit: Limit, results: Assessments, stands: Sequence[Stand], models: int
    ) -> str:
        """Say which groups fail by one of the limits."""
        judged = [_judgement(stand, limit) for stand in stands]
        rows = [row for row, each in zip(results.rows, judged, strict=True) if each.fails]
        tolerance, groups = self.limits[limit], len(results)
        adjusted = "adjusted P-values" if models == 1 else f"P-values adjusted for {models} models"
        limits = {
            "max_ecce_r": f"(tolerance {tolerance:g}, {self._level}, {adjusted})",
            "max_miscalibration": f"({points(tolerance)} points over any range, {self._level}, "
            f"{adjusted})",
            "within": f"(shown to be within {tolerance:g}, {self._level})",
        }[limit]
        if not rows:
            who = "the only group" if groups == 1 else f"all {groups:,} groups"
            return f"Gate passed by {who} {limits}."
        if limit == "within":
            few = sum(each.answer == "not enough data" for each in judged)
            return f"{self._not_within(rows, groups)}{_too_few(few, len(rows))}."
        who = "the only group" if groups == 1 else f"{len(rows):,} of {groups:,} groups"
        words = f"Gate failed by {who}: {_names(rows)} {limits}."
        refuted = [row for row in rows if not self._small(row.adjusted_pvalue)]
        if refuted:
            certain = "wrong scores of exactly 0 or 1 rule out chance"
            words += f" In {_names(refuted)} {certain}, whatever the P-value."
        return words

    def _not_within(self, rows: Sequence[Group], groups: int) -> str:
        """Say which groups are not shown to be within."""
        shown = f"shown to be within {self.limits['within']:g}"
        if groups == 1:
            return f"Gate failed: the only group, {_names(rows)}, is not {shown} ({self._level})"
        if len(rows) == groups:
            return f"Gate failed: none of {groups:,} groups is {shown} ({self._level})"
        verb = "is" if len(rows) == 1 else "are"
        return (
            f"Gate failed: {len(rows):,} of {groups:,} groups {verb} not {shown}, {_names(rows)} "
            f"({self._level})"
        )

    def _small(self, pvalue: float) -> bool:
        return at_level(pvalue, self.alpha)

    @property
    def _level(self) -> str:
        return f"level {float(self.alpha):g}"


def _check_limit(argument: str, limit: Any) -> None:
    if limit is not None and not (isinstance(limit, Real) and 0 <= float(limit) < 1):
        raise InputError(Argument(argument), f" must lie in [0, 1); got {limit!r}")


def _chance(result: Calibration, pvalue: float) -> float:
    """Return the P-value of calibration; what its score ruled out has the probability 0 there."""
    return 0.0 if result.n_forbidden else float(pvalue)


def _written(result: Calibration, pvalue: float) -> str:
    """Write what became of a P-value of a result: of an upper bound, another."""
    return signed_pvalue(pvalue, result.pvalue_method)


def _judgement(stand: Stand, limit: Limit) -> Judgement:
    return next(each for each in stand.judgements if each.limit == limit)


def _too_few(few: int, failing: int) -> str:
    """Say of how many that fail there are too few predictions."""
    if not few:
        return ""
    if failing == 1:
        return "; it has too few predictions"
    if few == failing:
        return f"; all {few:,} have too few predictions"
    return f"; {few:,} of them {'has' if few == 1 else 'have'} too few predictions"


def _names(rows: Sequence[Group]) -> str:
    names = ", ".join(group_words.name(row.key) for row in rows[:_MOST_NAMES])
    more = len(rows) - _MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names
