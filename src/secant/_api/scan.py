"""Look for narrow defects that the cumulative metrics dilute."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._inference.binomial import clopper_pearson
from secant._inference.design import refuse_outcome_weights
from secant._inference.draws import Tally
from secant._inference.multiscale import GUARD, Ties, null_draws, ranges
from secant._input.options import Reading, check_level, check_whole, generator
from secant._results.parts import Interval
from secant._results.scan import Scan
from secant.sources.open import open_rows
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from secant._inference.multiscale import Ranges
    from secant._input.observations import Observations

__all__ = ["scan"]

_MOST_DRAWS = 10**6


def scan(
    y_true: Any,
    y_prob: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    draws: int = 999,
    rng: Any = None,
) -> Scan:
    r"""Scan ranges of scores, wide and narrow, for one whose predictions are off.

    ECCE-R weighs a deviation by how many predictions it concerns, so an error of 20 points in one
    hundredth of them is lost in the noise of the rest. The scan compares each range with its own
    noise and finds such narrow defects: one score, one rule, a few hundredths of the predictions.
    For shifts and slopes use :func:`assess`, whose P-value decides by mean and shape and finds
    more of them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened: 0 or 1 (also False or True, -1 or 1, or any two values with ``pos_label``).
    y_prob : array-like of shape (n,)
        Predicted probabilities of a 1, in [0, 1].
    data : optional
        Where the predictions are, if not in arrays: a data frame, a mapping of arrays, or files,
        all of whose rows are read into memory. An engine keeps its rows, which a scan needs.
    sample_weight : array-like of shape (n,), optional
        Sampling weights, zero or positive; a row of weight zero is left out.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.
    confidence_level : float
        Level of the limits, and one minus the level of the printed answer's test.
    draws : int
        How often responses are drawn for the P-value, which is at least 1 / (1 + draws).
    rng : int or numpy.random.Generator, optional
        Randomness for the draws; without it they are the same in every run, and kept for the next
        question about the same scores.

    Returns
    -------
    Scan
        The P-value and the range of scores that stands out most. Print it to read the answer.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its index.

    See Also
    --------
    assess : Whether, how far and where. If you use both tests, take twice the smaller of the two
        P-values, this one and :attr:`secant.Calibration.pvalue`.

    Notes
    -----
    Ranges I of the sorted scores are two or three steps long and begin at every step, for steps
    that hold 1/2, 1/4, ..., 1/4096 of the variance of all responses, as long as a range has at
    least the variance of four fair coins. No tie is cut. With :math:`X_I = \sum_I w (r - s)`
    and :math:`V_I` its variance under perfect calibration, the statistic is

    .. math:: T = \max_I \left( \sqrt{2 \, m_I \, \mathrm{KL}(\hat p_I \,\|\, p_I)}
                  - \sqrt{2 \log(e V / V_I)} \right),

    where :math:`m_I` trials of chance :math:`p_I`, times a unit of weight, have the first three
    cumulants of :math:`X_I`, :math:`\hat p_I - p_I` is :math:`X_I` in their terms and KL the
    relative entropy. With one score and no weights this is the likelihood ratio of the binomial
    law; with much variance it is :math:`|X_I| / \sqrt{V_I}`; where few events are expected it knows
    that three are no great surprise. The second root is the price of looking at many ranges, by
    Duembgen and Spokoiny [1]_; without it narrow ranges would drown wide ones.

    The P-value is (1 + b) / (1 + B), b being how many of B draws of the responses from the scores
    have a T at least as large. It is exact, not approximate: under perfect calibration it is
    at most a with a probability of at most a, for any n, ties and weights.

    The limits of the range shown hold for all ranges scanned at once: Clopper and Pearson's for its
    events, at an error probability that is the range's share of 1 - ``confidence_level`` (shares
    in proportion to :math:`V_I`). For chances that differ within a range they err on the safe side
    [2]_. With weights they are Hoeffding's, which are wide. Limits that hold whatever the truth is
    are wider than a test of perfect calibration: they may include 0 though the P-value is small.

    Rows with a score of exactly 0 or 1 have no variance and are left out; those that contradict
    their score are counted in ``n_forbidden``.

    References
    ----------
    .. [1] L. Duembgen, V. G. Spokoiny (2001). "Multiscale testing of qualitative hypotheses."
       Annals of Statistics 29(1). https://doi.org/10.1214/aos/996986504
    .. [2] W. Hoeffding (1956). "On the distribution of the number of successes in independent
       trials." Annals of Mathematical Statistics 27(3). https://doi.org/10.1214/aoms/1177728178

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> forecast = rng.random(10_000)
    >>> defect = (forecast > 0.3) & (forecast < 0.32)
    >>> happened = rng.random(10_000) < forecast + 0.25 * defect
    >>> result = secant.scan(happened, forecast)
    >>> result.pvalue
    0.001
    >>> round(result.worst.low, 2), round(result.worst.high, 2), result.worst.direction
    (0.3, 0.32, 'too low')
    >>> round(secant.assess(happened, forecast).ecce_r.pvalue, 1)  # ECCE-R dilutes it
    0.4
    """
    check_level(confidence_level)
    check_whole("draws", draws, 1, _MOST_DRAWS)
    chosen = generator(rng)
    seen = open_rows(
        y_true,
        y_prob,
        data=data,
        sample_weight=sample_weight,
        reading=Reading(pos_label=pos_label),
        asked="scan",
    )
    if seen.sampling:
        refuse_outcome_weights(*RowSource(seen).blocks(moments=True))
    ties = _ties(seen)
    level = float(confidence_level)
    if not len(ties.score):
        return _nothing_random(seen, level)
    family = ranges(ties)
    sums = family.sums(ties.observed(family.at))
    values = family.judged(sums[0], np.arange(len(family)))
    best = int(values.argmax())
    null = null_draws(ties, family, draws=int(draws), rng=chosen)
    slack = GUARD * (1 + abs(float(values[best])))
    tally = Tally([float(values[best]) - slack], enough=None)
    tally.add(null[:, np.newaxis])
    # P is at most 1 - level exactly when the statistic is above this many of the draws.
    allowed = math.floor((1 - level) * (1 + 1e-12) * (1 + draws))
    critical = float(np.sort(null)[-allowed]) if allowed else math.inf
    return Scan(
        n=seen.n,
        statistic=float(values[best]),
        critical=critical,
        pvalue=float(tally.pvalues()[0]),
        method="simulated" if tally.exceedances[0] else "upper bound",
        draws=int(draws),
        worst=_interval(seen, ties, family, best, level),
        n_ranges=len(family),
        n_forbidden=len(seen.forbidden),
        confidence_level=level,
    )


def _ties(seen: Observations) -> Ties:
    """Sort the observations that have any variance, and count those of each score."""
    scores, happened, weights = seen.scores.astype(np.float64), seen.labels == 1, seen.weights
    used = (scores > 0) & (scores < 1)
    if weights is not None:
        used &= weights > 0
    scores, happened = scores[used], happened[used].astype(np.int64)
    if weights is not None:
        weights = weights[used].astype(np.float64)
        if (weights == weights[:1]).all():  # equal weights are no weights
            weights = None
    order = np.lexsort((scores,) if weights is None else (weights, scores))
    scores, happened = scores[order], happened[order]
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]])[: len(scores)])
    score, n = scores[first], np.diff(first, append=len(scores))
    n1 = np.add.reduceat(happened, first) if len(first) else np.zeros(0, np.int64)
    if weights is None:
        return Ties(score, n, n1)
    # Powers of weights stay within the range of doubles when the largest is one.
    return Ties(score, n, n1, weights[order] / weights.max(), happened)


def _interval(seen: Observations, ties: Ties, family: Ranges, index: int, level: float) -> Interval:
    """Describe one of the ranges, with limits that hold for all of them."""
    inside = slice(int(family.start[index]), int(family.stop[index]))
    weight = ties.total(1)
    total = float(weight[inside].sum())
    n = int(ties.n[inside].sum())
    mean_score = min(max(float((weight * ties.score)[inside].sum()) / total, 0.0), 1.0)
    gap = float(family.sums(ties.observed(family.at))[0, index]) / total
    alpha = (1 - level) * float(family.share()[index])
    if ties.weight is None:
        rate = float(ties.n1[inside].sum()) / n
        low, high = (float(limit) for limit in clopper_pearson(rate * n, n, 1 - alpha))
    else:
        rate = min(max(mean_score + gap, 0.0), 1.0)
        half = math.sqrt(float(ties.total(2)[inside].sum()) * math.log(2 / alpha) / 2) / total
        low, high = max(rate - half, 0.0), min(rate + half, 1.0)
    low_score, high_score = float(ties.score[inside][0]), float(ties.score[inside][-1])
    return Interval(
        low=low_score,
        high=high_score,
        n=n,
        weight=_share(seen, low_score, high_score),
        mean_score=mean_score,
        mean_response=rate,
        miscalibration=gap,
        ci=(low - mean_score, high - mean_score),
    )


def _share(seen: Observations, low: float, high: float) -> float:
    """Return the share of all weight that lies between two scores."""
    inside = (seen.scores >= low) & (seen.scores <= high)
    if seen.weights is None:
        return float(np.count_nonzero(inside)) / seen.rows
    return float(seen.weights[inside].sum(dtype=float) / seen.weights.sum(dtype=float))


def _nothing_random(seen: Observations, level: float) -> Scan:
    """Return the answer where every score is 0 or 1: one wrong response refutes them all."""
    wrong = len(seen.forbidden)
    nan = math.nan
    return Scan(
        n=seen.n,
        statistic=math.inf if wrong else 0.0,
        critical=0.0,
        pvalue=0.0 if wrong else 1.0,
        method="exact",
        draws=None,
        worst=Interval(seen.lowest, seen.highest, 0, 0.0, nan, nan, nan, (nan, nan)),
        n_ranges=0,
        n_forbidden=wrong,
        confidence_level=level,
    )
