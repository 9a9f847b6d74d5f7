"""The same predictions in every home: one maker for each kind of data that secant reads.

A maker takes columns (numpy arrays by name, None in ``segment`` where a key is missing) and an
empty folder, and returns what a user passes as ``data``. A kind added to ``MAKERS`` takes part in
every test of the suite. Where a library is missing the maker skips, by ``helpers.optional``.
"""

from __future__ import annotations

import csv
import io
import warnings
from typing import TYPE_CHECKING, Any

import servers
import sparks
from helpers import optional, packed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np

    Columns = dict[str, np.ndarray]
    Maker = Callable[[Columns, Path], Any]

# The columns' names in the data, by the argument they are passed as.
NAMES = {
    "y_true": "happened",
    "y_prob": "forecast",
    "sample_weight": "weight",
    "by": "segment",
    "clusters": "patient",
}


def arguments(columns: Columns, data: Any) -> dict[str, Any]:
    """Return what to pass to ``assess`` or ``assess_by``: names and data, or the arrays."""
    given = {role: name for role, name in NAMES.items() if name in columns}
    if data is None:
        return {role: columns[name] for role, name in given.items()}
    return {**given, "data": data}


# In memory ----------------------------------------------------------------------------------------


def _arrays(columns: Columns, folder: Path) -> None:
    return None


def _mapping(columns: Columns, folder: Path) -> Any:
    return dict(columns)


def _pandas(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return optional("pandas").DataFrame(columns)


def _polars(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return optional("polars").DataFrame(_lists(columns))


def _pyarrow(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return arrow(columns)


def arrow(columns: Columns) -> Any:
    """Return a pyarrow table."""
    return optional("pyarrow").table(_lists(columns))


def _lists(columns: Columns) -> dict[str, Any]:
    """Columns of Python objects (segments) as lists, whose None a library knows as null."""
    return {
        name: column.tolist() if column.dtype == object else column
        for name, column in columns.items()
    }


# Files --------------------------------------------------------------------------------------------


def _parquet(columns: Columns, folder: Path) -> Any:
    table, path = arrow(columns), folder / "one.parquet"
    optional("pyarrow.parquet").write_table(table, path, row_group_size=max(1, len(table) // 3))
    return path


def _parquet_folder(columns: Columns, folder: Path) -> Any:
    """A folder for each segment, as Spark and Hive write them; else a folder of files."""
    dataset = optional("pyarrow.dataset")
    segment = arrow(columns).schema.field(NAMES["by"]) if NAMES["by"] in columns else None
    dataset.write_dataset(
        arrow(columns),
        folder / "set",
        format="parquet",
        partitioning=None
        if segment is None
        else dataset.partitioning(optional("pyarrow").schema([segment]), flavor="hive"),
    )
    return str(folder / "set")


def _parquet_glob(columns: Columns, folder: Path) -> Any:
    """Three files, the last without rows."""
    parquet, table = optional("pyarrow.parquet"), arrow(columns)
    half = len(table) // 2
    parts = [table.slice(0, half), table.slice(half), table.slice(0, 0)]
    for number, part in enumerate(parts):
        parquet.write_table(part, folder / f"part-{number}.parquet")
    return str(folder / "part-*.parquet")


def _feather(columns: Columns, folder: Path) -> Any:
    table, path = arrow(columns), folder / "one.feather"
    optional("pyarrow.feather").write_feather(table, path, chunksize=max(1, len(table) // 3))
    return path


def _arrow_stream(columns: Columns, folder: Path) -> Any:
    table, path = arrow(columns), folder / "one.arrow"
    with optional("pyarrow").ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)
    return [path]


def _csv(columns: Columns, folder: Path) -> Any:
    path = folder / "one.csv"
    _write_csv(columns, path)
    return str(path)


def _csv_gz(columns: Columns, folder: Path) -> Any:
    """Two gzipped files in a list."""
    half = len(next(iter(columns.values()))) // 2
    paths = [folder / "one.csv.gz", folder / "two.csv.gz"]
    for path, rows in zip(paths, [slice(half), slice(half, None)], strict=True):
        _write_csv({name: column[rows] for name, column in columns.items()}, path)
    return paths


def _write_csv(columns: Columns, path: Path) -> None:
    optional("pyarrow")  # which reads it
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    content = text.getvalue().encode()
    path.write_bytes(packed(content) if path.suffix == ".gz" else content)


# Engines ------------------------------------------------------------------------------------------


def _duckdb(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return optional("duckdb").from_arrow(arrow(columns))


def _polars_lazy(columns: Columns, folder: Path) -> Any:
    return _polars(columns, folder).lazy()


def _dask(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    frame = optional("pandas").DataFrame(columns)
    return optional("dask.dataframe").from_pandas(frame, npartitions=3)


def _ibis(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    table, duckdb = arrow(columns), optional("duckdb")
    connection = duckdb.connect()
    connection.from_arrow(table).create("predictions")
    with warnings.catch_warnings():  # Ibis asks DuckDB for a schema in a way that is deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        return optional("ibis").duckdb.from_connection(connection).table("predictions")


def _spark(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return sparks.session().createDataFrame(arrow(columns))


def _sqlite(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return servers.sqlite(columns)


def _postgres(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return servers.postgres(columns)


def _mariadb(columns: Columns, folder: Path) -> Any:
    optional("narwhals")
    return servers.mariadb(columns)


MAKERS: dict[str, Maker] = {
    "arrays": _arrays,
    "mapping": _mapping,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "parquet": _parquet,
    "parquet folder": _parquet_folder,
    "parquet glob": _parquet_glob,
    "feather": _feather,
    "arrow stream": _arrow_stream,
    "csv": _csv,
    "csv.gz": _csv_gz,
    "duckdb": _duckdb,
    "polars lazy": _polars_lazy,
    "dask": _dask,
    "ibis": _ibis,
    "spark": _spark,
    "sqlite": _sqlite,
    "postgres": _postgres,
    "mariadb": _mariadb,
}
