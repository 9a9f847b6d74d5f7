"""The words that arguments take, each in one place, and how options are checked."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np

from secant.errors import InputError

__all__ = ["WeightKind", "check_choice", "check_level", "generator", "is_whole"]

WeightKind = Literal["sampling", "frequency"]


def check_choice(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the words an argument takes."""
    if not (isinstance(value, str) and value in choices):
        words = ", ".join(repr(choice) for choice in choices)
        msg = f"{argument} must be one of {words}; got {value!r}"
        raise InputError(msg)


def check_level(value: Any) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        msg = f"confidence_level must lie strictly between 0 and 1; got {value!r}"
        raise InputError(msg)


def generator(rng: Any) -> np.random.Generator | None:
    """Return the generator asked for; None where nothing is asked for.

    Raises
    ------
    InputError
        If ``rng`` is no seed and no generator, or one that cannot be split.
    """
    if rng is None:
        return None
    try:
        made = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        msg = f"rng must be a whole number or a numpy.random.Generator; got {rng!r}"
        raise InputError(msg) from error
    seeds = getattr(made.bit_generator, "seed_seq", None)
    if not hasattr(seeds, "spawn"):  # as in a legacy RandomState
        msg = f"rng must be a generator that can be split, such as default_rng makes; got {rng!r}"
        raise InputError(msg)
    return made


def is_whole(value: Any, least: int, most: int) -> bool:
    """Tell whether a value is a whole number between two others."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return bool(whole and least <= value <= most)
