"""Which column is which, where a file leaves no doubt."""

from __future__ import annotations

import click

__all__ = ["guess"]

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


def guess(
    kinds: dict[str, str], y_true: str | None, y_prob: tuple[str, ...], taken: set[str]
) -> tuple[str, tuple[str, ...], list[str]]:
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
    y_true, y_prob, notes
        And a line about each guess, to be shown.

    Raises
    ------
    click.UsageError
        If there is more than one possibility, or none.
    """
    notes = []
    free = {name: kind for name, kind in kinds.items() if name not in {*taken, y_true, *y_prob}}
    if not y_prob:
        found = _only(free, _FORECASTS, "float")
        if found is None:
            raise _unclear("--y-prob", "the predicted probabilities", kinds)
        y_prob = (found,)
        notes.append(f"--y-prob {found}")
        free.pop(found)
    if y_true is None:
        y_true = _only(free, _OUTCOMES, "whole")
        if y_true is None:
            raise _unclear("--y-true", "the outcomes", kinds)
        notes.append(f"--y-true {y_true}")
    return y_true, y_prob, notes


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
