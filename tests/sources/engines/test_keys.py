"""Group keys: one type, one meaning, whichever engine keeps them."""

import datetime as dt
import sqlite3
import uuid
from decimal import Decimal

import numpy as np
import pytest

import secant
import servers
import sparks
from helpers import optional
from secant import InputError

optional("narwhals")

N = 200
HOUR = dt.timedelta(hours=1)
NAIVE = [dt.datetime(2024, 1, 31, 12), dt.datetime(2023, 5, 1)]  # noqa: DTZ001  (on purpose)
ZONED = [time.replace(tzinfo=dt.UTC) for time in NAIVE]
TICK = 1_704_067_200_000_000_000  # nanoseconds, the start of 2024

ENGINES = {
    "duckdb": lambda table: optional("duckdb").from_arrow(table),
    "polars": lambda table: optional("polars").from_arrow(table).lazy(),
    "dask": lambda table: optional("dask.dataframe").from_pandas(
        table.to_pandas(types_mapper=optional("pandas").ArrowDtype), npartitions=2
    ),
}


def kinds():
    """Return for each kind of key a column of two values, with nulls, and the keys it gives."""
    pa = optional("pyarrow")
    berlin = pa.timestamp("us", "Europe/Berlin")
    return {
        "dates": (pa.array([dt.date(2024, 1, 31), dt.date(2023, 5, 1)]), None),
        "naive": (pa.array(NAIVE, pa.timestamp("us")), NAIVE),
        "zoned": (pa.array(ZONED, berlin), ZONED),
        "milliseconds": (pa.array(NAIVE, pa.timestamp("ms")), NAIVE),
        "nanoseconds": (
            pa.array([TICK, TICK + 999], pa.timestamp("ns")),
            [dt.datetime(2024, 1, 1), str(np.datetime64(TICK + 999, "ns"))],  # noqa: DTZ001
        ),
        "exact nanoseconds": (pa.array(NAIVE, pa.timestamp("ns")), NAIVE),
        "decimals": (pa.array([Decimal("1.50"), Decimal("2.25")]), None),
        "truth": (pa.array([True, False]), None),
        "categories": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    }


def found(data):
    return secant.assess_by("y", "p", "g", data=data, method="asymptotic")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [*kinds()] if optional("pyarrow") else [])
def test_one_type_has_one_meaning(engine, kind):
    pa = optional("pyarrow")
    values, keys = kinds()[kind]
    rng = np.random.default_rng(3)
    place = pa.array([None if i % 3 == 2 else i % 3 for i in range(N)])
    columns = {"y": rng.integers(0, 2, N), "p": rng.random(N), "g": values.take(place)}
    wanted = {*(values.to_pylist() if keys is None else keys), None}
    groups = found(ENGINES[engine](pa.table(columns)))
    assert set(groups) == wanted
    assert {type(key) for key in groups} == {type(key) for key in wanted}
    assert sum(result.n for result in groups.values()) == N
    for key in groups:
        if isinstance(key, dt.datetime):
            assert key.tzinfo in {None, dt.UTC}


def test_times_beyond_the_years_of_python_stay_apart():
    pa = optional("pyarrow")
    far = [260_000_000_000_000_000, 260_000_000_000_000_001]
    times = pa.array(far, pa.timestamp("us")).take(pa.array([i % 2 for i in range(N)]))
    rng = np.random.default_rng(4)
    data = optional("polars").from_arrow(
        pa.table({"y": rng.integers(0, 2, N), "p": rng.random(N), "g": times})
    )
    assert set(found(data.lazy())) == {str(np.datetime64(tick, "us")) for tick in far}


POSTGRES = {
    "(case i % 3 when 0 then 'a' when 1 then 'b' end)::mood": {"a", "b", None},
    "md5((i % 2)::text)::uuid": {
        str(uuid.UUID(bytes=bytes.fromhex(half)))
        for half in ("cfcd208495d565ef66e7dff9f98764da", "c4ca4238a0b923820dcc509a6f75849b")
    },
    "date '2024-01-31' + i % 2": {dt.date(2024, 1, 31), dt.date(2024, 2, 1)},
    "timestamp '2024-01-31 12:00' + i % 2 * interval '1 hour'": {NAIVE[0], NAIVE[0] + HOUR},
    "timestamptz '2024-01-31 14:00+02' + i % 2 * interval '1 hour'": {ZONED[0], ZONED[0] + HOUR},
    "(1.5 + i % 2)::numeric(10, 2)": {Decimal("1.5"), Decimal("2.5")},
    "i % 2 = 0": {True, False},
    "(array['NaN', '0.1'])[1 + i % 2]::double precision": {None, 0.1},
}


@pytest.mark.parametrize("key", POSTGRES)
def test_keys_of_postgres(key):
    connection = servers.connected()
    with connection.con.cursor() as cursor:
        cursor.execute("drop type if exists mood cascade; create type mood as enum ('a', 'b')")
        columns = f"i % 2 as y, i / 100.0 as p, {key} as g"
        cursor.execute(
            f"create temporary view keys as select {columns} from generate_series(1, 99) as t (i)"  # noqa: S608
        )
    connection.con.commit()
    groups = found(connection.table("keys"))
    assert set(groups) == POSTGRES[key]
    assert {type(name) for name in groups} == {type(name) for name in POSTGRES[key]}
    with connection.con.cursor() as cursor:
        cursor.execute("drop view keys")
    connection.con.commit()


TEXTS = ["a", "A", "a ", "\N{LATIN SMALL LETTER A WITH DIAERESIS}"]


def texts_of_duckdb():
    connection = optional("duckdb").connect()
    connection.execute("create table texts (y bigint, p double, g varchar collate nocase)")
    connection.executemany("insert into texts values (?, ?, ?)", rows_of_texts())
    return connection.table("texts")


def texts_of_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table texts (y bigint, p double, g text collate nocase)")
    connection.executemany("insert into texts values (?, ?, ?)", rows_of_texts())
    return optional("ibis").sqlite.from_connection(connection).table("texts")


def texts_of_postgres():
    connection = servers.connected()
    with connection.con.cursor() as cursor:
        cursor.execute("drop table if exists texts; drop collation if exists loose")
        loose = "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        cursor.execute(f"create collation loose {loose}")
        cursor.execute(
            "create temporary table texts (y bigint, p double precision, g text collate loose)"
        )
        cursor.executemany("insert into texts values (%s, %s, %s)", rows_of_texts())
    connection.con.commit()
    return connection.table("texts")


def texts_of_mariadb():
    connection = servers.maria_connected()
    with connection.con.cursor() as cursor:
        cursor.execute("drop table if exists texts")
        kind = "varchar(9) character set latin1 collate latin1_german2_ci"
        cursor.execute(f"create table texts (y bigint, p double, g {kind})")
        cursor.executemany("insert into texts values (%s, %s, %s)", rows_of_texts())
    connection.con.commit()
    return connection.table("texts")


def texts_of_spark():
    table = optional("pyarrow").table(
        dict(zip("ypg", zip(*rows_of_texts(), strict=True), strict=True))
    )
    frame = sparks.session().createDataFrame(table)
    return frame.selectExpr("y", "p", "g collate UTF8_LCASE as g")


def rows_of_texts():
    return [(i % 3 % 2, i % 7 / 7, TEXTS[i % 4]) for i in range(N)]


COLLATED = {
    "duckdb": texts_of_duckdb,
    "sqlite": texts_of_sqlite,
    "postgres": texts_of_postgres,
    "mariadb": texts_of_mariadb,
    "spark": texts_of_spark,
}


@pytest.mark.parametrize("engine", COLLATED)
def test_texts_that_a_collation_takes_for_one_stay_apart(engine):
    data = COLLATED[engine]()
    plain = dict(zip("ypg", map(np.array, zip(*rows_of_texts(), strict=True)), strict=True))
    groups, wanted = found(data), found(plain)
    assert {key: result.n for key, result in groups.items()} == dict.fromkeys(TEXTS, N // 4)
    for key in TEXTS:
        assert groups[key].ecce_r.value == pytest.approx(wanted[key].ecce_r.value, abs=1e-12)
    options = {"features": ["g"], "min_rows": 10}
    segments = secant.assess_segments("y", "p", data=data, **options)
    assert segments.searched == secant.assess_segments("y", "p", data=plain, **options).searched
    with pytest.raises(
        InputError, match=r"'g' .* holds 'A', 'a ', 'a', \.\.\.; outcomes must take"
    ):
        secant.assess("g", "p", data=data, pos_label="a")
    with pytest.raises(InputError, match="clusters makes 4 clusters"):
        secant.assess("y", "p", data=data, clusters="g")


MARIADB = {
    "cast(elt(1 + seq % 2, 'a', 'b') as char)": {"a", "b"},
    "date '2024-01-31' + interval seq % 2 day": {dt.date(2024, 1, 31), dt.date(2024, 2, 1)},
    "timestamp '2024-01-31 12:00:00' + interval seq % 2 hour": {NAIVE[0], NAIVE[0] + HOUR},
    "cast(1.5 + seq % 2 as decimal(10, 2))": {Decimal("1.5"), Decimal("2.5")},
    "nullif(seq % 3, 2)": {0, 1, None},
}


@pytest.mark.long
@pytest.mark.parametrize("key", MARIADB)
def test_keys_of_mariadb(key):
    connection = servers.maria_connected()
    with connection.con.cursor() as cursor:
        columns = f"seq % 2 as y, seq / 100.0 as p, {key} as g"
        cursor.execute(f"create or replace table ks as select {columns} from seq_1_to_99")  # noqa: S608
    connection.con.commit()
    groups = found(connection.table("ks"))
    assert set(groups) == MARIADB[key]
    assert {type(name) for name in groups} == {type(name) for name in MARIADB[key]}


def test_times_of_spark_are_in_utc():
    pa = optional("pyarrow")
    times = pa.array(NAIVE * 50, pa.timestamp("us", "UTC"))
    rng = np.random.default_rng(5)
    columns = {"y": rng.integers(0, 2, 100), "p": rng.random(100), "g": times}
    assert set(found(sparks.session().createDataFrame(pa.table(columns)))) == set(ZONED)
