"""What every format of files answers, and how one file is opened."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._base.extras import require
from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
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
    "Format",
    "Look",
    "arrow",
    "look",
    "look_of",
    "open_text",
    "readable",
    "sound",
]

# Bytes of text that are read at once.
BLOCK = 1 << 22
# Arguments whose columns hold numbers.
NUMBERS = {"y_prob", "probs", "sample_weight"}
# Arguments whose values are compared with each other: what is whole stays so.
COMPARED = {"order_by", "y", "low", "high"}
_LONG = 300  # letters of a message


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
    """

    knows_types = True
    is_text = False

    @abstractmethod
    def look(self, path: Path) -> Look:
        """Return what a file says of itself."""

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


def look(path: Path, kind: Format) -> Look:
    """Return what a file says of itself.

    Raises
    ------
    InputError
        If it is empty or cannot be read.
    """
    with readable(path):
        if not path.stat().st_size:
            msg = f"{path} is empty: it holds not one byte"
            raise InputError(msg)
        return kind.look(path)


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
    gzipped = path.name.lower().endswith(".gz")
    return arrow().input_stream(os.fspath(path), compression="gzip" if gzipped else None)


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
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in first_line:
            first_line += "; save the file anew in UTF-8"
        msg = f"{path} cannot be read: {first_line}"
        raise InputError(msg) from error
