"""Streams of Arrow batches are read like tables, pass after pass, and leave nothing behind."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import PACKAGE, optional
from secant import InputError

pa = optional("pyarrow")
optional("narwhals")


def table(n=5000):
    rng = np.random.default_rng(6)
    p = rng.random(n)
    words = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    columns = {"y": (rng.random(n) < p**1.1).astype(np.int64), "p": p, "w": 1 + rng.random(n)}
    columns["m"] = rng.random(n) < 0.4
    return pa.table({**columns, "g": pa.array(words).dictionary_encode(), "more": words})


class Delta:
    """As ``deltalake.DeltaTable``: files of which only some are current."""

    def to_pyarrow_dataset(self):
        return dataset(table())


class Scan:
    """As ``pyiceberg.table.DataScan``."""

    def __init__(self, names=None):
        self._table = table() if names is None else table().select(names)

    def select(self, *names):
        return Scan(list(names))

    def projection(self):
        class Schema:
            fields = tuple(self._table.schema)

        return Schema

    def to_arrow_batch_reader(self):
        return self._table.to_reader(max_chunksize=700)


class Iceberg:
    """As ``pyiceberg.table.Table``."""

    def scan(self):
        return Scan()

    def snapshots(self):
        return []


class HuggingFace:
    """As ``datasets.Dataset``, in the order of its indices."""

    def __init__(self, rows=None):
        self._table = table() if rows is None else rows

    @property
    def column_names(self):
        return self._table.column_names

    def select_columns(self, names):
        return HuggingFace(self._table.select(names))

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def iter(self, batch_size):
        for start in range(0, len(self._table), 900):
            yield self._table.slice(start, min(900, batch_size))


class Capsule:
    """What offers the Arrow C stream interface and nothing else."""

    def __arrow_c_stream__(self, requested_schema=None):
        return table().__arrow_c_stream__(requested_schema)


def dataset(rows):
    return optional("pyarrow.dataset").dataset(rows)


STREAMS = {
    "record batch": lambda: table().combine_chunks().to_batches()[0],
    "reader": lambda: table().to_reader(max_chunksize=700),
    "dataset": lambda: dataset(table()),
    "capsule": Capsule,
    "delta": Delta,
    "iceberg": Iceberg,
    "iceberg scan": Scan,
    "hugging face": HuggingFace,
}
every_stream = pytest.mark.parametrize("stream", STREAMS)


@pytest.fixture(autouse=True)
def spools(tmp_path, monkeypatch):
    """Return the folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(folder):
    gc.collect()
    return [path for path in Path(folder).rglob("*") if path.is_file()]


@every_stream
def test_streams_give_the_answers_of_tables(stream, spools):
    data = STREAMS[stream]()
    found = secant.assess("y", "p", data=data, sample_weight="w")
    wanted = secant.assess("y", "p", data=table(), sample_weight="w")
    assert found.ecce_r == wanted.ecce_r
    assert found.between(0.2, 0.7) == wanted.between(0.2, 0.7)
    assert found.ece().value == wanted.ece().value
    del found
    assert left(spools) == []


KILLED = """
import os, signal, sys, tempfile
import pyarrow as pa
import secant.sources.streams

def batches():
    yield pa.record_batch({"y": [0, 1], "p": [0.4, 0.6]})
    os.kill(os.getpid(), signal.SIGKILL)

tempfile.tempdir = sys.argv[1]
schema = pa.schema({"y": pa.int64(), "p": pa.float64()})
secant.assess("y", "p", data=pa.RecordBatchReader.from_batches(schema, batches()))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="processes are asked on POSIX")
def test_what_a_killed_process_left_goes_with_the_next_stream(spools):
    command = [sys.executable, "-c", KILLED, str(spools)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(left(spools)) == 1
    secant.assess("y", "p", data=table().to_reader())
    assert left(spools) == []


@every_stream
def test_streams_in_groups(stream, spools):
    found = secant.assess_by("y", "p", "g", data=STREAMS[stream]())
    wanted = secant.assess_by("y", "p", "g", data=table())
    for key in wanted:
        assert found[key].ecce_r == wanted[key].ecce_r
        assert found[key].between(0.2, 0.7) == wanted[key].between(0.2, 0.7)
    kept = found["a"]
    del found
    assert kept.ece().value == wanted["a"].ece().value
    del kept
    assert left(spools) == []


@every_stream
def test_streams_where_all_rows_are_needed(stream, spools):
    found = secant.compare_groups("y", "p", "m", data=STREAMS[stream]())
    wanted = secant.compare_groups("y", "p", "m", data=table())
    assert found.to_dict() == wanted.to_dict()
    found = secant.scan("y", "p", data=STREAMS[stream]())
    assert found.to_dict() == secant.scan("y", "p", data=table()).to_dict()
    del found
    assert left(spools) == []


@every_stream
def test_columns_that_are_missing_are_named(stream, spools):
    with pytest.raises(InputError, match=r"data has no column 'P', .* did you mean 'p'\?"):
        secant.assess("y", "P", data=STREAMS[stream]())
    assert left(spools) == []


@every_stream
def test_rows_that_cannot_be_used_leave_no_file(stream, spools, monkeypatch):
    bad = table().set_column(1, "p", pa.array(np.linspace(0, 1.5, 5000)))
    monkeypatch.setitem(globals(), "table", lambda: bad)
    with pytest.raises(InputError, match=r"1\.0"):
        secant.assess("y", "p", data=STREAMS[stream]())
    assert left(spools) == []


def test_only_the_columns_named_are_written(spools):
    result = secant.assess("y", "p", data=dataset(table()))
    (path,) = left(spools)
    with pa.ipc.open_stream(str(path)) as written:
        assert sorted(written.schema.names) == ["p", "y"]
    assert result.n == 5000


def test_an_empty_stream():
    for data in (table().slice(0, 0).to_reader(), HuggingFace(table().slice(0, 0))):
        with pytest.raises(InputError, match="no rows"):
            secant.assess("y", "p", data=data)


def a_reader():
    return table().to_reader(max_chunksize=700)


class Once:
    """What offers the Arrow C stream interface once."""

    def __init__(self):
        self._stream = table().__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream


@pytest.mark.parametrize("stream", [a_reader, Once])
@pytest.mark.parametrize(
    "question",
    [
        lambda data: secant.compare_models("y", "p", "more_p", data=data),
        lambda data: secant.assess_models("y", ["p", "more_p"], data=data),
        lambda data: secant.assess_models("y", ["p", "more_p"], data=data, order_by="w"),
        lambda data: secant.assess_segments(
            "y", "p", data=data, features=["more", "w"], adjust="holm"
        ),
    ],
    ids=["compare_models", "assess_models", "order_by", "assess_segments"],
)
def test_what_takes_several_columns_reads_a_stream_once(question, stream, spools, monkeypatch):
    rows = table()
    rows = rows.append_column("more_p", pa.array(rows["p"].to_numpy() ** 1.3))
    monkeypatch.setitem(globals(), "table", lambda: rows)
    assert str(question(stream())) == str(question(rows))
    assert left(spools) == []


def test_several_columns_of_a_stream_are_named_by_their_argument(spools):
    with pytest.raises(InputError, match="no column 'q', which y_prob_b names"):
        secant.compare_models("y", "p", "q", data=a_reader())
    with pytest.raises(InputError, match=r"no column 'q', which y_probs\['q'\] names"):
        secant.assess_models("y", ["p", "q"], data=a_reader())
    assert left(spools) == []


def test_a_stream_that_was_read_before_is_told(spools):
    data = a_reader()
    secant.assess("y", "p", data=data)
    with pytest.raises(
        InputError, match=r"data \(RecordBatchReader\) holds no rows; it gives them once"
    ):
        secant.assess("y", "p", data=data)
    data = Once()
    secant.assess("y", "p", data=data)
    with pytest.raises(InputError, match=r"data \(Once\) holds no rows; it gives them once"):
        secant.assess("y", "p", data=data)
    assert left(spools) == []


class DatasetDict(dict):
    """As ``datasets.DatasetDict``."""


def test_splits_are_to_be_chosen_from():
    splits = DatasetDict(train=HuggingFace(), test=HuggingFace())
    with pytest.raises(
        InputError, match=r"\(DatasetDict\) is a mapping of tables, 'train', 'test'; pass one"
    ):
        secant.assess("y", "p", data=splits)
    with pytest.raises(InputError, match=r"a mapping of tables, 'a'; pass one .* data\['a'\]"):
        secant.assess_by("y", "p", "g", data={"a": table()})


def test_a_stream_of_hugging_face_that_does_not_know_its_columns():
    class Streamed(HuggingFace):
        column_names = None

        def __iter__(self):
            return iter(self._table.to_pylist())

    assert secant.assess("y", "p", data=Streamed()).n == len(table())


def test_a_column_alone_is_no_table():
    with pytest.raises(InputError, match=r"data must be a data frame"):
        secant.assess("y", "p", data=pa.chunked_array([[1.0]]))
