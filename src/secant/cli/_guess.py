"""Which column is which, where a file leaves no doubt."""

from __future__ import annotations

import shlex

import click

from secant._input.columns import are_numbers
from secant._results.wording import visible

__all__ = ["guess", "notes"]

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
    kinds: dict[str, str], y_true: str | None, y_prob: tuple[str, ...], taken: set[str]
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Fill in the columns that were not named.

    Parameters
    ----------
    kinds
        The columns of the file: ``"float"``, ``"whole"`` or ``"other"``.
    y_true, y_prob
        What the user named; None, or nothing.
    taken
        Columns named for something else.

    Returns
    -------
    y_true, y_prob, guessed
        And which of the two were guessed, with their columns.

    Raises
    ------
    click.UsageError
        If there is more than one possibility, or none, or columns have no names.
    """
    guessed = {}
    if are_numbers(kinds) and (y_true is None or not y_prob):
        raise click.UsageError(
            f"The columns are called {', '.join(list(kinds)[:3])}: is the line of names missing? "
            "If those are their names, say --y-true COLUMN and --y-prob COLUMN."
        )
    free = {name: kind for name, kind in kinds.items() if name not in {*taken, y_true, *y_prob}}
    if not y_prob:
        found = _only(free, _FORECASTS, "float")
        if found is None:
            raise _unclear("--y-prob", "the predicted probabilities", kinds)
        y_prob = (found,)
        guessed["y_prob"] = found
        free.pop(found)
    if y_true is None:
        y_true = _only(free, _OUTCOMES, "whole")
        if y_true is None:
            raise _unclear("--y-true", "the outcomes", kinds)
        guessed["y_true"] = y_true
    return y_true, y_prob, guessed


def notes(
    kinds: dict[str, str], guessed: dict[str, str], used: set[str], *, weighted: bool
) -> list[str]:
    """Say which columns were guessed, and which was perhaps forgotten: a line each."""
    lines = []
    if guessed:
        options = (f"--{role.replace('_', '-')} {name}" for role, name in guessed.items())
        lines.append(f"Guessed: {', '.join(options)}")
    if not weighted:
        lines += [
            f"Not used: the column {name}. If it holds weights, say --weight {shlex.quote(name)}."
            for name, kind in kinds.items()
            if name.casefold() in _WEIGHTS and kind != "other" and name not in used
        ]
    return [visible(line) for line in lines]


def _only(kinds: dict[str, str], names: frozenset[str], kind: str) -> str | None:
    """Return the one column with a telling name; failing that, the one of a telling kind."""
    for candidates in (
        [name for name in kinds if name.casefold() in names],
        [name for name in kinds if kinds[name] == kind],
    ):
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
    return None


def _unclear(option: str, what: str, kinds: dict[str, str]) -> click.UsageError:
    shown = ", ".join(list(kinds)[:12]) + (", ..." if len(kinds) > 12 else "")
    return click.UsageError(
        f"Which column holds {what} is not clear from its name; say {option} COLUMN. "
        f"The columns are {shown}."
    )
