"""Tests are called the same on every machine, in every process and at any time."""

import os
import subprocess
import sys

import pytest

from helpers import ROOT

LONGEST = 200


def faults(ids):
    """Say which ids of tests are unfit: not plain text, too long, or given twice."""
    seen = set()
    for each in ids:
        plain = each.replace("\\\\", "")  # a backslash; one alone begins an escape
        if not (plain.isascii() and plain.isprintable()) or "\\" in plain or " at 0x" in plain:
            yield f"not plain text: {each!r}"
        if len(each) > LONGEST:
            yield f"longer than {LONGEST} characters: {each}"
        if each in seen:
            yield f"given twice: {each}"
        seen.add(each)


def test_ids_are_short_plain_text_and_unique(request):
    # of all tests that are collected beside this one
    assert not list(faults(item.nodeid for item in request.session.items))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("a.py::test[y-a\\\\b-<lambda>]", None),
        ("a.py::test[\\x1f\\x8b]", "plain"),
        ("a.py::test[a\\nb]", "plain"),
        ("a.py::test[\N{SNOWMAN}]", "plain"),
        pytest.param("a.py::test[<object object at 0x7f00>]", "plain", id="an address"),
        (f"a.py::test[{'y' * 200}]", "longer"),
    ],
)
def test_the_rule_sees(name, word):
    found = list(faults([name]))
    assert [word in each for each in found] == ([] if word is None else [True])
    assert len(list(faults([name, name]))) == 2 * len(found) + 1


def collected(**surroundings):
    """Return what a process of its own collects, in its order."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | surroundings, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stdout[-2000:]
    tests, end, summary = run.stdout.rpartition(b"\n\n")
    assert end, summary
    return tests.splitlines()


@pytest.mark.long
def test_two_processes_collect_the_same(tmp_path):
    """They start seconds apart, with other hashes, another place for files, another language."""
    first = collected(PYTHONHASHSEED="1", LC_ALL="C.UTF-8", TZ="UTC")
    second = collected(
        PYTHONHASHSEED="2", LC_ALL="C", PYTHONUTF8="0", TMPDIR=str(tmp_path), TZ="Asia/Tokyo"
    )
    assert len(first) > 10_000
    assert first == second
