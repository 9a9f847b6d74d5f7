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
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from secant._blocks.cell_sums import CellMeans
from secant._inference.evalues import COMPONENTS, FINE, GRID, Evidence
from secant._inference.monitor_state import ENOUGH, Record, State, Table, Waiting
from secant._input.options import is_whole
from secant._input.periods import from_text, next_time, to_text
from secant.errors import InputError

if TYPE_CHECKING:
    import os

    from secant._base.types import FloatArray, IntArray

__all__ = ["pack", "read", "unpack"]

_WHAT = "secant monitor"
_VERSION = 1
_BEGINNING = re.compile(rb'\{"what": "secant monitor", "version": ([^,}]*)')
_MOST_BYTES = 1 << 28
_MOST_ROWS = 2**53


def pack(state: State) -> bytes:
    """Return the content of a file that holds a state."""
    evidence, waiting = state.evidence, state.waiting
    fields = {
        "what": _WHAT,
        "version": _VERSION,
        "alpha": state.alpha,
        "tolerance": state.tolerance,
        "batches": [_packed(record) for record in state.records],
        "edges": None if state.edges is None else state.edges.tolist(),
        "waiting": {
            "grid": waiting.grid,
            "batch": waiting.batch.tolist(),
            **{name: column.tolist() for name, column in waiting.rows._asdict().items()},
        },
        "won": evidence.won.tolist() if evidence.batches else None,
        "best": evidence.best.tolist() if evidence.batches else None,
        "start": evidence.start.tolist() if evidence.batches else None,
    }
    text = json.dumps(fields, allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]}, "sha256": "{digest}"}}\n'.encode()


def _packed(record: Record) -> dict[str, Any]:
    kind, text = to_text(record.time)
    table = record.table
    return {
        "kind": kind,
        "time": text,
        "n": record.n,
        "events": record.events,
        "scored": record.scored,
        "hits": record.hits,
        "impossible": list(record.impossible),
        "sloped": record.sloped,
        "log_evidence": record.log_evidence,
        "heaviest": record.heaviest,
        "start": record.start,
        "table": None
        if table is None
        else [table.n.tolist(), table.events.tolist(), table.scored.tolist()],
    }


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
        return _state(json.loads(content, object_hook=_compact, parse_constant=_refuse))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise _damaged(path, "its numbers make no sense") from error


def _compact(fields: dict[str, Any]) -> dict[str, Any]:
    """Make arrays of the table of a batch as soon as it is read: lists take several times that."""
    if isinstance(fields.get("table"), list):
        rows, happened, scores = fields["table"]
        fields["table"] = Table(_counts(rows, FINE), _counts(happened, FINE), _floats(scores, FINE))
    return fields


def _state(fields: dict[str, Any]) -> State:
    alpha, tolerance = _number(fields["alpha"]), _number(fields["tolerance"])
    _believe(0 < alpha < 1 and 0 <= tolerance < 1)
    edges = fields["edges"]
    if edges is not None:
        edges = _floats(edges, FINE + 1)
        on_grid = not (edges * GRID % 1).any() and not (np.diff(edges) < 0).any()
        _believe(on_grid and edges[0] == 0 and edges[-1] == 1)
    records: list[Record] = []
    for number, packed in enumerate(fields["batches"]):
        record = _record(packed, number, cut=edges is not None)
        _believe(next_time(record.time, records[-1].time if records else None) == record.time)
        records.append(record)
    evidence = Evidence.none()
    if records:
        start = _counts(fields["start"], COMPONENTS)
        _believe((start >= 1).all() and (start <= len(records)).all())
        won, best = _floats(fields["won"], COMPONENTS), _floats(fields["best"], COMPONENTS)
        evidence = Evidence(len(records), won, best, start)
    state = State(alpha, tolerance, tuple(records), evidence, edges, _waiting(fields, records))
    if records:
        told, truly = records[-1].log_evidence, float(evidence.log_mixture(state.prior))
        _believe(math.isclose(told, truly, rel_tol=1e-9, abs_tol=1e-9))
        _believe((state.waiting.n == 0) if edges is not None else (state.waiting.n < ENOUGH))
    return state


def _record(packed: dict[str, Any], number: int, *, cut: bool) -> Record:
    n, events = packed["n"], packed["events"]
    _believe(is_whole(n, 0, _MOST_ROWS) and is_whole(events, 0, n))
    scored, hits = _number(packed["scored"]), _number(packed["hits"])
    _believe(0 <= hits <= scored + 1e-6 <= n + 2e-6)
    zero, one = packed["impossible"]
    _believe(is_whole(zero, 0, events) and is_whole(one, 0, n - events))
    heaviest, start = packed["heaviest"], packed["start"]
    _believe(is_whole(heaviest, 0, COMPONENTS - 1) and is_whole(start, 1, number + 1))
    _believe(isinstance(packed["sloped"], bool))
    table = packed["table"]
    if cut:
        _believe(isinstance(table, Table))
        _believe(table.n.sum() == n and table.events.sum() == events)
        _believe((table.events <= table.n).all() and (table.scored >= 0).all())
        _believe((table.scored <= table.n + 1e-6).all())
    else:
        _believe(table is None)
    return Record(
        from_text(packed["kind"], packed["time"]),
        n,
        events,
        scored,
        hits,
        (zero, one),
        packed["sloped"],
        _number(packed["log_evidence"]),
        heaviest,
        start,
        table,
    )


def _waiting(fields: dict[str, Any], records: list[Record]) -> Waiting:
    packed = fields["waiting"]
    size, grid = len(packed["batch"]), packed["grid"]
    _believe(size < ENOUGH and is_whole(grid, 1, GRID) and not grid & (grid - 1))
    batch, mean = _counts(packed["batch"], size), _floats(packed["mean"], size)
    n0, n1 = _counts(packed["n0"], size), _counts(packed["n1"], size)
    _believe(((mean >= 0) & (mean <= 1) & (n0 + n1 > 0) & (batch < max(len(records), 1))).all())
    waiting = Waiting(batch, CellMeans(mean, n0, n1), grid)
    if fields["edges"] is None:
        for number, record in enumerate(records):
            ours = batch == number
            _believe(((n0 + n1)[ours].sum(), n1[ours].sum()) == (record.n, record.events))
    return waiting


def _number(value: Any) -> float:
    _believe(isinstance(value, (int, float)) and not isinstance(value, bool))
    _believe(math.isfinite(value))
    return float(value)


def _floats(values: Any, size: int) -> FloatArray:
    _believe(isinstance(values, list) and len(values) == size)
    return np.array([_number(value) for value in values], np.float64)


def _counts(values: Any, size: int) -> IntArray:
    _believe(isinstance(values, list) and len(values) == size)
    _believe(all(is_whole(value, 0, _MOST_ROWS) for value in values))
    return np.array(values, np.int64)


def _believe(sound: Any) -> None:
    if not sound:
        raise ValueError


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _damaged(path: str | os.PathLike[str], how: str) -> InputError:
    return InputError(f"{path} is a damaged state of a secant.Monitor: {how}")
