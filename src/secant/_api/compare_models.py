"""Two models on the same outcomes: which is closer to calibration, if that can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant import null
from secant._inference.design import refuse_outcome_weights
from secant._inference.limits import half_width, noise
from secant._inference.paired import FEWEST_EVENTS, MOST_ROWS, paired
from secant._input.observations import check_alignment
from secant._input.options import Reading, check_level
from secant._metrics.ecce import extremes
from secant._results.model_comparison import ModelComparison
from secant.errors import InputError
from secant.sources.open import open_source, read_once

if TYPE_CHECKING:
    from secant._base.types import FloatArray
    from secant._blocks.looking import Source
    from secant._blocks.table import Totals
    from secant._input.observations import Observations
    from secant._results.calibration import Calibration

__all__ = ["compare_models", "compared", "of_result", "rows_of"]


def compare_models(
    y_true: Any,
    y_prob_a: Any,
    y_prob_b: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
) -> ModelComparison:
    r"""Compare the calibration of two models on the same outcomes.

    It tests whether one model loses more to miscalibration than the other, gives limits for the
    difference of their true ECCE-R, and says which model is closer to calibration, or that the two
    cannot be told apart.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened: 0 or 1 (also False or True, -1 or 1, or any two values with ``pos_label``).
    y_prob_a, y_prob_b : array-like of shape (n,)
        The two models' probabilities of a 1, in [0, 1], for the same rows.
    data : optional
        Where the predictions are, if not in arrays; as in :func:`assess`.
    sample_weight : array-like of shape (n,), optional
        Sampling weights, zero or positive; a row of weight zero is left out.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.
    confidence_level : float
        Level of the limits.

    Returns
    -------
    ModelComparison
        The paired test, both metrics, their difference and its limits. Print it to read the
        answer.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its index.

    See Also
    --------
    assess : Each model by itself, with a P-value and where it is off.

    Notes
    -----
    **The test** is about what miscalibration costs of the Brier score (``mcb``): with g a model's
    own isotonic recalibration, the mean of (r - s)^2 - (r - g)^2. Fitted to the same outcomes, g
    makes that too large; the excess is measured on outcomes drawn from a smoothed g and taken off.
    What is left is compared row by row and is about normal. Its variance is that of the differences
    seen, at least what it is if either model is right. Models that rank rows alike, as before and
    after recalibration, have one g, and the test is that of equal Brier scores. docs/studies.md has
    how often it errs and what it finds. The cost is not ECCE-R: where the two disagree, the test
    decides.

    **The limits.** Noise raises ECCE-R, and the more so the closer a model is to calibration. The
    difference of two of them is therefore biased in a way that depends on the unknown truth.
    Resampling rows does not repair it: percentile limits of 95% missed the truth in up to 96% of
    simulated data sets, and limits corrected for bias in up to 60%. The limits here rest on
    inequalities instead. With
    :math:`N` the noise of a model's cumulative differences (what is observed less the truth),
    :math:`I^*` the range of scores that attains its true metric R and :math:`\pm` the sign of what
    is wrong there,

    .. math:: \pm N(I^*) \le \widehat{R} - R \le \max N - \min N,

    where the left side is the noise of one fixed range, and so about normal. Hence the difference
    observed is at most

    .. math:: q \, \hat\sigma_A + z \, \hat\sigma_B

    above the true one, and at most the same with A and B exchanged below it, each but for half
    the error probability a. Here q and z are what the range of Brownian motion and a normal
    variable exceed with probability a/2, and :math:`\hat\sigma` is estimated from the residuals, at
    least what it is under perfect calibration. The two noises belong to one Gaussian process, and
    the quantile of their sum stays below the sum of quantiles: by 6% for equal sigmas in the worst
    case, that of full correlation, and by less for unequal ones. This was computed, not proved
    (Bonferroni's inequality would make the limits 11% wider); ``benchmarks/comparisons.py`` does
    it again.

    The limits are conservative: those of 95% missed in at most 2% of simulated data sets, and
    hardly ever where both models are calibrated. Rows are taken to be independent.

    The metric is about calibration alone. A model that always predicts the base rate is calibrated
    and useless: compare a proper score, such as the log loss, as well.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(5000)
    >>> happened = rng.random(5000) < chance
    >>> result = secant.compare_models(happened, chance, chance**1.5)
    >>> result.better
    'A'
    >>> result.ci[1] < 0
    True
    """
    check_level(confidence_level)
    level = float(confidence_level)
    if data is not None:
        both = [("y_prob_a", y_prob_a), ("y_prob_b", y_prob_b)]
        data, _ = read_once(y_true, both, data=data, sample_weight=sample_weight)
    opened = {"data": data, "sample_weight": sample_weight, "reading": Reading(pos_label=pos_label)}
    check_alignment(y_prob_a=y_prob_a, y_prob_b=y_prob_b)
    a = _named("y_prob_a", y_true, y_prob_a, **opened)
    b = _named("y_prob_b", y_true, y_prob_b, **opened)
    (r_a, totals_a), (r_b, totals_b) = (_measured(source) for source in (a, b))
    same = y_prob_a is y_prob_b
    return compared(_Model(r_a, totals_a, a), _Model(r_b, totals_b, b), level, same=same)


class _Model(NamedTuple):
    """What of a model a comparison needs: its ECCE-R, its sums, and where its rows are."""

    ecce_r: float
    totals: Totals
    source: Source | None


def of_result(result: Calibration) -> _Model:
    """Return what a comparison needs of a model that was assessed."""
    kept = result._predictions  # noqa: SLF001  (made here)
    return _Model(result.ecce_r.value, kept.totals, kept.source)


def compared(
    a: _Model,
    b: _Model,
    level: float,
    *,
    same: bool = False,
    names: tuple[str, str] = ("A", "B"),
) -> ModelComparison:
    """Compare two models of the same rows; ``same`` says that they are known to be one."""
    difference = a.ecce_r - b.ecce_r
    if same or _same_scores(a.source, b.source):
        difference = above = below = 0.0
    else:
        above = _noise_of_all(a.totals, level) + _noise_of_one(b.totals, level)
        below = _noise_of_one(a.totals, level) + _noise_of_all(b.totals, level)
    return ModelComparison(
        n=a.totals.n,
        ecce_r_a=a.ecce_r,
        ecce_r_b=b.ecce_r,
        difference=difference,
        ci=(max(difference - above, -1.0), min(difference + below, 1.0)),
        confidence_level=level,
        **_tested(a.source, b.source, level),
        names=names,
    )


def _tested(a: Source | None, b: Source | None, level: float) -> dict[str, Any]:
    """Return the numbers of the paired test, where rows can be had, are enough and not too many."""
    from statistics import NormalDist  # noqa: PLC0415  (as in _noise_of_one)

    rows = rows_of(a, b)
    if isinstance(rows, str):
        return {"untested": rows}
    found = paired(*rows)
    half = NormalDist().inv_cdf((1 + level) / 2) * found.error
    return {
        "mcb_a": found.mcb[0],
        "mcb_b": found.mcb[1],
        "mcb_difference": found.difference,
        "mcb_ci": (found.difference - half, found.difference + half),
        "pvalue": found.pvalue,
    }


def rows_of(
    a: Source | None, b: Source | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None] | str:
    """Return outcomes, both models' scores and weights; or why rows are not tested in pairs."""
    if a is None or b is None or a.lendable is None or b.lendable is None:
        return "it needs the rows themselves"
    if max(a.lendable, b.lendable) > MOST_ROWS:
        return f"there are more than {MOST_ROWS:,} rows"
    one, other = a.observations(), b.observations()
    if why := _untestable(one, other):
        return why
    weights = one.weights
    used = slice(None) if weights is None or not one.has_zero_weights else weights > 0
    happened, scores_a, scores_b = (
        column[used].astype(np.float64) for column in (one.labels, one.scores, other.scores)
    )
    return happened, scores_a, scores_b, None if weights is None else weights[used]


def _untestable(one: Observations, other: Observations) -> str:
    """Say why rows at hand are not tested; nothing if they are."""
    if one.counted and one.weights is not None:  # copies would have to be drawn one by one
        return "weights count copies of rows"
    if one.outcome_weights is not None:  # they follow another law
        return "rows were kept by their outcome"
    if not np.array_equal(one.labels, other.labels):
        return "the file has changed between two looks"
    events = int(np.count_nonzero(one.labels))
    few = "events" if events < FEWEST_EVENTS else "rows without the event"
    enough = min(events, len(one.labels) - events) >= FEWEST_EVENTS
    return "" if enough else f"there are fewer than {FEWEST_EVENTS} {few}"


def _named(name: str, y_true: Any, scores: Any, **opened: Any) -> Source:
    """Open one model's predictions, with its own argument's name in any complaint."""
    try:
        return open_source(y_true, scores, **opened)
    except InputError as error:
        raise error.renamed({"y_prob": name}) from error


def _measured(source: Source) -> tuple[float, Totals]:
    blocks, totals = source.blocks(moments=source.sampling)
    refuse_outcome_weights(blocks, totals)
    return extremes(blocks, totals.weight, source.refine)[1].ecce_r, totals


def _same_scores(first: Source | None, second: Source | None) -> bool:
    """Tell of rows in memory whether both models give them the same scores."""
    if first is None or second is None or None in (first.lendable, second.lendable):
        return False
    if not (first.at_hand and second.at_hand):
        return False  # no second look at all rows for a question hardly anybody asks
    a, b = first.observations(), second.observations()
    if a.weights is None or not a.has_zero_weights:
        return np.array_equal(a.scores, b.scores)
    counted = a.weights > 0
    return np.array_equal(a.scores[counted], b.scores[counted])


def _noise_of_all(totals: Totals, level: float) -> float:
    """Return what the range of noise exceeds with half the error probability."""
    return half_width(null.range, totals, 1 - (1 + level) / 2)


def _noise_of_one(totals: Totals, level: float) -> float:
    """Return what the noise of one range of scores exceeds with half the error probability."""
    from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

    return noise(totals, NormalDist().inv_cdf((1 + level) / 2), (1 - level) / 2)
