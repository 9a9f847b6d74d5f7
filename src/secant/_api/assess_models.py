"""Several models on the same outcomes: one table, and which forecast better beyond chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._api.assess import assess
from secant._api.compare_models import compared, of_result, rows_of
from secant._api.together import assess_together
from secant._inference.paired import in_loss, not_worse
from secant._input.observations import check_alignment
from secant._input.options import ModelScore, check_choice
from secant._results.models import Behind, Models
from secant.errors import Argument, InputError
from secant.sources.open import read_once

if TYPE_CHECKING:
    from secant._blocks.looking import Source
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


def assess_models(
    y_true: Any, y_probs: Any, *, score: ModelScore = "brier", **options: Any
) -> Models:
    """Assess several models on the same outcomes, and say which makes better forecasts.

    Print the result: one table, the smallest Brier score first, and in words which models are not
    worse than the first beyond chance, and which are better calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened, or with ``data`` the name of its column; as in :func:`assess`.
    y_probs : mapping of str to array-like, or list of str
        The models' probabilities by name. With ``data`` a list of columns, each named as it is,
        or a mapping from names to columns.
    score : {"brier", "log_loss"}
        By which proper score models are ranked. An infinite log loss comes last, by name.
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

    Notes
    -----
    ECCE-R does not rank models: it is smallest for coarse scores, such as the base rate for
    everybody, which is calibrated and useless. Proper scores reward forecasts that tell rows apart
    as well. That another model is worse than the first is tested by the mean of the row by row
    differences of the score, which is about normal, by Holm's method among all pairs of models.

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
    >>> models.not_worse
    ['new']
    >>> models.comparisons["old"].better
    'A'
    """
    check_choice("score", score, ModelScore)
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
            return ranked(together.models, score)
    check_alignment(*((f"y_probs[{name!r}]", scores) for name, scores in named.items()))
    results = {}
    for name, scores in named.items():
        try:
            results[name] = assess(y_true, scores, **options)
        except InputError as error:
            raise error.renamed({"y_prob": f"y_probs[{name!r}]"}) from error
    return ranked(results, score)


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


def ranked(results: Mapping[str, Calibration], score: ModelScore = "brier") -> Models:
    """Put models of the same rows in order and compare the first with every other."""
    which = ("brier", "log_loss").index(score)

    def place(name: str) -> tuple[float, str]:
        found = results[name].proper_scores[which]
        value = math.inf if found is None else found.value
        # Of equals the one given first stays first, but for infinite ones.
        return value, name if value == math.inf else ""

    order = sorted(results, key=place)
    best = order[0]
    level = results[best].confidence_level
    pairs = max(1, len(order) * (len(order) - 1) // 2)
    comparisons, behind = {}, {}
    # Rows that belong together are not independent, and comparisons are about scores.
    if all(each.n_clusters is None and each.axis is None for each in results.values()):
        strict = 1 - (1 - level) / pairs
        models = {name: of_result(each) for name, each in results.items()}
        comparisons = {
            name: compared(models[best], models[name], strict, names=(best, name))
            for name in order[1:]
        }
        behind = _behind({name: models[name].source for name in order}, score, strict, pairs)
    return Models({name: results[name] for name in order}, comparisons, level, score, behind)


def _behind(
    sources: Mapping[str, Source | None], score: ModelScore, level: float, pairs: int
) -> dict[str, Behind]:
    """Return how much more other models lose than the first, where rows can be had."""
    from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

    (_, best), *others = sources.items()
    quantile, found = NormalDist().inv_cdf((1 + level) / 2), {}
    for name, source in others:
        rows = rows_of(best, source)
        if not isinstance(rows, str):
            found[name] = in_loss(*rows, logarithmic=score == "log_loss")
    adjusted = not_worse([p for *_, p in found.values()], pairs)
    return {
        name: Behind(difference, (difference - quantile * error, difference + quantile * error), p)
        for (name, (difference, error, _)), p in zip(found.items(), adjusted, strict=True)
    }
