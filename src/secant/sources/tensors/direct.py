"""The extremes of the path, found on a GPU from end to end: a few numbers come to the host.

Of not too many rows all are sorted. Of more, only those of the cells that could hold an extreme;
while these hold too many, their insides are counted in finer cells, which tells how far the path
can stray there and so closes most of them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from secant.sources.tensors.cell_table import Kind
from secant.sources.tensors.kernels import HEAD, REALS, THREADS, CudaPasses, Heights

__all__ = ["DirectPasses"]

# Rows up to which all of them are sorted: those that fit 32 bits, and others.
SORT_UP_TO = 1 << 24
SORT_LONG_UP_TO = 1 << 22
# Cells at most, and rows of them that are taken, as a share of all.
CELLS = 13_000
TAKE_SHARE = 1 / 16
TAKE_AT_LEAST = 1 << 20
# How often the insides of cells are counted before giving up, and what closes too few of them.
LOOKS = 5
_HARDLY_LESS = 0.8
# Rows that a block of threads walks along, and words for odds and ends.
_TILE = 4096
_EXTRA = 8


class _Found(NamedTuple):
    """What the device tells: Head in cells.cu."""

    cells: int
    hot: int
    scale: float
    faults: int
    weight: float
    variance: float
    top: float
    bottom: float
    open: int
    loose: int
    highest: float
    lowest: float
    taken: int

    @property
    def usable(self) -> bool:
        """Whether rows and sums are what they must be."""
        return not self.faults and self.weight > 0


_REALS = {"scale", "weight", "variance", "top", "bottom", "highest", "lowest"}
_KINDS = np.dtype([(name, "f8" if name in _REALS else "i8") for name in _Found._fields])


class _Room:
    """Memory on the device, some words of eight bytes under each name, all of them 0 at first."""

    def __init__(self, torch: Any, device: Any, sizes: dict[str, int]) -> None:
        self._words = torch.zeros(sum(sizes.values()), dtype=torch.int64, device=device)
        places = np.cumsum([0, *sizes.values()])
        start = self._words.data_ptr()
        self._at = {name: start + 8 * int(at) for name, at in zip(sizes, places, strict=False)}
        self._parts = dict(zip(sizes, pairwise(places.tolist()), strict=True))

    def __getitem__(self, names: str) -> list[Any]:
        return [np.uint64(self._at[name]) for name in names.split()]

    def clear(self, name: str) -> None:
        """Make some words 0 again."""
        self._words[slice(*self._parts[name])].zero_()

    def found(self) -> _Found:
        """Return what stands in the head, which comes first."""
        return _Found(*self._words[:HEAD].cpu().numpy().view(_KINDS)[0].item())


class _Taken(NamedTuple):
    """Room for rows that are taken."""

    keys: Any
    weights: Any

    def put(self, room: _Room) -> list[Any]:
        """Return where to put them, where to count them, and how many there may be."""
        counted = room["head"][0] + np.uint64(8 * (HEAD - 1))
        return [self.keys, self.weights, counted, np.uint64(len(self.keys))]


class DirectPasses(CudaPasses):
    """Passes that find the extremes of the path by themselves."""

    def heights(self) -> Heights | None:
        """Find the extremes of the path; None if a value is unusable, or memory is short."""
        long = self.scores.element_size() > 4 or self.weights is not None
        with self._here():
            try:
                found = None
                if self._rows > (SORT_LONG_UP_TO if long else SORT_UP_TO):
                    found = self._by_cells(wide=long)
                    if found is None and not long:  # cells may be fuller than the sample told
                        found = self._by_cells(wide=True)
                return found or self._by_sorting()
            except self._torch.cuda.OutOfMemoryError:
                return None

    def _by_sorting(self) -> Heights | None:
        torch, n = self._torch, np.int64(self._rows)
        blocks, tiles = 4 * self._cores, -(-self._rows // _TILE)
        sizes = {"head": HEAD, "extra": _EXTRA, "reals": REALS * blocks, "ways": 3 * tiles}
        room = _Room(torch, self.scores.device, sizes)
        double = self.scores.element_size() > 4
        whole = torch.int64 if double or self._packed else torch.int32
        keys = torch.empty(self._rows, dtype=whole, device=self.scores.device)
        weights: Any = np.uint64(0)
        options = self._options(double, 5, wide=double or self.weights is not None, totals=False)
        run = partial(self._run, options)
        run("pack", blocks, 512, 0, self._columns, keys, room["reals extra"])
        if self.weights is None or self._packed:
            self._sorted(keys)
        else:
            keys, order = keys.sort(stable=True)
            weights = self.weights[order].double()
        run("walk", tiles, 256, 0, keys, weights, n, room["ways"])
        sums = [np.int64(tiles), *room["reals"], np.uint32(blocks), *room["extra"], n]
        run("finish", 1, 1024, 0, room["ways"], sums, room["head"])
        found = room.found()
        if not found.usable:
            return None
        return Heights(found.top, found.bottom, found.weight, found.variance)

    def _by_cells(self, *, wide: bool) -> Heights | None:
        weighted = self.weights is not None
        most = min(CELLS, self.room(wide=wide))
        floats = np.dtype(f"f{self.scores.element_size()}")
        kinds = [Kind.of(floats, leading) for leading in (5, 4, 3)]
        kind = next((each for each in kinds if 8 * each.bins <= most), kinds[-1])
        table_bytes = max(4 * (-(-kind.bins // 4) * 4), 8 * THREADS)
        # Fine cells, of which a block of threads counts as many as fit beside two tables.
        budget = (self._memory - table_bytes - 4 * most - 1024) // (8 if weighted else 4)
        budget = min(budget, 0xFFFF)
        blocks = self._cores
        room = _Room(
            self._torch,
            self.scores.device,
            {
                "head": HEAD,
                "extra": _EXTRA,
                "counts": 2 * most,
                "rests": 4 * most,
                "loads": 4 * most if weighted else 0,
                "reals": REALS * blocks,
                "fine": 2 * budget,
                "ways": 3 * most,
            }
            | dict.fromkeys(("common", "tied", "rise", "fall", "marks", "finer"), most)
            | {"before": most + 1, "table": kind.bins},
        )
        double = kind.mantissa > 32
        run = partial(self._run, self._options(double, kind.leading, wide=wide, totals=False))
        rows, n, cells = self._columns, np.int64(self._rows), np.uint32(most)
        memory = 12 * (kind.bins + most)
        run("plan", 1, 1024, memory, rows, cells, room["table common tied head"])
        memory = table_bytes + 8 * self._words(wide=wide) * most
        sums = room["counts rests loads reals extra"]
        run("cells", blocks, THREADS, memory, rows, room["table head"], sums, cells)
        limit = int(max(TAKE_AT_LEAST, TAKE_SHARE * self._rows))
        taken = self._space(limit)
        before = 2 * self._rows
        for look in range(LOOKS):
            sizes = [np.uint32(look), np.uint32(blocks), cells, np.uint32(budget)]
            places = room["before rise fall marks finer"]
            known = [*room["table"], *sums, *room["common tied head"]]
            run("choose", 1, 1024, table_bytes, n, sizes, known, places)
            # Taken without asking whether that is not too many: the device knows.
            wanted = [*room["head"], np.uint64(limit), *room["table"], cells, *room["marks common"]]
            run("collect", *self._collecting(most, kind.bins), rows, wanted, taken.put(room))
            found = room.found()
            if not found.usable:
                return None
            if found.loose <= limit:
                return self._within(run, room, found, taken)
            if found.loose > _HARDLY_LESS * before:
                break
            before = found.loose
            room.clear("fine")
            memory = self._memory - 1024
            narrowed = [np.uint32(budget), *room["table finer extra head fine"]]
            run("narrow", self._cores, 1024, memory, rows, narrowed)
            known = room["table finer counts loads fine head rise fall"]
            run("limits", -(-most // 8), 256, 0, n, cells, known)
        return None

    def _space(self, limit: int) -> _Taken:
        """Return room for rows, more than expected: what cells hold beside a tie is estimated."""
        torch, most = self._torch, min(2 * limit, self._rows)
        long = self.scores.element_size() > 4 or self._packed
        whole = torch.int64 if long else torch.int32
        apart = most if self.weights is not None and not self._packed else 0
        device = self.scores.device
        keys = torch.empty(most, dtype=whole, device=device)
        return _Taken(keys, torch.empty(apart, dtype=torch.float64, device=device))

    def _within(self, run: Any, room: _Room, found: _Found, taken: _Taken) -> Heights | None:
        """Walk along the rows of the cells that are open."""
        if not found.open:
            return Heights(found.top, found.bottom, found.weight, found.variance)
        if found.taken > len(taken.keys):
            return None
        keys, weights = taken.keys[: found.taken], taken.weights
        if len(weights):  # rows that share a key go in the order of weights
            weights, order = weights[: found.taken].sort()
            keys, again = keys[order].sort(stable=True)
            weights = weights[again]
        elif found.taken:
            self._sorted(keys)
        places = room["table marks common before ways"]
        run("within", found.cells, 1024, 0, keys, weights, np.int64(found.taken), places)
        run("conclude", 1, 1024, 0, room["ways marks head"])
        found = room.found()
        return Heights(found.highest, found.lowest, found.weight, found.variance)

    def _run(
        self,
        options: tuple[str, ...],
        name: str,
        blocks: int,
        threads: int,
        memory: int,
        *arguments: Any,
    ) -> None:
        """Launch a kernel; lists of arguments are passed one after the other."""
        passed: list[Any] = []
        for each in arguments:
            passed += each if isinstance(each, list) else [each]
        self._launch(options, name, (blocks, threads, memory), passed)
