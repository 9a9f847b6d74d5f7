"""The file that holds a monitor: JSON, text that holds nothing to execute.

Its last field is the SHA-256 of what stands before it. Doubles are written with all their digits,
so that a monitor which is saved and loaded goes on with the same numbers. A file may come from
anywhere, so everything in it is checked before it is believed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base import checked_json as checked
from secant._base.checked_json import require
from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import COMPONENTS, FINE, GRID, Evidence
from secant._inference.monitor_state import ENOUGH, Record, State, Table, joined
from secant._input.options import is_whole
from secant._input.periods import from_text, next_time, to_text
from secant.errors import InputError

if TYPE_CHECKING:
    import os

__all__ = ["pack", "read", "unpack"]

_WHAT = "secant monitor"
_VERSION = 1
_BEGINNING = re.compile(rb'\{"what": "secant monitor", "version": ([^,}]*)')
_MOST_BYTES = 1 << 28
_COUNT = checked.whole(0, 2**53)


def _counts(size: int | range) -> checked.Check:
    return checked.array(_COUNT, size, np.int64)


def _numbers(size: int | range) -> checked.Check:
    return checked.array(checked.number, size, np.float64)


def _table(columns: Any) -> Table:
    n, events, scored = columns
    return Table(_counts(FINE)(n), _counts(FINE)(events), _numbers(FINE)(scored))


_BATCH = {
    "kind": checked.anything,
    "time": checked.anything,
    "n": _COUNT,
    "events": _COUNT,
    "scored": checked.number,
    "hits": checked.number,
    "impossible": lambda pair: tuple(_counts(2)(pair).tolist()),
    "sloped": checked.boolean,
    "log_evidence": checked.number,
    "heaviest": checked.whole(0, COMPONENTS - 1),
    "start": _COUNT,
    "table": checked.optional(_table),
}
_FEW = range(ENOUGH)
_WAITING = {"grid": checked.whole(1, GRID), "batch": _counts(_FEW)}
_WAITING |= {"mean": _numbers(_FEW), "n0": _counts(_FEW), "n1": _counts(_FEW)}
_STATE = {
    "what": checked.anything,
    "version": checked.anything,
    "alpha": checked.number,
    "tolerance": checked.number,
    "batches": checked.anything,
    "edges": checked.optional(_numbers(FINE + 1)),
    "waiting": checked.anything,
    "won": checked.optional(_numbers(COMPONENTS)),
    "best": checked.optional(_numbers(COMPONENTS)),
    "start": checked.optional(_counts(COMPONENTS)),
    "sha256": checked.anything,
}


def pack(state: State) -> bytes:
    """Return the content of a file that holds a state."""
    evidence, rows = state.evidence, [record.rows for record in state.records]
    batch = np.repeat(np.arange(len(rows)), [len(each.mean) for each in rows])
    fields = {
        "what": _WHAT,
        "version": _VERSION,
        "alpha": state.alpha,
        "tolerance": state.tolerance,
        "batches": [_packed(record) for record in state.records],
        "edges": state.edges,
        "waiting": {"grid": state.grid, "batch": batch, **joined(rows)._asdict()},
        "won": evidence.won if rows else None,
        "best": evidence.best if rows else None,
        "start": evidence.start if rows else None,
    }
    text = json.dumps(fields, allow_nan=False, default=np.ndarray.tolist)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]}, "sha256": "{digest}"}}\n'.encode()


def _packed(record: Record) -> dict[str, Any]:
    kind, text = to_text(record.time)
    known = {name: value for name, value in vars(record).items() if name != "rows"}
    return {"kind": kind, **known, "time": text}


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file that holds a state, whole as it was written.

    Raises
    ------
    InputError
        If the file is not one of these, has another version, or was cut short or changed.
    """
    about = Path(path).stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe would block and a device never end
        raise InputError(f"{path} is not the state of a secant.Monitor: it is no file")
    if about.st_size > _MOST_BYTES:
        msg = f"{path} is larger than the state of any monitor of secant"
        raise InputError(msg)
    with Path(path).open("rb") as file:
        content = file.read(about.st_size)  # for more, memory would be taken at once
    begins = _BEGINNING.match(content)
    try:
        version = json.loads(begins[1]) if begins else None
    except ValueError:
        version = None
    if version is None:
        raise InputError(f"{path} is not the state of a secant.Monitor")
    if not is_whole(version, _VERSION, _VERSION):
        msg = f"{path} has version {version!r} of the format; this secant reads {_VERSION}"
        raise InputError(msg)
    text, _, digest = content.rpartition(b', "sha256": ')
    if digest != b'"%b"}\n' % hashlib.sha256(text + b"}").hexdigest().encode():
        raise _damaged(path, "it was cut short or changed")
    return content


def unpack(path: str | os.PathLike[str], content: bytes | None = None) -> State:
    """Read a file that holds a state, or what :func:`read` returned of it.

    Raises
    ------
    InputError
        As :func:`read`, or if what the file says makes no sense.
    """
    content = read(path) if content is None else content
    try:
        return _state(checked.parse(content, _checked))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise _damaged(path, "its numbers make no sense") from error


def _damaged(path: str | os.PathLike[str], how: str) -> InputError:
    return InputError(f"{path} is a damaged state of a secant.Monitor: {how}")


def _checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Check an object as soon as it is read: its lists take several times what arrays do."""
    schema = _BATCH if "table" in fields else _WAITING if "grid" in fields else _STATE
    return checked.read_fields(schema, fields)


def _state(fields: dict[str, Any]) -> State:
    alpha, tolerance, edges = fields["alpha"], fields["tolerance"], fields["edges"]
    require(0 < alpha < 1 and 0 <= tolerance < 1)
    if edges is not None:
        on_grid = not (edges * GRID % 1).any() and not (np.diff(edges) < 0).any()
        require(on_grid and edges[0] == 0 and edges[-1] == 1)
    grid, rows = _waiting(fields["waiting"], len(fields["batches"]))
    records: list[Record] = []
    for batch, waiting in zip(fields["batches"], rows, strict=True):
        time = from_text(batch["kind"], batch["time"])
        require(next_time(time, records[-1].time if records else None) == time)
        known = {name: batch[name] for name in _BATCH if name != "kind"}
        records.append(Record(**known | {"time": time, "rows": waiting}))
        _check(records[-1], len(records), cut=edges is not None)
    evidence, components = Evidence.none(), [fields[name] for name in ("won", "best", "start")]
    require(all((each is not None) == bool(records) for each in components))
    if records:
        evidence = Evidence(len(records), *components)
        require(((evidence.start >= 1) & (evidence.start <= len(records))).all())
    state = State(alpha, tolerance, tuple(records), evidence, edges, grid)
    if records:
        told, truly = records[-1].log_evidence, float(evidence.log_mixture(state.prior))
        require(math.isclose(told, truly, rel_tol=1e-9, abs_tol=1e-9))
    require(state.waiting < ENOUGH)
    return state


def _waiting(fields: dict[str, Any], batches: int) -> tuple[int, list[CellMeans]]:
    """Return the grid that ranges may be cut on, and the rows that wait of each batch."""
    grid, batch, mean, n0, n1 = (fields[name] for name in _WAITING)
    require(not grid & (grid - 1) and len(batch) == len(mean) == len(n0) == len(n1))
    require(((mean >= 0) & (mean <= 1) & (n0 + n1 > 0) & (batch < batches)).all())
    each = (batch == number for number in range(batches))
    return grid, [CellMeans(mean[ours], n0[ours], n1[ours]) for ours in each]


def _check(record: Record, number: int, *, cut: bool) -> None:
    n, events, rows, table = record.n, record.events, record.rows, record.table
    require(0 <= record.hits <= record.scored + 1e-6 <= n + 2e-6)
    zero, one = record.impossible
    require(events <= n and zero <= events and one <= n - events)
    require(1 <= record.start <= number)
    require((table is not None) == cut)
    if table is None:
        require(((rows.n0 + rows.n1).sum(), rows.n1.sum()) == (n, events))
        return
    require(not len(rows.mean))
    require((table.n.sum(), table.events.sum()) == (n, events))
    sound = (table.events <= table.n) & (table.scored >= 0) & (table.scored <= table.n + 1e-6)
    require(sound.all())
