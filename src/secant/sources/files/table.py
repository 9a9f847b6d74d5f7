"""Files as one table: checked before they are read, walked over in batches, each row placed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._input.batches import Batch
from secant.errors import InputError, SecantError
from secant.sources.files.csv_errors import find_bad_field
from secant.sources.files.formats import FORMATS, arrow, look, readable
from secant.sources.files.paths import find, typed
from secant.sources.files.values import (
    as_array,
    group_codes,
    kind_of,
    nulls,
    numbers,
    outcomes,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterator, Sequence
    from pathlib import Path

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns
    from secant.sources.files.formats import Look
    from secant.sources.files.paths import Found

__all__ = ["FileTable", "Part", "Stretch"]

_SAMPLED_PIECES = 16
_MISSING = {"y_true": "outcome", "y_prob": "score", "sample_weight": "weight"}


class Part(NamedTuple):
    """One of the files: where it is, what it holds, and how it was when it was first seen.

    ``types`` are those of the columns to read, ``folder`` the values that its folders' names hold.
    """

    path: Path
    kind: str
    rows: int | None
    pieces: int
    stamp: tuple[int, int]
    types: dict[str, Any]
    folder: dict[str, Any]


class Stretch(NamedTuple):
    """Consecutive rows of one file: ``start`` is the first one's number there, ``first`` in all."""

    part: Part
    start: int
    first: int
    rows: int
    columns: dict[str, Any]


class FileTable:
    """The files that ``data`` stands for, as one table.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    columns
        The columns to read.

    Raises
    ------
    InputError
        If there is no such file, one is not what its name says, lacks a column, or has it in a
        type that cannot be used or that differs from another file's.
    """

    def __init__(self, data: Any, columns: Columns) -> None:
        arrow()
        self.columns = columns
        found = find(data)
        folders = _folder_values(found)
        self.parts = [self._part(file, folder) for file, folder in zip(found, folders, strict=True)]
        self._check_types()

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the files say so."""
        counts = [part.rows for part in self.parts if part.rows is not None]
        return sum(counts) if len(counts) == len(self.parts) else None

    @property
    def reads_ahead(self) -> bool:
        """Whether the next batches are made while the last one is being worked on."""
        return all(FORMATS[part.kind].reads_ahead(part.rows) for part in self.parts)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(part.stamp[0] for part in self.parts)

    def walk(
        self, names: Sequence[str], size: int, parts: Sequence[Part] | None = None
    ) -> Generator[Stretch]:
        """Walk over columns of all files, or some, in stretches of at most ``size`` rows.

        Raises
        ------
        SecantError
            If a file is not the one that was seen first.
        InputError
            If a file cannot be read.
        """
        first = 0
        chosen = None if parts is None else {part.path for part in parts}
        for part in self.parts:
            if chosen is not None and part.path not in chosen:
                first += part.rows or 0
                continue
            self._recheck(part)
            start = 0
            with closing(self._batches(part, names, size)) as batches:
                for rows, columns in batches:
                    if rows:
                        yield Stretch(part, start, first, rows, columns)
                    start += rows
                    first += rows
            if part.rows not in (None, start):
                msg = f"{part.path} says that it holds {part.rows:,} rows, but has {start:,}"
                raise InputError(msg)

    def sample(self, names: Sequence[str], size: int) -> Iterator[Stretch]:
        """Return about so many rows from pieces spread over all files, and read little else."""
        pieces = [(part, piece) for part in self.parts for piece in range(part.pieces)]
        if not pieces:
            return
        chosen = np.unique(np.linspace(0, len(pieces) - 1, _SAMPLED_PIECES).round().astype(int))
        each = -(-size // len(chosen))
        for part, piece in (pieces[number] for number in chosen):
            with closing(self._batches(part, names, each, piece)) as batches:
                for rows, columns in batches:
                    yield Stretch(part, 0, 0, rows, columns)
                    break  # the rest of the piece stays unread

    def batch(self, stretch: Stretch) -> Batch:
        """Return the observations of some rows.

        Raises
        ------
        InputError
            If a value is null, naming its place, and how many are null in all files.
        """
        names = self.columns
        labels, words = outcomes(self._complete(stretch, "y_true", names.y_true))
        scores = numbers(self._complete(stretch, "y_prob", names.y_prob))
        weights = None
        if names.sample_weight is not None:
            weights = numbers(self._complete(stretch, "sample_weight", names.sample_weight))
        return Batch(labels, scores, weights, words)

    def keys(self, stretch: Stretch) -> tuple[list[Any], IntArray]:
        """Return the keys of the groups of some rows, and the number of each row's key."""
        return group_codes([stretch.columns[name] for name in self.columns.by])

    def scores(self, stretch: Stretch) -> FloatArray:
        """Return the scores of some rows, NaN for those that cannot be used: for a sample."""
        column = stretch.columns[self.columns.y_prob]
        if kind_of(column.type) == "nothing":
            return np.full(stretch.rows, np.nan)
        return numbers(column) + 0.0  # not -0.0

    def refused(self, stretch: Stretch, error: InputError) -> InputError:
        """Return an error about a batch as one about files: which one, which row, which column."""
        place = str(stretch.part.path)
        if error.value is None:
            place += f", rows {stretch.start:,} to {stretch.start + stretch.rows - 1:,}"
        return self.columns.explain(error, place, stretch.start)

    def refused_whole(self, error: InputError) -> InputError:
        """Return an error about all rows as one about files."""
        more = f" and {len(self.parts) - 1:,} more" if len(self.parts) > 1 else ""
        return self.columns.explain(error, f"{self.parts[0].path}{more}")

    def are_texts(self, names: Sequence[str]) -> list[bool]:
        """Tell of columns whether they are text only because the format knows no types."""
        part = self.parts[0]
        return [
            part.kind == "csv" and name not in part.folder and kind_of(part.types[name]) == "text"
            for name in names
        ]

    def parts_with(self, names: Sequence[str], wanted: Container[Any]) -> list[Part] | None:
        """Return the files that can hold rows with these keys, if folders' names tell; else None.

        Parameters
        ----------
        names
            The columns that make up a key.
        wanted
            Keys, tuples where columns are several.
        """
        chosen = []
        for part in self.parts:
            if part.rows is None or any(name not in part.folder for name in names):
                return None
            key = tuple(part.folder[name] for name in names)
            if (key if len(names) > 1 else key[0]) in wanted:
                chosen.append(part)
        return chosen

    def recheck(self) -> None:
        """Raise SecantError if a file is not the one that was seen first."""
        for part in self.parts:
            self._recheck(part)

    # Looking, before anything is read ---------------------------------------------------------

    def _part(self, found: Found, folder: dict[str, Any]) -> Part:
        path, kind, _ = found
        with readable(path):
            stamp = _stamp(path)
        seen = look(path, kind)
        self.columns.check([*seen.names, *folder], str(path))
        twice = [name for name in self.columns.names if seen.names.count(name) > 1]
        if twice:
            msg = f"{path} has several columns {twice[0]!r}"
            raise InputError(msg)
        folder = {
            name: value
            for name, value in folder.items()
            if name in self.columns.names and name not in seen.types
        }
        types = self._types(kind, seen, folder)
        return Part(path, kind, seen.rows, seen.pieces, stamp, types, folder)

    def _types(self, kind: str, seen: Look, folder: dict[str, Any]) -> dict[str, Any]:
        """Return the type of every column to read: those of a CSV are for us to choose."""
        pa, columns = arrow(), self.columns
        types = {
            name: pa.scalar(folder[name]).type if name in folder else seen.types[name]
            for name in columns.names
        }
        if kind == "csv":
            chosen = dict.fromkeys(columns.by, pa.string())
            chosen |= dict.fromkeys(
                (name for name in (columns.y_prob, columns.sample_weight) if name), pa.float64()
            )
            # Whole numbers at the beginning of a file may be followed by others.
            guessed = types[columns.y_true]
            if isinstance(columns.reading.pos_label, str) or pa.types.is_binary(guessed):
                guessed = pa.string()
            elif kind_of(guessed) == "numbers":
                guessed = pa.float64()
            chosen[columns.y_true] = guessed
            types |= {name: kind for name, kind in chosen.items() if name not in folder}
        return types

    def _check_types(self) -> None:
        """Refuse columns that cannot be used or are of different types in different files."""
        for argument, name in self.columns.roles.items():
            first: Part | None = None
            for part in self.parts:
                kind = part.types[name]
                why = refusal(argument, name, kind)
                if why is not None:
                    raise why.but(place=str(part.path))
                if kind_of(kind) == "nothing":
                    continue
                first = first or part
                if kind_of(kind) != kind_of(first.types[name]):
                    msg = (
                        f"column {name!r} holds {kind_of(kind)} ({kind}) in {part.path}, but "
                        f"{kind_of(first.types[name])} ({first.types[name]}) in {first.path}"
                    )
                    raise InputError(msg)
            if first is not None and first.kind == "csv":
                for part in self.parts:  # nothing could be guessed from a file without rows
                    if kind_of(part.types[name]) == "nothing" and name not in part.folder:
                        part.types[name] = first.types[name]

    # Reading ----------------------------------------------------------------------------------

    def _batches(
        self, part: Part, names: Sequence[str], size: int, piece: int | None = None
    ) -> Generator[tuple[int, dict[str, Any]]]:
        """Read one file, or a piece of it: rows, and columns by name.

        Whoever stops early closes this, and this what it reads from: an interrupt that comes while
        generators are thrown away is lost.
        """
        inside = [name for name in names if name not in part.folder]
        if not inside and part.rows is not None and piece is None:
            for start in range(0, part.rows, size):
                rows = min(size, part.rows - start)
                yield rows, _constants(part, names, rows)
            return
        inside = inside or [name for name in part.types if name not in part.folder][:1]
        types = {name: part.types[name] for name in inside} if part.kind == "csv" else {}
        read = FORMATS[part.kind].batches(part.path, inside, size, types, piece)
        with readable(part.path), closing(read) as batches:
            try:
                for batch in batches:
                    columns = {name: batch.column(name) for name in inside}
                    yield batch.num_rows, columns | _constants(part, names, batch.num_rows)
            except arrow().ArrowInvalid:
                if part.kind == "csv":
                    find_bad_field(part.path, types, self.columns.roles)
                raise

    def _complete(self, stretch: Stretch, argument: str, name: str) -> Any:
        """Return a column that has a value in every row."""
        column = stretch.columns[name]
        known = nulls(column)
        if not known.null_count:
            return column
        first = int(np.argmax(as_array(known.is_null())))
        count = sum(
            nulls(other.columns[name]).null_count for other in self.walk([name], stretch.rows)
        )
        missing = InputError(
            f"; a missing {_MISSING[argument]} cannot be assessed, and secant drops no rows"
            f" ({count:,} {'is' if count == 1 else 'are'} null in all)",
            argument=argument,
            value="null",
            row=first,
        )
        raise self.columns.explain(missing, str(stretch.part.path), stretch.start)

    def _recheck(self, part: Part) -> None:
        try:
            same = _stamp(part.path) == part.stamp
        except OSError:
            same = False
        if not same:
            msg = f"{part.path} was changed after it was first looked at: assess it again"
            raise SecantError(msg)


def _folder_values(found: list[Found]) -> list[dict[str, Any]]:
    """Return what folders' names tell of each file, as numbers where all of a name's are."""
    values: dict[str, dict[str | None, Any]] = {}
    for name in {name for file in found for name in file.partition}:
        texts = list(dict.fromkeys(file.partition.get(name) for file in found))
        values[name] = dict(zip(texts, typed(texts), strict=True))
    return [{name: values[name][text] for name, text in file.partition.items()} for file in found]


def _constants(part: Part, names: Sequence[str], rows: int) -> dict[str, Any]:
    pa = arrow()
    return {
        name: pa.repeat(pa.scalar(part.folder[name], part.types[name]), rows)
        for name in names
        if name in part.folder
    }


def _stamp(path: Path) -> tuple[int, int]:
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns
