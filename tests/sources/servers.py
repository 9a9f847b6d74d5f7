"""Databases for the tests: SQLite in memory, PostgreSQL and MariaDB on sockets of their own."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers import REQUIRE_ALL, optional

if TYPE_CHECKING:
    import numpy as np

_DIALECTS = ["sqlite", "postgres", "mariadb"]
_TYPES = {  # by what numpy calls a type, or Python, in each of them
    "b": ("boolean", "boolean", "boolean"),
    "i": ("bigint", "bigint", "bigint"),
    "f": ("double precision", "double precision", "double precision"),
    "M": ("timestamp", "timestamp", "datetime(6)"),
    str: ("text", "text", "text"),
    bool: ("boolean", "boolean", "boolean"),
    int: ("bigint", "bigint", "bigint"),
    float: ("double precision", "double precision", "double precision"),
    dt.date: ("date", "date", "date"),
    Decimal: ("decimal(18, 6)", "numeric(18, 6)", "decimal(18, 6)"),
}
# The one zone that Ibis asks for: MariaDB comes without any.
_UTC = """insert into mysql.time_zone values (1, 'N');
insert into mysql.time_zone_name values ('UTC', 1);
insert into mysql.time_zone_transition_type values (1, 0, 0, 0, 'UTC');
"""
_number = itertools.count()


def sqlite(columns: dict[str, Any]) -> Any:
    """Put columns into a table of a new SQLite database, as an Ibis table."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"create table predictions ({_declared(columns, 'sqlite')})")
    insert = f"insert into predictions values ({', '.join('?' * len(columns))})"  # noqa: S608  (marks)
    connection.executemany(insert, _rows(columns))
    return optional("ibis").sqlite.from_connection(connection).table("predictions")


def postgres(columns: dict[str, Any]) -> Any:
    """Put columns into a new table of the server, as an Ibis table."""
    connection = connected()
    name = f"predictions{next(_number)}"
    with connection.con.cursor() as cursor:
        cursor.execute(f"create temporary table {name} ({_declared(columns, 'postgres')})")
        with cursor.copy(f"copy {name} from stdin") as copy:
            for row in _rows(columns):
                copy.write_row(row)
    connection.con.commit()
    return connection.table(name)


def mariadb(columns: dict[str, Any]) -> Any:
    """Put columns into a new table of the server, as an Ibis table."""
    connection = maria_connected()
    name = f"predictions{next(_number)}"
    with connection.con.cursor() as cursor:
        cursor.execute(f"create temporary table {name} ({_declared(columns, 'mariadb')})")
        marks = ", ".join(["%s"] * len(columns))
        # It knows no NaN.
        rows = [[None if _missing(each) else each for each in row] for row in _rows(columns)]
        cursor.executemany(f"insert into {name} values ({marks})", rows)  # noqa: S608  (marks)
    connection.con.commit()
    return connection.table(name)


def _declared(columns: dict[str, Any], dialect: str) -> str:
    quote = "`" if dialect == "mariadb" else '"'

    def kind(column: np.ndarray) -> Any:
        if column.dtype.kind != "O":
            return str if column.dtype.kind == "U" else column.dtype.kind
        return type(next((value for value in column if value is not None), ""))

    place = _DIALECTS.index(dialect)
    return ", ".join(
        f"{quote}{name}{quote} {_TYPES[kind(it)][place]}" for name, it in columns.items()
    )


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


@functools.cache
def maria_connected() -> Any:
    """Connect to MariaDB, which starts when it is first asked for; ``stop`` ends it."""
    optional("MySQLdb")
    socket = f"{maria()[0]}/socket"
    return optional("ibis").mysql.connect(host="", user="root", unix_socket=socket, database="test")


@functools.cache
def maria() -> tuple[str, subprocess.Popen[bytes]]:
    """Start MariaDB and return its folder, in which its socket is, and its process."""
    path = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
    programs = [shutil.which(each, path=path) for each in ("mariadbd", "mariadb-install-db")]
    if None in programs:
        missing = "the MariaDB server (Debian: mariadb-server) is not installed"
        pytest.fail(missing) if REQUIRE_ALL else pytest.skip(missing)
    server, install = map(str, programs)
    home = tempfile.mkdtemp(prefix="secant-my-")
    user = []
    if os.geteuid() == 0:
        shutil.chown(home, "mysql")
        user = ["--user=mysql"]
    common = ["--no-defaults", f"--datadir={home}/data", *user]
    with Path(home, "log").open("wb") as log:
        options = ["--auth-root-authentication-method=normal", "--skip-name-resolve"]
        command = [install, *common, *options]
        subprocess.run(command, stdout=log, stderr=log, cwd="/", check=True)
        Path(home, "first.sql").write_text(_UTC)
        options = [f"--socket={home}/socket", "--skip-networking", f"--pid-file={home}/pid"]
        options.append(f"--init-file={home}/first.sql")
        options += ["--character-set-server=utf8mb4", "--innodb-flush-log-at-trx-commit=0"]
        process = subprocess.Popen([server, *common, *options], stdout=log, stderr=log, cwd="/")
    while not Path(home, "socket").exists():
        assert process.poll() is None, Path(home, "log").read_text()
        time.sleep(0.05)
    return home, process


def stop() -> None:
    """End the servers, if there are any, and remove their data."""
    if maria_connected.cache_info().currsize:
        maria_connected().disconnect()
        maria_connected.cache_clear()
    if maria.cache_info().currsize:
        home, process = maria()
        process.terminate()
        process.wait()
        shutil.rmtree(home)
        maria.cache_clear()
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
