"""Which column is which, where the names in a file leave no doubt."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from secant._input.columns import are_numbers
from secant._results.wording import visible

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FIRST_ROWS", "guess", "guessed_words", "notes"]

# Rows in which a column of two words, which may be the outcome, is looked for.
FIRST_ROWS = 1 << 16

# Names people give these columns, in lower case.
_OUTCOMES = frozenset(
    {
        *("y_true", "label", "labels", "outcome", "target", "response", "happened", "actual"),
        *("y", "truth", "event", "observed", "correct", "is_correct", "default", "clicked"),
    }
)
_FORECASTS = frozenset(
    {
        *("y_prob", "y_score", "y_pred", "prob", "proba", "probability", "score", "forecast"),
        *("p", "pred", "prediction", "predicted", "confidence", "predicted_probability"),
    }
)
_WEIGHTS = frozenset({"weight", "weights", "sample_weight", "w"})


def guess(
    kinds: dict[str, str],
    y_true: str | None,
    y_prob: tuple[str, ...],
    taken: set[str],
    two_valued: Callable[[list[str]], list[str]],
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Fill in the columns that were not named, by the names people use and by nothing else.

    Parameters
    ----------
    kinds
        The columns of the file: ``"float"``, ``"whole"``, ``"text"`` or ``"other"``.
    y_true, y_prob
        What the user named; None, or nothing.
    taken
        Columns named for something else.
    two_valued
        Tells which of some columns may hold two words: one of those may be the outcome.

    Returns
    -------
    y_true, y_prob, guessed
        And which of the two were guessed, with their columns.

    Raises
    ------
    click.UsageError
        If there is more than one possibility, or none, or columns have no names; if beside the
        outcome that was guessed there is a column of two words.
    """
    guessed = {}
    if are_numbers(kinds) and (y_true is None or not y_prob):
        raise click.UsageError(
            f"The columns are called {', '.join(list(kinds)[:3])}: is the line of names missing? "
            "If those are their names, say --y-true COLUMN and --y-prob COLUMN."
        )
    free = {name: kind for name, kind in kinds.items() if name not in {*taken, y_true, *y_prob}}
    if not y_prob:
        # Whole numbers are no probabilities, whatever their column is called: labels, or ranks.
        called = [name for name in free if name.casefold() in _FORECASTS]
        found = [name for name in called if free[name] == "float"]
        if len(called) == 1 and not found:
            raise click.UsageError(
                f"The column {called[0]} is called as predicted probabilities are, but does not "
                f"hold decimals alone; say --y-prob {shlex.quote(called[0])} to see where."
            )
        if len(found) != 1:
            raise _unclear("--y-prob", "the predicted probabilities", kinds)
        y_prob = (found[0],)
        guessed["y_prob"] = found[0]
        free.pop(found[0])
    if y_true is None:
        found = [name for name in free if name.casefold() in _OUTCOMES]
        if len(found) != 1:
            raise _unclear("--y-true", "the outcomes", kinds)
        y_true = guessed["y_true"] = found[0]
        others = [name for name in free if free[name] == "text" and name != y_true]
        if rivals := two_valued(others):
            raise click.UsageError(
                f"The column {y_true} is called as outcomes are, but {rivals[0]} holds no more "
                "than two different words and may be the outcome too; say --y-true COLUMN."
            )
    return y_true, y_prob, guessed


def guessed_words(guessed: dict[str, str]) -> str:
    """Return what was guessed as it could have been said, in a sentence; nothing where none was."""
    options = (f"--{role.replace('_', '-')} {name}" for role, name in guessed.items())
    return visible(f"Guessed: {', '.join(options)}.") if guessed else ""


def notes(kinds: dict[str, str], used: set[str]) -> list[str]:
    """Say which column of weights was perhaps forgotten: a line each."""
    return [
        visible(
            f"Not used: the column {name}. If it holds weights, say --weight {shlex.quote(name)}."
        )
        for name, kind in kinds.items()
        if name.casefold() in _WEIGHTS and kind in {"float", "whole"} and name not in used
    ]


def _unclear(option: str, what: str, kinds: dict[str, str]) -> click.UsageError:
    shown = ", ".join(list(kinds)[:12]) + (", ..." if len(kinds) > 12 else "")
    return click.UsageError(
        f"Which column holds {what} is not clear from its name; say {option} COLUMN. "
        f"The columns are {shown}."
    )
