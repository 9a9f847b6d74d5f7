"""Two models on the same outcomes: which is closer to calibration, if that can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._inference.limits import half_width, noise
from secant._input.options import Reading, check_level
from secant._metrics.ecce import extremes
from secant._results.model_comparison import ModelComparison
from secant.errors import InputError
from secant.sources.open import open_source
from secant.sources.rows import in_memory

if TYPE_CHECKING:
    from secant._blocks.looking import Source
    from secant._blocks.table import Totals

__all__ = ["compare_models"]


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

    It gives limits for the difference of their true ECCE-R and says which model is closer to
    calibration, or that the two cannot be told apart.

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
        Both metrics, their difference and its limits. Print it to read the answer.

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
    Noise raises ECCE-R, and the more so the closer a model is to calibration. The difference of two
    of them is therefore biased in a way that depends on the unknown truth. Resampling rows does not
    repair it: percentile limits of 95% missed the truth in up to 96% of simulated data sets, and
    limits corrected for bias in up to 60%. The limits here rest on inequalities instead. With
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
    opened = {"data": data, "sample_weight": sample_weight, "reading": Reading(pos_label=pos_label)}
    a = _named("y_prob_a", y_true, y_prob_a, **opened)
    b = _named("y_prob_b", y_true, y_prob_b, **opened)
    (r_a, totals_a), (r_b, totals_b) = (_measured(source) for source in (a, b))
    difference = r_a - r_b
    if y_prob_a is y_prob_b or _same_scores(a, b):
        difference = above = below = 0.0
    else:
        above = _noise_of_all(totals_a, level) + _noise_of_one(totals_b, level)
        below = _noise_of_one(totals_a, level) + _noise_of_all(totals_b, level)
    return ModelComparison(
        n=totals_a.n,
        ecce_r_a=r_a,
        ecce_r_b=r_b,
        difference=difference,
        ci=(max(difference - above, -1.0), min(difference + below, 1.0)),
        confidence_level=level,
    )


def _named(name: str, y_true: Any, scores: Any, **opened: Any) -> Source:
    """Open one model's predictions, with its own argument's name in any complaint."""
    try:
        return open_source(y_true, scores, **opened)
    except InputError as error:
        raise error.renamed({"y_prob": name}) from error


def _measured(source: Source) -> tuple[float, Totals]:
    blocks, totals = source.blocks()
    return extremes(blocks, totals.weight, source.refine)[1].ecce_r, totals


def _same_scores(first: Source, second: Source) -> bool:
    """Tell of rows in memory whether both models give them the same scores."""
    if not (in_memory(first) and in_memory(second)):
        return False  # no second look at all rows for a question hardly anybody asks
    a, b = first.in_memory(), second.in_memory()
    if a.weights is None or not a.has_zero_weights:
        return np.array_equal(a.scores, b.scores)
    counted = a.weights > 0
    return np.array_equal(a.scores[counted], b.scores[counted])


def _noise_of_all(totals: Totals, level: float) -> float:
    """Return what the range of noise exceeds with half the error probability."""
    return half_width(null.range, totals, (1 + level) / 2)


def _noise_of_one(totals: Totals, level: float) -> float:
    """Return what the noise of one range of scores exceeds with half the error probability."""
    from statistics import NormalDist  # noqa: PLC0415  (loads more than all of this)

    return noise(totals, NormalDist().inv_cdf((1 + level) / 2), (1 - level) / 2)
