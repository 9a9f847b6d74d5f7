"""Files of every kind, whole and broken: what is read, and what is said of what cannot be."""

import bz2
import datetime as dt
import decimal
import lzma
import os
import re
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional, packed
from makers import arguments
from secant._base.progress import showing
from secant.errors import Argument
from secant.sources import rows
from secant.sources.files import arrow as _arrow
from secant.sources.files import first, held, spool, walking
from secant.sources.files import groups as _file_groups
from secant.sources.files import passes as _passes
from secant.sources.files import table as _table
from secant.sources.files.arrow import Parquet
from secant.sources.files.csv import Csv
from secant.sources.files.prefetch import THREAD
from secant.sources.files.source import column_kinds, write_parquet

pa = optional("pyarrow")
csv = optional("pyarrow.csv")
feather = optional("pyarrow.feather")
parquet = optional("pyarrow.parquet")

N = 1000
rng = np.random.default_rng(0)
P = rng.random(N)
Y = (rng.random(N) < P).astype(np.int64)
NAMES = {"y_true": "y", "y_prob": "p"}


@pytest.fixture(autouse=True, params=["read here", "read ahead"])
def folder(request, tmp_path, monkeypatch):
    """Work in an empty folder, and leave no thread behind; once as if every file were large."""
    monkeypatch.chdir(tmp_path)
    if request.param == "read ahead":
        monkeypatch.setattr(_arrow, "_LARGE", 1)
    yield tmp_path
    assert not [thread for thread in threading.enumerate() if thread.name == THREAD]


@pytest.fixture
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    monkeypatch.setattr(rows, "CHUNK", 25)
    monkeypatch.setattr(held, "HOLD", 64)  # nor are they held in memory


def write(name, **columns):
    """Write a file of the format its name says; y and p unless given."""
    table = pa.table({"y": Y, "p": P} | columns)
    if name.endswith(".parquet"):
        parquet.write_table(table, name)
    elif name.endswith(".csv"):
        csv.write_csv(table, name)
    else:
        feather.write_feather(table, name)
    return name


def refusal(data, error=secant.InputError, **options):
    with pytest.raises(error) as caught:
        secant.assess(**NAMES | options, data=data)
    return str(caught.value)


def cut(name, share=0.5):
    """Leave only the first part of a file."""
    path = Path(name)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


# Reading ahead ------------------------------------------------------------------------------------


def in_row_groups(*sizes):
    """Write y and p in row groups of these sizes, of which some may be 0."""
    table = pa.table({"y": Y[: sum(sizes)], "p": P[: sum(sizes)], "other": P[: sum(sizes)]})
    with parquet.ParquetWriter("a.parquet", table.schema) as writer:
        for first, size in zip(np.cumsum((0, *sizes)), sizes, strict=False):
            writer.write_table(table.slice(first, size), row_group_size=max(size, 1))
    assert parquet.ParquetFile("a.parquet").num_row_groups == len(sizes)
    return Path("a.parquet")


@pytest.mark.parametrize("section", [None, 0, 2])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_row_groups_are_read_in_their_order(size, section):
    sizes = 100, 0, 30, 0, 0, 200, 1
    path = in_row_groups(*sizes)
    batches = list(Parquet().batches(path, ["p", "y"], size, {}, section))
    first, last = (0, sum(sizes)) if section is None else (0, 100) if section == 0 else (100, 130)
    assert max(batch.num_rows for batch in batches) <= size
    assert {tuple(batch.schema.names) for batch in batches} == {("p", "y")}
    table = pa.Table.from_batches(batches)
    assert table["p"].to_pylist() == P[first:last].tolist()
    assert table["y"].to_pylist() == Y[first:last].tolist()


@pytest.mark.parametrize("sizes", [(0, 0, 331), (331, 0), (0, 150, 0, 0, 181, 0)])
def test_row_groups_without_rows(sizes, few_rows_are_many):
    found = secant.assess(**NAMES, data=str(in_row_groups(*sizes)))
    wanted = secant.assess(Y[:331], P[:331])
    assert found.n == 331
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)
    assert found.ecce_r.pvalue == pytest.approx(wanted.ecce_r.pvalue, rel=1e-12)


def test_only_large_parquet_files_are_scanned(monkeypatch):
    """Then, and only then, is no thread of ours needed: Arrow has its own."""
    scanned, prefetched = [], []
    scan, prefetch = Parquet._scan, walking.prefetched
    monkeypatch.setattr(
        Parquet, "_scan", staticmethod(lambda *args: scanned.append(args) or scan(*args))
    )
    monkeypatch.setattr(
        walking, "prefetched", lambda read: prefetched.append(read) or prefetch(read)
    )
    for large in (N + 1, N):
        monkeypatch.setattr(_arrow, "_LARGE", large)
        scanned.clear()
        prefetched.clear()
        secant.assess(**NAMES, data=write("a.parquet"))
        assert bool(scanned) == (not prefetched) == (large == N)
    scanned.clear()
    for name in ("a.feather", "a.csv"):
        prefetched.clear()
        secant.assess(**NAMES, data=write(name))
        assert prefetched
    assert not scanned
    # Of several files all must be large, or we read ahead ourselves.
    write("b.parquet", y=Y[1:], p=P[1:])
    prefetched.clear()
    secant.assess(**NAMES, data=["a.parquet", "b.parquet"])
    assert prefetched


# Types --------------------------------------------------------------------------------------------

OUTCOMES = {
    "bool": Y.astype(bool),
    "int8": pa.array(Y, pa.int8()),
    "uint64": pa.array(Y, pa.uint64()),
    "float32": Y.astype(np.float32),
    "decimal": pa.array([decimal.Decimal(int(y)) for y in Y]),
    "category": pa.array(Y).dictionary_encode(),
    "minus one": 2 * Y - 1,
}
SCORES = {
    "float16": P.astype(np.float16),
    "float32": P.astype(np.float32),
    "whole": Y,
    "bool": Y.astype(bool),
    "category": pa.array(np.round(P, 2)).dictionary_encode(),
    "decimal": pa.array([decimal.Decimal(f"{p:.6f}") for p in P]),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_outcomes(kind):
    found = secant.assess(**NAMES, data=write("a.parquet", y=OUTCOMES[kind]))
    assert found.ecce_r.value == secant.assess(Y, P).ecce_r.value


@pytest.mark.parametrize("kind", SCORES)
def test_scores(kind):
    scores = SCORES[kind]
    plain = scores if isinstance(scores, np.ndarray) else np.array(scores.to_pylist(), np.float64)
    found = secant.assess(**NAMES, data=write("a.parquet", p=scores))
    assert found.ecce_r.value == pytest.approx(secant.assess(Y, plain).ecce_r.value, abs=1e-14)


@pytest.mark.parametrize("kind", ["text", "category", "large", "with an unused word"])
def test_words(kind):
    words = pa.array(["yes" if y else "no" for y in Y])
    if kind == "large":
        words = words.cast(pa.large_string())
    elif kind == "category":
        words = words.dictionary_encode()
    elif kind == "with an unused word":
        words = pa.DictionaryArray.from_arrays(Y, ["no", "yes", "maybe"])
    found = secant.assess(**NAMES, pos_label="yes", data=write("a.parquet", y=words))
    assert found.ecce_r.value == secant.assess(Y, P).ecce_r.value


def test_whole_numbers_before_fractions_in_a_csv(folder):
    lines = ["y,p", *["1,1", "0,0"] * 300_000, "1,0.5"]
    (folder / "a.csv").write_text("\n".join(lines))
    assert secant.assess(**NAMES, data="a.csv").n == 600_001


def test_tabs(folder):
    (folder / "a.tsv").write_text("y\tp\n1\t0.5\n0\t0.25\n")
    assert secant.assess(**NAMES, data="a.tsv").n == 2


@pytest.mark.parametrize("kind", ["date", "timestamp", "decimal", "float", "bool", "category"])
def test_groups_of_every_type(kind):
    code = np.arange(N) % 3
    values = {
        "date": [dt.date(2026, 1, 1 + c) for c in code],
        "timestamp": pa.array(np.datetime64("2026-01-01", "ns") + code.astype("m8[D]")),
        "decimal": [decimal.Decimal(int(c)) for c in code],
        "float": code / 2,
        "bool": code > 0,
        "category": pa.DictionaryArray.from_arrays(code, ["a", "b", "c", "unused"]),
    }[kind]
    found = secant.assess_by("y", "p", "g", data=write("a.parquet", g=values))
    wanted = secant.assess_by(Y, P, np.array(pa.array(values).to_pylist(), object))
    assert sorted(r.calibration.n for r in found.rows) == sorted(
        r.calibration.n for r in wanted.rows
    )
    assert set(found) == set(wanted)
    assert {type(key) for key in found} == {type(key) for key in wanted}


UNUSUAL = {
    "string_view": pa.array(["a", "b", None], pa.string_view()),
    "words of string_view": pa.DictionaryArray.from_arrays(
        [0, 1, None], pa.array(["a", "b"], pa.string_view())
    ),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["a", "b", None])),
    **{  # the first two came with pyarrow 19
        name: pa.array(
            [decimal.Decimal("0.5"), decimal.Decimal("0.25"), None], getattr(pa, name)(digits, 2)
        )
        for name, digits in {"decimal32": 4, "decimal64": 9, "decimal256": 60}.items()
        if hasattr(pa, name)
    },
    "float16": pa.array(np.array([0.5, 0.25, 1], np.float16)),
    "category of float16": pa.DictionaryArray.from_arrays(
        [0, 1, None], pa.array(np.array([0.5, 0.25], np.float16))
    ),
    "category of truths": pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([True, False])),
    "category of dates": pa.DictionaryArray.from_arrays(
        [0, 1, 0], pa.array([dt.date(2026, 1, 1), dt.date(2025, 1, 1)])
    ),
    "date64": pa.array([dt.date(2026, 1, 1), dt.date(2025, 1, 1), None], pa.date64()),
    "zoned": pa.array([0, 10**9, None], pa.timestamp("ns", "Asia/Tokyo")),
}


def of_kind(kind, places):
    """Return a column of a type of Arrow, with the values at these places, and the values."""
    few = UNUSUAL[kind]
    values = [few[place].as_py() for place in places]
    if kind == "runs":
        return optional("pyarrow.compute").run_end_encode(pa.array(values)), values
    if kind == "string_view":
        return pa.array(values, few.type), values
    return few.take(pa.array(places)), values


@pytest.mark.parametrize("kind", UNUSUAL)
def test_keys_of_unusual_types(kind):
    column, values = of_kind(kind, np.arange(N) % 3)
    found = secant.assess_by("y", "p", "g", data=write("a.feather", g=column))
    wanted = secant.assess_by(Y, P, np.array(values, object))
    assert {key: found[key].n for key in found} == {key: wanted[key].n for key in wanted}
    assert {type(key) for key in found} == {type(key) for key in wanted}


@pytest.mark.parametrize("kind", [kind for kind in UNUSUAL if "decimal" in kind or "of f" in kind])
def test_numbers_of_unusual_types(kind):
    column, values = of_kind(kind, np.arange(N) % 2)
    found = secant.assess(**NAMES, data=write("a.feather", p=column))
    wanted = secant.assess(Y, np.array(values, float))
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)


@pytest.mark.parametrize("kind", ["string_view", "words of string_view", "runs"])
def test_words_of_unusual_types(kind):
    column, _ = of_kind(kind, Y)
    found = secant.assess(**NAMES, pos_label="b", data=write("a.feather", y=column))
    assert found.ecce_r.value == secant.assess(Y, P).ecce_r.value
    column, _ = of_kind(kind, 2 * Y)
    place = int(np.argmax(Y))
    assert f"row {place}, column 'y': y_true is null" in refusal(write("a.feather", y=column))


def test_outcomes_of_a_category_of_truths():
    column, _ = of_kind("category of truths", 1 - Y)
    found = secant.assess(**NAMES, data=write("a.feather", y=column))
    assert found.ecce_r.value == secant.assess(Y, P).ecce_r.value


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_times_keep_their_meaning(name):
    """Nanoseconds stay apart, years beyond 9999 do not wrap, zones are not forgotten."""
    unit = np.timedelta64(1, "ns")
    start = np.datetime64("2026-01-01", "ns")
    fine = np.array([start, start + unit, start + 999 * unit])[np.arange(N) % 3]
    far = np.array(["2026-01-01", "+12026-01-01", "-0044-03-15"], "M8[s]")[np.arange(N) % 3]
    for column in (fine, far.astype("M8[ms]") if name == "a.parquet" else far):
        found = secant.assess_by("y", "p", "g", data=write(name, g=column))
        assert sorted(map(str, found)) == sorted(map(str, secant.assess_by(Y, P, column)))
        assert len(found) == 3
    write("b" + name, g=pa.array(fine))
    write(name, g=pa.array(fine, pa.timestamp("ns", "UTC")))
    with pytest.raises(
        secant.InputError, match=r"holds times \(timestamp\[ns\]\) in b.*with a zone"
    ):
        secant.assess_by("y", "p", "g", data=[name, "b" + name])


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        (["1", "2", ""], {1, 2, None}),
        (["01", "2", "3"], {"01", "2", "3"}),
        ([str(2**63 - 1), str(-(2**63)), "2"], {2**63 - 1, -(2**63), 2}),
        (["0.5", "-1.25", "2"], {0.5, -1.25, 2.0}),
        (["0.5", "0.50", "1"], {"0.5", "0.50", "1"}),
        (["True", "False", "True"], {True, False}),
        (["NA", "nan", "1e3"], {"NA", "nan", "1e3"}),
        (["0.5", "0.\u0665", "1"], {"0.5", "0.\u0665", "1"}),
        (["0.5", "0.2_5", "1"], {"0.5", "0.2_5", "1"}),
    ],
)
def test_groups_of_a_csv(folder, fields, keys):
    lines = "".join(f"{i % 2},0.5,{fields[i % 3]}\n" for i in range(30))
    (folder / "a.csv").write_text("y,p,g\n" + lines)
    found = secant.assess_by("y", "p", "g", data="a.csv")
    assert set(found) == keys
    assert {type(key) for key in found} == {type(key) for key in keys}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_groups_by_score_are_allowed_because_calibration_holds_at_every_score(name):
    p = P.round(1)
    found = secant.assess_by("y", "p", "p", data=write(name, p=p))
    wanted = secant.assess_by(Y, p, p)
    assert {key: found[key].n for key in found} == {key: wanted[key].n for key in wanted}


@pytest.mark.parametrize("by", ["y", ["g", "y"]])
def test_groups_by_outcome_are_refused(by):
    with pytest.raises(secant.InputError, match=r"^by.* names 'y', the column of outcomes: among"):
        secant.assess_by("y", "p", by, data=write("a.parquet", g=Y))
    assert refusal("a.parquet", sample_weight="y").startswith("sample_weight names 'y', the col")


def test_several_columns_of_groups():
    a, b = np.arange(N) % 2, np.array(["x", "y", None], object)[np.arange(N) % 3]
    found = secant.assess_by("y", "p", ["a", "b"], data=write("a.feather", a=a, b=b.tolist()))
    wanted = secant.assess_by(Y, P, [a, b])
    assert set(found) == set(wanted)
    assert {key: found[key].ecce_r.value for key in found} == {
        key: wanted[key].ecce_r.value for key in wanted
    }


# Folders ------------------------------------------------------------------------------------------


def partitioned(folder):
    """Write year=2025 and year=2026, outcome=0 and outcome=1 below each, and a null year."""
    for year in ("2025", "2026", "__HIVE_DEFAULT_PARTITION__"):
        for outcome in (0, 1):
            place = folder / "set" / f"year={year}" / f"outcome={outcome}"
            place.mkdir(parents=True)
            chosen = (outcome == Y) & (P < 0.9 if year == "2025" else P >= 0)
            parquet.write_table(pa.table({"p": P[chosen]}), place / "part-0.parquet")
    (folder / "set" / "_SUCCESS").write_text("")
    (folder / "set" / ".part.crc").write_text("x")
    return "set"


def test_folders_name_columns(folder):
    found = secant.assess("outcome", "p", data=partitioned(folder))
    y, p = (np.concatenate([column[P < 0.9], column, column]) for column in (Y, P))
    assert found.ecce_r.value == pytest.approx(secant.assess(y, p).ecce_r.value, abs=1e-14)


@pytest.mark.parametrize("few", [True, False])
def test_folders_name_groups(folder, monkeypatch, few):
    if not few:
        monkeypatch.setattr(rows, "SORT_UP_TO", 10)
    found = secant.assess_by("outcome", "p", "year", data=partitioned(folder))
    assert {key: found[key].n for key in found} == {2025: (P < 0.9).sum(), 2026: N, None: N}
    wanted = secant.assess(Y, P)
    assert found[2026].ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)
    assert found[2026].between(0.2, 0.4).n == wanted.between(0.2, 0.4).n


def test_later_questions_to_a_group_read_its_own_files(folder, monkeypatch):
    monkeypatch.setattr(rows, "SORT_UP_TO", 10)
    monkeypatch.setattr(first, "KEEP", 0)
    data = partitioned(folder)
    found = secant.assess_by("outcome", "p", "year", method="asymptotic", data=data)
    other = folder / "set" / "year=2025" / "outcome=1" / "part-0.parquet"
    os.utime(other, ns=(1, 1))
    with pytest.raises(secant.SecantError, match=r"year=2025.*was changed"):
        found[2025].between(0.123, 0.456)
    walked = []
    kept = _file_groups.FileGroups.walk
    monkeypatch.setattr(
        _file_groups.FileGroups,
        "walk",
        lambda *a, **how: walked.append(kept(*a, **how)) or walked[-1],
    )
    source = found[2026]._source
    source.refine(source.blocks()[0])
    assert all("year=2026" in str(file.path) for walk in walked for file in walk._files)
    assert len(walked) == 2


def test_many_small_files(folder):
    for i in range(40):
        write_parquet(folder / f"{i:02}.parquet", {"y": Y[i::40], "p": P[i::40]})
    found = secant.assess(**NAMES, data=[str(folder / f"{i}*.parquet") for i in range(4)])
    assert found.ecce_r.value == pytest.approx(secant.assess(Y, P).ecce_r.value, abs=1e-14)


def test_rows_are_numbered_through_all_files():
    y, p, g = Y.copy(), P.copy(), np.arange(N) // 6
    p[5], p[7] = 0.0, 1.0
    y[5], y[7] = 1, 0
    write("a.parquet", g=g)
    write("b.parquet", y=y, p=p, g=g)
    found = secant.assess(**NAMES, data=["a.parquet", "b.parquet"])
    assert found.forbidden == (N + 5, N + 7)
    assert found.n_forbidden == 2
    by = secant.assess_by("y", "p", "g", data=["a.parquet", "b.parquet"])
    assert by[0].forbidden == (N + 5,)
    assert by[1].forbidden == (N + 7,)


# What folders' names say beside a column of that name ---------------------------------------------


def hive(where, **columns):
    """Write y, p and other columns to a file in a folder."""
    path = Path(where) / "0.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: column * N if len(column) == 1 else column for name, column in columns.items()}
    parquet.write_table(pa.table({"y": Y, "p": P} | columns), path)
    return str(path)


SAID = {
    "text": ("a", ["a"]),
    "a number": ("7", [7]),
    "a number with a nought before": ("07", [7]),
    "a fraction": ("0.5", [0.5]),
    "half precision": ("0.5", np.full(N, 0.5, np.float16)),
    "no number": ("nan", [float("nan")]),
    "a truth": ("true", [True]),
    "a date": ("2026-01-02", [dt.date(2026, 1, 2)]),
    "a time": ("2026-01-02 03%3A04%3A05", [dt.datetime(2026, 1, 2, 3, 4, 5)]),  # noqa: DTZ001
    "a decimal": ("7.5", [decimal.Decimal("7.50")]),
    "a category": ("a", pa.array(["a"] * N).dictionary_encode()),
    "an escape": ("a%2Fb%20c", ["a/b c"]),
    "none": ("__HIVE_DEFAULT_PARTITION__", pa.nulls(N, pa.string())),
}


@pytest.mark.parametrize("kind", SAID)
def test_a_column_may_be_in_the_file_and_in_its_folder(kind):
    text, column = SAID[kind]
    path = hive(f"set/g={text}", g=column)
    for data in ("set", path, "set/*/*.parquet", [path], str(Path(path).absolute())):
        found = secant.assess_by("y", "p", "g", data=data)
        (key,) = found
        wanted = None if kind == "no number" else pa.array(column)[0].as_py()
        assert key == wanted
        assert found[key].n == N


@pytest.mark.parametrize("kind", SAID)
def test_a_folder_that_says_another_thing_is_refused(kind):
    text, column = SAID[kind]
    path = hive(f"set/g={text}x", g=column)
    hive("set/g=b", g=["b"] if pa.types.is_string(pa.array(column).type) else column)
    for data in (path, "set/*/*.parquet", "set", [path]):
        with pytest.raises(secant.InputError) as caught:
            secant.assess_by("y", "p", "g", data=data)
        assert re.match(
            r"set/g=.*/0.parquet, row 0, column 'g': .* stands there, but the file lies in a folder"
            r" g=.*; rename one of the two",
            str(caught.value),
        )
    assert secant.assess(**NAMES, data=path).n == N  # of no matter to others


@pytest.mark.parametrize("name", ["0.parquet", "0.csv", "0.feather"])
@pytest.mark.parametrize("place", [0, 517, N - 1])
def test_one_row_that_is_of_another_folder_is_named(name, place, monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    monkeypatch.setattr(_arrow, "_LARGE", 1)
    Path("set/g=a").mkdir(parents=True)
    g = np.full(N, "a", object)
    write(f"set/g=a/{name}", g=pa.array(g.tolist()))
    assert set(secant.assess_by("y", "p", "g", data="set")) == {"a"}
    g[place] = "b"
    write(f"set/g=a/{name}", g=pa.array(g.tolist()))
    told = f"set/g=a/{name}, row {place}, column 'g': 'b' stands there, but the file lies in a "
    with pytest.raises(secant.InputError, match=re.escape(told + "folder g=a;")):
        secant.assess_by("y", "p", "g", data="set")


def test_scores_and_outcomes_that_folders_name_too(monkeypatch):
    monkeypatch.setattr(rows, "SORT_UP_TO", 10)  # as many rows are read in several threads
    y = np.repeat([0, 1], N // 2)
    parquet.write_table(pa.table({"y": y, "p": P}), hive("set/y=0"))
    assert refusal("set").startswith("set/y=0/0.parquet, row 500, column 'y': 1 stands there, but")


def test_folders_that_disagree_among_themselves():
    hive("set/g=a/k=1/g=b")
    told = "set/g=a/k=1/g=b/0.parquet lies in folders that disagree on 'g': ['a', 'b']"
    with pytest.raises(secant.InputError, match=re.escape(told)):
        secant.assess_by("y", "p", "g", data="set")
    assert list(secant.assess_by("y", "p", "k", data="set")) == [1]


def test_escapes_that_are_no_text_stay_apart():
    hive("set/g=%FF")
    hive("set/g=%FE")
    assert set(secant.assess_by("y", "p", "g", data="set")) == {"%FF", "%FE"}


# What cannot be read ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_a_truncated_file_is_named(name):
    write(name)
    cut(name)
    assert refusal(name).startswith(f"{name} cannot be read: ")


def test_a_corrupt_page_is_noticed(folder):
    content = bytearray((folder / write("a.parquet")).read_bytes())
    content[200:4000] = bytes(3800)
    (folder / "a.parquet").write_bytes(content)
    assert refusal("a.parquet").startswith("a.parquet cannot be read: ")


def test_truncated_and_pretended_gzip(folder):
    content = packed((folder / write("a.csv")).read_bytes())
    (folder / "a.csv.gz").write_bytes(content[: len(content) // 2])
    assert refusal("a.csv.gz") == "a.csv.gz cannot be read: Truncated compressed stream"
    (folder / "b.csv.gz").write_text("y,p\n1,0.5\n")
    assert refusal("b.csv.gz").startswith("b.csv.gz cannot be read: ")


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.csv", "a.csv.gz"])
def test_no_bytes(folder, name):
    (folder / name).touch()
    assert refusal(name) == f"{name} is empty: it holds not one byte"


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.csv"])
@pytest.mark.parametrize("by", [None, "g"])
def test_no_rows(name, by):
    write(name, y=Y[:0], p=P[:0], g=Y[:0])
    call = secant.assess if by is None else lambda *a, **k: secant.assess_by(*a, by, **k)
    with pytest.raises(secant.InputError, match=f"^{name}: there are no rows; there is nothing"):
        call("y", "p", data=name)


@pytest.mark.parametrize("name", ["https://example.com/a.csv", "s3://bucket/*.parquet"])
def test_files_elsewhere(name):
    told = refusal(name)
    assert told.startswith(f"data names {name!r}, and secant reads files of this machine alone")


def test_nothing_found(folder):
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("y,p\n")
    write("a.parquet")
    write("a.csv")
    assert refusal("b.parquet") == "data names 'b.parquet', and there is no such file or folder"
    assert refusal("*.pq") == "no file matches '*.pq'"
    assert refusal("empty") == "the folder empty holds no files to read"
    assert refusal("a.txt").startswith("a.txt is of no format that secant knows by its name; ")
    assert refusal(["a.csv", "a.parquet"]).startswith("data has files of several formats, a.csv")
    assert refusal(["a.csv", "a.c*"]).startswith("a.csv is named more than once in data")


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.csv"])
def test_a_missing_column(name):
    write(name, forecast=P)
    told = refusal(name, y_prob="forcast")
    assert told == f"{name} has no column 'forcast', which y_prob names; did you mean 'forecast'?"


def test_a_column_missing_in_one_of_several_files():
    write("a.parquet", w=P)
    write("b.parquet")
    told = refusal(["a.parquet", "b.parquet"], sample_weight="w")
    assert told == "b.parquet has no column 'w', which sample_weight names; it has 'y', 'p'"


def test_a_column_twice(folder):
    (folder / "a.csv").write_text("y,p,p\n1,0.5,0.5\n")
    assert refusal("a.csv") == "a.csv has several columns 'p'"


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
def test_a_column_twice_that_nobody_uses(name):
    columns = [Y, P, P, Y]
    table = pa.Table.from_arrays([pa.array(each) for each in columns], ["y", "p", "x", "x"])
    if name == "a.parquet":
        parquet.write_table(table, name)
    elif name == "a.feather":
        with pa.ipc.new_file(name, table.schema) as file:
            file.write_table(table)
    else:
        with pa.ipc.new_stream(name, table.schema) as file:
            file.write_table(table)
    assert secant.assess(**NAMES, data=name).n == N
    assert refusal(name, sample_weight="x") == f"{name} has several columns 'x'"


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_names_of_columns_that_are_no_text(name):
    path = Path(write(name, zzzz=P))
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\xff\xfe"))
    told = refusal(name)
    assert told.startswith(f"{name} cannot be read: ")
    told.encode()


@pytest.mark.parametrize("digits", [19, 25, 400, 5000])
def test_numbers_too_long_for_a_machine_are_names(folder, digits):
    long = "9" * digits
    lines = "".join(f"{i % 2},0.5,{[long, '7'][i % 2]}\n" for i in range(30))
    (folder / "a.csv").write_text("y,p,g\n" + lines)
    assert set(secant.assess_by("y", "p", "g", data="a.csv")) == {long, "7"}
    if digits < 200:
        for value in (long, "7"):
            (folder / "set" / f"g={value}").mkdir(parents=True)
            write_parquet(folder / "set" / f"g={value}" / "a.parquet", {"y": Y, "p": P})
        assert set(secant.assess_by("y", "p", "g", data="set")) == {long, "7"}
    large = pa.array([[2**64 - 1, 2**63][i % 2] for i in range(N)], pa.uint64())
    assert set(secant.assess_by("y", "p", "g", data=write("a.parquet", g=large))) == {
        2**64 - 1,
        2**63,
    }


WRONG = {
    "text": (pa.array([str(p) for p in P]), "text (string); turn it into numbers first"),
    "dates": ([dt.date(2026, 1, 1)] * N, "dates (date32[day])"),
    "lists": (pa.array([[p] for p in P]), "list<item: double>"),
    "bytes": (pa.array([b"x"] * N), "binary"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_column_of_the_wrong_type(kind):
    column, named = WRONG[kind]
    told = refusal(write("a.feather", p=column))
    assert told == f"a.feather: y_prob must hold real numbers; column 'p' holds {named}"


def test_lists_name_no_groups():
    with pytest.raises(secant.InputError, match="column 'g', which by names, holds list<"):
        secant.assess_by("y", "p", "g", data=write("a.feather", g=pa.array([[1]] * N)))


def test_files_that_disagree():
    files = [write("a.parquet"), write("b.parquet", y=Y.astype(float)), "c.parquet"]
    write("c.parquet", y=pa.array(["yes" if y else "no" for y in Y]))
    told = refusal(files, pos_label=1)
    assert told == ("column 'y' holds text (string) in c.parquet, but numbers (int64) in a.parquet")
    assert secant.assess(**NAMES, data=files[:2]).n == 2 * N


# What cannot be used ------------------------------------------------------------------------------


def without(column, *places):
    return pa.array(np.asarray(column), mask=np.isin(np.arange(N), places))


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.csv"])
@pytest.mark.parametrize(("argument", "what"), [("p", "score"), ("y", "outcome"), ("w", "weight")])
def test_nulls_are_counted_and_the_first_is_named(name, argument, what, monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    columns = {"y": Y, "p": P, "w": P + 1}
    write(name, **columns | {argument: without(columns[argument], 205, 207, 999)})
    write("b" + name, **columns)
    told = refusal(["b" + name, name], sample_weight="w")
    role = {"p": "y_prob", "y": "y_true", "w": "sample_weight"}[argument]
    assert told == (
        f"{name}, row 205, column {argument!r}: {role} is null; a missing {what} cannot be "
        "assessed, and secant drops no rows (3 are null in all): drop such rows first"
        f"{'' if argument == 'y' else ', or fill them in'}"
    )


def test_null_words_and_null_categories():
    words = pa.array(["yes" if y else "no" for y in Y])
    told = refusal(write("a.parquet", y=without(words, 3)), pos_label="yes")
    assert "row 3, column 'y': y_true is null" in told
    category = pa.DictionaryArray.from_arrays(Y, [0, None])
    place = int(np.argmax(Y))
    told = refusal(write("a.feather", y=category))
    assert f"row {place}, column 'y': y_true is null" in told
    assert f"({Y.sum():,} are null in all)" in told


@pytest.mark.parametrize("bad", [np.nan, -0.25, 1.5, np.inf])
def test_a_bad_score_is_placed(bad, monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    p = P.copy()
    p[517] = bad
    told = refusal([write("a.parquet"), write("b.parquet", p=p)])
    assert told.startswith(f"b.parquet, row 517, column 'p': y_prob is {bad!r}; ")


@pytest.mark.parametrize(("kind", "bad"), [("sampling", -1.0), ("frequency", 0.5)])
def test_a_bad_weight_is_placed(kind, bad):
    w = np.ones(N)
    w[517] = bad
    told = refusal(write("a.parquet", w=w), sample_weight="w", weight_kind=kind)
    assert told.startswith(f"a.parquet, row 517, column 'w': sample_weight is {bad!r}; ")


def test_weights_of_zero(monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    w = (np.arange(N) > 950) * 1.0  # most batches have no weight at all
    found = secant.assess(**NAMES, sample_weight="w", data=write("a.parquet", w=w))
    assert found.n == 49
    told = refusal(write("a.parquet", w=0 * w), sample_weight="w")
    assert told == (
        "a.parquet: sample_weight is zero in every row; there is nothing to assess "
        "(sample_weight is column 'w')"
    )


@pytest.mark.parametrize("codes", [("0", "-1"), ("-1", "0")])
def test_two_codes_of_outcomes_in_two_batches(codes, monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)  # so that 100 rows are read at once
    y = {"0": Y, "-1": 2 * Y - 1}
    first, second = codes
    mixed = np.concatenate([y[first][:500], np.ones(200, np.int64), y[second][700:]])
    place = 700 + int(np.argmin(Y[700:]))
    told = refusal(write("a.parquet", y=mixed))
    assert told == (
        f"a.parquet, row {place}, column 'y': y_true is {second}; "
        f"rows before it have {first} for the same outcome"
    )


@pytest.mark.parametrize("y", [np.ones(N, int), np.zeros(N, int), -np.ones(N, int)])
def test_outcomes_that_never_change(y):
    assert secant.assess(**NAMES, data=write("a.parquet", y=y)).base_rate == float(y[0] == 1)


def test_words_in_batches(monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    words = np.where(Y == 1, "yes", "no").astype(object)
    words[:300] = "no"  # batches without an event are all right
    found = secant.assess(**NAMES, pos_label="yes", data=write("a.parquet", y=words.tolist()))
    assert found.base_rate == (words == "yes").mean()
    words[640] = "maybe"
    told = refusal(write("a.parquet", y=words.tolist()), pos_label="yes")
    assert told == (
        "a.parquet, row 640, column 'y': y_true is 'maybe'; outcomes must take two values, and "
        "'no' and pos_label='yes' are two already"
    )
    told = refusal("a.parquet")
    assert told.startswith("a.parquet, rows 0 to 24: y_true holds text ('no'); which is the")


def test_a_third_word_in_another_batch(monkeypatch):
    monkeypatch.setattr(rows, "CHUNK", 25)
    words = np.where(np.arange(N) < 500, "no", "never").astype(object)
    told = refusal(write("a.parquet", y=words.tolist()), pos_label="yes")
    assert told.startswith("a.parquet, row 500, column 'y': y_true is 'never'; outcomes must")


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("abc", "y_prob is 'abc', not a number"),
        ("1_0", "y_prob is '1_0', not a number"),
        ("NA", "y_prob is 'NA'; a missing value cannot be assessed, and secant drops no rows"),
        ("nan", "y_prob is nan; a missing score cannot be assessed, and secant drops no rows"),
        ("", "y_prob is null; a missing score cannot be assessed, and secant drops no rows (1 is"),
    ],
)
def test_a_bad_field_of_a_csv(folder, field, complaint):
    (folder / "a.csv").write_text(f"y,p\n1,0.5\n0,0.5\n1,{field}\n0,0.1\n")
    assert refusal("a.csv").startswith(f"a.csv, row 2, column 'p': {complaint}")


def test_a_ragged_csv_and_one_without_names(folder):
    (folder / "a.csv").write_text("y,p\n1,0.5\n0\n")
    assert "a.csv cannot be read: CSV parse error: line 3: Expected 2 columns" in refusal("a.csv")
    (folder / "a.csv").write_text("1,0.5\n0,.25\n")
    assert refusal("a.csv") == (
        "a.csv has no column 'y', which y_true names; it has '1', '0.5' (is the line of names "
        "missing?)"
    )


LINES = [f"{y},{p}\n" for y, p in zip(Y, P, strict=True)]
TEXT = "".join(["y,p\n", *LINES])
# Names that take more bytes than are looked at, which end within a character.
LONG = "".join([f"y,p,{'ü' * 40_000}\n", *(line.replace("\n", ",1\n") for line in LINES)])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"\xef\xbb\xbf" + TEXT.encode()),  # as Excel writes UTF-8
        ("a.csv", ("\n\n" + TEXT).encode()),
        ("a.csv", TEXT.replace("\n", "\r\n").encode()),
        ("a.csv", TEXT.replace("y,p", '"y","p"').encode()),
        ("a.csv", LONG.encode()),
        ("a.csv.gz", packed(b"\xef\xbb\xbf" + TEXT.encode())),
        ("a.tsv", TEXT.replace(",", "\t").encode()),
    ],
)
def test_texts_that_begin_in_an_unusual_way(folder, name, content):
    (folder / name).write_bytes(content)
    assert secant.assess(**NAMES, data=name).n == N


REMARKS = {
    "# made by x\n": "# made by x', which is no line of names; remove that line, or what stands",
    "# made, by x\n": "# made, by x', which is no line of names",
    "#made by x\n#y,p\n": "#made by x', which is no line of names",
    "\n\n# y,p\n": "# y,p', which is no line of names",
    "% made by x\n": "% made by x', which is no line of names",
    "% of events\n\n// in, all, of them\n": "% of events', which is no line of names",
    "// a, b, c\n": "// a, b, c', which is no line of names",
    "My predictions\n": "My predictions', which is no line of names",
    "sep=,\n": "sep=,', which is no line of names",
    '"sep=;"\n': '"sep=;"\', which is no line of names',
}
SEMICOLONS = "has semicolons in its first line, where commas are expected between columns; write it"
DECIMAL_COMMAS = SEMICOLONS + r".*read_csv\('a.csv', sep=';', decimal=','\)$"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", TEXT.replace(",", ";").encode(), SEMICOLONS + r".*read_csv\('a.csv', sep=';'\)$"),
        ("a.csv", TEXT.replace(",", ";").replace(".", ",").encode(), DECIMAL_COMMAS),
        ("a.csv", b"\xef\xbb\xbf" + TEXT.replace(",", ";").encode(), SEMICOLONS),
        ("a.csv.gz", packed(TEXT.replace(",", ";").encode()), SEMICOLONS),
        ("a.csv", b'"y";"p"\n"1";"0,5"\n', DECIMAL_COMMAS),
        ("a.csv", b'"y, seen";"p"\n"1";"0,5"\n', SEMICOLONS),
        ("a.csv", b'"y""";"p"\n"1";"0,5"\n', DECIMAL_COMMAS),
        ("a.csv", b'y;p;note\n1;0.5;"1,5 km"\n', SEMICOLONS + r".*read_csv\('a.csv', sep=';'\)$"),
        ("a.csv", b'"y"\t"p"\n"1"\t"0.5"\n', "has tabs in .*a name that ends in .tsv"),
        *(
            (name, (remark + TEXT.replace(",", separator)).encode(), "begins with '" + begins)
            for name, separator in (("a.csv", ","), ("a.tsv", "\t"))
            for remark, begins in REMARKS.items()
        ),
        ("a.csv", b"x" * (5 << 20) + b"\n1,0.5", "has no line of names: its first line is longer"),
        ("a.csv", b"y,p," + b"x" * (1 << 22) + b"\n1,0,2\n", "has no line of names: its first"),
        ("a.csv", b"y,p\n1," + b"0" * (9 << 20) + b"\n", "line 2 is longer than 4 MB"),
        ("a.csv", TEXT.replace(",", "\t").encode(), "has tabs in .*a name that ends in .tsv"),
        ("a.tsv", TEXT.encode(), "has commas in .*where tabs are .*a name that ends in .csv"),
        ("a.tsv", TEXT.replace(",", "|").encode(), "has vertical bars in .*anew with tabs"),
        ("a.csv", TEXT.encode("utf-16"), "is text in UTF-16; save it anew in UTF-8"),
        ("a.csv", b"\xfe\xff" + TEXT.encode("utf-16-be"), "is text in UTF-16; save it anew"),
        ("a.tsv", TEXT.replace(",", "\t").encode("utf-16"), "is text in UTF-16; save it anew"),
        ("a.csv", TEXT.encode("utf-16-le"), "has zero bytes in its first line, as text in UTF-16"),
        ("a.csv", TEXT.replace("y,", "y\u00fc,").encode("latin-1"), "is not text in UTF-8.* 0xfc"),
        ("a.csv", packed(TEXT.encode()), "is gzipped; give it a name that ends in .gz"),
        ("a.csv", b"PK\x03\x04" + bytes(99), "is a zip archive or a workbook; save what"),
        ("a.csv", b"PAR1" + bytes(99), "is a Parquet file; give it a name that ends in .parquet"),
        ("a.csv", b"PAR1\x15" + b'"\n"x' * 9, "is a Parquet file; give it a name that ends in .p"),
        (
            "a.jsonl",
            b"PAR1\x15" + bytes(99),
            "is a Parquet file; give it a name that ends in .parq",
        ),
        ("a.feather", b"PAR1\x15" + bytes(99), "is a Parquet file; give it a name that ends in"),
        ("a.csv.gz", packed(b"PAR1\x15" + bytes(99)), "is a Parquet file; give it a name"),
        ("a.csv", b"ARROW1" + bytes(99), "is a Feather file; give it a name"),
        ("a.parquet", b"ARROW1" + bytes(99), "is a Feather file; give it a name"),
        ("a.jsonl", packed(b"{}"), "is gzipped; give it a name that ends in .gz"),
        ("a.parquet", packed(b"PAR1"), "is packed by gzip; unpack it, or send what zcat"),
        ("a.csv", bz2.compress(TEXT.encode()), "is packed by bzip2; unpack it, or send what bzcat"),
        ("a.csv", bz2.compress(b""), "is packed by bzip2; unpack it"),
        ("a.csv.gz", bz2.compress(TEXT.encode()), "is packed by bzip2; unpack it"),
        ("a.jsonl", lzma.compress(b"{}"), "is packed by xz; unpack it, or send what xzcat prints"),
        ("a.csv", b'\x28\xb5\x2f\xfd"', "is packed by zstd; unpack it, or send what zstdcat pri"),
        ("a.csv", b'\x04\x22\x4d\x18"', "is packed by lz4; unpack it, or send what lz4cat prin"),
        ("a.feather", TEXT.encode(), "cannot be read: it is no Feather file, and no stream of"),
    ],
)
def test_what_is_no_text_with_commas_is_told_by_its_beginning(folder, name, content, complaint):
    (folder / name).write_bytes(content)
    told = refusal(name)
    assert re.match(f"{name},? {complaint}", told), told
    if complaint.startswith("line 2"):  # which is not looked at for the names
        return
    with pytest.raises(secant.InputError, match=re.escape(told)):  # what the command line asks
        column_kinds(name)


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "BZh9", "PK"])
def test_columns_may_be_called_as_files_begin(folder, name):
    (folder / "a.csv").write_text(f"{name},p\n1,0.5\n0,0.25\n")
    assert secant.assess(name, "p", data="a.csv").n == 2


@pytest.mark.parametrize("name", ["#y", "%y", "% of all", "//y"])
def test_names_may_begin_as_remarks_do(folder, name):
    (folder / "a.csv").write_text(f"{name},p\n1,0.5\n0,0.25\n")
    assert secant.assess(name, "p", data="a.csv").n == 2


def test_one_column_alone_is_no_title(folder):
    (folder / "a.csv").write_text('y\n"1, 2"\n"3"\n')
    assert "a.csv has no column 'p'" in refusal("a.csv")


@pytest.mark.parametrize("digits", ["\u0660.\u0665", "\uff10.5", "0.\u0665", "\u0967", "\xa00.5"])
def test_digits_of_other_scripts_are_no_numbers(folder, digits):
    """As nobody else takes them for numbers who reads the file."""
    for columns, names in (("y,p", ["0", digits]), ("p,y", ["0.5", digits])):
        rows = [f"1,{line % 2}" for line in range(300)]
        (folder / "a.csv").write_text("\n".join([columns, *rows, ",".join(names), ""]))
        name = columns[-1]
        told = f"a.csv, row 300, column '{name}': {'y_prob' if name == 'p' else 'y_true'} is "
        assert refusal("a.csv").startswith(f"{told}{digits!r}, not a number")
        for value in (digits, "0.5"):
            hive(f"set/g={value}")
        assert set(secant.assess_by("y", "p", "g", data="set")) == {digits, "0.5"}


@pytest.mark.parametrize("digits", ["\u0661", "\uff11", "\u0967"])
@pytest.mark.parametrize("row", [0, 1, 300])
def test_an_outcome_in_digits_of_another_script_is_named_wherever_it_stands(folder, digits, row):
    lines = [f"{line % 2},0.5\n" for line in range(301)]
    lines[row] = f"{digits},0.5\n"
    (folder / "a.csv").write_text("".join(["y,p\n", *lines]))
    told = f"a.csv, row {row}, column 'y': y_true is {digits!r}, not a number"
    assert refusal("a.csv").startswith(told)


def late(first, last):
    """Return a table whose last outcome is in another batch than the first."""
    lines = "".join(f"{word},0.5\n" for word in (first,) * 3000)
    return f"y,p\n{lines}{last},0.25\n"


@pytest.mark.parametrize("pos_label", [None, 1])
@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (
            "0",
            "yes",
            "y_true is 'yes', not a number: correct .* two words, name the event with pos_label",
        ),
        ("true", "2", "y_true is '2', not true or false, as the first rows hold: correct"),
        ("-1", "x", "y_true is 'x', not a number"),
        ("0.0", "N/A", "y_true is 'N/A'; a missing value cannot be assessed"),
    ],
)
@pytest.mark.usefixtures("few_rows_are_many")
def test_the_outcome_that_is_of_another_kind_is_named(folder, first, last, told, pos_label):
    (folder / "a.csv").write_text(late(first, last))
    found = refusal("a.csv", pos_label=pos_label)
    assert re.match(rf"a\.csv, row 3,000, column 'y': {told}", found), found
    (folder / "b.csv").write_text(late(first, first))
    assert refusal(["b.csv", "a.csv"], pos_label=pos_label) == found


def test_an_outcome_that_is_missing_in_the_first_row_is_named(folder):
    (folder / "a.csv").write_text("y,p\nNA,0.5\n1,0.5\n0,0.5\n")
    assert refusal("a.csv").startswith("a.csv, row 0, column 'y': y_true is 'NA'; a missing value")


def test_outcomes_that_are_words_are_still_asked_for_the_event(folder):
    (folder / "a.csv").write_text("y,p\nno,0.5\n1,0.5\n")
    assert "y_true holds text ('1', 'no'); which is the event?" in refusal("a.csv")
    (folder / "a.csv").write_text("y,p\n0,0.5\n1+,0.5\n")
    assert secant.assess("y", "p", data="a.csv", pos_label="1+").n == 2


def test_fields_that_are_not_in_utf8(folder):
    for y in ("w\u00e4r", "ja"):
        text = f"y,p,g\n{y},0.5,b\u00f6\nnein,0.5,a\n"
        (folder / "a.csv").write_bytes(text.encode("latin-1"))
        with pytest.raises(secant.InputError, match=r"a\.csv .*invalid UTF8.*anew in UTF-8$"):
            secant.assess_by("y", "p", "g", data="a.csv")
    (folder / "a.csv").write_bytes("y,p\nw\u00e4r,0.5\nja,0.5\n".encode("latin-1"))
    assert "invalid UTF8" in refusal("a.csv")
    assert "invalid UTF8" in refusal("a.csv", pos_label="ja")


# Changes, interruption, memory --------------------------------------------------------------------


@pytest.mark.parametrize("change", ["deleted", "written anew", "other rows, same size and time"])
def test_a_file_that_changes_between_two_walks_is_noticed(change, few_rows_are_many, monkeypatch):
    write("a.parquet")
    seen = Path("a.parquet").stat()
    told = r"a\.parquet was changed after it was first looked at"
    refinement = rows.RowSource.refinement
    if change.startswith("other rows"):
        monkeypatch.setattr(_table, "_stamp", lambda _path: (0, 0))
        told = "a second look at the same scores found"

    def changed(self, blocks):
        Path("a.parquet").unlink()
        if change == "written anew":
            write("a.parquet")
            os.utime("a.parquet", ns=(seen.st_atime_ns, seen.st_mtime_ns + 1000))
            assert Path("a.parquet").stat().st_size == seen.st_size
        elif change != "deleted":
            write("a.parquet", y=Y[::-1])
        return refinement(self, blocks)

    monkeypatch.setattr(rows.RowSource, "refinement", changed)
    with pytest.raises(secant.SecantError, match=told):
        secant.assess(**NAMES, method="asymptotic", data="a.parquet")


CHANGES = ["written anew", "replaced by one of the same size and time", "cut short"]


def changed(path, how):
    """Change a file, as another process may while it is read."""
    seen = path.stat()
    content = path.read_bytes()
    time = seen.st_mtime_ns
    if how == "written anew":
        path.write_bytes(content)
        time += 1000
    elif how == "cut short":
        path.write_bytes(content[: len(content) // 2])
    else:
        Path("other").write_bytes(content)
        Path("other").replace(path)
    os.utime(path, ns=(time, time))


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.feather", "a.arrow", "a.jsonl"])
@pytest.mark.parametrize("many", [False, True])
def test_a_file_that_changes_while_it_is_read_once_is_noticed(name, how, many, monkeypatch):
    """What was read of it is of neither version."""
    monkeypatch.setattr(rows, "CHUNK", 100)
    if many:
        monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    if name == "a.jsonl":
        Path(name).write_text(
            "".join(f'{{"y": {y}, "p": {p}}}\n' for y, p in zip(Y, P, strict=True))
        )
    elif name == "a.arrow":
        with pa.ipc.new_stream(name, pa.schema({"y": pa.int64(), "p": pa.float64()})) as stream:
            stream.write_table(pa.table({"y": Y, "p": P}), max_chunksize=100)
    else:
        write(name)
    read = _table.FileTable._read

    def late(self, file, *arguments):
        for number, batch in enumerate(read(self, file, *arguments)):
            if number == 1 and not done:
                done.append(changed(Path(name), how))
            yield batch

    done = []
    monkeypatch.setattr(_table.FileTable, "_read", late)
    told = f"{name} was changed after it was first looked at: assess it again"
    assert refusal(name, secant.SecantError) == told


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_pieces_of_it_are_read_is_noticed(how):
    """As threads read them side by side."""
    path = in_row_groups(*[250] * 4)
    table = _table.FileTable(path, {Argument("y_prob"): "p"}, None)
    walk = table.walk_pieces(["p"], 100, iter(table.pieces(1000)))
    next(walk)
    changed(path, how)
    with pytest.raises(secant.SecantError, match=r"^a\.parquet was changed after it was first"):
        list(walk)


def test_rows_that_do_not_come_are_missed(monkeypatch):
    batches = Parquet.batches

    def but_the_last(*arguments):
        yield from list(batches(*arguments))[:-1]

    monkeypatch.setattr(Parquet, "batches", but_the_last)
    monkeypatch.setattr(rows, "CHUNK", 300)
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    write("a.parquet")
    assert refusal("a.parquet") == "a.parquet says that it holds 1,000 rows, but has 900"


def test_a_file_that_changes_is_noticed(few_rows_are_many):
    found = secant.assess(**NAMES, method="asymptotic", data=write("a.parquet"))
    write("a.parquet", p=P / 2)
    with pytest.raises(secant.SecantError, match=r"a\.parquet was changed"):
        found.between(0.123, 0.456)
    with pytest.raises(secant.SecantError, match=r"a\.parquet was changed"):
        found.ece()
    Path("a.parquet").unlink()
    with pytest.raises(secant.SecantError, match=r"a\.parquet was changed"):
        found.ece()


@pytest.mark.parametrize("by", [None, "g"])
def test_interruption_leaves_nothing_behind(by, few_rows_are_many, monkeypatch):
    write("a.parquet", g=Y)
    taken = []

    def interrupted(self, chunk):
        taken.append(chunk)
        if len(taken) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("secant._blocks.cell_sums.CellSums.add", interrupted)
    call = secant.assess if by is None else lambda *a, **k: secant.assess_by(*a, by, **k)
    with pytest.raises(KeyboardInterrupt) as caught:
        call("y", "p", data="a.parquet")
    assert len(taken) == 3  # nothing more was added up
    # Although ``caught`` still holds the traceback, as an interactive session would.
    assert caught.traceback[-1].name == "interrupted"
    assert not [thread for thread in threading.enumerate() if thread.name == THREAD]
    assert list(Path().iterdir()) == [Path("a.parquet")]


@pytest.mark.parametrize(("name", "kind"), [("a.csv", Csv), ("a.parquet", Parquet)])
def test_an_interrupt_is_heard_when_reading_stops_early(name, kind, few_rows_are_many, monkeypatch):
    """As it does to estimate how many rows there are, and to take a sample of them."""
    batches = kind.batches

    def interrupted(*arguments):
        try:
            yield from batches(*arguments)
        except GeneratorExit:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(kind, "batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        secant.assess(**NAMES, data=write(name))


@pytest.mark.parametrize("keep", [0, N])
def test_rows_of_groups_wait_on_disk(keep, monkeypatch, few_rows_are_many):
    monkeypatch.setattr(_passes, "COLLECT", 150)
    monkeypatch.setattr(first, "KEEP", keep)
    monkeypatch.setattr(spool, "IN_MEMORY", 150)
    g = np.where(np.arange(N) < 600, 0, np.arange(N) % 9)
    found = secant.assess_by("y", "p", "g", data=write("a.parquet", g=g))
    monkeypatch.undo()
    wanted = secant.assess_by(Y, P, g)
    assert list(found) == list(wanted)
    for key in wanted:
        assert found[key].ecce_r.value == pytest.approx(wanted[key].ecce_r.value, abs=1e-14)


@pytest.mark.parametrize("keep", [0, N])
def test_a_result_of_groups_keeps_rows_only_if_they_are_few(keep, monkeypatch, few_rows_are_many):
    monkeypatch.setattr(first, "KEEP", keep)
    monkeypatch.setattr(rows, "SORT_UP_TO", 150)  # of three groups one has more
    g = np.where(np.arange(N) < 800, 0, np.arange(N) % 2 + 1)
    found = secant.assess_by("y", "p", "g", data=write("a.parquet", g=g), method="asymptotic")
    kept = found[1]._source._observations._groups
    assert not kept._first.sums
    assert (kept._spool is None) == (keep == 0)
    wanted = secant.assess_by(Y, P, g, method="asymptotic")
    Path("a.parquet").unlink()
    for key, result in found.items():
        if keep:
            sums = result._source.score_sums()
            assert sums == pytest.approx(wanted[key]._source.score_sums(), rel=1e-13)
        else:
            with pytest.raises(secant.SecantError, match="changed"):
                result._source.score_sums()


def test_a_new_group_is_a_change(monkeypatch, few_rows_are_many):
    monkeypatch.setattr(first, "KEEP", 0)
    g = np.arange(N) % 2
    write("a.parquet", g=g)
    learn = _file_groups.KeyBook.close

    def close(self, is_text):
        write("a.parquet", g=g + 1)
        os.utime("a.parquet", ns=(1, seen.st_mtime_ns))
        return learn(self, is_text)

    seen = Path("a.parquet").stat()
    monkeypatch.setattr(_file_groups.KeyBook, "close", close)
    with pytest.raises(secant.SecantError, match="2 is a new group"):
        secant.assess_by("y", "p", "g", data="a.parquet")


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_memory_does_not_grow_with_rows(name, monkeypatch):
    monkeypatch.setattr(held, "HOLD", 1 << 20)

    def peak(n):
        p = np.random.default_rng(1).random(n)
        write(name, p=p, y=(p > 0.4).astype(np.int8))
        del p
        arrow = pa.total_allocated_bytes()
        tracemalloc.start()
        try:
            secant.assess(**NAMES, data=name)
            return tracemalloc.get_traced_memory()[1], pa.total_allocated_bytes() - arrow
        finally:
            tracemalloc.stop()

    (small, _), (large, left) = peak(1 << 20), peak(4 << 20)
    assert left <= 0  # below: what another test had left behind was given back meanwhile
    assert large < small * 1.5


# Helpers of the command line ----------------------------------------------------------------------


def test_column_kinds():
    write("a.parquet", d=[dt.date(2026, 1, 1)] * N, b=Y == 1)
    kinds = {"y": "whole", "p": "float", "d": "other", "b": "whole"}
    assert column_kinds(["a.parquet"]) == kinds
    write("a.csv")
    assert column_kinds("a.csv") == {"y": "whole", "p": "float"}


def test_without_pyarrow(monkeypatch):
    write("a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(secant.MissingExtraError, match=r"pip install 'secant\[files\]'"):
        secant.assess(**NAMES, data="a.parquet")


def test_random_ties_and_drawn_pvalues_from_files(few_rows_are_many):
    made = {"happened": Y, "forecast": np.round(P, 1)}
    names = {"y_true": "happened", "y_prob": "forecast", "data": "a.parquet"}
    write_parquet("a.parquet", made)
    for options in ({"ties": "random"}, {"method": "monte-carlo"}):
        found = secant.assess(**names, **options, rng=3)
        wanted = secant.assess(**arguments(made, None), **options, rng=3)
        assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)
        assert found.ecce_r.pvalue == wanted.ecce_r.pvalue


@pytest.mark.parametrize("name", ["a.b", ".", "a b", "p[0]", "<img src=x>", "ünï", "y.p", "'", '"'])
def test_names_of_columns_are_plain_text(name, few_rows_are_many):
    columns = {"y": Y, name: P, "other": P / 2, "a": [{"b": 0.5}] * N}
    parquet.write_table(pa.table(columns), "a.parquet")
    found = secant.assess("y", name, data="a.parquet")
    assert found.mean_score == pytest.approx(P.mean(), abs=1e-14)
    assert found.n == N


def test_progress_is_told_in_rows(few_rows_are_many):
    told = []
    with showing(lambda done, total: told.append((done, total))):
        secant.assess(**NAMES, method="asymptotic", data=write("a.parquet"))
    assert told[:40] == [(25 * (i + 1), N) for i in range(40)]
    assert len(told) % 10 == 0  # whole walks
