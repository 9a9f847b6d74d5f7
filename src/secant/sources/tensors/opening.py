"""Which source tensors on a device get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant.sources.rows import SORT_UP_TO, RowSource
from secant.sources.tensors.direct import DirectPasses
from secant.sources.tensors.gpu import GpuSource
from secant.sources.tensors.kernels import usable
from secant.sources.tensors.reading import columns
from secant.sources.tensors.source import TensorSource

if TYPE_CHECKING:
    from secant._blocks.looking import Source
    from secant._input.options import Reading

__all__ = ["open_tensors"]


def open_tensors(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Source:
    """Return the source of blocks for tensors on a device.

    Raises
    ------
    InputError
        As arrays of the same values would; and if the tensors are not on one device.
    """
    given = columns(y_true, y_prob, sample_weight, reading)
    if given.rows <= SORT_UP_TO or given.scores.device.type == "mps":  # that has no float64
        return RowSource(given.refuse())
    counts = reading.counts and given.weights is not None
    if usable(given.scores) and not counts and reading.outcome_weights is None:
        return GpuSource(given, DirectPasses(given.scores, given.bytes_of_labels(), given.weights))
    return TensorSource(given)
