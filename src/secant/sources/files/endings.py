"""Which format a file is of: by the end of its name, or its first bytes where it has no name."""

from __future__ import annotations

import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from secant.errors import InputError
from secant.sources.files.arrow import Feather, Parquet
from secant.sources.files.csv import Csv
from secant.sources.files.formats import PACKED, unpacked
from secant.sources.files.json_lines import JsonLines
from secant.sources.files.standard_input import StandardInput

if TYPE_CHECKING:
    from pathlib import Path

    from secant.sources.files.formats import Format

__all__ = ["format_of"]

_PARQUET, _CSV, _FEATHER, _JSON_LINES = Parquet(), Csv(), Feather(), JsonLines()
# Ends of names, in lower case.
_ENDINGS: dict[Format, tuple[str, ...]] = {
    _PARQUET: (".parquet", ".pq"),
    _CSV: (".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    _FEATHER: (".feather", ".arrow", ".arrows", ".ipc"),
    _JSON_LINES: (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
}
_STARTS = {
    b"PAR1": _PARQUET,
    b"ARROW1": _FEATHER,
    b"\xff\xff\xff\xff": _FEATHER,
    b"{": _JSON_LINES,
}
# What reads others: data= takes what it returns, and the command a file made of it.
_OTHERS = {
    (".xlsx", ".xls", ".xlsm", ".ods"): "pandas.read_excel({0!r})",
    (".npz",): "numpy.load({0!r})",
    (".npy",): "numpy.load({0!r}), as a mapping of names to its columns",
    (".zarr", ".nc"): "xarray.open_dataset({0!r}).to_dataframe()",
    (".json",): "pandas.read_json({0!r})",
    (".sav", ".zsav"): "pandas.read_spss({0!r})",
    (".dta",): "pandas.read_stata({0!r})",
    (".sas7bdat", ".xpt"): "pandas.read_sas({0!r})",
    (".pkl", ".pickle"): "pandas.read_pickle({0!r}), if you trust the file",
    (".h5", ".hdf5", ".hdf"): "pandas.read_hdf({0!r})",
    (".orc",): "pyarrow.orc.read_table({0!r})",
    (".avro",): "polars.read_avro({0!r})",
    (".rds", ".rdata"): "pyreadr.read_r({0!r})",
    (".pt", ".pth"): "torch.load({0!r})",
    (".safetensors",): "safetensors.numpy.load_file({0!r})",
    (".db", ".sqlite", ".sqlite3"): "ibis.sqlite.connect({0!r}).table(...)",
    (".duckdb",): "duckdb.connect({0!r}).table(...)",
    (".txt", ".dat"): "pandas.read_csv({0!r}), or give it a name that ends in .csv or .tsv",
}


def format_of(path: Path) -> Format:
    """Return the format of a file.

    Raises
    ------
    InputError
        If its name ends in none of those that are known, with what may read it, or if it can be
        read only once.
    """
    if isinstance(path, StandardInput):
        return _by_start(path)
    if _is_passing(path):
        once = f"{path} is no file that can be read more than once, as secant does"
        raise InputError(once, hint="; send it to standard input, which is named -")
    name = path.name.lower()
    for kind, endings in _ENDINGS.items():
        if name.endswith(endings):
            return kind
    known = ", ".join(end for endings in _ENDINGS.values() for end in endings)
    hint = ""
    for endings, reader in _OTHERS.items():
        if name.endswith(endings):
            reads = reader.format(str(path))
            hint = f"; save it as one of these, or in Python pass as data what reads it: {reads}"
    for ending in PACKED:
        if name.endswith(ending):
            hint = f"; {unpacked(ending)}"
    msg = f"{path} is of no format that secant knows by its name; files end in {known}"
    raise InputError(msg, hint=hint)


def _is_passing(path: Path) -> bool:
    """Tell whether what comes from a path is gone once it is read: a pipe, a device, /dev/stdin."""
    if path.parts[1:] == ("dev", "stdin") or path.parts[-2:-1] == ("fd",):
        return True
    with suppress(OSError):  # which reading it will say
        mode = path.stat().st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def _by_start(path: Path) -> Format:
    with path.open("rb") as file:
        start = file.read(1 << 10).lstrip()
    kinds = (kind for first, kind in _STARTS.items() if start.startswith(first))
    return next(kinds, _CSV)
