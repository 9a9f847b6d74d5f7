"""Databases for the tests: SQLite in memory, and one PostgreSQL server on a socket of its own."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import os
import shutil
import sqlite3
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers import REQUIRE_ALL, optional

if TYPE_CHECKING:
    import numpy as np

_TYPES = {  # by what numpy calls a type, or Python: in SQLite, in PostgreSQL
    "b": ("boolean", "boolean"),
    "i": ("bigint", "bigint"),
    "f": ("double precision", "double precision"),
    "M": ("timestamp", "timestamp"),
    str: ("text", "text"),
    bool: ("boolean", "boolean"),
    int: ("bigint", "bigint"),
    float: ("double precision", "double precision"),
    dt.date: ("date", "date"),
    Decimal: ("decimal(18, 6)", "numeric(18, 6)"),
}
_number = itertools.count()


def sqlite(columns: dict[str, Any]) -> Any:
    """Put columns into a table of a new SQLite database, as an Ibis table."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"create table predictions ({_declared(columns, 0)})")
    insert = f"insert into predictions values ({', '.join('?' * len(columns))})"  # noqa: S608  (marks)
    connection.executemany(insert, _rows(columns))
    return optional("ibis").sqlite.from_connection(connection).table("predictions")


def postgres(columns: dict[str, Any]) -> Any:
    """Put columns into a new table of the server, as an Ibis table."""
    connection = connected()
    name = f"predictions{next(_number)}"
    with connection.con.cursor() as cursor:
        cursor.execute(f"create temporary table {name} ({_declared(columns, 1)})")
        with cursor.copy(f"copy {name} from stdin") as copy:
            for row in _rows(columns):
                copy.write_row(row)
    connection.con.commit()
    return connection.table(name)


def _declared(columns: dict[str, Any], dialect: int) -> str:
    def kind(column: np.ndarray) -> Any:
        if column.dtype.kind != "O":
            return str if column.dtype.kind == "U" else column.dtype.kind
        return type(next((value for value in column if value is not None), ""))

    return ", ".join(f'"{name}" {_TYPES[kind(it)][dialect]}' for name, it in columns.items())


def _rows(columns: dict[str, Any]) -> Any:
    def listed(column: np.ndarray) -> list[Any]:
        if column.dtype.kind == "M" or (column.dtype == object and _has(column, dt.date, Decimal)):
            return [None if _missing(value) else str(value) for value in column.tolist()]
        return column.tolist()

    return zip(*(listed(column) for column in columns.values()), strict=True)


def _has(column: np.ndarray, *kinds: type) -> bool:
    return any(isinstance(value, kinds) for value in column)


def _missing(value: Any) -> bool:
    return value is None or value != value  # noqa: PLR0124  (NaT)


@functools.cache
def connected() -> Any:
    """Connect to the server, which starts when it is first asked for; ``stop`` ends it."""
    return optional("ibis").postgres.connect(host=folder(), user="postgres", database="postgres")


@functools.cache
def folder() -> str:
    """Start the server and return the folder of its socket."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")) or [
        Path(found) for found in [shutil.which("postgres")] if found
    ]
    if not programs:
        missing = "the PostgreSQL server (Debian: postgresql) is not installed"
        pytest.fail(missing) if REQUIRE_ALL else pytest.skip(missing)
    home = tempfile.mkdtemp(prefix="secant-pg-")
    if os.geteuid() == 0:
        shutil.chown(home, "postgres")
    options = {"-A": "trust", "-U": "postgres", "-E": "UTF8", "-D": f"{home}/data"}
    _run(programs[-1].with_name("initdb"), *itertools.chain(*options.items()), "--no-sync")
    settings = f"-k {home} -c listen_addresses= -c fsync=off -c TimeZone=UTC"
    control = programs[-1].with_name("pg_ctl")
    _run(control, "-D", f"{home}/data", "-w", "-l", f"{home}/log", "-o", settings, "start")
    return home


def stop() -> None:
    """End the server, if there is one, and remove its data."""
    if connected.cache_info().currsize:
        connected().disconnect()
        connected.cache_clear()
    if folder.cache_info().currsize:
        home = folder()
        control = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
        _run(control[-1] if control else "pg_ctl", "-D", f"{home}/data", "-m", "fast", "stop")
        shutil.rmtree(home)
        folder.cache_clear()


def _run(program: Any, *arguments: str) -> None:
    """Run one of PostgreSQL's programs, which refuse to be run by root."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    # To a file: what the server inherits it keeps open.
    with tempfile.TemporaryFile() as output:
        command = [*user, str(program), *arguments]
        run = subprocess.run(command, stdout=output, stderr=output, cwd="/", check=False)
        output.seek(0)
        assert run.returncode == 0, output.read().decode()
