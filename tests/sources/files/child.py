"""A process that reads damaged files, so that one that ends it is seen and is not our end.

Paths come in on standard input, a line each; a line of JSON goes out for each.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import resource
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import secant
from secant.sources.files import arrow, json_lines

_MEMORY = 4 << 30
_LARGE, _BLOCK, _START = arrow._LARGE, json_lines.BLOCK, json_lines._START


def main() -> None:
    """Examine files until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        found = examine(Path(line.rstrip("\n")))
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def examine(path: Path) -> dict[str, Any]:
    """Say how a file fares: refused, read right, read wrong, or not handled at all."""
    found: dict[str, Any] = {}
    # As small files are read, and as large ones.
    for by, *sizes in (("g", _LARGE, _BLOCK, _START), ("c", 1, 1 << 12, 1 << 12)):
        arrow._LARGE, json_lines.BLOCK, json_lines._START = sizes
        try:
            groups = secant.assess_by("y", "p", by, data=path, method="asymptotic")
            words = secant.assess("word", "p", pos_label="yes", data=path, method="asymptotic")
        except secant.SecantError as error:
            return {"outcome": "refused", "told": str(error)}
        except BaseException:  # noqa: BLE001  (whatever it is, it is what we look for)
            return {"outcome": "failed", "told": traceback.format_exc()}
        found[by] = {str(key): groups[key].n for key in groups}
        found["n"] = words.n
        found["mean"] = sum(groups[key].n * groups[key].mean_score for key in groups) / words.n
    wanted = independently(path)
    if wanted is None:
        return {"outcome": "read alone", "told": json.dumps(found)}
    same = all(found[key] == wanted[key] for key in ("g", "c", "n"))
    same &= abs(found["mean"] - wanted["mean"]) < 1e-9
    told = "" if same else f"{found}\nwanted {wanted}"
    return {"outcome": "right" if same else "wrong", "told": told}


def independently(path: Path) -> dict[str, Any] | None:
    """Read a file by other code, and summarise it; None where that refuses it."""
    try:
        rows = _rows(path)
        return {
            **{by: dict(Counter(str(row[by]) for row in rows)) for by in ("g", "c")},
            "n": len(rows),
            "mean": sum(float(row["p"]) for row in rows) / len(rows),
        }
    except Exception:  # noqa: BLE001  (a damaged file)
        return None


def _rows(path: Path) -> list[dict[str, Any]]:
    name = path.name
    if name.endswith((".csv", ".csv.gz")):
        content = path.read_bytes()
        content = gzip.decompress(content) if name.endswith(".gz") else content
        text = io.StringIO(content.decode("utf-8-sig", "replace"), newline="")
        lines = [row for row in csv.reader(text, strict=True) if row]
        return [
            {key: field or None for key, field in zip(lines[0], line, strict=True)}
            for line in lines[1:]
        ]
    if name.endswith(".jsonl"):
        text = path.read_bytes().decode("utf-8-sig", "replace")
        read = [json.loads(line) for line in text.split("\n") if line.strip(" \t\r")]
        return [{"g": None, "c": None, **row} for row in read]
    import pyarrow as pa
    from pyarrow import parquet

    if name.endswith(".parquet"):
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
    else:
        content = path.read_bytes()
        opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        table = opened(content).read_all()
    table.validate(full=True)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


if __name__ == "__main__":
    main()
