"""Files of text (CSV, TSV): how they begin, what their fields are read as, which one is wrong."""

from __future__ import annotations

import codecs
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from secant._input.rules import DROP_OR_FILL
from secant.errors import Argument, InputError, Message
from secant.sources.files.formats import (
    BLOCK,
    COMPARED,
    NUMBERS,
    Format,
    arrow,
    look_of,
    open_text,
    pandas_reader,
    refuse_other,
)
from secant.sources.files.quotes import CheckedText
from secant.sources.files.standard_input import StandardInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping
    from pathlib import Path

    from secant._input.options import Reading
    from secant.sources.files.formats import Look

__all__ = ["Csv", "typed"]

# Fields that people leave where a number is missing, and rows looked through for one at a time.
_MISSING = {"na", "n/a", "null", "none", "nil", "-", "?", "."}
_ROWS = 1 << 14
_DIGITS, _LARGEST = 20, 1 << 63
# So many bytes are looked at, more than all but the longest lines of names.
_START = 1 << 16
# First bytes of what is no text, and what to do with it.
_OTHERS = {
    b"\xff\xfe": "is text in UTF-16; save it anew in UTF-8 (in Excel: CSV UTF-8)",
    b"\xfe\xff": "is text in UTF-16; save it anew in UTF-8 (in Excel: CSV UTF-8)",
}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_ENDINGS = {",": ".csv", "\t": ".tsv"}
# As remarks begin in files of other programs.
_REMARKS = ("#", "%", "//")
_REMARK_BYTES = tuple(mark.encode() for mark in _REMARKS)
_QUOTED = re.compile('"(?:[^"]|"")*"')
_DECIMAL_COMMA = re.compile(rb'(?:^|[;|])"?-?\d+,\d+"?(?:[;|]|$)')


class Csv(Format):
    """Text with commas (``.csv``) or tabs (``.tsv``), gzipped or not, whose first line is names."""

    knows_types = False
    is_text = True

    def look(self, path: Path, wanted: Collection[str] | None = None) -> Look:  # noqa: ARG002
        """Read the names, and guess types from the first rows."""
        separator = self._separator(path)
        with open_text(path) as text:
            start = text.read(_START)
            _refuse_no_text(path, start)  # before quotes are looked for in it
            if not _has_line(start):
                start += text.read(BLOCK)
            _check_names(path, start, separator)
        with self._checked(path) as checked:
            checked.read(_START)
            with self._open(path, None, {}, threads=False) as reader:
                return look_of(reader.schema, None, 1)

    def choose(
        self, types: Mapping[str, Any], roles: Mapping[Argument, str], reading: Reading | None
    ) -> dict[str, Any]:
        """Return doubles for numbers and texts for keys; outcomes are what the first rows hold."""
        pa = arrow()
        chosen = dict(types)
        # Of two that want one column, numbers come last: they are checked, and keys are not.
        for argument, name in sorted(roles.items(), key=lambda role: role[0].name in NUMBERS):
            if argument.name in NUMBERS:
                chosen[name] = pa.float64()
            elif argument.name == "y_true":
                chosen[name] = _outcomes(types[name], reading)
            elif argument.name in COMPARED:
                chosen[name] = types[name]
            else:
                chosen[name] = pa.string()
        return chosen

    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        section: int | None = None,  # noqa: ARG002  (there is only one)
        *,
        threads: bool = True,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows; one thread knows lines by number."""
        # Quotes are checked beside what Arrow reads, and to the end of the file before the last
        # batch is all there was. Arrow must not read through us: its threads would call Python,
        # which ends the process if that is about to end itself.
        with self._checked(path) as checked:
            with self._open(path, names, types, threads=threads) as reader:
                for batch in reader:
                    checked.read(BLOCK)
                    yield from (batch.slice(i, size) for i in range(0, batch.num_rows, size))
            checked.finish()

    def explain(
        self, path: Path, types: Mapping[str, Any], roles: Mapping[Argument, str]
    ) -> InputError | None:
        """Read the file once more as text, to find the first field that is not of its type."""
        pa = arrow()
        reads = {name: _reader(pa, kind) for name, kind in types.items() if kind != pa.string()}
        if not reads:
            return None
        arguments = {name: argument.name for argument, name in roles.items()}
        as_text = dict.fromkeys(reads, pa.string())
        start = 0
        for batch in self.batches(path, list(reads), _ROWS, as_text, threads=False):
            columns = [batch.column(name).to_pylist() for name in reads]
            for row, fields in enumerate(zip(*columns, strict=True)):
                for name, field in zip(reads, fields, strict=True):
                    if field is not None and not reads[name](field):
                        error = _refused(arguments[name], field, _expected(pa, types[name]))
                        return error.but(row=start + row, column=name, place=str(path))
            start += batch.num_rows
        return None

    def odd_one(self, path: Path, argument: Argument, name: str) -> InputError | None:
        """Return an error that names the first field that is not of the kind of those before."""
        return self.explain(path, {name: self._first_kind(path, name)}, {argument: name})

    def _first_kind(self, path: Path, name: str) -> Any:
        """Return what a column of text holds at first: numbers, dates, times or indeed text.

        A word for what is missing is none of these: the fields after it tell. Digits of another
        script are meant to be a number, which is then refused by its row.
        """
        pa = arrow()
        kinds = pa.bool_(), pa.date32(), pa.timestamp("s")
        for batch in self.batches(path, [name], _ROWS, {name: pa.string()}, threads=False):
            for field in filter(None, batch.column(name).to_pylist()):
                if field.strip().lower() not in _MISSING:
                    if _means_number(field):
                        return pa.float64()
                    return next((kind for kind in kinds if _reader(pa, kind)(field)), pa.string())
        return pa.string()

    @contextmanager
    def _checked(self, path: Path) -> Iterator[CheckedText]:
        """Open a file to look at its quotes, which are the better reason for an error of Arrow."""
        with open_text(path) as text:
            checked = CheckedText(path, text, self._separator(path))
            try:
                yield checked
            except arrow().ArrowInvalid:
                checked.finish()
                raise

    @contextmanager
    def _open(
        self,
        path: Path,
        names: list[str] | None,
        types: Mapping[str, Any],
        *,
        threads: bool = True,
    ) -> Iterator[Any]:
        from pyarrow import csv  # noqa: PLC0415  (an extra)

        with open_text(path) as text:
            yield csv.open_csv(
                text,
                read_options=csv.ReadOptions(block_size=BLOCK, use_threads=threads),
                parse_options=csv.ParseOptions(delimiter=self._separator(path)),
                # Only an empty field is missing: NA is a word, and may be the name of a group.
                convert_options=csv.ConvertOptions(
                    include_columns=names,
                    column_types=dict(types),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )

    @staticmethod
    def _separator(path: Path) -> str:
        return "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","


def typed(texts: list[str | None]) -> list[Any]:
    """Return distinct texts as numbers, if every one is a number written in the usual way.

    The names of folders and the fields of a CSV have no type. ``"07"`` stays a text; so does
    everything beside it.
    """
    words = [text for text in texts if text is not None]
    if words and all(_is_whole(word) for word in words):
        if any(len(word) > _DIGITS or not -_LARGEST <= int(word) < _LARGEST for word in words):
            return list(texts)  # more than 64 bits hold: no number, but a name
        return [None if text is None else int(text) for text in texts]
    if words and all(word in {"True", "False", "true", "false"} for word in words):
        return [None if text is None else text.lower() == "true" for text in texts]
    if not all(map(_is_number, words)):
        return list(texts)
    numbers = [float(word) for word in words]
    plain = all(_is_whole(word.partition(".")[0].removeprefix("-")) for word in words)
    if not plain or len(set(numbers)) < len(words):
        return list(texts)
    return [None if text is None else float(text) for text in texts]


def _is_whole(word: str) -> bool:
    digits = word.removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and word != "-0"
    return plain and (digits == "0" or digits[0] != "0")


# Types of fields ----------------------------------------------------------------------------------


def _outcomes(guessed: Any, reading: Reading | None) -> Any:
    """Return the type of outcomes: what is whole or short at first may be followed by others."""
    pa = arrow()
    if reading is None or isinstance(reading.pos_label, str) or pa.types.is_binary(guessed):
        return pa.string()
    is_number = pa.types.is_integer(guessed) or pa.types.is_floating(guessed)
    return pa.float64() if is_number else guessed


def _reader(pa: Any, kind: Any) -> Callable[[str], bool]:
    if kind == pa.bool_():
        return lambda field: field.strip().lower() in {"0", "1", "true", "false"}
    if pa.types.is_floating(kind):
        return _is_number

    def can_be(field: str) -> bool:
        try:
            pa.array([field.strip()]).cast(kind)
        except pa.ArrowNotImplementedError:  # of a type that is refused for itself
            return True
        except pa.ArrowInvalid:
            return False
        return True

    return can_be


def _is_number(field: str) -> bool:
    # Python allows these marks in numbers, and digits of every script; nobody else does.
    return _means_number(field) and "_" not in field and field.isascii()


def _means_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _expected(pa: Any, kind: Any) -> str:
    if pa.types.is_integer(kind):
        return "a whole number of 64 bits, as the first rows hold"
    if pa.types.is_boolean(kind):
        return "true or false, as the first rows hold"
    return "a time, as the first rows hold" if pa.types.is_temporal(kind) else "a number"


def _refused(argument: str, field: str, expected: str) -> InputError:
    complaint = f", not {expected}"
    hint: Message | str = ": correct or drop such rows first"
    if field.strip().lower() in _MISSING:
        complaint = "; a missing value cannot be assessed, and secant drops no rows"
        hint = DROP_OR_FILL
    elif argument == "y_true" and not _is_number(field):
        word = "; if outcomes are two words, name the event with "
        hint = Message(": correct or drop such rows first", word, Argument("pos_label"))
    return InputError(complaint, argument=argument, value=repr(field), hint=hint)


# How a file begins --------------------------------------------------------------------------------


def _refuse_no_text(path: Path, start: bytes) -> None:
    refuse_other(path, start)  # what a gzipped file holds
    for first, what in _OTHERS.items():
        if start.startswith(first):
            raise InputError(f"{path} {what}")


def _bare(start: bytes) -> bytes:
    return start.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")


def _has_line(start: bytes) -> bool:
    return len(_bare(start).splitlines()) > 1


def _check_names(path: Path, start: bytes, separator: str) -> None:
    """Refuse a file whose first line cannot be the names of columns, and say what to do."""
    bare = _bare(start)
    lines = [line for line in bare.splitlines() if line] or [b""]
    if len(start) - len(bare) + len(lines[0]) >= BLOCK:
        msg = f"{path} has no line of names: its first line is longer than {BLOCK >> 20} MB"
        raise InputError(msg)
    line = _decoded(path, lines[0])
    # Of what was read the last line may be cut short.
    after = lines[1:] if len(start) < _START else lines[1:-1]
    following = next((each for each in after if not each.startswith(_REMARK_BYTES)), None)
    _refuse_remark(path, line, following, separator)
    between = _QUOTED.sub("", line)
    if separator in between:
        return
    for other, name in _SEPARATORS.items():
        if other in between:
            raise InputError(
                f"{path} has {name} in its first line, where {_SEPARATORS[separator]} are "
                f"expected between columns; {_remedy(path, other, separator, after)}"
            )


def _refuse_remark(path: Path, line: str, following: bytes | None, separator: str) -> None:
    """Refuse a line before that of names: a remark, or a title in one column above several.

    Only of names that begin as remarks do (``#names,...``) we may be wrong about that.
    """
    is_remark = re.fullmatch('"?sep=."?', line) is not None or line.startswith("# ")
    if following is not None and line.startswith(_REMARKS):
        is_remark |= any(line.count(mark) != following.count(mark.encode()) for mark in _SEPARATORS)
    elif following is not None and not any(mark in line for mark in _SEPARATORS):
        is_remark |= separator in _QUOTED.sub("", following.decode(errors="replace"))
    if is_remark:
        shown = f"{line[:60]}..." if len(line) > 60 else line
        raise InputError(
            f"{path} begins with {shown!r}, which is no line of names",
            hint="; remove that line, or what stands before the names in it",
        )


def _decoded(path: Path, line: bytes) -> str:
    if b"\0" in line:
        msg = f"{path} has zero bytes in its first line, as text in UTF-16 has; save it in UTF-8"
        raise InputError(msg)
    try:
        # Not final: a line that is longer than what was read may end within a character.
        return codecs.getincrementaldecoder("utf-8")().decode(line)
    except UnicodeDecodeError as error:
        msg = (
            f"{path} is not text in UTF-8: its first line holds the byte "
            f"0x{line[error.start]:02x}; save it anew in UTF-8"
        )
        raise InputError(msg) from error


def _remedy(path: Path, found: str, expected: str, rows: list[bytes]) -> str:
    if found in _ENDINGS:
        named = "save it under" if isinstance(path, StandardInput) else "give it"
        return f"{named} a name that ends in {_ENDINGS[found]}"
    points = " (and points in numbers)" if found == ";" else ""
    decimal = ", decimal=','" if any(map(_DECIMAL_COMMA.search, rows)) else ""
    return (
        f"write it anew with {_SEPARATORS[expected]}{points}, or in Python pass as data what reads "
        f"it: {pandas_reader(path, f', sep={found!r}{decimal}')}"
    )
