"""What an engine raises reaches the user in words: which engine, at what, and what to do."""

import sqlite3

import numpy as np
import pytest

import secant
import servers
from helpers import optional
from makers import MAKERS, arguments
from secant import InputError, SecantError

nw = optional("narwhals")

from secant.sources.engines import queries  # noqa: E402  (they load narwhals)
from secant.sources.engines.engine import Engine, engine_of  # noqa: E402  (the same)


def predictions(n=300):
    rng = np.random.default_rng(1)
    p = rng.random(n)
    return {"happened": (rng.random(n) < p).astype(np.int64), "forecast": p}


def sqlite(script):
    """Return the table ``t`` that a script makes, and the connection that it is read by."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    return optional("ibis").sqlite.from_connection(connection).table("t"), connection


@pytest.mark.parametrize("kind", ["duckdb", "polars lazy", "dask", "ibis", "sqlite"])
@pytest.mark.parametrize(
    "name", ["*", "^forecast$", "a.b", "`x`", "score_stray", "Label_Stray", "by0", "cell", "d"]
)
def test_a_column_of_any_name_is_read_or_refused(kind, name, tmp_path):
    """Polars takes a text between ^ and $ for a pattern, which here is that of another column."""
    made = predictions()
    expected = secant.ecce_r(made["happened"], made["forecast"])
    columns = {"happened": made["happened"], "forecast": made["forecast"] / 3}
    data = MAKERS[kind](columns | {name: made["forecast"]}, tmp_path)
    if (kind, name) in {("duckdb", "*"), ("polars lazy", "*"), ("polars lazy", "^forecast$")}:
        with pytest.raises(InputError, match=r"reads the name of the column .* give the"):
            secant.assess("happened", name, data=data)
        return
    found = secant.assess("happened", name, data=data).ecce_r.value
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("engine", "name", "read"),
    [
        ("polars", "^a$", False),
        ("polars", "^a\nb$", False),
        ("polars", "^a", True),
        ("duckdb", "*", False),
        ("duckdb", "^a$", True),
        ("pyspark", "a.b", False),  # a part of a column of structs
        ("pyspark", "a`b", False),
        ("pyspark", "a b", True),
        ("ibis-duckdb", "*", True),
    ],
)
def test_names_that_mean_others(engine, name, read):
    check = Engine(engine, typed=True, inlines=False).check_names
    check(["label", "score"])
    if read:
        check([name])
        return
    with pytest.raises(InputError, match=f"^{engine} reads the name"):
        check(["label", name])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("duckdb", "duckdb"),
        ("polars lazy", "polars"),
        ("dask", "dask"),
        ("ibis", "ibis-duckdb"),
        ("spark", "pyspark"),
        ("sqlite", "ibis-sqlite"),
        ("postgres", "ibis-postgres"),
        ("mariadb", "ibis-mysql"),
    ],
)
def test_engines_have_names(kind, name, tmp_path):
    assert engine_of(nw.from_native(MAKERS[kind](predictions(), tmp_path))).name == name


# Anything that is asked may fail ------------------------------------------------------------------

ASKED = {
    "finding the distinct outcomes": {"y_true": "word", "pos_label": "yes"},
    "counting groups": {"by": "segment"},
    "summing cells": {},
    "looking into cells": {},
    "fetching rows": {"sample_weight": "weight", "method": "monte-carlo"},
    "finding unusable rows": {"y_true": "forecast", "y_prob": "weight"},
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("kind", "said"), [(RuntimeError, "out of\nluck\x1b[2J"), (OSError, ""), (KeyError, "a")]
)
def test_every_question_is_worded(asked, kind, said, tmp_path, monkeypatch):
    error = kind(said)
    made = predictions()
    made |= {"segment": np.arange(300) % 3, "weight": 1 + np.arange(300.0)}
    made["word"] = np.where(made["happened"] == 1, "yes", "no").astype(object)
    options = {"y_true": "happened", "y_prob": "forecast", **ASKED[asked]}
    assess = secant.assess_by if "by" in options else secant.assess
    data = MAKERS["duckdb"](made, tmp_path)

    def failing(frame, collect=queries.collect):
        if words and words[-1] == asked:
            raise error
        return collect(frame)

    words = []

    def spied(self, what, original=Engine.asked):
        words.append(what)
        return original(self, what)

    monkeypatch.setattr(queries, "collect", failing)
    monkeypatch.setattr(Engine, "asked", spied)
    with pytest.raises(SecantError, match=f"^duckdb failed at {asked}: ") as caught:
        assess(data=data, **options)
    assert caught.value.__cause__ is error
    assert str(caught.value).isprintable()
    assert "assess again" in str(caught.value)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, SystemExit])
def test_what_is_not_the_engines_passes(kind, tmp_path, monkeypatch):
    error = kind()

    def failing(frame):
        raise error

    monkeypatch.setattr(queries, "collect", failing)
    with pytest.raises(type(error)) as caught:
        secant.assess(**arguments(predictions(), MAKERS["duckdb"](predictions(), tmp_path)))
    assert caught.value is error


# What engines raise -------------------------------------------------------------------------------


def test_a_table_dropped_between_looks():
    connection = optional("duckdb").connect()
    made = predictions(200_000)
    connection.from_arrow(optional("pyarrow").table(made)).create("t")
    result = secant.assess("happened", "forecast", data=connection.table("t"))
    connection.execute("drop table t")
    with pytest.raises(
        SecantError, match=r"^duckdb failed at looking into cells: .*still is where"
    ):
        result.between(0.31234, 0.74321)


def test_a_table_dropped_in_postgres():
    data = servers.postgres(predictions())
    with servers.connected().con.cursor() as cursor:
        cursor.execute(f"drop table {data.get_name()}")
    with pytest.raises(SecantError, match=r"^ibis-postgres failed at summing .*still is where"):
        secant.assess("happened", "forecast", data=data)
    servers.connected().con.rollback()


def test_a_connection_that_is_lost():
    ibis = optional("ibis")
    connection = ibis.postgres.connect(host=servers.folder(), user="postgres", database="postgres")
    with connection.con.cursor() as cursor:
        cursor.execute("create temporary table lost as select 1 as y, 0.5 as p")
        pid = connection.con.info.backend_pid
    connection.con.commit()
    data = connection.table("lost")
    with servers.connected().con.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s)", [pid])
    servers.connected().con.commit()
    with pytest.raises(SecantError, match=r"^ibis-postgres failed at .*connect to it again"):
        secant.assess("y", "p", data=data)
    connection.disconnect()


def test_a_database_that_is_closed():
    data, connection = sqlite("create table t (y bigint, p real); insert into t values (1, 0.5)")
    connection.close()
    with pytest.raises(SecantError, match=r"^ibis-sqlite failed at .*connect to it again"):
        secant.assess("y", "p", data=data)


def test_a_function_of_the_users_that_raises():
    polars = optional("polars")

    def fail(value):
        raise ValueError(value)

    data = polars.LazyFrame(predictions()).with_columns(
        polars.col("forecast").map_elements(fail, return_dtype=polars.Float64)
    )
    with pytest.raises(SecantError, match=r"^polars failed at summing cells: ") as caught:
        secant.assess("happened", "forecast", data=data)
    assert isinstance(caught.value.__cause__, ValueError)  # what the function raised


def test_a_function_of_the_users_that_raises_in_duckdb():
    connection = optional("duckdb").connect()

    def fail(value: float) -> float:
        raise ValueError(value)

    connection.create_function("fail", fail, ["DOUBLE"], "DOUBLE")
    connection.from_arrow(optional("pyarrow").table(predictions())).create("t")
    data = connection.sql("select happened, fail(forecast) as forecast from t")
    with pytest.raises(SecantError, match=r"^duckdb failed at summing cells: "):
        secant.assess("happened", "forecast", data=data)


@pytest.mark.parametrize("column", ["p", "w"])
def test_a_type_that_cannot_be_cast(column):
    connection = optional("duckdb").connect()
    connection.execute("create table t as select 1 as y, 0.5 as p, 2.0 as w, uuid() as u")
    swapped = {"p": "select y, u as p, w from t", "w": "select y, p, u as w from t"}
    with pytest.raises(SecantError, match=r"^duckdb failed at summing .*cast the columns first"):
        secant.assess("y", "p", data=connection.sql(swapped[column]), sample_weight="w")


def test_numbers_that_are_too_large_to_cast():
    data = servers.postgres(predictions())
    with servers.connected().con.cursor() as cursor:
        cursor.execute("create temporary table huge as select 1 as y, 1e400 as p")
    data = servers.connected().table("huge")
    with pytest.raises(SecantError, match=r"^ibis-postgres failed at summing .*cast the columns"):
        secant.assess("y", "p", data=data)
    servers.connected().con.rollback()


# Columns without types ----------------------------------------------------------------------------

STRAY = {
    "p": ("'0.5x'", r"column 'p' \(y_prob\) holds 1 value that are no numbers"),
    "y": ("'one'", r"column 'y' \(y_true\) holds 1 value that are no numbers"),
    "w": ("x'3132'", r"column 'w' \(sample_weight\) holds 1 value that are no numbers"),
}


@pytest.mark.parametrize("kind", ["bigint", "real", "boolean", "numeric"])
@pytest.mark.parametrize("column", STRAY)
def test_a_text_among_numbers_is_refused(column, kind):
    value, message = STRAY[column]
    good = {"y": "1", "p": "0", "w": "1"}
    bad = {**good, column: value}
    rows = [f"insert into t values ({', '.join(row.values())})" for row in (good, bad)]  # noqa: S608
    data, _ = sqlite(";".join([f"create table t (y {kind}, p {kind}, w {kind})", *rows]))
    with pytest.raises(InputError, match=message):
        secant.assess("y", "p", data=data, sample_weight="w")


def test_a_truth_value_of_seven_is_refused():
    data, _ = sqlite("create table t (y boolean, p real); insert into t values (1, 0.5), (7, 0.5)")
    with pytest.raises(InputError, match=r"column 'y' \(y_true\) .* such as 7\.0$"):
        secant.assess("y", "p", data=data)


def test_products_too_small_for_a_double():
    rng = np.random.default_rng(2)
    n = 400
    p = rng.choice([0.0, 5e-324, 1e-300, 1.1e-300, 1e-160, 1e-30, 0.5, 1 - 1e-16], n)
    made = {"happened": (rng.random(n) < p).astype(np.int64), "forecast": p}
    for weight in (None, rng.choice([1e-100, 1e-50, 1.0, 1e100], n)):
        given = made if weight is None else {**made, "weight": weight}
        found = secant.assess(**arguments(given, servers.postgres(given)), method="asymptotic")
        wanted = secant.assess(**arguments(given, None), method="asymptotic")
        assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, rel=1e-12, abs=1e-300)
        assert found.sigma == pytest.approx(wanted.sigma, rel=1e-12)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (NotImplementedError("MySQL does not support NaN"), "has no such operation"),
        (RuntimeError("value out of range: underflow"), "mend what it says"),
        (RuntimeError('syntax error\nLINE 1: CAST("forecast" AS double)'), "mend what it says"),
        (RuntimeError("the type of forecast"), "mend what it says"),
        (RuntimeError("no such function: LN"), "has no such operation"),
        (RuntimeError("cannot cast type boolean to smallint"), "cast the columns first"),
        (RuntimeError("'1e999' is out of range for type double precision"), "cast the columns"),
        (RuntimeError("Table 'test.t' doesn't exist"), "still is where it was"),
    ],
)
def test_casting_is_advised_for_types_alone(error, advice):
    words = f"failed at summing cells: .*; .*{advice}"
    asked = Engine("ibis-mysql", typed=True, inlines=True).asked("summing cells")
    with pytest.raises(SecantError, match=words), asked:
        raise error


def test_a_library_that_an_engine_lacks_is_named():
    with (
        pytest.raises(SecantError, match=r"pip install pyarrow, or 'secant\[frames\]'"),
        Engine("duckdb", typed=True, inlines=False).asked("counting groups"),
    ):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
