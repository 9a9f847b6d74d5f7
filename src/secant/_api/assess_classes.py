"""Many classes: the prediction as made, or every class against the rest."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._api.assess import assess
from secant._api.assess_by import ranked
from secant._api.calibrations import calibrations, thinned
from secant._base.progress import showing
from secant._inference.adjust import JOINT, adjusted, holm
from secant._inference.draws import DRAWS, FEWEST_REDRAWS, same_every_time
from secant._input.class_probs import ANY_SUM, class_predictions, largest
from secant._input.observations import check_alignment, observations, split
from secant._input.options import (
    ClassAdjust,
    ClassKind,
    Method,
    Reading,
    check_choice,
    check_level,
    check_whole,
    generator,
)
from secant._results.wording import percent, predictions
from secant.errors import Argument, InputError
from secant.sources.apart import Apart
from secant.sources.open import open_columns
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from secant._base.progress import Report
    from secant._base.types import BoolArray, FloatArray
    from secant._input.class_probs import ClassPredictions
    from secant._input.observations import Observations
    from secant._input.options import WeightKind
    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration

__all__ = ["TopLabel", "assess_classes", "top_label"]

# Joint redraws of all labels: as many as a few seconds allow, within these limits.
_LABELS = 30_000_000
# Rows assessed together, and kept at full detail, over all classes.
_ROWS = 1 << 22


class TopLabel(NamedTuple):
    """Predictions of several classes as predictions of one event: the predicted class is right.

    :meth:`assess` asks of them as a whole what :func:`assess_classes` asks class by class.

    Attributes
    ----------
    correct : ndarray of bool
        Whether the predicted class came true.
    confidence : ndarray
        Its probability, the largest of the row.
    predicted : ndarray
        Its name, or its number where classes have no names.
    """

    correct: BoolArray
    confidence: FloatArray
    predicted: np.ndarray[Any, Any]

    def assess(self, **options: Any) -> Calibration:
        """Assess the confidences: whether of predictions made with 80% confidence 80% are right.

        Parameters
        ----------
        **options
            Passed on to :func:`secant.assess`, such as ``sample_weight`` or ``confidence_level``.

        Returns
        -------
        Calibration
            What :func:`secant.assess` says of ``correct`` and ``confidence``, in the words for
            confidences: overconfident, underconfident.

        Raises
        ------
        InputError
            As :func:`secant.assess`.

        Examples
        --------
        >>> import secant
        >>> top = secant.top_label([1] * 90, [[0.95, 0.05]] * 90)
        >>> print(top.assess())  # doctest: +ELLIPSIS
        Miscalibrated: overconfident. ...
        """
        return replace(assess(self.correct, self.confidence, **options), top_label=True)

    def __repr__(self) -> str:
        right, sure = (percent(float(each.mean())) for each in (self.correct, self.confidence))
        many = predictions(len(self.correct))
        return f"{many}: {right} right, mean confidence {sure}. assess() tells whether they agree."

    def _repr_html_(self) -> str:
        return f"<div>{self!r}</div>"


TopLabel.__module__ = "secant"  # which the body of a named tuple cannot say


def top_label(y_true: Any, probs: Any, *, classes: Any = None) -> TopLabel:
    """Turn predictions of several classes into predictions of being right.

    The class with the largest probability is the prediction, that probability its confidence.
    ``assess()`` of what comes back asks: among predictions made with 80% confidence, are 80% right?

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes that came true: numbers 0 to k - 1, or names.
    probs : array-like of shape (n, k)
        Probabilities of the classes, each row summing to 1. The columns of a data frame are named
        after the classes.
    classes : sequence of k names, optional
        What the columns are called, as scikit-learn has it in ``classes_``.

    Returns
    -------
    TopLabel
        Three arrays: ``correct``, ``confidence``, ``predicted``. Where several classes have the
        largest probability the first column of them is predicted.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its place.

    Examples
    --------
    >>> import secant
    >>> probs = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.4, 0.4, 0.2]]
    >>> correct, confidence, predicted = secant.top_label(
    ...     ["cat", "dog", "dog"], probs, classes=["cat", "dog", "eel"]
    ... )
    >>> correct.tolist(), confidence.tolist(), predicted.tolist()
    ([True, False, False], [0.7, 0.4, 0.4], ['cat', 'eel', 'cat'])
    """
    seen = class_predictions(y_true, probs, classes)
    confidence, column = largest(seen.probs)
    names = np.empty(len(seen.names), object)
    names[:] = seen.names
    if len({type(name) for name in seen.names}) == 1 and isinstance(seen.names[0], (str, int)):
        names = np.array(seen.names)
    return TopLabel(column == seen.truth, confidence, names[column])


def assess_classes(
    y_true: Any,
    probs: Any,
    *,
    kind: ClassKind = "top-label",
    data: Any = None,
    classes: Any = None,
    adjust: ClassAdjust | None = None,
    sample_weight: Any = None,
    weight_kind: WeightKind = "sampling",
    sum_to_one: bool = True,
    method: Method = "auto",
    confidence_level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    progress: Report | None = None,
) -> Assessments:
    r"""Assess the calibration of predictions of several classes, class by class.

    ``"top-label"`` asks about predictions as they are made: when the model says cat with 80%, is it
    a cat 80% of the time? ``"one-vs-rest"`` asks about every probability that the model gives,
    also those of classes it does not predict: of all rows given 10% for cat, are 10% cats?

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes that came true: numbers 0 to k - 1, or names.
    probs : array-like of shape (n, k)
        Probabilities of the classes. The columns of a data frame are named after the classes.
    kind : {"top-label", "one-vs-rest"}
        ``"top-label"``: the score of a row is its largest probability, the response whether that
        class came true, and rows are grouped by the class PREDICTED; where several classes have
        the largest probability it is the first column of them. ``"one-vs-rest"``: for every
        class, its probability and whether it came true, in all rows.
    data : optional
        Where the predictions are, if not in arrays: a data frame, a mapping of arrays, or files,
        all of whose rows are read into memory. Then ``y_true`` and ``sample_weight`` are names of
        columns and ``probs`` is a list of them, one for each class. An engine keeps its rows,
        which this needs.
    classes : sequence of k names, optional
        What the columns are called, as scikit-learn has it in ``classes_``; by default as in the
        data frame, or numbers. ``y_true`` holds these names. It may hold column numbers instead
        where the names are text.
    adjust : {"holm", "benjamini-hochberg", "westfall-young"}, optional
        How P-values are adjusted for the number of classes; Holm's is the default. Westfall and
        Young's, for ``"one-vs-rest"``, adjusts the P-values of ECCE-R: all labels are drawn again
        and again, which takes account of the rows that classes share; to give ``draws`` is to ask
        for it. Benjamini and Hochberg's
        promise is for classes that share no rows; it is unproven for ``"one-vs-rest"``.
    sample_weight : array-like of shape (n,), optional
        Weights, zero or positive; a row of weight zero is left out.
    weight_kind : {"sampling", "frequency"}
        Whether weights correct for how rows were sampled, or count copies of rows.
    sum_to_one : bool
        False accepts rows that do not sum to 1, as separate sigmoids make, for
        ``"one-vs-rest"``. No labels can be drawn from them.
    method : {"auto", "exact", "asymptotic", "monte-carlo"}
        How to compute the P-value of each class; as in :func:`assess`.
    confidence_level : float
        Level of all intervals; findings are at one minus it, after adjustment.
    draws : int, optional
        How many times to draw all labels; by default 9,999, fewer for more than 3,000 rows, at
        least 199. ``Assessments.draws`` says how many there were: drawing stops early when
        100 draws have a class as extreme as the most extreme one observed.
    rng : int or numpy.random.Generator, optional
        Randomness for draws, which are the same in every run without it.
    progress : callable, optional
        Called now and then with the number of draws made and the number to make.

    Returns
    -------
    Assessments
        A table, smallest adjusted P-value first, and a mapping from class to result. Classes that
        were never predicted are in ``empty``.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its place.

    Notes
    -----
    Rows are never grouped by the class that came TRUE. That selects on the outcome: among the rows
    that are cats every prediction "cat" is right, whatever confidence it had, and every other is
    wrong. Perfectly calibrated models are rejected in a large share of such tests.

    Westfall and Young's adjustment is a step-down test on the largest statistic. The
    statistic of a class is :math:`V h(R / V)`, where :math:`R` is its ECCE-R times n, :math:`V` its
    variance :math:`\sum_i p_{ic}(1 - p_{ic})` and :math:`h(u) = (1 + u)\log(1 + u) - u` (Bennett),
    so that common and rare classes can be compared. An adjusted P-value is (1 + b)/(1 + B) for
    b of B draws; where b = 0 and Holm's is smaller still, it is Holm's. It is never below the
    P-value of the class alone. The chance of any false finding stays at most
    1 - ``confidence_level`` if, for the classes that are calibrated, labels given the whole row of
    probabilities have those probabilities; Holm's needs only each class by itself.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young (1993). "Resampling-based multiple testing." Wiley.
    .. [2] S. Holm (1979). "A simple sequentially rejective multiple test procedure." Scandinavian
       Journal of Statistics 6(2). https://www.jstor.org/stable/4615733
    .. [3] C. Gupta, A. Ramdas (2022). "Top-label calibration and multiclass-to-binary reductions."
       International Conference on Learning Representations.
       https://doi.org/10.48550/arXiv.2107.08353

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> logits = 2 * rng.standard_normal((3000, 3))
    >>> probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    >>> happened = (probs.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    >>> secant.assess_classes(happened, probs).failing
    ()
    >>> sharper = probs**2 / (probs**2).sum(axis=1, keepdims=True)
    >>> result = secant.assess_classes(
    ...     happened, sharper, kind="one-vs-rest", classes=["cat", "dog", "eel"]
    ... )
    >>> sorted(result.failing)
    ['cat', 'dog', 'eel']
    """
    check_choice("kind", kind, ClassKind)
    check_choice("method", method, Method)
    check_level(confidence_level)
    if draws is not None:
        check_whole("draws", draws, 1)
    drawn = draws is not None
    adjust = _adjustment(kind, adjust, sum_to_one=sum_to_one, drawn=drawn)
    generators = generator(rng)
    if data is not None:
        y_true, probs, classes, sample_weight = _columns(
            data, y_true, probs, classes, sample_weight
        )
    seen = class_predictions(y_true, probs, classes, sum_to_one=sum_to_one)
    check_alignment(y_true=y_true, probs=probs, sample_weight=sample_weight)
    weights = {"sample_weight": sample_weight, "reading": Reading(weight_kind)}
    if kind == "top-label":
        groups = _by_predicted(seen, weights)
        results = calibrations(
            groups, method=method, confidence_level=confidence_level, rng=generators
        )
        pvalues = adjusted(adjust, [result.pvalue for result in results])
        return ranked(
            groups.keys,
            [replace(result, top_label=True) for result in results],
            pvalues,
            adjust=adjust,
            by=groups.by,
            empty=groups.empty,
            what="class",
        )
    results = _each_class(seen, weights, method, confidence_level, generators)
    made: int | None = None
    if adjust == JOINT:
        rows = observations(seen.truth == 0, seen.probs[:, 0], **weights)
        raw = np.array([result.ecce_r.pvalue for result in results])
        with nullcontext() if progress is None else showing(progress):
            pvalues, made = _jointly(seen, rows, raw, draws=draws, rng=generators)
    else:
        pvalues = adjusted(adjust, [result.pvalue for result in results])
    return ranked(
        seen.names, results, pvalues, adjust=adjust, by=("class",), what="class", draws=made
    )


def _columns(
    data: Any, y_true: Any, probs: Any, classes: Any, sample_weight: Any
) -> tuple[Any, ...]:
    """Read outcomes, probabilities and weights; classes are called as their columns are."""
    if not isinstance(probs, (list, tuple)):
        wanted = f" must be a list of columns, one for each class; got {type(probs).__name__}"
        raise InputError("with data=, ", Argument("probs"), wanted)
    names = {"y_true": y_true, "probs": probs, "sample_weight": sample_weight}
    labels, columns, weights = open_columns(data, names, asked="assess_classes").values()
    matrix = np.column_stack([np.asarray(column) for column in columns])
    return labels, matrix, probs if classes is None else classes, weights


def _adjustment(
    kind: ClassKind, adjust: ClassAdjust | None, *, sum_to_one: bool, drawn: bool
) -> ClassAdjust:
    """Return the adjustment asked for, or the one that goes with the question."""
    if kind == "top-label":
        if not sum_to_one:
            raise InputError(
                ANY_SUM,
                " is for ",
                Argument("kind", "one-vs-rest"),
                ": the largest of several probabilities is the prediction only where they are "
                "probabilities of one label",
            )
        if adjust == JOINT:
            raise InputError(
                Argument("adjust", adjust),
                " is for ",
                Argument("kind", "one-vs-rest"),
                "; predicted classes share no rows, so ",
                Argument("adjust", "holm"),
                " loses nothing",
            )
    elif not sum_to_one and adjust == JOINT:
        raise InputError(
            Argument("adjust", adjust),
            " draws labels from the rows of ",
            Argument("probs"),
            ", which must sum to 1; with ",
            ANY_SUM,
            " use ",
            Argument("adjust", "holm"),
        )
    asked: ClassAdjust = JOINT if drawn and sum_to_one and kind == "one-vs-rest" else "holm"
    adjust = adjust or asked
    check_choice("adjust", adjust, ClassAdjust)
    return adjust


def _by_predicted(seen: ClassPredictions, weights: dict[str, Any]) -> Apart:
    """Group rows by the class predicted; a class never predicted is empty."""
    confidence, column = largest(seen.probs)
    rows = observations(column == seen.truth, confidence, **weights)
    predicted, codes = np.unique(column, return_inverse=True)
    pieces = dict(zip(predicted.tolist(), split(rows, codes, len(predicted)), strict=True))
    full = {number: piece for number, piece in pieces.items() if piece is not None}
    return Apart(
        [seen.names[number] for number in full],
        [RowSource(piece) for piece in full.values()],
        ("predicted class",),
        tuple(name for number, name in enumerate(seen.names) if number not in full),
    )


def _each_class(
    seen: ClassPredictions,
    weights: dict[str, Any],
    method: Method,
    confidence_level: float,
    rng: np.random.Generator | None,
) -> list[Calibration]:
    """Assess every class against the rest, some at a time, and keep no more than is needed."""
    n, k = seen.probs.shape
    step, most = max(1, _ROWS // n), max(1024, _ROWS // k)
    results: list[Calibration] = []
    for start in range(0, k, step):
        columns = range(start, min(start + step, k))
        sources = [
            RowSource(observations(seen.truth == c, seen.probs[:, c], **weights)) for c in columns
        ]
        some = calibrations(
            Apart([seen.names[c] for c in columns], sources),
            method=method,
            confidence_level=confidence_level,
            rng=rng,
        )
        results += (thinned(result, most) for result in some)
    return results


def _jointly(
    seen: ClassPredictions,
    rows: Observations,
    raw: FloatArray,
    *,
    draws: int | None,
    rng: np.random.Generator | None,
) -> tuple[FloatArray, int]:
    """Adjust by redraws of all labels; return adjusted P-values and the number of redraws."""
    from secant._inference.adjust import or_beyond  # noqa: PLC0415  (as below)
    from secant._inference.westfall_young import westfall_young  # noqa: PLC0415  (not what `import secant` pays for)

    counted = np.arange(rows.rows) if rows.weights is None else np.flatnonzero(rows.weights)
    probs = seen.probs if counted.size == rows.rows else seen.probs[counted]
    mass = None if rows.weights is None else rows.weights[counted].astype(np.float64)
    if draws is None:
        draws = int(min(DRAWS, max(FEWEST_REDRAWS, _LABELS // rows.n)))
    joint = westfall_young(
        probs,
        seen.truth[counted],
        weights=mass if rows.sampling else None,
        copies=None if rows.sampling or mass is None else mass.astype(np.int64),
        rng=same_every_time(rng),
        draws=int(draws),
    )
    return np.maximum(or_beyond(joint, holm(raw)), raw), joint.draws
