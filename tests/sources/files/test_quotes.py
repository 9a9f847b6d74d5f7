"""Quotes in files of text: what a strict reader would take for a table, or a refusal by line."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant.sources.files import quotes
from secant.sources.files.quotes import CheckedText

optional("pyarrow")

LINES = [f"{i % 2},0.{i % 9 + 1},note {i % 3}" for i in range(1000)]


def write(lines, name="a.csv", end="\n"):
    Path(name).write_text(end.join(["y,p,note", *lines, ""]), newline="")
    return name


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("place", [0, 11, 500, 999])
@pytest.mark.parametrize("field", ['"', '"abc', '"abc""', '"abc"d', '"a"b"', '""a', '"new\nline"'])
def test_a_stray_quote_is_refused_by_its_line(end, place, field):
    lines = LINES.copy()
    lines[place] = f"1,0.5,{field}"
    with pytest.raises(secant.InputError) as caught:
        secant.assess("y", "p", data=write(lines, end=end))
    assert str(caught.value).startswith(f"a.csv, line {place + 2:,}: a quote is not closed")


FINE = [
    '"a,b"',
    '"say ""x"""',
    '""',
    '""""',
    'a "b" c',
    'it is 5" long',
    'ends"',
    'abc"def"',
    '"\'"',
    "'",
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("field", FINE)
def test_quotes_that_lose_nothing_are_read(end, field, monkeypatch):
    monkeypatch.setattr(quotes, "_AT_ONCE", 64)
    lines = LINES.copy()
    for place in (0, 11, 999):
        lines[place] = f"1,0.5,{field}"
    found = secant.assess_by("y", "p", "note", data=write(lines, end=end))
    wanted = next(csv.reader([field]))[0] or None
    assert found[wanted].n == 3
    assert sum(each.n for each in found.values()) == 1000


def test_a_file_of_tabs_and_one_that_begins_with_a_mark():
    text = 'y\tp\t"note, ""x"""\n1\t0.5\t"a\tb"\n0\t0.5\t5" x\n'
    Path("a.tsv").write_text(text)
    assert secant.assess("y", "p", data="a.tsv").n == 2
    Path("a.csv").write_bytes(b'\xef\xbb\xbf"y","p"\n1,0.5\n0,0.5\n')
    assert secant.assess("y", "p", data="a.csv").n == 2


@given(
    st.lists(st.text('a",\n\r\t', max_size=12), min_size=1, max_size=8),
    st.integers(1, 40),
    st.booleans(),
)
def test_what_passes_is_what_a_strict_reader_takes_line_by_line(lines, size, quoted):
    """No text passes whose lines are not whole, in whatever pieces it is read."""
    if quoted:
        lines = [",".join(f'"{field.strip()}"' for field in line.split(",")) for line in lines]
    text = "\n".join(lines)
    checked = CheckedText(Path("a"), io.BytesIO(text.encode()), ",")
    try:
        read = b"".join(iter(lambda: checked.read(size), b""))
        checked.read(size)
    except secant.InputError:
        told = True
    else:
        told = False
        assert read.decode() == text
    plain = io.StringIO(text, newline="")
    try:
        rows = list(csv.reader(plain, strict=True))
    except csv.Error:
        assert told
        return
    whole = [row for line in text.splitlines() for row in csv.reader([line]) if row]
    if not told:
        assert [row for row in rows if row] == whole


def test_line_numbers_hold_over_many_blocks(monkeypatch):
    monkeypatch.setattr(quotes, "_AT_ONCE", 100)
    rng = np.random.default_rng(3)
    for place in rng.integers(0, 1000, 5).tolist():
        lines = LINES.copy()
        lines[place] = '1,0.5,"'
        with pytest.raises(secant.InputError, match=f"line {place + 2:,}:"):
            secant.assess("y", "p", data=write(lines))


def test_a_line_without_end():
    text = b"y,p\n1,0.5\n" + b"x" * (5 << 20)
    with pytest.raises(secant.InputError, match=r"a\.csv, line 3 is longer than 4 MB"):
        CheckedText(Path("a.csv"), io.BytesIO(text), ",").finish()


def test_a_line_break_in_quotes_is_refused_with_what_reads_it():
    write([*LINES, '1,0.5,"one\ntwo"'])
    with pytest.raises(secant.InputError, match=r"line 1,002: .*pandas.read_csv\('a.csv'\)$"):
        secant.assess("y", "p", data="a.csv")
    read = optional("pandas").read_csv("a.csv")
    assert secant.assess("y", "p", data=read).n == 1001
