"""The words that arguments take, each in one place, and how options are checked."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from secant.errors import Argument, InputError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "AS_USUAL",
    "Adjust",
    "BinLimits",
    "ClassAdjust",
    "ClassKind",
    "GroupMethod",
    "Method",
    "Missing",
    "ModelScore",
    "Norm",
    "PlanKind",
    "Reading",
    "Strategy",
    "Ties",
    "Uncertainty",
    "WeightKind",
    "Weighting",
    "check_choice",
    "check_level",
    "check_whole",
    "generator",
    "in_units_of_the_smaller",
    "is_whole",
    "words",
]

WeightKind = Literal["sampling", "frequency"]
PlanKind = Literal["ecce_r", "shift", "slope"]
# By which models are ranked.
ModelScore = Literal["brier", "log_loss"]
Method = Literal["auto", "exact", "asymptotic", "monte-carlo"]
GroupMethod = Literal["auto", "asymptotic", "monte-carlo"]
# What becomes of rows without a score or an outcome.
Missing = Literal["refuse", "drop"]
Ties = Literal["collapse", "random"]
Strategy = Literal["uniform", "quantile"]
Norm = Literal["l1", "l2", "max"]
Weighting = Literal["count", "width"]
BinLimits = Literal["clopper-pearson", "wilson"]
# How a reliability diagram shows what is uncertain.
Uncertainty = Literal["bars", "bootstrap"]
ClassKind = Literal["top-label", "one-vs-rest"]
# What each does, and what it is called in sentences: secant._inference.adjust.
Adjust = Literal["holm", "benjamini-hochberg"]
ClassAdjust = Literal["holm", "benjamini-hochberg", "westfall-young"]


def words(closed: Any) -> tuple[str, ...]:
    """Return the words of a closed set, such as :data:`Method`."""
    return get_args(closed)


def check_choice(argument: str, value: Any, closed: Any) -> None:
    """Refuse a value that is not one of the words an argument takes."""
    choices = get_args(closed)
    if not (isinstance(value, str) and value in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise InputError(Argument(argument), f" must be one of {known}; got {value!r}")


def check_level(value: Any, argument: str = "confidence_level") -> None:
    """Refuse a level outside (0, 1)."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise InputError(Argument(argument), f" must lie strictly between 0 and 1; got {value!r}")


def is_whole(value: Any, least: int, most: int) -> bool:
    """Tell whether a value is a whole number between two others."""
    import numpy as np  # noqa: PLC0415  (not for the words alone, which the command line reads)

    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return bool(whole and least <= value <= most)


def check_whole(argument: str, value: Any, least: int, most: int | None = None) -> None:
    """Refuse a value that is not a whole number between two others, or not at least so much."""
    if not is_whole(value, least, sys.maxsize if most is None else most):
        limits = f", {least:,} or more" if most is None else f" from {least:,} to {most:,}"
        raise InputError(Argument(argument), f" must be a whole number{limits}; got {value!r}")


def generator(rng: Any) -> np.random.Generator | None:
    """Return the generator asked for; None where nothing is asked for.

    Raises
    ------
    InputError
        If ``rng`` is no seed and no generator, or one that cannot be split.
    """
    import numpy as np  # noqa: PLC0415  (as above)

    if rng is None:
        return None
    try:
        made = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        wanted = f" must be a whole number or a numpy.random.Generator; got {rng!r}"
        raise InputError(Argument("rng"), wanted) from error
    seeds = getattr(made.bit_generator, "seed_seq", None)
    if not hasattr(seeds, "spawn"):  # as in a legacy RandomState
        wanted = f" must be a generator that can be split, such as default_rng makes; got {rng!r}"
        raise InputError(Argument("rng"), wanted)
    return made


@dataclass(frozen=True, slots=True)
class Reading:
    """How rows are read: what weights mean, which outcome is the event, what is missing.

    ``outcome_weights`` are what the outcomes 0 and 1 weigh, None where they weigh the same. Only
    their ratio matters: they are kept in units in which the larger is just below 1.

    Raises
    ------
    InputError
        If there is no such kind of weights, or outcomes cannot have these.
    """

    weight_kind: WeightKind = "sampling"
    pos_label: Any = None
    outcome_weights: tuple[float, float] | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        check_choice("weight_kind", self.weight_kind, WeightKind)
        check_choice("missing", self.missing, Missing)
        object.__setattr__(self, "outcome_weights", _outcome_weights(self.outcome_weights))

    @property
    def counts(self) -> bool:
        """Whether weights count copies of rows."""
        return self.weight_kind == "frequency"

    @property
    def drops(self) -> bool:
        """Whether rows without a score or an outcome are left out."""
        return self.missing == "drop"


def _outcome_weights(value: Any) -> tuple[float, float] | None:
    """Return the weights of the outcomes 0 and 1; None where they make no difference."""
    if value is None:
        return None
    try:
        pair = () if isinstance(value, (str, bytes, dict, set)) else tuple(value)
    except TypeError:
        pair = ()
    numbers = all(isinstance(each, Real) and not isinstance(each, bool) for each in pair)
    if len(pair) != 2 or not numbers:
        raise InputError(
            Argument("outcome_weights"),
            " must be two numbers, what a row of outcome 0 and one of outcome 1 weigh; "
            f"got {value!r}",
        )
    o0, o1 = map(float, pair)
    finite = all(0 < each < math.inf for each in (o0, o1))  # of NaN neither holds
    if not (finite and max(o0, o1) <= _MOST_RATIO * min(o0, o1)):
        raise InputError(
            Argument("outcome_weights"),
            f" must be positive, and neither more than 1e9 times the other; got {value!r}",
            hint="; where rows of an outcome were kept at some rate, its weight is 1 / rate",
        )
    if o0 == o1:
        return None
    # Their scale says nothing. The smaller becomes a power of two, so that the ratio is kept to the
    # last bit, and the larger at most one, so that products with the largest weights of rows stay
    # within the range of doubles.
    larger, exponent = math.frexp(max(o0, o1) / min(o0, o1))
    smaller = math.ldexp(1.0, -exponent)
    return (larger, smaller) if o0 > o1 else (smaller, larger)


def in_units_of_the_smaller(weights: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the weights of outcomes as people write them: 20 to 1."""
    if weights is None:
        return None
    o0, o1 = weights
    return o0 / min(weights), o1 / min(weights)


# Beyond this nobody kept rows.
_MOST_RATIO = 1e9

AS_USUAL = Reading()
