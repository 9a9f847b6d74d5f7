"""Files as one table: checked before they are read, walked over in batches, each row placed."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._input.columns import check_column
from secant._input.rules import missing
from secant.errors import InputError, SecantError
from secant.sources.files.csv import typed
from secant.sources.files.formats import COMPARED, arrow, look, readable
from secant.sources.files.paths import NULL_PARTITION, find, folder_names
from secant.sources.files.values import (
    as_array,
    exact,
    group_codes,
    kind_of,
    nulls,
    refusal,
    taken,
    usual,
)

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from secant._base.types import BoolArray, IntArray
    from secant._input.options import Reading
    from secant.errors import Argument
    from secant.sources.files.formats import Format
    from secant.sources.files.paths import Found

__all__ = ["Batch", "File", "FileTable", "Piece"]

_SAMPLED = 16  # sections of files


class File(NamedTuple):
    """One of the files: where it is, what it holds, and how it was when it was first seen.

    ``types`` are those of the columns to read, ``folder`` the values that its folders' names hold,
    ``both`` the texts there of columns that it has itself.
    """

    path: Path
    kind: Format
    rows: int | None
    sections: int
    stamp: tuple[int, int, int]
    types: dict[str, Any]
    folder: dict[str, Any]
    both: dict[str, str | None]
    rows_of_sections: tuple[int, ...] = ()


class Piece(NamedTuple):
    """Consecutive sections of one file, which can be read without what comes before.

    ``start`` is the first row's number in the file, ``first`` in all files.
    """

    file: File
    sections: range
    start: int
    first: int
    rows: int


class Batch(NamedTuple):
    """Consecutive rows of one file, as they were read.

    ``start`` is the first one's number there, ``first`` in all files.
    """

    file: File
    start: int
    first: int
    rows: int
    columns: dict[str, Any]
    kept: IntArray | None = None

    def place(self, row: int) -> int:
        """Return the number of a row in the file."""
        return self.start + (row if self.kept is None else int(self.kept[row]))

    def without(self, absent: BoolArray) -> Batch:
        """Return the batch less some rows; ``kept`` are the places that the others had."""
        kept = np.flatnonzero(~absent)
        columns = {name: taken(column, kept) for name, column in self.columns.items()}
        return self._replace(rows=kept.shape[0], columns=columns, kept=kept)


class FileTable:
    """The files that ``data`` stands for, as one table.

    Parameters
    ----------
    data
        A path, a glob, a folder, or a list of them.
    roles
        The columns to read, by the argument that names each.
    reading
        How outcomes are meant; None where they may be of any number of classes.

    Raises
    ------
    InputError
        If there is no such file, one is not what its name says, lacks a column, or has it in a
        type that cannot be used or that differs from another file's.
    """

    def __init__(self, data: Any, roles: Mapping[Argument, str], reading: Reading | None) -> None:
        arrow()
        self._roles, self._reading = roles, reading
        self._names = list(dict.fromkeys(roles.values()))
        found = find(data)
        folders = _folder_values(found)
        self.files = [self._file(each, folder) for each, folder in zip(found, folders, strict=True)]
        self._check_types()
        self._together: Sequence[FileTable] = (self,)

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the files say so."""
        counts = [file.rows for file in self.files if file.rows is not None]
        return sum(counts) if len(counts) == len(self.files) else None

    @property
    def reads_ahead(self) -> bool:
        """Whether the next batches are made while the last one is being worked on."""
        return all(file.kind.reads_ahead(file.rows) for file in self.files)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.stamp[0] for file in self.files)

    @property
    def doing(self) -> str:
        """What to call a walk over the files."""
        return "Reading" if len(self.files) == 1 else f"Reading {len(self.files):,} files"

    def beside(self, others: Sequence[FileTable]) -> FileTable:
        """Return a table that reads the columns of others too, which are of the same files."""
        others = [other for other in others if other is not self]
        if not others:
            return self
        together = copy(self)
        together._together = (self, *others)  # noqa: SLF001  (one of us)
        together.files = [
            first._replace(
                types={name: kind for file in (first, *more) for name, kind in file.types.items()},
                folder={name: at for file in (first, *more) for name, at in file.folder.items()},
                both={name: at for file in (first, *more) for name, at in file.both.items()},
            )
            for first, *more in zip(*(each.files for each in (self, *others)), strict=True)
        ]
        return together

    def walk(
        self, names: Sequence[str], size: int, files: Sequence[File] | None = None
    ) -> Generator[Batch]:
        """Walk over columns of all files, or some, in batches of at most ``size`` rows.

        Raises
        ------
        SecantError
            If a file is not the one that was seen first.
        InputError
            If a file cannot be read.
        """
        first = 0
        chosen = None if files is None else {file.path for file in files}
        for file in self.files:
            if chosen is not None and file.path not in chosen:
                first += file.rows or 0
                continue
            start = 0
            with _unchanged(file), closing(self._read(file, names, size)) as read:
                for rows, columns in read:
                    if rows:
                        yield _agreeing(Batch(file, start, first, rows, columns))
                    start += rows
                    first += rows
            if file.rows not in (None, start):
                msg = f"{file.path} says that it holds {file.rows:,} rows, but has {start:,}"
                raise InputError(msg)

    def pieces(self, least: int) -> list[Piece]:
        """Cut all files into pieces of at least so many rows where they can be, else into none."""
        pieces: list[Piece] = []
        first = 0
        for file in self.files:
            if file.rows is None or len(file.rows_of_sections) != file.sections:
                return []
            begin = start = rows = 0
            for section, more in enumerate(file.rows_of_sections):
                rows += more
                if rows >= least or section == file.sections - 1:
                    sections = range(begin, section + 1)
                    pieces.append(Piece(file, sections, start, first + start, rows))
                    begin, start, rows = section + 1, start + rows, 0
            first += file.rows
        return pieces

    def walk_pieces(
        self, names: Sequence[str], size: int, pieces: Iterator[Piece]
    ) -> Generator[Batch]:
        """Walk over columns of some pieces, in batches of at most ``size`` rows.

        Raises
        ------
        SecantError, InputError
            As :meth:`walk`.
        """
        opened: File | None = None
        with ExitStack() as stack:
            for piece in pieces:
                file = piece.file
                inside = [name for name in names if name not in file.folder]
                start = piece.start
                with _unchanged(file), readable(file.path):
                    if file is not opened:
                        stack.close()
                        read, opened = stack.enter_context(file.kind.sections(file.path)), file
                    for batch in read(inside, size, piece.sections):
                        columns = {name: usual(batch.column(name)) for name in inside}
                        columns |= _constants(file, names, batch.num_rows)
                        first = piece.first + start - piece.start
                        yield _agreeing(Batch(file, start, first, batch.num_rows, columns))
                        start += batch.num_rows
                if start != piece.start + piece.rows:
                    says = f"{file.path} says that it holds {piece.rows:,} rows from row "
                    msg = f"{says}{piece.start:,} on, but has {start - piece.start:,}"
                    raise InputError(msg)

    def sample(self, names: Sequence[str], size: int) -> Iterator[Batch]:
        """Return about so many rows from sections of all files, and read little else."""
        sections = [(file, section) for file in self.files for section in range(file.sections)]
        if not sections:
            return
        chosen = np.unique(np.linspace(0, len(sections) - 1, _SAMPLED).round().astype(int))
        each = -(-size // len(chosen))
        for file, section in (sections[number] for number in chosen):
            with closing(self._read(file, names, each, section)) as read:
                for rows, columns in read:
                    yield Batch(file, 0, 0, rows, columns)
                    break  # the rest of the section stays unread

    def complete(self, batch: Batch, argument: str, name: str) -> Any:
        """Return a column that has a value in every row.

        Raises
        ------
        InputError
            If a value is null, naming its place, and how many are null in all files.
        """
        column = batch.columns[name]
        known = nulls(column)
        if not known.null_count:
            return self._exact(batch, argument, name) if argument in COMPARED else column
        count = sum(nulls(each.columns[name]).null_count for each in self.walk([name], batch.rows))
        row = batch.place(int(np.argmax(as_array(known.is_null()))))
        in_all = f" ({count:,} {'is' if count == 1 else 'are'} null in all)"
        error = missing(argument, "null", row, more=in_all)
        raise error.but(column=name, place=str(batch.file.path))

    def _exact(self, batch: Batch, argument: str, name: str) -> Any:
        try:
            return exact(batch.columns[name], is_text=batch.file.kind.is_text)
        except InputError as error:
            row, place = batch.place(error.row or 0), str(batch.file.path)
            raise error.but(argument=argument, row=row, column=name, place=place) from error

    def are_texts(self, names: Sequence[str]) -> list[bool]:
        """Tell of columns whether they are text only because the format knows no types."""
        file = self.files[0]
        return [
            not file.kind.knows_types
            and name not in file.folder
            and kind_of(file.types[name]) == "text"
            for name in names
        ]

    def files_with(self, names: Sequence[str], wanted: Container[Any]) -> list[File] | None:
        """Return the files that can hold rows with these keys, if folders' names tell; else None.

        Parameters
        ----------
        names
            The columns that make up a key.
        wanted
            Keys, tuples where columns are several.
        """
        chosen = []
        for file in self.files:
            if file.rows is None or any(name not in file.folder for name in names):
                return None
            key = tuple(file.folder[name] for name in names)
            if (key if len(names) > 1 else key[0]) in wanted:
                chosen.append(file)
        return chosen

    def recheck(self) -> None:
        """Raise SecantError if a file is not the one that was seen first."""
        for file in self.files:
            _recheck(file)

    # Looking, before anything is read ---------------------------------------------------------

    def _file(self, found: Found, folder: dict[str, Any]) -> File:
        path, kind, partition = found
        with readable(path):
            stamp = _stamp(path)
        seen = look(path, kind, self._names)
        for argument, name in self._roles.items():
            check_column(argument, name, [*seen.names, *folder], str(path))
        twice = [name for name in self._names if seen.names.count(name) > 1]
        if twice:
            msg = f"{path} has several columns {twice[0]!r}"
            raise InputError(msg)
        inside = {name: seen.types[name] for name in self._names if name in seen.types}
        roles = {argument: name for argument, name in self._roles.items() if name in inside}
        said = folder_names(path)
        for name in self._names:
            values = dict.fromkeys(value for each, value in said if each == name)
            if len(values) > 1:
                msg = f"{path} lies in folders that disagree on {name!r}: {list(values)}"
                raise InputError(msg)
        both = {name: partition[name] for name in inside if name in partition}
        folder = {name: folder[name] for name in self._names if name not in inside}
        types = kind.choose(inside, roles, self._reading)
        types |= {name: arrow().scalar(value).type for name, value in folder.items()}
        parts = seen.sections, stamp, types, folder, both, seen.rows_of_sections
        return File(path, kind, seen.rows, *parts)

    def _check_types(self) -> None:
        """Refuse columns that cannot be used or are of different types in different files."""
        for argument, name in self._roles.items():
            first: File | None = None
            for file in self.files:
                kind = file.types[name]
                self._check_type(file, argument, name)
                if kind_of(kind) == "nothing":
                    continue
                first = first or file
                if kind_of(kind) != kind_of(first.types[name]):
                    msg = (
                        f"column {name!r} holds {kind_of(kind)} ({kind}) in {file.path}, but "
                        f"{kind_of(first.types[name])} ({first.types[name]}) in {first.path}"
                    )
                    raise InputError(msg)
            if first is not None and not first.kind.knows_types:
                for file in self.files:  # nothing could be guessed from a file without rows
                    if kind_of(file.types[name]) == "nothing" and name not in file.folder:
                        file.types[name] = first.types[name]

    def _check_type(self, file: File, argument: Argument, name: str) -> None:
        """Refuse a column that cannot be used, naming the field that makes it so if it is one."""
        why = refusal(argument, name, file.types[name])
        if why is None and not self._are_no_outcomes(argument, file.types[name]):
            return
        known = self._odd_one(file, argument, name)
        if known is not None:
            raise known
        if why is not None:
            raise why.but(place=str(file.path))

    def _are_no_outcomes(self, argument: Argument, kind: Any) -> bool:
        """Tell whether outcomes are text though nobody said which text is the event."""
        if argument.name != "y_true" or self._reading is None or kind_of(kind) != "text":
            return False
        return not isinstance(self._reading.pos_label, str)

    @staticmethod
    def _odd_one(file: File, argument: Argument, name: str) -> InputError | None:
        """Say which field makes text of a column whose type was guessed, if it is one of few."""
        if name in file.folder:
            return None
        with readable(file.path):
            return file.kind.odd_one(file.path, argument, name)

    # Reading ----------------------------------------------------------------------------------

    def _read(
        self, file: File, names: Sequence[str], size: int, section: int | None = None
    ) -> Generator[tuple[int, dict[str, Any]]]:
        """Read one file, or a section of it: rows, and columns by name.

        Whoever stops early closes this, and this what it reads from: an interrupt that comes while
        generators are thrown away is lost.
        """
        inside = [name for name in names if name not in file.folder]
        if not inside and file.rows is not None and section is None:
            for start in range(0, file.rows, size):
                rows = min(size, file.rows - start)
                yield rows, _constants(file, names, rows)
            return
        inside = inside or [name for name in file.types if name not in file.folder][:1]
        types = {name: file.types[name] for name in inside}
        read = file.kind.batches(file.path, inside, size, types, section)
        with readable(file.path), closing(read) as batches:
            try:
                for batch in batches:
                    columns = {name: usual(batch.column(name)) for name in inside}
                    yield batch.num_rows, columns | _constants(file, names, batch.num_rows)
            except arrow().ArrowInvalid as error:
                for table in self._together:
                    known = table._explained(file, types)  # noqa: SLF001  (one of us)
                    if known is not None:
                        raise known from error
                raise

    def _explained(self, file: File, types: Mapping[str, Any]) -> InputError | None:
        """Say which field of a file is not of its type, if it is one of ours."""
        ours = {name: kind for name, kind in types.items() if name in self._names}
        return file.kind.explain(file.path, ours, self._roles)


def _folder_values(found: list[Found]) -> list[dict[str, Any]]:
    """Return what folders' names tell of each file, as numbers where all of a name's are."""
    values: dict[str, dict[str | None, Any]] = {}
    for name in {name for file in found for name in file.partition}:
        texts = list(dict.fromkeys(file.partition.get(name) for file in found))
        values[name] = dict(zip(texts, typed(texts), strict=True))
    return [{name: values[name][text] for name, text in file.partition.items()} for file in found]


def _constants(file: File, names: Sequence[str], rows: int) -> dict[str, Any]:
    pa = arrow()
    return {
        name: pa.repeat(pa.scalar(file.folder[name], file.types[name]), rows)
        for name in names
        if name in file.folder
    }


def _agreeing(batch: Batch) -> Batch:
    """Return a batch after making sure that columns hold what the names of folders say of them.

    Raises
    ------
    InputError
        With the first row that holds something else.
    """
    for name in batch.columns.keys() & batch.file.both.keys():
        column, text = batch.columns[name], batch.file.both[name]
        keys, codes = group_codes([column])
        said = None if text is None else _read_as(column.type, text)
        differs = np.array([not (key == said or key is said) for key in keys])[codes]
        if differs.any():
            row = int(np.argmax(differs))
            folder = f"{name}={NULL_PARTITION if text is None else text}"
            raise InputError(
                f"{keys[codes[row]]!r} stands there, but the file lies in a folder {folder}; "
                "rename one of the two",
                row=batch.start + row,
                column=name,
                place=str(batch.file.path),
            )
    return batch


def _read_as(kind: Any, text: str) -> Any:
    """Return the key of a group that a text stands for in a column; itself if it stands for none.

    In a column of numbers 07 is 7.
    """
    pa = arrow()
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    ways = [pa.float64(), kind] if pa.types.is_float16(kind) else [kind]
    column = pa.array([text])
    try:
        for way in ways:
            column = column.cast(way)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return text
    return group_codes([column])[0][0]


@contextmanager
def _unchanged(file: File) -> Iterator[None]:
    """Make sure that a file is the one that was seen first, before it is read and afterwards."""
    _recheck(file)
    try:
        yield
    except InputError:
        _recheck(file)  # the better reason
        raise
    _recheck(file)


def _stamp(path: Path) -> tuple[int, int, int]:
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns, seen.st_ino


def _recheck(file: File) -> None:
    try:
        same = _stamp(file.path) == file.stamp
    except OSError:
        same = False
    if not same:
        msg = f"{file.path} was changed after it was first looked at: assess it again"
        raise SecantError(msg)
