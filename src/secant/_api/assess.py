"""From data to a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from secant._api.calibrations import calibration_of, calibrations, case_of
from secant._inference import choose, deciding
from secant._input.combinations import check_combination
from secant._input.options import (
    Method,
    Missing,
    Reading,
    Ties,
    check_choice,
    check_level,
    generator,
)
from secant._metrics.ecce import Heights, extremes
from secant._metrics.ece import Binning, binned, error
from secant.errors import Argument, InputError
from secant.sources.apart import Apart
from secant.sources.open import open_source
from secant.sources.repeated import repeated_units

if TYPE_CHECKING:
    import numpy as np

    from secant._blocks.looking import Source
    from secant._input.options import Norm, Strategy, Weighting, WeightKind
    from secant._results.calibration import Calibration

__all__ = ["assess", "ecce_mad", "ecce_r", "ece"]


def ecce_r(
    y_true: Any,
    y_prob: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    outcome_weights: tuple[float, float] | None = None,
    pos_label: Any = None,
) -> float:
    r"""Return the range of the cumulative differences (ECCE-R).

    It is the largest total miscalibration over any range of scores: how many more, or fewer, events
    happened among the predictions of that range than were forecast, as a share of all predictions.
    No bins, no parameters; 0 is perfect.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened: 0 or 1 (also False or True, -1 or 1, or any two values with ``pos_label``).
    y_prob : array-like of shape (n,)
        Predicted probabilities of a 1, in [0, 1].
    data : optional
        Where the predictions are, if not in arrays; as in :func:`assess`.
    sample_weight : array-like of shape (n,), optional
        Sampling weights.
    outcome_weights : tuple of float, optional
        What rows of outcome 0 and 1 weigh, as in :func:`assess`.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.

    Returns
    -------
    float
        ECCE-R, between 0 and 1.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its index.

    Notes
    -----
    With observations in the order of their scores, equal scores taken together,

    .. math:: C_k = \frac{1}{W} \sum_{j \le k} w_j (r_j - s_j), \qquad
              \text{ECCE-R} = \max_{k \ge 0} C_k - \min_{k \ge 0} C_k.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import secant
    >>> round(secant.ecce_r([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.8]), 3)
    0.175
    """
    return _extremes(
        y_true,
        y_prob,
        data,
        sample_weight,
        Reading(pos_label=pos_label, outcome_weights=outcome_weights),
    ).ecce_r


def ecce_mad(
    y_true: Any,
    y_prob: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    outcome_weights: tuple[float, float] | None = None,
    pos_label: Any = None,
) -> float:
    r"""Return the largest absolute cumulative difference (ECCE-MAD).

    It is the largest total miscalibration over any range of scores that begins at 0, as a share of
    all predictions. ECCE-MAD <= ECCE-R <= 2 ECCE-MAD.

    Parameters
    ----------
    y_true, y_prob, data, sample_weight, outcome_weights, pos_label
        As in :func:`ecce_r`.

    Returns
    -------
    float
        ECCE-MAD, between 0 and 1.

    Raises
    ------
    InputError
        As :func:`ecce_r`.

    Notes
    -----
    .. math:: \text{ECCE-MAD} = \max_k |C_k|, \qquad C_k \text{ as in } ECCE-R.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import secant
    >>> round(secant.ecce_mad([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.8]), 3)
    0.125
    """
    return _extremes(
        y_true,
        y_prob,
        data,
        sample_weight,
        Reading(pos_label=pos_label, outcome_weights=outcome_weights),
    ).ecce_mad


def ece(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    norm: Norm = "l1",
    squared: bool = False,
    weighting: Weighting = "count",
    data: Any = None,
    sample_weight: Any = None,
    outcome_weights: tuple[float, float] | None = None,
    pos_label: Any = None,
) -> float:
    """Return a binned calibration error (ECE).

    It averages, over bins of scores, how far the mean response is from the mean score. It depends
    on the bins, and noise adds the more to it the finer they are: see :meth:`Calibration.ece` for
    the noise floor.

    Parameters
    ----------
    y_true, y_prob, data, sample_weight, outcome_weights, pos_label
        As in :func:`ecce_r`.
    n_bins : int
        Number of bins m, at most 16,777,216.
    strategy : {"uniform", "quantile"}
        Equispaced bins, closed on the right; or bins of floor(n / m) consecutive observations, the
        last with the remainder, a tie across an edge being shared. Weighted quantile bins hold
        equal weights, the last the remainder.
    norm : {"l1", "l2", "max"}
        Weighted mean of the gaps, root of the weighted mean of their squares, or the largest.
    squared : bool
        With ``norm="l2"``: leave out the root.
    weighting : {"count", "width"}
        Weigh a bin by its share of the observations, or by its width as the paper does.

    Returns
    -------
    float
        The metric.

    Raises
    ------
    InputError
        As :func:`ecce_r`; also if an option is unknown or quantile bins outnumber the observations.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import secant
    >>> round(secant.ece([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.8], n_bins=2), 3)
    0.225
    """
    binning = Binning(n_bins, strategy, norm, squared, weighting)
    reading = Reading(pos_label=pos_label, outcome_weights=outcome_weights)
    source = open_source(y_true, y_prob, data=data, sample_weight=sample_weight, reading=reading)
    blocks, totals = source.blocks()
    return error(binned(blocks, totals, binning, source.refine), binning)


def assess(
    y_true: Any,
    y_prob: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    weight_kind: WeightKind = "sampling",
    outcome_weights: tuple[float, float] | None = None,
    clusters: Any = None,
    order_by: Any = None,
    pos_label: Any = None,
    method: Method = "auto",
    confidence_level: float = 0.95,
    ties: Ties = "collapse",
    missing: Missing = "refuse",
    rng: Any = None,
) -> Calibration:
    """Assess the calibration of predicted probabilities.

    Print the result: it says whether the predictions are calibrated, how far off they are, and
    where.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened: 0 or 1 (also False or True, -1 or 1, or any two values with ``pos_label``).
    y_prob : array-like of shape (n,)
        Predicted probabilities of a 1, in [0, 1].
    data : optional
        Where the predictions are, if not in arrays: a data frame (pandas, polars, pyarrow), a lazy
        frame or table of an engine (DuckDB, Polars, Dask, Spark, Ibis), a mapping of names to
        arrays, or a path, a glob or a list of paths (Parquet, CSV, lines of JSON, Feather; text
        also gzipped).
        Then ``y_true``, ``y_prob``, ``sample_weight``, ``clusters`` and ``order_by`` are names of
        columns.
    sample_weight : array-like of shape (n,), optional
        Weights, zero or positive; a row of weight zero is left out. They may depend on scores,
        features and strata, never on the outcome: one number for each outcome is refused.
    weight_kind : {"sampling", "frequency"}
        Whether weights correct for how rows were sampled, or count copies of rows.
    outcome_weights : tuple of float, optional
        What a row of outcome 0 and a row of outcome 1 weigh, where rows were kept by their outcome:
        ``(20, 1)`` if of the failures one in twenty was kept, and every event. They multiply
        ``sample_weight``. P-values and limits then know how the rows came about.
    clusters : array-like of shape (n,), or a list of them, optional
        Which rows belong together: the id of the patient, customer, question or game that each
        row is about, of any type. Of several, as of patients and sites, rows belong together
        that agree in all. Rows of one cluster may depend on each other; clusters must be
        independent, and many enough that none decides: an outbreak in a few of them is not seen
        for what it is. P-values and limits then come from flipping the signs of whole clusters at
        random. It takes 20 clusters, and below 50 the result says that it is approximate.
    order_by : array-like of shape (n,), optional
        What to put predictions along in place of their scores: numbers, dates, times or durations
        that were known before the outcomes. Then the question is whether predictions are right on
        average at each value of it, which is another one than at each score.
    pos_label : optional
        The value of ``y_true`` that counts as 1, as in scikit-learn.
    method : {"auto", "exact", "asymptotic", "monte-carlo"}
        How to compute P-values; :attr:`Statistic.method` names what was done. ``"auto"``: exact up
        to 300 distinct scores; above, an upper bound from scores pooled into some hundreds of steps
        where events are rare or few scores hold most of the variance, and large-sample otherwise,
        tilted to the law of these outcomes so that it holds far in the tail too. Where sampling
        weights differ: large-sample, or simulated where few rows weigh too much for that.
        ``"exact"``: step by step over all distinct scores, up to 65,536 of them. ``"asymptotic"``:
        the limit of many observations, that is ``secant.null.range.sf(ecce_r.normalized)`` and the
        same of ``mad``. ``"monte-carlo"``: from responses drawn again and again.
    confidence_level : float
        Level of all intervals, and one minus the level of the verdict's test.
    ties : {"collapse", "random"}
        Equal scores are taken together, so that no answer depends on the order of rows.
        ``"random"`` puts them in random order and exists to reproduce the paper.
    missing : {"refuse", "drop"}
        What becomes of rows without a score or an outcome (None, NaN, NA, null): an error that
        names the first, or they are left out, which the result says. The answer is then about the
        other rows, and right about all only if what is missing has nothing to do with what
        happened. A weight, a cluster or a place in an order that is missing is refused.
    rng : int or numpy.random.Generator, optional
        Randomness for ``ties="random"``, which needs it, and for simulated P-values, which
        are the same in every run without it; for the signs of clusters likewise.

    Returns
    -------
    Calibration
        The metrics with P-values and intervals, the worst range of scores, and ways to ask
        for more.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its index.

    Notes
    -----
    P-values and limits suppose that predictions are held out (neither the model nor a calibrator
    was fitted on these rows), that outcomes are independent given the scores (or else
    ``clusters`` says which rows belong together), and that weights do not depend on outcomes: on
    scores, features and strata they may.

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
    >>> forecast = rng.random(5000)
    >>> happened = rng.random(5000) < forecast**1.2
    >>> result = secant.assess(happened, forecast)
    >>> result.ecce_r.pvalue < 1e-6
    True
    >>> result.worst.direction
    'too high'
    """
    check_choice("method", method, Method)
    check_choice("ties", ties, Ties)
    check_level(confidence_level)
    check_combination(
        clusters=clusters,
        method=method,
        ties=ties,
        outcome_weights=outcome_weights,
        order_by=order_by,
    )
    draws = generator(rng)
    if ties == "random" and draws is None:
        needs = ", a whole number or a numpy.random.Generator; got None"
        raise InputError(Argument("ties", "random"), " needs ", Argument("rng"), needs)
    reading = Reading(weight_kind, pos_label, outcome_weights, missing)
    source = open_source(
        y_true,
        y_prob,
        data=data,
        sample_weight=sample_weight,
        clusters=clusters,
        order_by=order_by,
        reading=reading,
    )
    if ties == "random":
        return _with_random_ties(source, method, confidence_level, draws)
    (result,) = calibrations(
        Apart([None], [source]),
        method=method,
        confidence_level=confidence_level,
        rng=draws,
        clustered=clusters is not None,
    )
    if data is None or clusters is not None:
        return result
    hint = repeated_units(data, {y_true, y_prob, sample_weight, order_by})
    return result if hint is None else replace(result, warnings=(*result.warnings, hint))


def _with_random_ties(
    source: Source, method: Method, confidence_level: float, rng: np.random.Generator | None
) -> Calibration:
    if source.lendable is None:
        keeps = " needs rows in memory or in files; an engine keeps its rows, and a device"
        hint = " (a tensor comes to memory as .cpu())"
        raise InputError(Argument("ties", "random"), keeps, hint=hint)
    assert rng is not None  # noqa: S101
    blocks, totals = source.shuffled(rng)
    if method == "monte-carlo" and not totals.equal_weights:
        both = Argument("ties", "random"), " and ", Argument("method", "monte-carlo")
        raise InputError(*both, " do not go together where weights differ")
    case = case_of(blocks, totals, source, rows=source.in_order(), rng=rng)
    method = "asymptotic" if method == "auto" else method
    (found,) = choose.pvalues([case], method)
    tested = deciding.decide({0: case}, {0: found}, method, source.sums)
    return calibration_of(case, found, tested[0], confidence_level)


def _extremes(y_true: Any, y_prob: Any, data: Any, sample_weight: Any, reading: Reading) -> Heights:
    source = open_source(y_true, y_prob, data=data, sample_weight=sample_weight, reading=reading)
    found = source.heights()
    if found is not None:
        return Heights(*found)
    blocks, totals = source.blocks()
    return extremes(blocks, totals.weight, source.refine)[1]
