"""Two older tests of calibration that reviewers ask for: Cox's regression and Spiegelhalter's Z.

Both read each block at the mean scores of its two outcomes, which is exact for ties and very nearly
so for the narrow cells of many predictions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from secant._inference.binomial import expit
from secant._inference.tilt import Bounded, Jumps, tail

if TYPE_CHECKING:
    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.table import Blocks, Totals

__all__ = ["CoxFit", "cox_fit", "spiegelhalter"]

_MOST_STEPS = 100
_MOST_HALVINGS = 60
_DONE = 1e-10
# Distinct scores, of which some multiples are needed for their sums to be blurred.
_KINDS = 20


class CoxFit(NamedTuple):
    """Logistic regression of outcomes on the logits of scores.

    ``errors`` are standard errors of intercept and slope, ``chi2`` is twice the gain in log
    likelihood over intercept 0 and slope 1, ``left_out`` counts observations with a score of
    exactly 0 or 1, which has no logit. NaN is what cannot be estimated.
    """

    intercept: float
    slope: float
    errors: tuple[float, float]
    chi2: float
    left_out: int


class _Points(NamedTuple):
    """Scores, and the weight of outcomes 0 and 1 there."""

    score: FloatArray
    w0: FloatArray
    w1: FloatArray


def cox_fit(blocks: Blocks) -> CoxFit:
    """Fit intercept and slope by Newton's method, steps halved while they do harm."""
    usable = _usable(blocks)
    left_out = int(blocks.n[~usable].sum())
    points = _points(blocks.select(usable))
    nothing = CoxFit(math.nan, math.nan, (math.nan, math.nan), math.nan, left_out)
    if not (points.w0.any() and points.w1.any()) or np.ptp(points.score) == 0:
        return nothing
    logit = np.log(points.score) - np.log1p(-points.score)
    without, with_event = points.score[points.w0 > 0], points.score[points.w1 > 0]
    for sign in (1.0, -1.0):  # scores tell outcomes apart, in the right order or the wrong one
        if (sign * without).max() <= (sign * with_event).min():
            return nothing._replace(slope=sign * math.inf)
    x = np.column_stack([np.ones_like(logit), logit])
    before = _likelihood(logit, points)
    beta, likelihood = np.array([0.0, 1.0]), before
    for _ in range(_MOST_STEPS):  # pragma: no branch - the limit only guarantees an end
        step = _newton(x, beta, points)
        if step is None:
            break
        for _ in range(_MOST_HALVINGS):  # pragma: no branch - at last a step moves nothing
            found = _likelihood(x @ (beta + step), points)
            if found >= likelihood:
                break
            step = step / 2
        beta, likelihood = beta + step, max(found, likelihood)
        if np.abs(step).max() <= _DONE * np.abs(beta).max():
            errors = _errors(x, beta, points)
            chi2 = max(0.0, 2 * (likelihood - before))
            return CoxFit(float(beta[0]), float(beta[1]), errors, chi2, left_out)
    return nothing


def spiegelhalter(blocks: Blocks, totals: Totals) -> tuple[float, float]:
    """Return Z, the sum of w(r - s)(1 - 2s) over its standard deviation, and its P-value.

    NaN where that deviation is 0. Far in the tail of rare events the normal law would be wrong ten
    times over, so the P-value comes from the cumulant function of the sum, :func:`tilt.tail`. Of
    blocks of rows whose weights differ, second and third moments bound it, on the safe side.
    """
    score, w0, w1 = _points(blocks)
    surplus = float(((1 - 2 * score) * (w1 * (1 - score) - w0 * score)).sum())
    mean = blocks.mean_score
    if blocks.moments is None:
        variance = (w0 + w1) * score * (1 - score) * (1 - 2 * score) ** 2
    else:
        variance = blocks.moments.variance * (1 - 2 * mean) ** 2
    deviation = math.sqrt(float(variance.sum()))
    if deviation == 0:
        return math.nan, math.nan
    steps: Jumps | Bounded
    if totals.equal_weights or _alike_inside(blocks, totals):
        some = (mean > 0) & (mean < 1) & (mean != 0.5)
        n, mean, weight = blocks.n[some], mean[some], blocks.weight[some] / blocks.n[some]
        steps = Jumps(n, np.minimum(mean, 1 - mean), np.abs(1 - 2 * mean) * weight / deviation)
        spacing = _spacing(float(np.max(steps.size)), *_spread(steps))
    elif totals.third is None or not totals.steps:
        return surplus / deviation, math.nan
    else:
        largest = totals.steps[0] / deviation
        steps = Bounded(1.0, totals.third / deviation**3, largest)
        spacing = _spacing(largest, math.inf, math.inf)
    total = min(abs(surplus / deviation), max(steps.most(sign) for sign in (1, -1)))
    pvalue = sum(tail(steps, total, sign, spacing) for sign in (1, -1))
    return surplus / deviation, min(pvalue, 1.0)


def _alike_inside(blocks: Blocks, totals: Totals) -> bool:
    """Tell whether weights are one number inside each block, as where each is a row."""
    if totals.outcome_weights is not None or blocks.moments is None:
        return False
    return bool((blocks.moments.ww * blocks.n <= np.square(blocks.weight) * (1 + 1e-9)).all())


def _spread(steps: Jumps) -> tuple[float, int]:
    """Return how far sums of rare outcomes are from any lattice, and of how many kinds they are."""
    rare = steps.count * steps.chance
    ratio = steps.size * float(rare.sum()) / float((rare * steps.size).sum())
    return float((rare * (ratio - 1) ** 2).sum()), len(rare)


def _spacing(largest: float, spread: float, kinds: float) -> float:
    """Return how far apart sums of jumps are to be taken to be, in standard deviations.

    They are on a lattice where jumps are alike, are next to one with few kinds of jumps, and are
    in two places where one jump is larger than all others together. Otherwise that is blurred: of
    jumps that differ, waves of the height exp(-2 pi^2 spread) are left of a lattice.
    """
    blurred = max(
        math.exp(-2 * math.pi**2 * spread),
        math.exp(-kinds / _KINDS),
        -math.expm1(-((min(largest, 8.0) / 2) ** 4)),  # 1 from there on, where powers overflow
    )
    return largest * blurred


def _usable(blocks: Blocks) -> BoolArray:
    """Tell which blocks have scores with a logit: not ties at 0 or 1."""
    usable: BoolArray = blocks.open | ((blocks.low > 0) & (blocks.low < 1))
    return usable


def _points(blocks: Blocks) -> _Points:
    """Return where the outcomes 0 and 1 of each block lie on average."""
    w0, w1 = blocks.w0.astype(np.float64), blocks.w1.astype(np.float64)
    middle = blocks.low + (blocks.high - blocks.low) / 2
    below = np.divide(blocks.down, w0, out=middle.copy(), where=w0 > 0)
    above = 1 - np.divide(blocks.up, w1, out=1 - middle, where=w1 > 0)
    ends = np.finfo(float).tiny, 1 - 2.0**-53  # to which a mean may be rounded
    score = [np.where(blocks.open, np.clip(each, *ends), blocks.low) for each in (below, above)]
    nothing = np.zeros_like(w0)
    return _Points(*map(np.concatenate, (score, [w0, nothing], [nothing, w1])))


def _likelihood(x: FloatArray, points: _Points) -> float:
    lost = points.w1 @ np.logaddexp(0, -x) + points.w0 @ np.logaddexp(0, x)
    return -float(lost)


def _information(x: FloatArray, beta: FloatArray, points: _Points) -> FloatArray:
    p = expit(x @ beta)
    found: FloatArray = (x * ((points.w0 + points.w1) * p * (1 - p))[:, None]).T @ x
    return found


def _newton(x: FloatArray, beta: FloatArray, points: _Points) -> FloatArray | None:
    p = expit(x @ beta)
    gradient = x.T @ (points.w1 * (1 - p) - points.w0 * p)
    try:
        step: FloatArray = np.linalg.solve(_information(x, beta, points), gradient).astype(float)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def _errors(x: FloatArray, beta: FloatArray, points: _Points) -> tuple[float, float]:
    try:
        variance = np.diag(np.linalg.inv(_information(x, beta, points)))
    except np.linalg.LinAlgError:
        return math.nan, math.nan
    first, second = (math.sqrt(each) if each > 0 else math.nan for each in variance.tolist())
    return first, second
