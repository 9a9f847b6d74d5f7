"""Several models on the same outcomes: one table, and who is better beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._api.assess import assess
from secant._api.compare_models import compared, of_result
from secant._api.together import assess_together
from secant._input.observations import check_alignment
from secant._results.models import Models
from secant.errors import Argument, InputError
from secant.sources.open import read_once

if TYPE_CHECKING:
    from secant._results.calibration import Calibration

__all__ = ["assess_models", "ranked"]

# Options that models in the same files are assessed with together; draws of their own take others.
_TOGETHER = {
    "data",
    "sample_weight",
    "weight_kind",
    "outcome_weights",
    "clusters",
    "pos_label",
    "method",
    "confidence_level",
    "missing",
}


def assess_models(y_true: Any, y_probs: Any, **options: Any) -> Models:
    """Assess several models on the same outcomes, and say which is closest to calibration.

    Print the result: one table, the smallest ECCE-R first, and in words which differences are
    beyond chance.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened, or with ``data`` the name of its column; as in :func:`assess`.
    y_probs : mapping of str to array-like, or list of str
        The models' probabilities by name. With ``data`` a list of columns, each named as it is,
        or a mapping from names to columns.
    **options
        As in :func:`assess`, the same for every model. With ``missing="drop"`` each model is
        assessed on the rows for which it has a score, and says how many it has not.

    Returns
    -------
    Models
        A mapping from names to results, with the table and the comparisons.

    Raises
    ------
    InputError
        If there are no models, or anything in the input is unusable.

    See Also
    --------
    compare_models : How two models are compared, and what that means.

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(5000)
    >>> happened = rng.random(5000) < chance
    >>> models = secant.assess_models(happened, {"old": chance**1.5, "new": chance})
    >>> list(models)
    ['new', 'old']
    >>> models.comparisons["old"].better
    'A'
    """
    named = y_probs if isinstance(y_probs, Mapping) else _columns(y_probs, options.get("data"))
    if not named:
        raise InputError(Argument("y_probs"), " names no model")
    named = {str(name): scores for name, scores in named.items()}
    if options.get("data") is not None:
        columns = [(f"y_probs[{name!r}]", column) for name, column in named.items()]
        beside = "sample_weight", "clusters", "order_by"
        given: dict[str, Any] = {name: options.get(name) for name in beside}
        options["data"], _ = read_once(y_true, columns, data=options["data"], **given)
    if _in_columns(named, options):
        together = assess_together(y_true, named, called="y_probs[{}]", **options)
        if together is not None:
            return ranked(together.models)
    check_alignment(*((f"y_probs[{name!r}]", scores) for name, scores in named.items()))
    results = {}
    for name, scores in named.items():
        try:
            results[name] = assess(y_true, scores, **options)
        except InputError as error:
            raise error.renamed({"y_prob": f"y_probs[{name!r}]"}) from error
    return ranked(results)


def _in_columns(named: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Tell whether models are columns of data, to be assessed as they are together."""
    if options.get("data") is None or not _TOGETHER.issuperset(options):
        return False
    return all(isinstance(column, str) for column in named.values())


def _columns(names: Any, data: Any) -> dict[str, str]:
    """Return columns by their own names."""
    told = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    if data is None or not told or len(set(names)) < len(names):
        needs = " must be a mapping from names to scores, or with data= a list of different columns"
        raise InputError(Argument("y_probs"), needs)
    return {name: name for name in names}


def ranked(results: Mapping[str, Calibration]) -> Models:
    """Put models of the same rows in order and compare the first with every other."""
    order = sorted(results, key=lambda name: results[name].ecce_r.value)
    best = order[0]
    level = results[best].confidence_level
    pairs = max(1, len(order) * (len(order) - 1) // 2)
    comparisons = {}
    # Rows that belong together are not independent, and comparisons are about scores.
    if all(each.n_clusters is None and each.axis is None for each in results.values()):
        strict = 1 - (1 - level) / pairs
        models = {name: of_result(each) for name, each in results.items()}
        comparisons = {
            name: compared(models[best], models[name], strict, names=(best, name))
            for name in order[1:]
        }
    return Models({name: results[name] for name in order}, comparisons, level)
