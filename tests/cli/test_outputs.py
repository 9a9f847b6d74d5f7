"""What the command writes: checked before the work, and nothing of it is lost."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from commands import NAMED, assess, write
from helpers import optional

optional("click")
optional("rich")
optional("pyarrow")

from secant.cli._outputs import STDOUT, emit, unusable  # noqa: E402  (it imports click)


@pytest.mark.parametrize("option", ["--html", "--json", "--plot"])
def test_an_output_never_replaces_an_input(tmp_path, columns, option):
    # A picture's name must end in .png, and a file of predictions may be linked from there.
    file = write(tmp_path / "preds.parquet", columns)
    before, link = file.read_bytes(), tmp_path / "link.png"
    link.symlink_to(file)
    for out in (file, link) if option != "--plot" else (link,):
        shown = assess(file, *NAMED, option, out)
        assert shown.exit_code == 2, shown.output
        assert "would be overwritten" in " ".join(shown.output.split())
        assert file.read_bytes() == before


def test_outputs_that_cannot_be_are_refused_before_the_work(file, tmp_path):
    same = tmp_path / "same"
    shown = assess(file, *NAMED, "--html", same, "--json", same)
    assert shown.exit_code == 2
    assert "--html writes there already" in shown.output
    assert not same.exists()
    for name in ("", "."):
        assert assess(file, *NAMED, "--html", name).exit_code == 2
    shown = assess(file, *NAMED, "--html", "-")
    assert shown.exit_code == 2
    assert "only --json can be printed" in shown.output


def test_what_is_no_file_is_written_to_and_not_replaced(file, tmp_path):
    # As /dev/stdout and /dev/null are; a test had better not try it with those.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as reader:
        assert assess(file, *NAMED, "--json", pipe).exit_code == 0
        assert json.loads(reader.read(1 << 16))["models"]["forecast"]["n"] == 4000
    assert pipe.is_fifo()


def test_a_link_stays_a_link(file, tmp_path):
    out, link = tmp_path / "out.json", tmp_path / "latest.json"
    link.symlink_to(out)
    assert assess(file, *NAMED, "--json", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(out.read_text())["files"] == [str(file)]


def process(*arguments, **options):
    command = [sys.executable, "-m", "secant", "assess", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, **options)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_will_do(tmp_path, columns, encoding):
    columns["segment"] = np.where(columns["segment"] == "south", "Süd \u2192 \u0416", "x")
    file = write(tmp_path / "a.parquet", columns)
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = process(file, *NAMED, "--by", "segment", env=env)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode(encoding)
    whole = encoding == "utf-8"
    assert ("▁" in shown) is whole
    assert ("Süd \u2192 \u0416" if whole else "\\u2192 \\u0416") in shown


def test_a_reader_who_leaves_costs_neither_report_nor_exit_code(file, tmp_path):
    report = tmp_path / "report.html"
    command = [sys.executable, "-m", "secant", "assess", file, *NAMED, "--html", report]
    for gate, code in (((), 0), (("--alpha", "0.01"), 1)):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as gone:
            done = subprocess.run(
                [*command, *gate], check=False, stdout=gone, stderr=subprocess.PIPE
            )
        assert done.returncode == code, done.stderr
        assert done.stderr == b""
        assert report.exists()
        report.unlink()


def test_an_output_that_can_be_written_is_no_trouble(tmp_path):
    outputs = {"--html": tmp_path / "a.html", "--json": STDOUT, "--plot": None, "--out": STDOUT}
    assert unusable(outputs, [tmp_path / "b"]) is None


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"--html": "nowhere/a"}, "--html {}/nowhere/a: there is no folder {}/nowhere"),
        ({"--html": "a", "--json": "link"}, "--json {}/link: --html writes there already"),
        ({"--json": "in"}, "--json {}/in: that is a file of predictions, which would be"),
        ({"--json": "to_in"}, "--json {}/to_in: that is a file of predictions, which would be"),
        ({"--html": "nowhere/a", "--json": "in"}, "--html "),  # the first is named
        ({"--html": "a.pdf"}, "--html {}/a.pdf: a page ends in .html or .htm, not in .pdf"),
        ({"--json": "a.html"}, "--json {}/a.html: a file of numbers ends in .json, not in .html"),
        ({"--state": "a.csv"}, "--state {}/a.csv: the state of a monitor ends in .json, not in"),
    ],
)
def test_what_is_wrong_with_an_output_is_said(tmp_path, outputs, words):
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "to_in").symlink_to("in")
    (tmp_path / "in").touch()
    found = unusable({key: tmp_path / name for key, name in outputs.items()}, [tmp_path / "in"])
    assert found.startswith(words.format(tmp_path, tmp_path))


@pytest.mark.parametrize("err", [False, True])
def test_what_an_encoding_lacks_is_written_otherwise(monkeypatch, err):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stderr" if err else "stdout", stream)
    emit("S\xfcd\n", err=err)
    assert stream.buffer.getvalue() == b"S\\xfcd\n"


def test_a_closed_stream_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    emit("nobody listens")
