"""What every format of files answers, and how one file is opened."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._base.extras import require
from secant.errors import InputError, SecantError
from secant.sources.files.standard_input import StandardInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from secant._input.options import Reading
    from secant.errors import Argument

    # Columns in batches of at most so many rows, given the numbers of sections.
    ReadSections = Callable[[list[str], int, Sequence[int]], Iterator[Any]]

__all__ = [
    "BLOCK",
    "COMPARED",
    "NUMBERS",
    "PACKED",
    "Format",
    "Look",
    "arrow",
    "look",
    "look_of",
    "open_text",
    "pandas_reader",
    "readable",
    "refuse_other",
    "sound",
    "unpacked",
]

# Bytes of text that are read at once.
BLOCK = 1 << 22
# Arguments whose columns hold numbers.
NUMBERS = {"y_prob", "probs", "sample_weight"}
# Arguments whose values are compared with each other: what is whole stays so.
COMPARED = {"order_by", "y", "low", "high"}
_LONG = 300  # letters of a message
# What names of packed files end in: by what they are packed, and what prints what is in them.
PACKED = {
    ".gz": ("gzip", "zcat"),
    ".bz2": ("bzip2", "bzcat"),
    ".xz": ("xz", "xzcat"),
    ".zst": ("zstd", "zstdcat"),
    ".lz4": ("lz4", "lz4cat"),
}
_GZIP = b"\x1f\x8b"
# How files begin that are something else than their name says; a column may be called PAR1.
_STARTS = {
    rb"PAR1[^\t\n\r -~]": ".parquet",
    rb"ARROW1\0": ".feather",
    _GZIP: ".gz",
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": ".bz2",
    rb"\xfd7zXZ\0": ".xz",
    rb"\x28\xb5\x2f\xfd": ".zst",
    rb"\x04\x22\x4d\x18": ".lz4",
    rb"PK\x03\x04": ".zip",
}
_WHAT = {
    ".parquet": "is a Parquet file; give it a name that ends in .parquet",
    ".feather": "is a Feather file; give it a name that ends in .feather",
    ".zip": "is a zip archive or a workbook; save what is in it as CSV",
}
_ENOUGH = 16  # bytes that tell


class Look(NamedTuple):
    """What a file says of itself.

    ``rows`` is None where only reading tells; ``sections`` counts what can be read of a file
    without reading what comes before, ``rows_of_sections`` the rows of each, where that is known.
    """

    names: list[str]
    types: dict[str, Any]
    rows: int | None
    sections: int
    rows_of_sections: tuple[int, ...] = ()


class Format(ABC):
    """How files of one format are read.

    Attributes
    ----------
    knows_types
        Whether files say what their columns hold; where they do not, we choose.
    is_text
        Whether numbers are written in digits, of which some are too many for their type.
    start
        What files begin with, where that is always the same.
    """

    knows_types = True
    is_text = False
    start = b""

    @abstractmethod
    def look(self, path: Path, wanted: Collection[str] | None = None) -> Look:
        """Return what a file says of itself: the types of the columns that are wanted, or of all.

        Others may have any type where files do not say what they are.
        """

    @abstractmethod
    def batches(
        self,
        path: Path,
        names: list[str],
        size: int,
        types: Mapping[str, Any],
        section: int | None = None,
    ) -> Generator[Any]:
        """Read columns in batches of at most ``size`` rows.

        ``types`` are those of the columns; ``section`` reads one of the file's sections alone.
        """

    def sections(self, path: Path) -> AbstractContextManager[ReadSections]:
        """Open a file whose ``rows_of_sections`` are known, to read some of them at a time."""
        raise NotImplementedError(path)

    def reads_ahead(self, rows: int | None) -> bool:  # noqa: ARG002  (of no size)
        """Tell whether a file's next batches are made while the last one is being worked on."""
        return False

    def choose(
        self,
        types: Mapping[str, Any],
        roles: Mapping[Argument, str],  # noqa: ARG002  (where types are known)
        reading: Reading | None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return the types to read columns in, by what they are wanted for."""
        return dict(types)

    def explain(
        self,
        path: Path,  # noqa: ARG002  (where fields are not text)
        types: Mapping[str, Any],  # noqa: ARG002
        roles: Mapping[Argument, str],  # noqa: ARG002
    ) -> InputError | None:
        """Return an error that names the field that could not be read, if one can be found."""
        return None

    def odd_one(
        self,
        path: Path,  # noqa: ARG002  (where types are known)
        argument: Argument,  # noqa: ARG002
        name: str,  # noqa: ARG002
    ) -> InputError | None:
        """Return an error that names the field for which a column was taken for text, if any."""
        return None


def arrow() -> Any:
    """Return pyarrow.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra; asked for a dozen times a batch)
    except ModuleNotFoundError:
        return require("pyarrow", "files", "reading files needs")
    return pa


def look(path: Path, kind: Format, wanted: Collection[str] | None = None) -> Look:
    """Return what a file says of itself, as :meth:`Format.look`.

    Raises
    ------
    InputError
        If it is empty or cannot be read.
    """
    with readable(path):
        if not path.stat().st_size:
            msg = f"{path} is empty: it holds not one byte"
            raise InputError(msg)
        with path.open("rb") as file:
            start = file.read(_ENOUGH)
        own = _GZIP if _is_gzipped(path) else kind.start
        if not own or not start.startswith(own):
            refuse_other(path, start, gzips=kind.is_text)
        return kind.look(path, wanted)


def refuse_other(path: Path, start: bytes, *, gzips: bool = False) -> None:
    """Refuse a file that begins as one of another format does, and say what to do.

    ``gzips`` tells whether it may be gzipped under another name.
    """
    for first, ending in _STARTS.items():
        if not re.match(first, start):
            continue
        what = _WHAT.get(ending) or f"is packed by {PACKED[ending][0]}; {unpacked(ending)}"
        if ending == ".gz" and gzips and not isinstance(path, StandardInput):
            what = "is gzipped; give it a name that ends in .gz"
        raise InputError(f"{path} {what}")


def unpacked(ending: str) -> str:
    """Say what to do with a packed file."""
    prints = PACKED[ending][1]
    return f"unpack it, or send what {prints} prints to standard input, which is named -"


def pandas_reader(path: Path, options: str = "") -> str:
    """Return the code that reads a file of text whatever stands between its fields and in them."""
    name = "sys.stdin" if isinstance(path, StandardInput) else repr(str(path))
    return f"pandas.read_csv({name}{options})"


def sound(batch: Any) -> Any:
    """Return a batch that came from a file after making sure that nothing in it points outside.

    Offsets, numbers of words and texts are taken from the file as they are, and a damaged one
    would show memory that is not the file's, or end the process. Numbers cannot point anywhere,
    and cost nothing here.
    """
    batch.validate(full=True)
    return batch


def open_text(path: Path) -> Any:
    """Return the bytes of a file of text, unpacked where its name says that they are packed."""
    packed = "gzip" if _is_gzipped(path) else None
    return arrow().input_stream(os.fspath(path), compression=packed)


def _is_gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def look_of(
    schema: Any, rows: int | None, sections: int, rows_of_sections: tuple[int, ...] = ()
) -> Look:
    """Return what a schema of Arrow says of a file."""
    types = dict(zip(schema.names, schema.types, strict=True))
    return Look(list(schema.names), types, rows, sections, rows_of_sections)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say which file it was that could not be read.

    Libraries raise all sorts of errors for a damaged file, of their own types and of Python's.
    """
    try:
        yield
    except SecantError:
        raise
    except Exception as error:
        first_line = (str(error).splitlines() or [""])[0] or type(error).__name__
        first_line = first_line.replace("Row #", "line ")[:_LONG]
        first_line = "".join(
            each if each.isprintable() else "\N{WHITE SQUARE}" for each in first_line
        )
        if first_line.startswith("straddling object"):  # as Arrow calls it
            first_line = f"a line is longer than {BLOCK >> 20} MB"
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in first_line:
            first_line += "; save the file anew in UTF-8"
        msg = f"{path} cannot be read: {first_line}"
        raise InputError(msg) from error
