"""Standard input: kept in a file without a name, since it is read more than once."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from helpers import PACKAGE, optional, packed

pa = optional("pyarrow")

N = 3000
P = np.random.default_rng(5).random(N)
Y = (P > 0.4).astype(np.int64)
SCRIPT = """
import secant
try:
    groups = secant.assess_by("y", "p", "g", data="-")
    found = secant.assess("y", "p", data="-")
    print(found.n, len(groups))
except secant.InputError as error:
    print(error)
"""


def run(content):
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    return subprocess.run(
        command,
        input=content,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )


def stream(kind):
    table = pa.table({"y": Y, "p": P, "g": Y})
    buffer = io.BytesIO()
    if kind == "csv":
        return ("y,p,g\n" + "".join(f"{y},{p},{y}\n" for y, p in zip(Y, P, strict=True))).encode()
    if kind == "json":
        return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    if kind == "parquet":
        optional("pyarrow.parquet").write_table(table, buffer)
    else:
        opened = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with opened(buffer, table.schema) as writer:
            writer.write_table(table)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["csv", "json", "stream", "file", "parquet"])
def test_what_comes_in_is_read_as_often_as_needed(kind):
    done = run(stream(kind))
    assert (done.returncode, done.stdout) == (0, b"3000 2\n"), done.stderr


def test_refusals_name_it():
    for content, told in [
        (b"y,p,g\n1,0.5,2\n0,2,2\n", b"standard input, row 1, column 'p': y_prob is 2.0"),
        (b"", b"standard input is empty"),
        (b'y,p,g\n1,0.5,"2\n', b"standard input, line 2: a quote"),
        (stream("stream")[:-3000], b"standard input cannot be read"),
        (packed(stream("csv")), b"standard input is packed by gzip; unpack it, or send"),
    ]:
        done = run(content)
        assert done.stdout.startswith(told), (done.stdout, done.stderr)


def test_the_way_out_does_not_take_it_for_the_name_of_a_file():
    for content, way in [
        (b'y,p,g\n1,0.5,"2\n3"\n', b"what reads it: pandas.read_csv(sys.stdin)\n"),
        (b"y;p;g\n1;0.5;2\n", b"what reads it: pandas.read_csv(sys.stdin, sep=';')\n"),
        (b"y\tp\tg\n1\t0.5\t2\n", b"; save it under a name that ends in .tsv\n"),
    ]:
        done = run(content)
        assert done.stdout.endswith(way), (done.stdout, done.stderr)
