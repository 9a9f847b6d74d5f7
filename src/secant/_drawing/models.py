"""What displays are made from: predictions, an estimator or results, of one or more models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from secant._api.assess import assess
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from secant._results.calibration import Calibration

__all__ = ["OfEstimator", "assess_models", "named", "names_of", "predict"]

Result = TypeVar("Result")


def named(
    results: Any, kind: type[Result], name: Any = None
) -> tuple[tuple[str | None, ...], tuple[Result, ...]]:
    """Return names and results of one model, of a sequence or of a mapping from names.

    A model nobody named has the name None.

    Raises
    ------
    InputError
        If there is no result, one is of another kind, or names and results differ in number.
    """
    names: tuple[str | None, ...]
    if isinstance(results, Mapping):
        if name is not None:
            msg = "name goes with results that have none; these are named by their mapping"
            raise InputError(msg)
        names, found = tuple(str(key) for key in results), tuple(results.values())
    else:
        found = (results,) if isinstance(results, kind) else _sequence(results, kind)
        names = names_of(name, len(found))
    for index, result in enumerate(found):
        if not isinstance(result, kind):
            msg = f"results[{index}] is a {type(result).__name__}, not a {kind.__name__}"
            raise InputError(msg)
    if not found:
        msg = f"there is nothing to draw: results holds no {kind.__name__}"
        raise InputError(msg)
    return names, found


def assess_models(
    y_true: Any, y_prob: Any, name: Any, **options: Any
) -> Calibration | dict[str, Calibration]:
    """Assess the predictions of one model, or of several given as a mapping from names."""
    if not isinstance(y_prob, Mapping):
        return assess(y_true, y_prob, **options)
    if name is not None:
        msg = "name goes with one model; several are named by the keys of y_prob"
        raise InputError(msg)
    return {str(key): assess(y_true, scores, **options) for key, scores in y_prob.items()}


def predict(estimator: Any, X: Any, pos_label: Any) -> tuple[Any, Any]:
    """Ask a fitted classifier for the probabilities of its positive class, as scikit-learn does.

    Returns
    -------
    y_prob, pos_label
        The probabilities, and the label they are the probabilities of (None where the estimator
        has no ``classes_`` to say so).

    Raises
    ------
    InputError
        If the estimator gives no probabilities of two classes, or ``pos_label`` is neither.
    """
    if not callable(getattr(estimator, "predict_proba", None)):
        msg = f"{type(estimator).__name__} has no predict_proba, so no probabilities to assess"
        raise InputError(msg)
    probs = np.asarray(estimator.predict_proba(X))
    if probs.ndim == 1:
        return probs, pos_label
    if probs.ndim != 2 or probs.shape[1] != 2:
        msg = (
            f"predict_proba gave an array of shape {probs.shape}; a display needs two classes. "
            "Draw one class against the rest, or the top label, with from_predictions"
        )
        raise InputError(msg)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return probs[:, 1], pos_label
    classes = list(classes)
    if pos_label is None:
        return probs[:, 1], classes[1]
    if pos_label not in classes:
        msg = f"pos_label={pos_label!r} is not a class of the estimator, which has {classes}"
        raise InputError(msg)
    return probs[:, classes.index(pos_label)], pos_label


class OfEstimator:
    """A display that can be made from predictions, and so from an estimator that makes them."""

    if TYPE_CHECKING:
        from_predictions: Callable[..., Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the predictions of a fitted binary classifier.

        Parameters
        ----------
        estimator : object with ``predict_proba``
            The classifier, such as one of scikit-learn's or a pipeline.
        X : array-like
            What it predicts from.
        y : array-like of shape (n,)
            What happened.
        pos_label : optional
            The class to draw; the second of ``estimator.classes_`` unless given.
        name : str, optional
            Name of the model, that of its class unless given.
        **options
            As in :meth:`from_predictions`.

        Returns
        -------
        CumulativeDisplay or ReliabilityDisplay
            Drawn.

        Raises
        ------
        InputError
            If the estimator gives no probabilities of two classes; and as
            :meth:`from_predictions`.
        MissingExtraError
            If matplotlib is not installed.
        """
        y_prob, pos_label = predict(estimator, X, pos_label)
        name = type(estimator).__name__ if name is None else name
        drawn: Self = cls.from_predictions(y, y_prob, pos_label=pos_label, name=name, **options)
        return drawn


def _sequence(results: Any, kind: type) -> tuple[Any, ...]:
    try:
        return tuple(results)
    except TypeError:
        msg = (
            f"results must be a {kind.__name__}, a sequence of them, or a mapping from names; "
            f"got a {type(results).__name__}"
        )
        raise InputError(msg) from None


def names_of(name: Any, count: int, argument: str = "name") -> tuple[str | None, ...]:
    """Return a name for each of so many models; None where none was given."""
    if name is None:
        return (None,) * count
    names = (name,) if isinstance(name, str) else tuple(str(each) for each in name)
    if len(names) != count:
        raise InputError(Argument(argument), f" must name each model; got {len(names)} for {count}")
    return names
