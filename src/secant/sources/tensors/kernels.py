"""Passes over tensors by kernels that are compiled when they are first needed.

CuPy compiles and launches them, on the memory and the stream of torch. Every pass reads each score
and label once.
"""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.extras import require
from secant._blocks.table import STEPS, Inside, from_sums, largest_steps
from secant.sources.tensors.sorted import SortedRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray, IntArray
    from secant._blocks.table import Blocks
    from secant.sources.tensors.cell_table import CellTable

__all__ = [
    "BAD_VALUE",
    "FINE_UNIT",
    "TOO_MANY",
    "CellCounts",
    "CudaPasses",
    "Heights",
    "Overview",
    "usable",
]

BAD_VALUE, TOO_MANY = 1, 2
REALS = 10
# Words of what passes share, Head in cells.cu.
HEAD = 13
_COLUMNS = 9
_STASH = 256
THREADS = 1024
# Shared memory for the table of bins, the largest there is.
_SPARE = 13 << 10
# Weights are added as integers, in units of this part of a power of two above all of them.
WEIGHT_UNIT = 2.0**-62
REST_UNIT = 2.0**-46
FINE_UNIT = 2.0**-33
# What only cells.cu is compiled with: the extremes alone need fewer sums.
_ALL_TOTALS = "-DTOTALS=1"


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


class Heights(NamedTuple):
    """The highest and the lowest point of the path, and the sums that it is to be compared with.

    ``maximum`` and ``minimum`` are sums of w(r - s), ``variance`` is that of w^2 s(1 - s).
    """

    maximum: float
    minimum: float
    weight: float
    variance: float


def usable(scores: Any) -> bool:
    """Tell whether kernels can be had for a tensor."""
    return scores.device.type == "cuda" and importlib.util.find_spec("cupy") is not None


@lru_cache(maxsize=32)
def _compiled(cupy: Any, device: int, options: tuple[str, ...]) -> Any:  # noqa: ARG001  (a module is loaded on one device)
    names = ["cells.cu"] if _ALL_TOTALS in options else ["cells.cu", "direct.cu"]
    files = (Path(__file__).with_name(name) for name in names)
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    return cupy.RawModule(code=code, options=("-std=c++17", *options))


@lru_cache(maxsize=256)
def _kernel(cupy: Any, device: int, options: tuple[str, ...], name: str) -> Any:
    return _compiled(cupy, device, options).get_function(name)


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
        self._properties = self._torch.cuda.get_device_properties(scores.device)
        self._cores = self._properties.multi_processor_count
        # Whether both weights and scores have 32 bits, so that 64 hold a row.
        sizes = [each.element_size() for each in (scores, weights) if each is not None]
        self._packed = sizes == [4, 4]
        self._is_here = False

    @cached_property
    def scale(self) -> float:
        """A power of two above all weights, so that dividing by it changes no digit."""
        if self.weights is None:
            return 1.0
        highest = float(self.weights.max())
        usable = np.isfinite(highest) and highest > 0
        return float(2.0 ** np.frexp(highest)[1]) if usable else 1.0

    def room(self, *, wide: bool) -> int:
        """Return how many cells a block of threads has memory for; wide ones take more."""
        return (self._memory - _SPARE) // (8 * self._words(wide=wide))

    @property
    def _memory(self) -> int:
        """How many bytes a block of threads can share."""
        return int(getattr(self._properties, "shared_memory_per_block_optin", 48 << 10))

    def _words(self, *, wide: bool) -> int:
        """Return how many words of 32 bits there are for either response in a cell."""
        return 6 if self.weights is not None else 3 if wide else 2

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
        return SortedRows(self._torch, self._sorted(keys), None, counted=False)

    def sample(self, size: int) -> Any:
        """Return some scores from everywhere, in ascending order."""
        places = (_places(self.scores.device, size) * (self._rows / size)).long()
        found = self.scores[places.clamp_(max=self._rows - 1)].cpu().numpy()
        return np.sort(found)

    def cells(self, table: CellTable, hot: Any, *, wide: bool) -> CellCounts:
        """Add up the rows in cells in shared memory; ``hot``: a score that many share, or None."""
        torch, slots = self._torch, 2 * table.cells
        weighted = self.weights is not None
        words = self._words(wide=wide)
        blocks = self._cores
        # One array for everything: counts, rests, loads, some more, then doubles.
        sizes = [slots, 2 * slots, 2 * slots if weighted else 0, 8, REALS * blocks]
        out = torch.zeros(sum(sizes), dtype=torch.int64, device=self.scores.device)
        at = np.cumsum([0, *sizes])
        pointers = [np.uint64(out.data_ptr() + 8 * int(start)) for start in at[:-1]]
        counts, rests, loads, extra, reals = pointers
        entries = torch.from_numpy(table.entries.view(np.int32)).to(self.scores.device)
        head = np.zeros(3)
        head.view(np.uint64)[:2] = table.cells, _hot(table, hot)
        head[2] = self.scale
        shared = torch.from_numpy(head).to(self.scores.device)
        rows = [*self._columns, entries, shared]
        self._launch(
            self._over_table(table, wide=wide),
            "cells",
            (blocks, THREADS, _table_bytes(table) + 4 * words * slots),
            [*rows, counts, rests, loads, reals, extra, np.uint32(table.cells)],
        )
        table.ends  # noqa: B018  (made while the device works)
        host = out.cpu().numpy()
        count, rest, load, more, real = (host[a:b] for a, b in pairwise(at))
        sums = real.view(np.float64).reshape(blocks, REALS)
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
            rests=rests_found * REST_UNIT * self.scale if weighted else rests_found,
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
        """Return on the device the weight in each of very many cells, responses alternating."""
        torch = self._torch
        weighted = self.weights is not None
        kind = torch.int64 if weighted else torch.int32
        sums = torch.zeros(2 * table.cells, dtype=kind, device=self.scores.device)
        entries = torch.from_numpy(table.entries.view(np.int32)).to(self.scores.device)
        wide = table.kind.mantissa > 32 or weighted
        to_unit = np.float64(1 / (FINE_UNIT * self.scale))
        head = [*self._columns, to_unit, entries, _hot(table, hot)]
        shape = (2 * self._cores, 1024, _table_bytes(table))
        self._launch(self._over_table(table, wide=wide), "fine", shape, [*head, sums])
        if weighted:
            return sums.double() * (FINE_UNIT * self.scale)
        return (sums.long() & 0xFFFFFFFF).double()

    def collect(
        self, table: CellTable, marked: IntArray, common: Any, most: int
    ) -> SortedRows | None:
        """Return the rows of marked cells, but those of each cell's common score, sorted there.

        None if they are more than ``most``.
        """
        torch, device = self._torch, self.scores.device
        weighted = self.weights is not None
        marks = np.zeros(-(-table.cells // 32) * 32, np.uint8)
        marks[marked] = 1
        words = np.packbits(marks, bitorder="little").view(np.int32)
        wide = table.kind.mantissa > 32
        long = wide or self._packed
        keys = torch.empty(most, dtype=torch.int64 if long else torch.int32, device=device)
        size = torch.zeros(1, dtype=torch.int64, device=device)
        apart = most if weighted and not self._packed else 0
        weights = torch.empty(apart, dtype=torch.float64, device=device)
        whole = np.int64 if wide else np.int32
        uploaded = [
            torch.from_numpy(each).to(device)
            for each in (table.entries.view(np.int32), words, common.view(whole))
        ]
        entries, flags, scores = uploaded
        nothing = np.uint64(0)
        rows = [*self._columns, nothing, nothing, entries, np.uint32(table.cells), flags, scores]
        self._launch(
            self._over_table(table, wide=wide or weighted),
            "collect",
            self._collecting(table.cells, table.kind.bins),
            [*rows, keys, weights, size, np.uint64(most)],
        )
        found = int(size)
        if found > most:
            return None
        return self._in_order(keys[:found], weights[:found])

    def _collecting(self, cells: int, bins: int) -> tuple[int, int, int]:
        """Return how many blocks of how many threads collect, and the bytes that each shares."""
        memory = cells * self.scores.element_size() + 4 * (bins + -(-cells // 32) + 32 * _STASH)
        return self._cores, 1024, memory

    def _in_order(self, keys: Any, weights: Any) -> SortedRows:
        """Return rows as a device happened to append them in the order of scores, then labels."""
        torch = self._torch
        if self.weights is None:
            return SortedRows(torch, self._sorted(keys), None, counted=False)
        if self._packed:
            packed = self._sorted(keys)
            weights = packed.to(torch.int32).view(torch.float32).double()
            return SortedRows(torch, (packed >> 32).to(torch.int32), weights, counted=False)
        # Rows that share a key go in the order of weights.
        weights, order = weights.sort()
        keys, again = keys[order].sort(stable=True)
        return SortedRows(torch, keys, weights[again], counted=False)

    def _sorted(self, keys: Any) -> Any:
        """Sort positive integers in place: keys alone, where torch would carry their places."""
        with self._here(), self._cupy.cuda.using_allocator(self._allocate):
            self._cupy.asarray(keys).sort()
        return keys

    def _allocate(self, size: int) -> Any:
        """Have CuPy take memory from torch."""
        memory = self._cupy.cuda
        room = self._torch.empty(size, dtype=self._torch.uint8, device=self.scores.device)
        return memory.MemoryPointer(memory.UnownedMemory(room.data_ptr(), size, room), 0)

    def blocks(self, rows: SortedRows, start: IntArray, stop: IntArray, pieces: int) -> Blocks:
        """Return ranges of sorted rows as about so many blocks."""
        torch = self._torch
        edges, wanted = rows.cuts(start, stop, pieces)
        begin, end = edges[:-1][wanted], edges[1:][wanted]
        out = torch.empty((len(begin), _COLUMNS), dtype=torch.float64, device=rows.keys.device)
        ends = torch.from_numpy(np.stack([begin, end], axis=1)).to(rows.keys.device)
        wide = rows.keys.dtype == torch.int64
        columns = [rows.keys] if rows.weights is None else [rows.keys, rows.weights]
        options = self._options(wide, 5, wide=wide or rows.weights is not None)
        self._launch(options, "ranges", (len(begin), 256, 0), [*columns, ends, out])
        found = np.ascontiguousarray(out.cpu().numpy().T)
        low, high = (_scores(bits.view(np.int64), wide=wide) for bits in found[:2])
        n1, down, up, w0, w1, rise, fall = found[2:]
        n1 = n1.astype(np.int64)
        n0 = end - begin - n1
        if rows.weights is None:
            w0, w1 = n0, n1
        # A little more than rounding can have moved them.
        rise, fall = (
            np.minimum(most, far * (1 + 1e-9) + 1e-9) for far, most in ((rise, up), (fall, down))
        )
        inside = Inside(rise, fall)
        return from_sums(low, high, (n0, n1), (down, up), weights=(w0, w1), inside=inside)

    @property
    def _columns(self) -> list[Any]:
        """The rows as kernels are given them."""
        columns = [self.scores, self.labels, self.weights]
        return [*(each for each in columns if each is not None), np.int64(self._rows)]

    def _options(
        self,
        double: bool,  # noqa: FBT001
        leading: int,
        *,
        wide: bool,
        totals: bool = True,
    ) -> tuple[str, ...]:
        options = [f"-DDOUBLE={int(double)}", f"-DWIDE={int(wide)}", f"-DM={leading}"]
        options += [f"-DPACKED={int(self._packed)}", _ALL_TOTALS if totals else "-DTOTALS=0"]
        if self.weights is not None:
            double_weights = self.weights.dtype == self._torch.float64
            options.append(f"-DWEIGHT={'double' if double_weights else 'float'}")
        return tuple(options)

    @contextmanager
    def _here(self) -> Iterator[None]:
        """Have CuPy work on the tensors' device, in the stream of torch."""
        if self._is_here:
            yield
            return
        stream = self._torch.cuda.current_stream(self.scores.device).cuda_stream
        cuda = self._cupy.cuda
        if hasattr(cuda.Stream, "from_external"):
            there = cuda.Stream.from_external(_Stream(stream))
        else:
            there = cuda.ExternalStream(stream, self._device)
        with cuda.Device(self._device), there:
            self._is_here = True
            try:
                yield
            finally:
                self._is_here = False

    def _launch(
        self, options: tuple[str, ...], name: str, shape: tuple[int, int, int], arguments: list[Any]
    ) -> None:
        """Launch a kernel: so many blocks of so many threads, with so many bytes to share."""
        blocks, threads, memory = shape
        with self._here():
            kernel = _kernel(self._cupy, self._device, options, name)
            if kernel.max_dynamic_shared_size_bytes < memory:  # noqa: PLR1730  (each is a call)
                kernel.max_dynamic_shared_size_bytes = memory
            passed = tuple(map(_argument, arguments))
            kernel((blocks,), (threads,), passed, shared_mem=memory)

    def _over_table(self, table: CellTable, *, wide: bool) -> tuple[str, ...]:
        return self._options(table.kind.mantissa > 32, table.kind.leading, wide=wide)


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
    return max(4 * (-(-table.kind.bins // 4) * 4), 8 * THREADS)


def _hot(table: CellTable, hot: Any) -> Any:
    """Return the bits of a score; of none, those of a NaN, which no row has."""
    kind = table.kind
    return kind.bits(np.iinfo(kind.bits).max) if hot is None else hot.reshape(1).view(kind.bits)[0]


def _joined(words: Any) -> FloatArray:
    """Return sums of 128 bits, whose low words come first, as doubles."""
    low, high = np.split(words.view(np.uint64), 2)
    joined: FloatArray = low + high * 2.0**64
    return joined
