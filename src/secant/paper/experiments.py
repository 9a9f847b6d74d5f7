"""The numbers of the paper's synthetic experiments.

There are two: the metrics at three sample sizes with bins from few to many (Figures 1, 35, 36),
and what becomes of the metrics as the sample grows (Figures 8, 9, 10). Each experiment is a small
record that can be run by itself, in any order and in any process; :func:`compute` puts the
outcomes of many together as they are written to ``statistics.json``.
"""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar

import numpy as np

from secant import Curve, assess, null
from secant._blocks.table import collapse
from secant._metrics.ece import Binning, binned, error
from secant.paper import synthetic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from secant import Calibration
    from secant._base.types import FloatArray
    from secant._blocks.table import Blocks
    from secant._input.options import Strategy
    from secant.paper.synthetic import Family

__all__ = [
    "BIN_COUNTS",
    "FIXED_SIZES",
    "GROWING_SIZES",
    "STRATEGIES",
    "Convergence",
    "ConvergenceRow",
    "EceRow",
    "Fixed",
    "FixedRow",
    "Job",
    "Statistics",
    "all_convergence",
    "all_fixed",
    "assess_fixed",
    "compute",
    "expected_curve",
    "run_all",
]

FIXED_SIZES = (8192, 32768, 131072)
"""Sample sizes of the experiment with many numbers of bins."""
BIN_COUNTS = tuple(2**k for k in range(2, 13))
"""Numbers of bins, 4 to 4096."""
GROWING_SIZES = tuple(2**k for k in range(12, 22))
"""Sample sizes of the convergence experiment, 2^12 to 2^21."""

# The convergence experiment averages this many realisations, with bins of this many rows.
_REALIZATIONS = 9
_ROWS_A_BIN = 16

Bins = Literal["equispaced", "equal-count"]
STRATEGIES: dict[Bins, Strategy] = {"equispaced": "uniform", "equal-count": "quantile"}
"""What the paper calls the two kinds of bins, and what we do."""

Outcome = TypeVar("Outcome")
Outcome_co = TypeVar("Outcome_co", covariant=True)


class EceRow(TypedDict):
    """The binned metrics for one way to cut bins; ``ece2`` is the squared one."""

    bins: Bins
    n_bins: int
    ece1: float
    ece2: float


class FixedRow(TypedDict):
    """Outcome of :class:`Fixed`."""

    n: int
    scores: Family
    sigma: float
    ecce_mad: float
    ecce_r: float
    ecce_mad_normalized: float
    ecce_r_normalized: float
    ecce_mad_pvalue: float
    ecce_r_pvalue: float
    ece: list[EceRow]


class ConvergenceRow(TypedDict):
    """Outcome of :class:`Convergence`, averages over nine realisations."""

    n: int
    scores: Family
    calibrated: bool
    ece1: float
    ece2: float
    ecce_mad: float
    ecce_r: float
    ecce_mad_normalized: float
    ecce_r_normalized: float


class Statistics(TypedDict):
    """Everything in ``statistics.json``."""

    synthetic: list[FixedRow]
    convergence: list[ConvergenceRow]


class Job(Protocol[Outcome_co]):
    """Something to run that can be sent to another process."""

    @property
    def cost(self) -> int:
        """How long it takes, in rows to look at."""
        ...

    def run(self) -> Outcome_co:
        """Compute the outcome."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """The metrics of one miscalibrated sample, the binned ones for every number of bins.

    Attributes
    ----------
    n : int
        Sample size.
    family : {"equispaced", "squared", "square rooted"}
        The score family.
    """

    n: int
    family: Family

    @property
    def cost(self) -> int:
        """How long it takes, in rows to look at."""
        return self.n * len(BIN_COUNTS) * len(STRATEGIES)

    def run(self) -> FixedRow:
        """Compute the outcome."""
        result, rows = _sample(self.n, self.family, synthetic.responses(self.n, self.family)[0])
        mad, spread = result.ecce_mad, result.ecce_r
        ece: list[EceRow] = []
        for n_bins, bins in product(BIN_COUNTS, STRATEGIES):
            ece1, ece2 = _errors(rows, result, n_bins, STRATEGIES[bins])
            ece.append({"bins": bins, "n_bins": n_bins, "ece1": ece1, "ece2": ece2})
        return {
            "n": self.n,
            "scores": self.family,
            "sigma": result.sigma,
            "ecce_mad": mad.value,
            "ecce_r": spread.value,
            "ecce_mad_normalized": mad.normalized,
            "ecce_r_normalized": spread.normalized,
            "ecce_mad_pvalue": null.mad.sf(mad.normalized),
            "ecce_r_pvalue": null.range.sf(spread.normalized),
            "ece": ece,
        }


@dataclass(frozen=True, slots=True)
class Convergence:
    """The metrics averaged over nine realisations, with equal-count bins of sixteen rows.

    Attributes
    ----------
    n : int
        Sample size.
    family : {"equispaced", "squared", "square rooted"}
        The score family.
    calibrated : bool
        Whether responses are drawn with the scores as probabilities.
    """

    n: int
    family: Family
    calibrated: bool

    @property
    def cost(self) -> int:
        """How long it takes, in rows to look at."""
        return self.n * _REALIZATIONS

    def run(self) -> ConvergenceRow:
        """Compute the outcome."""
        drawn = synthetic.responses(
            self.n, self.family, calibrated=self.calibrated, realizations=_REALIZATIONS
        )
        values = np.mean([self._metrics(responses) for responses in drawn], axis=0).tolist()
        ece1, ece2, mad, spread, mad_normalized, spread_normalized = values
        return {
            "n": self.n,
            "scores": self.family,
            "calibrated": self.calibrated,
            "ece1": ece1,
            "ece2": ece2,
            "ecce_mad": mad,
            "ecce_r": spread,
            "ecce_mad_normalized": mad_normalized,
            "ecce_r_normalized": spread_normalized,
        }

    def _metrics(self, responses: Any) -> tuple[float, ...]:
        result, rows = _sample(self.n, self.family, responses)
        ece = _errors(rows, result, self.n // _ROWS_A_BIN, "quantile")
        mad, spread = result.ecce_mad, result.ecce_r
        return (*ece, mad.value, spread.value, mad.normalized, spread.normalized)


def all_fixed(sizes: Iterable[int] = FIXED_SIZES) -> list[Fixed]:
    """List the experiments behind Figures 1, 35 and 36, in the order of ``statistics.json``."""
    return [Fixed(n, family) for n, family in product(sizes, synthetic.FAMILIES)]


def all_convergence(sizes: Iterable[int] = GROWING_SIZES) -> list[Convergence]:
    """List the experiments behind Figures 8, 9 and 10, in the order of ``statistics.json``."""
    every = product(sizes, synthetic.FAMILIES, (True, False))
    return [Convergence(n, family, calibrated) for n, family, calibrated in every]


def run_all(
    jobs: Sequence[Job[Outcome]],
    *,
    workers: int = 1,
    done: Callable[[Job[Outcome]], None] = lambda _job: None,
) -> list[Outcome]:
    """Run jobs, perhaps in several processes.

    The outcomes do not depend on the number of processes.

    Parameters
    ----------
    jobs : sequence of Fixed, Convergence or the like
        What to run.
    workers : int
        How many processes to use; with one, everything runs in this process.
    done : callable
        Called in this process with each job that has finished.

    Returns
    -------
    list
        The outcomes in the order of the jobs.
    """
    if workers == 1:
        outcomes = []
        for job in jobs:
            outcomes.append(job.run())
            done(job)
        return outcomes
    pool = ProcessPoolExecutor(
        workers,
        # Started afresh, not forked: a progress bar runs in a thread, which a fork would cut off.
        mp_context=multiprocessing.get_context("spawn"),
        # An interruption is for this process to deal with.
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    with pool:
        # The longest first, so that no process waits long for the last.
        order = sorted(range(len(jobs)), key=lambda number: -jobs[number].cost)
        running = {pool.submit(jobs[number].run): number for number in order}
        try:
            for future in as_completed(running):
                future.result()
                done(jobs[running[future]])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in sorted(running, key=running.__getitem__)]


def compute(
    fixed: Sequence[Fixed],
    growing: Sequence[Convergence],
    *,
    workers: int = 1,
    done: Callable[[Job[Any]], None] = lambda _job: None,
) -> Statistics:
    """Run experiments of both kinds and return what goes into ``statistics.json``.

    Parameters
    ----------
    fixed, growing : sequences of Fixed and of Convergence
        What to run.
    workers, done
        As in :func:`run_all`.

    Returns
    -------
    Statistics
        The outcomes, in the order of the experiments.
    """
    jobs: list[Job[Any]] = [*fixed, *growing]
    outcomes = run_all(jobs, workers=workers, done=done)
    return {"synthetic": outcomes[: len(fixed)], "convergence": outcomes[len(fixed) :]}


def assess_fixed(n: int, family: Family) -> Calibration:
    """Assess the miscalibrated sample of :class:`Fixed`."""
    responses = synthetic.responses(n, family)[0]
    return assess(responses, synthetic.scores(n, family), method="asymptotic")


def expected_curve(n: int, family: Family) -> Curve:
    r"""Return the graph of cumulative differences without noise.

    Success probabilities stand in for the responses, so every point is the expected value of the
    observed one (up to the few probabilities below 0, which the paper does not clip).

    Notes
    -----
    .. math:: E_k = \frac{1}{n} \sum_{j \le k} (P_j - S_j).

    Examples
    --------
    >>> curve = expected_curve(32768, "square rooted")
    >>> float(curve.difference.max() - curve.difference.min())
    0.021307
    """
    scores = synthetic.scores(n, family)
    gaps = synthetic.success_probabilities(n, family) - scores
    steps: FloatArray = np.arange(n + 1) / n
    return Curve(
        score=np.concatenate([scores[:1], scores]),
        fraction=steps,
        difference=np.concatenate([[0.0], np.cumsum(gaps)]) / n,
    )


def _sample(n: int, family: Family, responses: Any) -> tuple[Calibration, Blocks]:
    """Assess a sample, and cut it into blocks of one row each.

    Bins of sixteen rows leave next to no cell of scores whole. Refining cells step by step, as a
    result does for data of any size, would look at the same rows many times over.
    """
    scores = synthetic.scores(n, family)
    result = assess(responses, scores, method="asymptotic")
    return result, collapse(scores, responses.astype(np.int64), None)


def _errors(
    rows: Blocks, result: Calibration, n_bins: int, strategy: Strategy
) -> tuple[float, float]:
    """Return ECE^1 and ECE^2 with the paper's weights, both from the same bins."""
    totals = result._totals  # noqa: SLF001  (bins ask it for the number of rows)
    l1 = Binning(n_bins, strategy, "l1", weighting="width")
    l2 = Binning(n_bins, strategy, "l2", squared=True, weighting="width")
    bins = binned(rows, totals, l1, None)
    return error(bins, l1), error(bins, l2)
