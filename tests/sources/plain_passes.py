"""What the kernels give, from plain numpy and torch: the oracle of GpuSource and of the kernels."""

import numpy as np

from helpers import optional
from secant.sources.tensors.kernels import BAD_VALUE, CellCounts, Heights, Overview
from secant.sources.tensors.sorted import sort_rows

torch = optional("torch")

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "grid": lambda rng, n: rng.integers(0, 101, n) / 100,
    "half at one score": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    "one score": lambda rng, n: np.full(n, 0.3),
    "one score but for a few": lambda rng, n: np.where(np.arange(n) < n - 3, 0.3, 0.7),
    "skewed": lambda rng, n: rng.random(n) ** 30,
    "confident": lambda rng, n: rng.beta(5, 0.3, n),
    "tiny": lambda rng, n: rng.random(n) * 1e-15,
    "denormal": lambda rng, n: rng.random(n) * 1e-40,
    "certain": lambda rng, n: np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), rng.random(n)),
    "negative zero": lambda rng, n: np.where(rng.random(n) < 0.3, -0.0, rng.random(n)),
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
}


class PlainPasses:
    """Passes over tensors in the host's memory."""

    def __init__(self, scores, labels, weights=None, room=13_000):
        self.p, self.y = scores.numpy() + 0, labels.numpy().astype(np.int64)
        self.w = None if weights is None else weights.numpy().astype(float)
        self.scale = 1.0 if weights is None else 2.0 ** np.frexp(self.w.max())[1]
        self._room = room
        self.calls = []

    def room(self, *, wide):
        return self._room // (2 if wide else 1)

    def sample(self, size):
        rng = np.random.default_rng(0)
        return np.sort(self.p[rng.integers(0, len(self.p), size)])

    def heights(self):
        self.calls.append("heights")
        usable = (self.p >= 0) & (self.p <= 1) & (self.y <= 1)
        if not usable.all():
            return None
        x = self.p.astype(float)
        w = np.ones(len(x)) if self.w is None else self.w
        order = np.argsort(x, kind="stable")
        path = np.cumsum((w * (self.y - x))[order])
        ends = path[np.append(np.diff(x[order]) > 0, True)]
        variance = (w * w * x * (1 - x)).sum()
        return Heights(max(ends.max(), 0), min(ends.min(), 0), w.sum(), variance)

    def overview(self):
        self.calls.append("sort")
        x = self.p.astype(float)
        return Overview(x.min(), x.max(), self.y.max(), (x * (1 - x)).sum())

    def sort_all(self):
        return sort_rows(torch.from_numpy(self.p), torch.from_numpy(self.y), None, counted=False)

    def cells(self, table, hot, *, wide):  # noqa: ARG002  (as the kernels have them)
        self.calls.append("cells")
        with np.errstate(invalid="ignore"):
            bad = ~((self.p >= 0) & (self.p <= 1)) | (self.y > 1)
        if bad.any():
            return CellCounts(np.zeros(2), None, None, None, (), 0, BAD_VALUE, 0)
        x = self.p.astype(float)
        kept = slice(None) if self.w is None else self.w > 0
        x, y, p = x[kept], self.y[kept], self.p[kept]
        cell = table.cell(p)
        slot, size = 2 * cell + y, 2 * table.cells
        w = np.ones(len(x)) if self.w is None else self.w[kept]
        found, place = table._place(p)
        rest = place & ((1 << table.width[found]) - 1)
        if self.w is not None:
            rest = rest / 2.0 ** table.width[found]
        first = cell == 0
        tiny = np.bincount(y[first], (w * x)[first], 2)
        v = x * (1 - x)
        totals, steps = (v.sum(),), ()
        if self.w is not None:
            ww, error = w * w, (y - x) ** 2
            sums = (ww * v, w, ww, ww * error, ww * y, w * ww * v, w * error)
            totals = tuple(column.sum() for column in sums)
            steps = tuple(np.sort(w * np.maximum(x, 1 - x))[::-1][:12].tolist())
        return CellCounts(
            counts=np.bincount(slot, minlength=size),
            rests=np.bincount(slot, w * rest, size),
            loads=None if self.w is None else np.bincount(slot, w, size),
            tiny=tiny,
            totals=totals,
            zeros=int(((x == 0) & (y == 1)).sum()),
            faults=0,
            rows=len(x),
            steps=steps,
        )

    def fine(self, table, hot):  # noqa: ARG002  (as above)
        self.calls.append("fine")
        slot = 2 * table.cell(self.p) + self.y
        return torch.from_numpy(np.bincount(slot, self.w, 2 * table.cells).astype(float))

    def collect(self, table, marked, common, most):
        self.calls.append("collect")
        cell = table.cell(self.p)
        wanted = np.isin(cell, marked) & (self.p != common[cell])
        if self.w is not None:
            wanted &= self.w > 0
        if wanted.sum() > most:
            return None
        weights = None if self.w is None else torch.from_numpy(self.w[wanted])
        return sort_rows(
            torch.from_numpy(self.p[wanted]),
            torch.from_numpy(self.y[wanted]),
            weights,
            counted=False,
        )

    def blocks(self, rows, start, stop, pieces):
        return rows.blocks(start, stop, pieces, moments=False)
