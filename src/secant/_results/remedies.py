"""What usually helps, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secant._results import coverage_words

if TYPE_CHECKING:
    from secant._results.calibration import Calibration

__all__ = ["what_now"]

# One range that holds so much of the predictions is "everywhere".
_EVERYWHERE = 0.9


def what_now(result: Calibration) -> str:
    """Return one line of what usually helps; nothing where nothing needs help."""
    if result.sigma == 0:
        every = "Every score is 0 or 1. " if result.found else ""  # or else it is said above
        return (
            f"{every}If these are predicted classes, assess the probabilities behind them "
            "(predict_proba in place of predict)."
        )
    if result.found and result.inverted:
        return (
            "Events are rarer where scores are higher: these look like probabilities of the other "
            "class; with scikit-learn take proba[:, 1], not proba[:, 0]."
        )
    not_certain_where = result.n_forbidden and not result.pieces
    if result.found and not result.trifling and not not_certain_where:
        return _remedy(result)
    if result.n_forbidden:
        first = (
            f" (the first that was wrong is in row {result.forbidden[0]:,})"
            if result.forbidden
            else ""
        )
        return f"What usually helps: scores between, say, 0.001 and 0.999, never 0 or 1{first}."
    return ""


def _remedy(result: Calibration) -> str:
    pieces = result.pieces
    if not pieces:
        return "What usually helps: more predictions, to see where."
    one = len(pieces) == 1
    if coverage_words.is_about(result):
        how = coverage_words.remedy(result)
    elif result.axis is not None:
        how = "a model, or a calibrator, that is fitted anew as time goes by"
        if result.axis.kind != "time":
            name = result.axis.title
            how = f"a model that knows {name}, or a calibrator that has it among its features"
    elif len(pieces) > 2:
        how = "isotonic regression, fitted on a thousand or more other predictions"
    elif not one or result.top_label:
        how = "temperature or beta scaling, fitted on other predictions"
    elif pieces[0].weight >= _EVERYWHERE:
        rarer = "rarer" if pieces[0].miscalibration < 0 else "more frequent"
        how = (
            f"a new intercept, if the event has become {rarer} since training; temperature "
            "scaling, if these are confidences in the most likely class"
        )
    else:
        how = "beta scaling, or isotonic regression with a thousand or more other predictions"
    return f"What usually helps: {how}."
