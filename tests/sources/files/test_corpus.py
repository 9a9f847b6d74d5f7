"""Files that are wrong in one known way each, and the same good files read by three readers."""

from collections import Counter
from pathlib import Path

import pytest

import secant
from files import corpus
from files.test_fuzz import Child
from helpers import optional, packed

optional("pyarrow")


@pytest.fixture(scope="module")
def reader():
    made = Child()
    yield made
    made.close()


@pytest.mark.parametrize("case", corpus.damaged(), ids=lambda case: f"{case.name}: {case.why}")
def test_each_is_refused_in_words(case, reader, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.content)
    outcome, told = reader.examine(path)
    assert outcome == "refused", told
    assert str(path) in told
    assert case.told in told


def test_parts_packed_one_by_one_are_one_file(tmp_path):
    head, *rest = corpus.csv_text().encode().splitlines(keepends=True)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"".join(packed(each) for each in [head, b"".join(rest), b""]))
    assert secant.assess("y", "p", data=path).n == corpus.N


@pytest.mark.parametrize("name", corpus.WHOLE)
def test_three_readers_agree(name, tmp_path):
    """What secant reads is what Polars and DuckDB read, row for row as far as sums can tell."""
    path = tmp_path / name
    path.write_bytes(corpus.WHOLE[name]())
    found = secant.assess_by("y", "p", "g", data=path)
    for read in (_by_polars, _by_duckdb):
        rows = read(path)
        if rows is None:
            continue
        y, p, g = (list(column) for column in zip(*rows, strict=True))
        assert {key: found[key].n for key in found} == Counter(g)
        wanted = secant.assess_by(y, p, g)
        for key in wanted:
            assert found[key].ecce_r.value == pytest.approx(wanted[key].ecce_r.value, abs=1e-14)


def _by_polars(path: Path):
    polars = optional("polars")
    if path.suffix == ".parquet":
        frame = polars.read_parquet(path)
    elif path.suffix in {".feather", ".arrow"}:
        read = polars.read_ipc_stream if path.suffix == ".arrow" else polars.read_ipc
        frame = read(path)
    elif path.suffix == ".jsonl":
        frame = polars.read_ndjson(path)
    else:
        frame = polars.read_csv(path)
    return frame.select("y", "p", polars.col("g").cast(polars.String)).rows()


def _by_duckdb(path: Path):
    duckdb = optional("duckdb")
    readers = {
        ".parquet": duckdb.read_parquet,
        ".csv": duckdb.read_csv,
        ".gz": duckdb.read_csv,
        ".jsonl": duckdb.read_json,
    }
    if path.suffix not in readers:
        return None  # its reader of Arrow is fetched from elsewhere
    return readers[path.suffix](str(path)).select("y", "p", "g").fetchall()
