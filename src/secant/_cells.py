"""Cells: a mergeable summary of any number of predictions."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._blocks import Totals, add_totals
from secant._ecce import limits
from secant._grid import DyadicGrid
from secant._input import observations
from secant._sums import CellSums
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._blocks import Blocks

__all__ = ["Bounds", "Cells"]

_MOST_CELLS = 1 << 24
_CHUNK = 1 << 17
_MAGIC = b"secant cells\n"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a summary is certain of.

    Attributes
    ----------
    n : int
        Number of predictions.
    ecce_r, ecce_mad : tuple of float
        The metric lies between these two numbers, certainly.
    sigma : float
        Standard deviation that turns a metric into its normalised form; exact.
    ecce_r_pvalue, ecce_mad_pvalue : tuple of float
        The asymptotic P-value lies between these two numbers.
    """

    n: int
    ecce_r: tuple[float, float]
    ecce_mad: tuple[float, float]
    sigma: float
    ecce_r_pvalue: tuple[float, float]
    ecce_mad_pvalue: tuple[float, float]


class Cells:
    """Sums per score cell: a summary of predictions that can be fed, added up and stored.

    A state is fed batch by batch and merged with states made elsewhere: by another process, on
    another day, on another machine. In whatever order and pieces predictions arrive, the sums are
    the same. Without the predictions themselves the metrics are known within certified bounds,
    which are narrow: about 0.02 sigma for a million predictions in 65,536 cells.

    Parameters
    ----------
    n_cells : int
        Number of cells of equal width over [0, 1), a power of two. The score 1 has a cell of
        its own.

    Attributes
    ----------
    n : int
        Number of predictions seen.
    n_cells : int
        Number of cells.
    forbidden : int
        Predictions whose score rules out what happened (0 and yes, 1 and no).

    Raises
    ------
    InputError
        If ``n_cells`` is not a power of two between 1 and 2**24.

    Notes
    -----
    A cell keeps the counts of both responses and the sums of positive and negative parts of
    w(r - s). Their prefix sums are the cumulative differences at every edge, exactly; inside a cell
    the path stays between its start minus the negative and its start plus the positive parts.

    Examples
    --------
    >>> import secant
    >>> monday, tuesday = secant.Cells(), secant.Cells()
    >>> monday.update([0, 1, 1], [0.2, 0.6, 0.9])
    >>> tuesday.update([0, 1], [0.1, 0.7])
    >>> week = monday + tuesday
    >>> week.n
    5
    >>> low, high = week.bounds().ecce_r
    >>> low <= secant.ecce_r([0, 1, 1, 0, 1], [0.2, 0.6, 0.9, 0.1, 0.7]) <= high
    True
    """

    def __init__(self, n_cells: int = 65536) -> None:
        self._sums = CellSums(_grid(n_cells), sampling=False, moments=True)
        self.forbidden = 0

    @property
    def n(self) -> int:
        """Number of predictions seen."""
        return int(self._sums.count.sum())

    @property
    def n_cells(self) -> int:
        """Number of cells over [0, 1)."""
        return int(self._sums.count.shape[0] >> 1) - 1

    def update(
        self,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any = None,
        *,
        weight_kind: str = "sampling",
        pos_label: Any = None,
    ) -> None:
        """Add a batch of predictions; a batch with a fault in it changes nothing.

        Parameters
        ----------
        y_true, y_prob, sample_weight, weight_kind, pos_label
            As in :func:`secant.assess`. Batches with and without weights may follow each
            other: a row without a weight has weight 1.

        Raises
        ------
        InputError
            If anything in the batch is unusable.
        """
        seen = observations(
            y_true, y_prob, sample_weight, weight_kind=weight_kind, pos_label=pos_label
        )
        batch = CellSums(_grid(self.n_cells), sampling=seen.sampling, moments=True)
        for chunk in seen.chunks(_CHUNK):
            batch.add(chunk)
        # One assignment, so that an interruption leaves the old state or the new one.
        self._sums = self._sums.plus(batch)
        self.forbidden += len(seen.forbidden)

    def merge(self, other: object) -> None:
        """Add everything another state has seen; the coarser of two grids is kept.

        Raises
        ------
        TypeError
            If ``other`` is not a Cells.
        """
        if not isinstance(other, Cells):
            msg = f"only another Cells can be merged; got {type(other).__name__}"
            raise TypeError(msg)
        n_cells = min(self.n_cells, other.n_cells)
        self._sums = _coarsen(self._sums, n_cells).plus(_coarsen(other._sums, n_cells))  # noqa: SLF001
        self.forbidden += other.forbidden

    def __add__(self, other: object) -> Cells:
        if not isinstance(other, Cells):
            return NotImplemented
        both = Cells(min(self.n_cells, other.n_cells))
        both.merge(self)
        both.merge(other)
        return both

    def __radd__(self, other: object) -> Cells:
        # sum() starts from 0
        return self + Cells(self.n_cells) if other == 0 else NotImplemented

    def bounds(self) -> Bounds:
        """Return what is certain about the metrics without another look at the predictions.

        Raises
        ------
        InputError
            If nothing has been seen yet.
        """
        blocks, totals = self._blocks()
        ecce_r, ecce_mad = limits(blocks, totals.weight)
        sigma = totals.sigma

        def pvalues(law: null.BrownianLaw, metric: tuple[float, float]) -> tuple[float, float]:
            low, high = (
                1.0 if value == 0 else (law.sf(value / sigma) if sigma > 0 else 0.0)
                for value in reversed(metric)
            )
            return float(low), float(high)

        return Bounds(
            n=totals.n,
            ecce_r=ecce_r,
            ecce_mad=ecce_mad,
            sigma=sigma,
            ecce_r_pvalue=pvalues(null.range, ecce_r),
            ecce_mad_pvalue=pvalues(null.mad, ecce_mad),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, whole or not at all.

        The file is a line of text, a header in JSON and compressed numbers under a checksum; it
        holds nothing that could be executed.
        """
        sums = self._sums
        filled = np.flatnonzero(sums.count[::2] + sums.count[1::2])
        numbers = [filled.astype("<i8").tobytes()]
        for column in sums.columns().values():
            rows = column.reshape(self.n_cells + 1, -1)[filled]
            numbers.append(rows.astype(rows.dtype.newbyteorder("<")).tobytes())
        payload = zlib.compress(b"".join(numbers))
        header = {
            "version": _VERSION,
            "n_cells": self.n_cells,
            "filled": filled.shape[0],
            "sampling": sums.sampling,
            "forbidden": self.forbidden,
            "totals": asdict(add_totals(sums.parts)),
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        _write_whole(Path(path), _MAGIC + json.dumps(header).encode() + b"\n" + payload)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Cells:
        """Read a state that :meth:`save` wrote.

        Raises
        ------
        InputError
            If the file is not such a state, or is damaged or cut short.
        """
        header, payload = _read_checked(Path(path))
        sums = CellSums(_grid(header["n_cells"]), sampling=header["sampling"], moments=True)
        numbers = zlib.decompress(payload)
        filled = np.frombuffer(numbers, "<i8", header["filled"])
        start = filled.nbytes
        for column in sums.columns().values():
            rows = column.reshape(header["n_cells"] + 1, -1)
            size = filled.shape[0] * rows.shape[1]
            values = np.frombuffer(numbers, rows.dtype.newbyteorder("<"), size, start)
            rows[filled] = values.reshape(filled.shape[0], -1)
            start += values.nbytes
        sums.parts = [Totals(**header["totals"])]
        state = cls(header["n_cells"])
        state._sums, state.forbidden = sums, header["forbidden"]
        return state

    def _blocks(self) -> tuple[Blocks, Totals]:
        if not self.n:
            msg = "these Cells are empty; update them with predictions first"
            raise InputError(msg)
        blocks = self._sums.blocks()
        return blocks, self._sums.totals(blocks)

    def __repr__(self) -> str:
        return f"<secant.Cells: {self.n:,} predictions in {self.n_cells:,} cells>"


def _grid(n_cells: Any) -> DyadicGrid:
    if (
        isinstance(n_cells, bool)
        or not isinstance(n_cells, (int, np.integer))
        or not 1 <= n_cells <= _MOST_CELLS
        or n_cells & (n_cells - 1)
    ):
        msg = f"n_cells must be a power of two between 1 and {_MOST_CELLS:,}; got {n_cells!r}"
        raise InputError(msg)
    return DyadicGrid(int(n_cells).bit_length() - 1)


def _coarsen(sums: CellSums, n_cells: int) -> CellSums:
    """Join neighbouring cells; their sums add, once distances start from the new anchors."""
    fine = (sums.count.shape[0] >> 1) - 1
    if n_cells == fine:
        return sums
    coarse = CellSums(_grid(n_cells), sampling=sums.sampling, moments=sums.moments)
    factor = fine // n_cells
    into = np.append(np.arange(fine) // factor, n_cells)  # the score 1 stays alone
    shift = np.repeat(sums.grid.anchor - coarse.grid.anchor[into], 2)
    moved = dict(sums.columns())
    weight = sums.weight if sums.sampling else sums.count
    moved["offset"] = (sums.offset * sums.grid.unit + weight * shift) / coarse.grid.unit
    for name, column in moved.items():
        rows = column.reshape(fine + 1, -1)
        joined = np.add.reduceat(rows, np.append(np.arange(0, fine, factor), fine), axis=0)
        setattr(coarse, name, joined.ravel())
    coarse.parts = list(sums.parts)
    return coarse


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader ever sees half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read_checked(path: Path) -> tuple[dict[str, Any], bytes]:
    """Take a state file apart and make sure that it is whole."""
    content = path.read_bytes()
    if not content.startswith(_MAGIC):
        msg = f"{path} is not a file of secant.Cells"
        raise InputError(msg)
    line, end, payload = content[len(_MAGIC) :].partition(b"\n")
    try:
        header: dict[str, Any] = json.loads(line)
        version, digest = header["version"], header["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path} is a damaged file of secant.Cells: its header cannot be read"
        raise InputError(msg) from error
    if version != _VERSION:
        msg = f"{path} has version {version!r} of the format; this secant reads {_VERSION}"
        raise InputError(msg)
    if not end or hashlib.sha256(payload).hexdigest() != digest:
        msg = f"{path} is a damaged file of secant.Cells: it was cut short or changed"
        raise InputError(msg)
    return header, payload
