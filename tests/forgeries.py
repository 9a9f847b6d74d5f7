"""Files of cells made to deceive: right magic, right checksum, wrong content.

``forge(rng)`` makes one, and ``judge(path)`` asserts that it is refused in words or is a state like
any other. The tests judge the same few thousand every time. To look for more, without end::

    PYTHONPATH=src:tests python tests/forgeries.py [SEED] [HOW_MANY]
"""

import collections
import hashlib
import itertools
import json
import math
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from secant import Cells, InputError

MAGIC = b"secant cells\n"
SCORES = [0.0, 1.0, 0.5, 0.3, 5e-324, 1e-300, 1e-9, 1 - 2**-53, 1 - 1e-9, 0.25, 0.75]
# JSON as it may stand in a file, some of which no number is.
TEXTS = [
    *("NaN", "Infinity", "-Infinity", "1e999", "-0.0", "-0", "true", "false", "null", '"5"', "[]"),
    *("{}", "1" * 400, "1" * 1500, "-1", "0", "0.5", "1", "2", "1e-320", "1e308", "1.0", "[" * 900),
    *map(str, (2**16, 2**24, 2**25, 2**53, 2**62, 2**63, 2**64)),
]
INTEGERS = [0, 1, 2, -1, 2**31, 2**53, 2**62, 2**62 - 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-200, 1e200, 1.7e308]
OUTCOME_WEIGHTS = [None, None, None, (20, 1), (1, 1e6), (1e-4, 1e5)]
FACTORS = [0.0, 0.5, 1 - 1e-5, 1 + 1e-5, 2.0, 1e9, 1e-9, -1.0]


def honest(rng):
    """Return some cells that were fed with predictions, ordinary and extraordinary ones."""
    made = []
    by_outcome = OUTCOME_WEIGHTS[rng.integers(len(OUTCOME_WEIGHTS))]
    for _ in range(rng.integers(0, 4)):
        cells = Cells(1 << int(rng.choice([0, 1, 4, 8])), outcome_weights=by_outcome)
        for _ in range(rng.integers(1, 3)):
            n = int(rng.integers(1, 20))
            scores = np.where(rng.random(n) < 0.5, rng.choice(SCORES, n), rng.random(n))
            weights = [
                {},
                {"sample_weight": 10 ** rng.uniform(-2, 2, n)},
                {"sample_weight": 10 ** rng.uniform(-99, 99, n)},
                {"sample_weight": np.full(n, 1e100)},
                {"sample_weight": rng.integers(1, 9, n), "weight_kind": "frequency"},
                {"sample_weight": np.full(n, 2.0**48), "weight_kind": "frequency"},
            ][rng.integers(6)]
            cells.update(rng.integers(0, 2, n), scores, **weights)
        made.append(cells)
    return sum(made, Cells(1 << int(rng.choice([0, 6, 12])), outcome_weights=by_outcome))


def as_version_1(cells):
    """Return the file that version 1 of the format would have had for a state."""
    sums, totals = cells._sums, cells._sums.totals()
    filled = np.flatnonzero(sums.count[::2] + sums.count[1::2])
    pairs = {name: column.reshape(-1, 2)[filled] for name, column in sums.columns().items()
             if name != "wwv"}  # fmt: skip
    wv = pairs.pop("wv").sum(axis=1)
    ww = pairs.pop("ww", pairs["count"]).sum(axis=1).astype(float)
    wwv = sums.wwv[filled] if sums.sampling else wv
    columns = [sums.grid.cells[filled], *pairs.values(), wv, wwv, ww]
    header = {
        "version": 1,
        "n_cells": sums.grid.n_cells,
        "filled": len(filled),
        "sampling": sums.sampling,
        "forbidden": cells.forbidden,
        "totals": {
            "n": totals.n,
            "weight": totals.weight,
            "ww": totals.ww,
            "wwv": totals.variance,
            "wwe": totals.squares + totals.variance if sums.sampling else 0.0,
            "largest": 0.25 if totals.n and not sums.sampling else float(wwv.max(initial=0)),
        },
    }
    packed = zlib.compress(b"".join(column.tobytes() for column in columns))
    content = MAGIC + json.dumps(header).encode() + b"\n" + packed
    return content + hashlib.sha256(content).digest()


class Forgery:
    """The content of a file, taken apart."""

    def __init__(self, content):
        line, _, packed = content[len(MAGIC) : -32].partition(b"\n")
        self.header = json.loads(line)
        self.columns = self._columns(zlib.decompress(packed))
        self.line = self.packed = None
        self.level = -1

    def _columns(self, data):
        totals, old = self.header["totals"], self.header["version"] == 1
        sampling = self.header["sampling"]
        widths = {"cells": 1, "count": 2, "offset": 2, **({"weight": 2} if sampling else {})}
        widths["wv"] = 1 if old or totals["outcome_weights"] is None else 2
        if sampling or old:
            widths |= {"wwv": 1, "ww": 1 if old or totals["ww1"] is None else 2}
        columns, start = {}, 0
        for name, width in widths.items():
            size = width * self.header["filled"]
            kind = "<i8" if name in {"cells", "count"} else "<f8"
            columns[name] = np.frombuffer(data, kind, size, start).copy()
            start += 8 * size
        return columns

    def content(self):
        """Put it together again, under a checksum that fits."""
        line = json.dumps(self.header) if self.line is None else self.line
        raw = b"".join(column.tobytes() for column in self.columns.values())
        packed = zlib.compress(raw, self.level) if self.packed is None else self.packed
        content = MAGIC + line.encode() + b"\n" + packed
        return content + hashlib.sha256(content).digest()


def of_header(rng, forgery):
    """Change, take away or add a field."""
    where = forgery.header if rng.random() < 0.5 else forgery.header.get("totals")
    if not isinstance(where, dict):
        return
    name = str(rng.choice(list(where) or ["n"]))
    how = rng.integers(5)
    if how == 0:
        where.pop(name, None)
    elif how == 1:
        where["more"] = 1
    elif how == 2 and type(where.get(name)) in {int, float}:
        factor = float(rng.choice(FACTORS))
        where[name] = type(where[name])(min(where[name] * factor, 1e300))
    elif how == 3 and type(where.get(name)) is int:
        where[name] += int(rng.choice([-1, 1, 2, 2**53, 2**63]))
    else:
        where[name] = rng.choice([0, 1, 2, 4, 64, 1 << 24]).item()


def of_text(rng, forgery):
    """Write something else where a value stands, or a name twice."""
    line = json.dumps(forgery.header)
    colons = [place for place, each in enumerate(line) if each == ":"]
    place = int(rng.choice(colons))
    end = min(at for at in (line.find(",", place), line.find("}", place), len(line)) if at > 0)
    if rng.random() < 0.2:
        start = line.rfind('"', 0, place - 1)
        again = f"{line[start:place]}: {rng.choice(TEXTS)}, "
        forgery.line = line[:start] + again + line[start:]
    else:
        forgery.line = f"{line[: place + 1]} {rng.choice(TEXTS)}{line[end:]}"


def of_sum(rng, forgery):
    """Change a number, and perhaps the total with it, so that the sum still agrees."""
    name = str(rng.choice(list(forgery.columns)))
    column = forgery.columns[name]
    if not column.size:
        return
    place = int(rng.integers(column.size))
    before, how = column[place], rng.integers(4)
    with np.errstate(all="ignore"):
        if how == 0:
            column[place] = rng.choice(INTEGERS if column.dtype == np.int64 else FLOATS)
        elif how == 1:
            scaled = float(column[place]) * float(rng.choice(FACTORS))
            column[place] = min(max(scaled, -9e18), 9e18) if column.dtype == np.int64 else scaled
        elif how == 2:
            other = int(rng.integers(column.size))
            column[[place, other]] = column[[other, place]]
        else:
            column[place : place + 1].view(np.int64)[:] ^= 1 << int(rng.integers(62))
        totals = forgery.header.get("totals")
        total = {"count": "n", "weight": "weight", "ww": "ww", "wwv": "variance"}.get(name)
        if total == "variance" and isinstance(totals, dict) and "wwv" in totals:
            total = "wwv"
        if total and isinstance(totals, dict) and total in totals and rng.random() < 0.7:
            difference = float(column[place]) - float(before)
            if math.isfinite(difference) and math.isfinite(totals[total] + difference):
                totals[total] += int(difference) if total == "n" else difference


def of_scale(rng, forgery):
    """Multiply a whole column, as if something else had been counted."""
    name = str(rng.choice(list(forgery.columns)))
    column = forgery.columns[name]
    with np.errstate(all="ignore"):
        scaled = column * float(rng.choice(FACTORS))
        forgery.columns[name] = np.clip(scaled, -9e18, 9e18).astype(column.dtype)


def of_rows(rng, forgery):
    """Take rows away, repeat them or put them into another order."""
    filled = forgery.columns["cells"].size
    if not filled:
        return
    rows = rng.choice(filled, int(rng.integers(0, filled + 2)), replace=True)
    rows = np.sort(rows) if rng.random() < 0.7 else rows
    for name, column in forgery.columns.items():
        forgery.columns[name] = column.reshape(filled, -1)[rows].ravel()
    if rng.random() < 0.7:
        forgery.header["filled"] = int(rows.size)


def of_packing(rng, forgery):
    """Pack the numbers otherwise, cut them short, add to them, or flip a bit."""
    raw = b"".join(column.tobytes() for column in forgery.columns.values())
    more = bytes(int(rng.choice([1, 8, 80, 1 << 20])))
    packed = zlib.compress(raw, int(rng.integers(0, 10)))
    how = rng.integers(8)
    if how == 0:
        packed = zlib.compress(raw + more)
    elif how == 1:
        packed += more[:100]
    elif how == 2:
        packed += zlib.compress(more)
    elif how == 3:
        packed = packed[: rng.integers(len(packed))]
    elif how == 4:
        packed = zlib.compress(raw[: rng.integers(len(raw) + 1)])
    elif how == 5:
        packed = raw
    elif how == 6:
        flipped = bytearray(packed)
        flipped[rng.integers(len(flipped))] ^= 1 << int(rng.integers(8))
        packed = bytes(flipped)
    else:
        packed = zlib.compress(bytes(8 * 10 * 65537))
        forgery.header["filled"], forgery.header["n_cells"] = 65537, 65536
    forgery.packed = packed


WAYS = [of_header, of_text, of_sum, of_sum, of_scale, of_rows, of_packing]


def forge(rng, folder):
    """Return the content of a file with up to three things wrong, now and then with none."""
    cells = honest(rng)
    cells.save(Path(folder) / "honest")
    content = (Path(folder) / "honest").read_bytes()
    if rng.random() < 0.3 and cells.outcome_weights is None:
        content = as_version_1(cells)
    forgery = Forgery(content)
    changes = int(rng.choice([0, 1, 1, 1, 2, 3]))
    for way in rng.choice(len(WAYS), changes):
        WAYS[way](rng, forgery)
    return forgery.content(), not changes


def judge(path, *, is_honest=False):
    """Assert that a file is refused by its name, or loads as a state that answers; say which."""
    try:
        cells = Cells.load(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017
        assert not is_honest, "a state that was saved is not to be refused"
        return "refused"
    assert 0 <= cells.forbidden <= cells.n < 2**62
    if cells.n:
        assert_answers(cells)
        by_outcome = cells.outcome_weights
        others = (state_of_one_row(n_cells, by_outcome) for n_cells in (cells.n_cells, 1))
        for other in (cells, *others):
            try:
                both = cells + other
            except InputError as error:
                assert "2**62" in str(error)  # noqa: PT017
                assert cells.n + other.n >= 2**62
            else:
                assert both.n == cells.n + other.n
                assert_answers(both)
    again = Path(f"{path} again")
    cells.save(again)
    loaded = Cells.load(again)
    assert (loaded.n, loaded.n_cells, loaded.forbidden) == (cells.n, cells.n_cells, cells.forbidden)
    assert not cells.n or loaded.bounds() == cells.bounds()
    return "loaded"


def state_of_one_row(n_cells, outcome_weights=None):
    cells = Cells(min(n_cells, 64), outcome_weights=outcome_weights)
    cells.update([1], [0.3])
    return cells


def assert_answers(cells):
    """Assert what holds for all predictions."""
    bounds = cells.bounds()
    assert bounds.n == cells.n
    for low, high in (bounds.ecce_r, bounds.ecce_mad):
        assert 0 <= low <= high <= 1 + 1e-6
    for low, high in (bounds.ecce_r_pvalue, bounds.ecce_mad_pvalue):
        assert 0 <= low <= high <= 1
    assert bounds.ecce_mad[0] <= bounds.ecce_r[1]
    assert bounds.ecce_r[0] <= 2 * bounds.ecce_mad[1]
    assert math.isfinite(bounds.sigma)
    # Sigma again, from nothing but the weights and where the cells are.
    blocks = cells._sums.blocks()
    ends = np.maximum(blocks.low * (1 - blocks.low), blocks.high * (1 - blocks.high))
    at_most = np.where((blocks.low <= 0.5) & (blocks.high >= 0.5), 0.25, ends)
    most = float((at_most * blocks.weight.astype(float) ** 2).sum())
    variance = (bounds.sigma * float(blocks.weight.sum())) ** 2
    if cells.outcome_weights is None:
        assert variance <= most * (1 + 1e-6) + 1e-290


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else None
    rng = np.random.default_rng(seed)
    rounds = range(int(sys.argv[2])) if len(sys.argv) > 2 else itertools.count()
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in rounds:
            content, is_honest = forge(rng, folder)
            path = Path(folder) / "forged"
            path.write_bytes(content)
            try:
                found[judge(path, is_honest=is_honest)] += 1
            except BaseException:
                kept = Path(f"forged-{hashlib.sha256(content).hexdigest()[:12]}.cells")
                kept.write_bytes(content)
                print(f"after {number:,} files: {kept}", file=sys.stderr)  # noqa: T201
                raise
            if number % 1000 == 999:
                print(f"{number + 1:,}: {dict(found)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
