"""Passes over tensors by kernels that are compiled when they are first needed.

CuPy compiles and launches them, on the memory and the stream of torch. What a pass must give is
what :class:`Passes` says, so that it can be had from plain operations as well.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from secant._base.extras import require
from secant._blocks.table import STEPS, Blocks, Inside, largest_steps
from secant.sources.tensors.sorted import SortedRows

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray
    from secant.sources.tensors.cell_table import CellTable

__all__ = [
    "BAD_VALUE",
    "FINE_UNIT",
    "TOO_MANY",
    "CellCounts",
    "CudaPasses",
    "Overview",
    "Passes",
    "usable",
]

BAD_VALUE, TOO_MANY = 1, 2
_REALS = 10
_COLUMNS = 9
_STASH = 256
_THREADS = 1024
# Blocks of threads that share a multiprocessor in the first pass: two hide each other's waiting.
RESIDENT = 2
# Shared memory for the table of bins, the largest there is.
_SPARE = 13 << 10
# Weights are added as integers, in units of this part of a power of two above all of them.
WEIGHT_UNIT = 2.0**-62
FINE_UNIT = 2.0**-33


@dataclass(frozen=True)
class CellCounts:
    """What a pass into cells found, responses 0 and 1 alternating.

    ``rests`` are sums of places inside cells, weighted ones in shares of a cell; ``loads`` the
    weights. ``tiny`` are the sums of w s of the first cell. ``totals`` has the sum of w^2 s(1 - s),
    and where rows carry weights those of w, w^2, w^2 (r - s)^2, w^2 r, w^3 s(1 - s), w (r - s)^2;
    ``steps`` are then the largest steps that were possible.
    """

    counts: IntArray
    rests: FloatArray
    loads: FloatArray | None
    tiny: FloatArray
    totals: tuple[float, ...]
    zeros: int
    faults: int
    rows: int
    steps: tuple[float, ...] = ()


class Overview(NamedTuple):
    """Limits of scores (NaN if there is one) and labels, and the sum of s(1 - s)."""

    lowest: float
    highest: float
    largest_label: float
    variance: float


class Passes(Protocol):
    """Passes over rows, each of which reads every score and label once.

    ``scale`` is a power of two above all weights, 1 where there are none.
    """

    scale: float

    def room(self, *, wide: bool) -> int:
        """Return how many cells there is room for; wide ones take more."""
        ...

    def overview(self) -> Overview:
        """Return what is to be known of rows without weights that are sorted as a whole."""
        ...

    def sort_all(self) -> SortedRows:
        """Return all rows, which carry no weights, in the order of their scores."""
        ...

    def sample(self, size: int) -> Any:
        """Return some scores from everywhere, in ascending order."""
        ...

    def cells(self, table: CellTable, hot: Any, *, wide: bool) -> CellCounts:
        """Add up the rows in cells; ``hot`` is a score that many rows share, or None."""
        ...

    def fine(self, table: CellTable, hot: Any) -> Any:
        """Return on the device the weight in each of very many cells, responses alternating."""
        ...

    def collect(
        self, table: CellTable, marked: IntArray, common: Any, most: int
    ) -> SortedRows | None:
        """Return the rows of marked cells, but those of each cell's common score.

        None if they are more than ``most``.
        """
        ...

    def blocks(self, rows: SortedRows, start: IntArray, stop: IntArray, pieces: int) -> Blocks:
        """Return ranges of sorted rows as about so many blocks."""
        ...


def usable(scores: Any) -> bool:
    """Tell whether kernels can be had for a tensor."""
    return scores.device.type == "cuda" and importlib.util.find_spec("cupy") is not None


@lru_cache(maxsize=32)
def _compiled(cupy: Any, device: int, options: tuple[str, ...]) -> Any:  # noqa: ARG001  (a module is loaded on one device)
    code = Path(__file__).with_name("cells.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=code, options=("-std=c++17", *options))


@lru_cache(maxsize=8)
def _places(device: Any, size: int) -> Any:
    """Return where to look for a sample, one row in each of so many stretches of equal length."""
    import torch  # noqa: PLC0415  (as above)

    jitter = np.random.default_rng(0).random(size)
    return torch.from_numpy(np.arange(size) + jitter).to(device)


class CudaPasses:
    """Passes over contiguous tensors on one CUDA device."""

    def __init__(self, scores: Any, labels: Any, weights: Any) -> None:
        self._cupy = require("cupy", "cuda", "the passes of a GPU need")
        self._torch = require("torch", "torch", "tensors need")
        self.scores, self.labels, self.weights = map(_aligned, (scores, labels, weights))
        self._rows = int(scores.shape[0])
        self._device = scores.device.index or 0
        self._cores = self._torch.cuda.get_device_properties(scores.device).multi_processor_count
        # A power of two above all weights, so that dividing by it changes no digit.
        self.scale = 1.0
        if weights is not None:
            highest = float(weights.max())
            self.scale = (
                2.0 ** np.frexp(highest)[1] if np.isfinite(highest) and highest > 0 else 1.0
            )

    def room(self, *, wide: bool) -> int:
        """Return how many cells fit into the memory that a block of threads shares."""
        properties = self._torch.cuda.get_device_properties(self.scores.device)
        memory = getattr(properties, "shared_memory_per_block_optin", 48 << 10)
        memory = memory // self._resident(wide=wide) - _SPARE
        return int(memory // (8 * self._words(wide=wide)))

    def _resident(self, *, wide: bool) -> int:
        """Return how many blocks of threads share a multiprocessor in the first pass."""
        return 1 if wide or self.weights is not None else RESIDENT

    def _words(self, *, wide: bool) -> int:
        """Return how many words of 32 bits there are for either response in a cell."""
        return 7 if self.weights is not None else 3 if wide else 2

    def overview(self) -> Overview:
        """Return limits of scores and labels, and the sum of s(1 - s)."""
        scores = self.scores.double()
        lowest, highest = self.scores.aminmax()
        variance = scores.addcmul(scores, scores, value=-1).sum()
        found = [lowest.double(), highest.double(), self.labels.max().double(), variance]
        return Overview(*self._torch.stack(found).tolist())

    def sort_all(self) -> SortedRows:
        """Return all rows, which carry no weights, sorted on the device."""
        whole = self._torch.int64 if self.scores.element_size() > 4 else self._torch.int32
        keys = (self.scores + 0.0).view(whole)  # no -0.0
        keys = keys.bitwise_left_shift_(1).add_(self.labels)
        return SortedRows(self._torch, keys.sort().values, None, counted=False)

    def sample(self, size: int) -> Any:
        """Return some scores from everywhere, in ascending order."""
        places = (_places(self.scores.device, size) * (self._rows / size)).long()
        found = self.scores[places.clamp_(max=self._rows - 1)].cpu().numpy()
        return np.sort(found)

    def cells(self, table: CellTable, hot: Any, *, wide: bool) -> CellCounts:
        """Add up the rows in cells in shared memory."""
        torch, slots = self._torch, 2 * table.cells
        weighted = self.weights is not None
        words = self._words(wide=wide)
        blocks = self._cores * self._resident(wide=wide)
        # One array for everything: counts, rests, loads, some more, then doubles.
        sizes = [slots, 2 * slots, 2 * slots if weighted else 0, 8, _REALS * blocks]
        out = torch.zeros(sum(sizes), dtype=torch.int64, device=self.scores.device)
        at = np.cumsum([0, *sizes])
        pointers = [np.uint64(out.data_ptr() + 8 * int(start)) for start in at[:-1]]
        counts, rests, loads, extra, reals = pointers
        entries = torch.from_numpy(table.entries.view(np.int32)).to(self.scores.device)
        self._launch(
            "cells",
            table,
            wide,
            blocks,
            _table_bytes(table) + 4 * words * slots,
            [
                *self._columns(1 / WEIGHT_UNIT),
                np.int64(self._rows),
                entries,
                np.uint32(table.cells),
            ],
            [_hot(table, hot), counts, rests, loads, reals, extra],
        )
        table.limits  # noqa: B018  (made while the device works)
        host = out.cpu().numpy()
        count, rest, load, more, real = (host[a:b] for a, b in pairwise(at))
        sums = real.view(np.float64).reshape(blocks, _REALS)
        totals = [float(np.sum(column)) for column in sums.T]
        chosen = [totals[0], *totals[3:9]] if weighted else totals[:1]
        rests_found = _joined(rest)
        if not weighted and hot is not None:
            cell = int(table.cell(hot.reshape(1))[0])
            score = float(hot)
            count[2 * cell : 2 * cell + 2] += more[:2]
            rests_found[2 * cell : 2 * cell + 2] += more[:2] * float(table.rest(hot))
            chosen[0] += float(more[:2].sum()) * (score * (1 - score))
            if cell == 0:
                totals[1] += int(more[0]) * score
                totals[2] += int(more[1]) * score
        return CellCounts(
            counts=count,
            rests=rests_found * WEIGHT_UNIT * self.scale if weighted else rests_found,
            loads=_joined(load) * WEIGHT_UNIT * self.scale if weighted else None,
            tiny=np.array(totals[1:3]),
            totals=tuple(chosen),
            zeros=int(more[2]) + (int(more[1]) if hot is not None and hot == 0 else 0),
            faults=int(more[3]),
            rows=int(more[4]) if weighted else self._rows,
            steps=self._steps(sums[:, 9]) if weighted and not more[3] else (),
        )

    def _steps(self, largest: FloatArray) -> tuple[float, ...]:
        """Return the largest possible steps, of which the largest of every block are known."""
        # Twelve rows have steps that large or larger; no step is larger than its weight.
        least = float(np.sort(largest)[-STEPS]) if len(largest) >= STEPS else 0.0
        rows = (self.weights >= least).nonzero().ravel() if least > 0 else slice(None)
        weights, scores = self.weights[rows].double(), self.scores[rows].double()
        steps = weights * self._torch.maximum(1 - scores, scores)
        return largest_steps(steps.topk(min(STEPS, len(steps))).values.tolist())

    def fine(self, table: CellTable, hot: Any) -> Any:
        """Return on the device the weight in each of very many cells."""
        torch = self._torch
        weighted = self.weights is not None
        kind = torch.int64 if weighted else torch.int32
        sums = torch.zeros(2 * table.cells, dtype=kind, device=self.scores.device)
        entries = torch.from_numpy(table.entries.view(np.int32)).to(self.scores.device)
        wide = table.kind.mantissa > 32 or weighted
        head = [*self._columns(1 / FINE_UNIT), np.int64(self._rows), entries, _hot(table, hot)]
        self._launch("fine", table, wide, 2 * self._cores, _table_bytes(table), head, [sums])
        if weighted:
            return sums.double() * (FINE_UNIT * self.scale)
        return (sums.long() & 0xFFFFFFFF).double()

    def collect(
        self, table: CellTable, marked: IntArray, common: Any, most: int
    ) -> SortedRows | None:
        """Return the rows of marked cells, sorted on the device."""
        torch, device = self._torch, self.scores.device
        weighted = self.weights is not None
        marks = np.zeros(-(-table.cells // 32) * 32, np.uint8)
        marks[marked] = 1
        words = np.packbits(marks, bitorder="little").view(np.int32)
        wide = table.kind.mantissa > 32
        keys = torch.empty(most, dtype=torch.int64 if wide else torch.int32, device=device)
        size = torch.zeros(1, dtype=torch.int64, device=device)
        columns = self._columns(None)
        weights = None
        if weighted:
            weights = torch.empty(most, dtype=torch.float64, device=device)
            columns.append(weights)
        whole = np.int64 if wide else np.int32
        uploaded = [
            torch.from_numpy(each).to(device)
            for each in (table.entries.view(np.int32), words, common.view(whole))
        ]
        entries, flags, scores = uploaded
        self._launch(
            "collect",
            table,
            wide or weighted,
            2 * self._cores,
            _table_bytes(table)
            + words.nbytes
            + 16
            + _STASH * 32 * (16 if weighted else 8 if wide else 4),
            [*columns, np.int64(self._rows), entries, np.uint32(table.cells), flags, scores],
            [keys, size, np.uint64(most)],
        )
        found = int(size)
        if found > most:
            return None
        keys = keys[:found]
        if weights is None:
            return SortedRows(torch, keys.sort().values, None, counted=False)
        # Rows come as the device pleases: those that share a key go in the order of weights.
        weights, order = weights[:found].sort()
        keys, again = keys[order].sort(stable=True)
        return SortedRows(torch, keys, weights[again], counted=False)

    def blocks(self, rows: SortedRows, start: IntArray, stop: IntArray, pieces: int) -> Blocks:
        """Return ranges of sorted rows as about so many blocks."""
        torch = self._torch
        edges, wanted = rows.cuts(start, stop, pieces)
        out = torch.empty((len(edges) - 1, _COLUMNS), dtype=torch.float64, device=rows.keys.device)
        ends = torch.from_numpy(edges).to(rows.keys.device)
        wide = rows.keys.dtype == torch.int64
        columns = [rows.keys] if rows.weights is None else [rows.keys, rows.weights]
        kernel = self._module(wide, 5, wide=wide or rows.weights is not None).get_function("ranges")
        with self._cupy.cuda.Device(self._device), self._stream():
            kernel((len(edges) - 1,), (256,), tuple(map(_argument, (*columns, ends, out))))
        found = np.ascontiguousarray(out.cpu().numpy().T[:, wanted])
        low, high = (_scores(bits.view(np.int64), wide=wide) for bits in found[:2])
        n1, down, up, w0, w1, rise, fall = found[2:]
        n1 = n1.astype(np.int64)
        n0 = np.diff(edges)[wanted] - n1
        if rows.weights is None:
            w0, w1 = n0, n1
        # A little more than rounding can have moved them.
        rise, fall = (
            np.minimum(most, far * (1 + 1e-9) + 1e-9) for far, most in ((rise, up), (fall, down))
        )
        return Blocks(low, high, n0, n1, w0, w1, down, up, inside=Inside(rise, fall))

    def _columns(self, per_unit: float | None) -> list[Any]:
        columns = [self.scores, self.labels]
        if self.weights is not None:
            columns.append(self.weights)
            if per_unit is not None:
                columns.append(np.float64(per_unit / self.scale))
        return columns

    def _module(self, double: bool, leading: int, *, wide: bool) -> Any:  # noqa: FBT001
        options = [f"-DDOUBLE={int(double)}", f"-DWIDE={int(wide)}", f"-DM={leading}"]
        options.append(f"-DRESIDENT={self._resident(wide=wide)}")
        if self.weights is not None:
            double_weights = self.weights.dtype == self._torch.float64
            options.append(f"-DWEIGHT={'double' if double_weights else 'float'}")
        return _compiled(self._cupy, self._device, tuple(options))

    def _stream(self) -> Any:
        stream = self._torch.cuda.current_stream(self.scores.device).cuda_stream
        streams = self._cupy.cuda
        if hasattr(streams.Stream, "from_external"):
            return streams.Stream.from_external(_Stream(stream))
        return streams.ExternalStream(stream, self._device)

    def _launch(
        self,
        name: str,
        table: CellTable,
        wide: bool,  # noqa: FBT001
        blocks: int,
        memory: int,
        *arguments: list[Any],
    ) -> None:
        module = self._module(table.kind.mantissa > 32, table.kind.leading, wide=wide)
        kernel = module.get_function(name)
        kernel.max_dynamic_shared_size_bytes = memory
        passed = tuple(_argument(each) for part in arguments for each in part)
        with self._cupy.cuda.Device(self._device), self._stream():
            kernel((blocks,), (_THREADS,), passed, shared_mem=memory)


class _Stream(NamedTuple):
    """A stream of torch, as CuPy wants to be told of it."""

    pointer: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.pointer


def _argument(value: Any) -> Any:
    return np.uint64(value.data_ptr()) if hasattr(value, "data_ptr") else value


def _aligned(tensor: Any) -> Any:
    """Return a tensor whose memory begins where four rows can be read at once."""
    if tensor is None or tensor.data_ptr() % 16 == 0:
        return tensor
    return tensor.clone()


def _scores(bits: IntArray, *, wide: bool) -> FloatArray:
    """Return the scores of bits as doubles."""
    scores = bits.view(np.float64) if wide else bits.astype(np.int32).view(np.float32)
    return scores.astype(np.float64)


def _table_bytes(table: CellTable) -> int:
    return max(4 * (-(-table.kind.bins // 4) * 4), 8 * _THREADS)


def _hot(table: CellTable, hot: Any) -> Any:
    """Return the bits of a score; of none, those of a NaN, which no row has."""
    kind = table.kind
    return kind.bits(np.iinfo(kind.bits).max) if hot is None else hot.reshape(1).view(kind.bits)[0]


def _joined(words: Any) -> FloatArray:
    """Return sums of 128 bits, whose low words come first, as doubles."""
    low, high = np.split(words.view(np.uint64), 2)
    joined: FloatArray = low + high * 2.0**64
    return joined
