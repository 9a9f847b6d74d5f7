"""Reliability diagrams of resampled rows, the grey lines of the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._blocks.looking import resolve
from secant._blocks.table import collapse
from secant._metrics import ece
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import BoolArray, FloatArray
    from secant._blocks.table import Blocks
    from secant._input.observations import Observations
    from secant._input.options import Strategy
    from secant._results.calibration import Calibration

__all__ = ["Resamples", "resample_result", "resample_rows"]


class Resamples(NamedTuple):
    """Mean score and mean response of each bin in each resample; NaN where a bin is empty.

    Both arrays have one row a resample and one column a bin.
    """

    mean_score: FloatArray
    mean_response: FloatArray


def resample_result(
    result: Calibration, *, n_bins: int, strategy: Strategy, size: int, rng: Any
) -> Resamples:
    """Resample the rows behind a result, with replacement, and bin each resample anew.

    Raises
    ------
    InputError
        If rows carry sampling weights: the result keeps their sums only.
    """
    # The one place where drawing looks behind a result: its rows, counted by score and response.
    kept = result._predictions  # noqa: SLF001
    blocks, totals, source = kept.blocks, kept.totals, kept.source
    if result.weighted:
        msg = (
            "resampling weighted predictions needs their rows: use "
            "ReliabilityDisplay.from_predictions, or uncertainty='bars'"
        )
        raise InputError(msg)
    binning = ece.Binning(n_bins, strategy)
    if strategy == "uniform":
        edges = np.arange(1, n_bins) / n_bins

        def across_an_edge(blocks: Blocks) -> BoolArray:
            first, last = np.searchsorted(edges, blocks.low), np.searchsorted(edges, blocks.high)
            return np.asarray(first != last)

        blocks = resolve(blocks, across_an_edge, None if source is None else source.refine)
    generator = np.random.default_rng(rng)
    drawn = (_recount(blocks, generator) for _ in range(size))
    return _collect(ece.binned(one, totals, binning, None) for one in drawn)


def resample_rows(
    seen: Observations, result: Calibration, *, n_bins: int, strategy: Strategy, size: int, rng: Any
) -> Resamples:
    """Resample rows, each with its own weight, and bin each resample anew."""
    binning = ece.Binning(n_bins, strategy)
    totals = result._totals  # noqa: SLF001  (bins ask it for the number of rows only)
    generator = np.random.default_rng(rng)
    scores, labels, weights, *_ = next(seen.chunks(seen.rows))
    assert weights is not None  # noqa: S101

    def draw() -> Blocks:
        rows = generator.integers(scores.shape[0], size=scores.shape[0])
        return collapse(scores[rows], labels[rows], weights[rows])

    return _collect(ece.binned(draw(), totals, binning, None) for _ in range(size))


def _recount(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Draw as many rows as there are, with replacement, and count them in the same blocks.

    Rows of one block and one response are alike, so how often each kind is drawn is multinomial.
    In a block of several scores a row drawn stands for the average of its kind; such a block is
    far narrower than a pixel or holds next to nothing.
    """
    counts = np.concatenate([blocks.n0, blocks.n1])
    n0, n1 = np.split(rng.multinomial(counts.sum(), counts / counts.sum()), 2)
    drawn = replace(
        blocks,
        n0=n0,
        n1=n1,
        w0=n0,
        w1=n1,
        down=blocks.down * (n0 / np.maximum(blocks.n0, 1)),
        up=blocks.up * (n1 / np.maximum(blocks.n1, 1)),
        moments=None,
    )
    return drawn.select(drawn.n > 0)


def _collect(samples: Iterator[ece.BinSums]) -> Resamples:
    points = [(bins.mean(bins.scored), bins.mean(bins.weight1)) for bins in samples]
    score, response = np.asarray(points).transpose(1, 0, 2)
    return Resamples(score, response)
