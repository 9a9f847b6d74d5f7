"""The front door: where the predictions are, be it arrays, a data frame, files or an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._base.types import Forbidden
from secant._input.arraylike import on_a_device, one_dimensional
from secant._input.clusters import SAMPLE, cluster_codes, repeated, telling
from secant._input.columns import SELECTED, check_column, column_name, named_columns
from secant._input.groups import group_columns, grouped, key_order, split
from secant._input.observations import check_alignment, observations
from secant._input.options import AS_USUAL
from secant._input.ordering import are_equal, are_outcomes, holds_outcomes, ordering
from secant.errors import Argument, InputError, SecantError
from secant.sources.apart import Apart
from secant.sources.ordered import OrderedSource
from secant.sources.rows import RowSource, of_arrays
from secant.sources.streams import readable, single_named, staying

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from secant._base.types import IntArray
    from secant._blocks.looking import Groups, Source
    from secant._input.columns import Columns
    from secant._input.observations import Observations
    from secant._input.options import Reading
    from secant.sources.files.passes import SideBySide

__all__ = [
    "open_columns",
    "open_groups",
    "open_rows",
    "open_side_by_side",
    "open_source",
    "repeated_units",
]


def open_source(
    y_true: Any,
    y_prob: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    order_by: Any = None,
    reading: Reading = AS_USUAL,
) -> Source:
    """Return the source of blocks for what the user passed.

    Raises
    ------
    InputError
        If the predictions cannot be used, or cannot be found in ``data``.
    """
    if data is None:
        _refuse_names(y_true=y_true, y_prob=y_prob, clusters=clusters, order_by=order_by)
        if clusters is order_by is None:
            return _plain(y_true, y_prob, sample_weight, reading)
        seen = observations(y_true, y_prob, sample_weight, reading)
        seen = _clustered(seen, clusters, y_true=y_true, y_prob=y_prob)
        return _rows(_ordered(seen, order_by, y_true=y_true, y_prob=y_prob))
    columns = named_columns(
        y_true, y_prob, sample_weight, clusters=clusters, order_by=order_by, reading=reading
    )
    data = readable(data, columns.names, lambda names: columns.check(names, Argument("data")))
    if _is_files(data):
        from secant.sources.files.source import open_files  # noqa: PLC0415  (pyarrow is an extra)

        return staying(open_files(data, columns), data)
    table = _table(data)
    if _is_lazy(table):
        return _engine(table, columns)
    if isinstance(table, Mapping) and clusters is order_by is None:
        wanted = (columns.y_true, columns.y_prob, columns.sample_weight)
        y, p, w = (None if name is None else table.get(name) for name in wanted)
        if on_a_device(y, p, w):
            columns.check(_names(table), Argument("data"))
            try:
                return _tensors(y, p, w, columns.reading)
            except InputError as error:
                raise columns.explain(error) from error
    return _rows(_read(table, columns))


def open_groups(
    y_true: Any,
    y_prob: Any,
    by: Any,
    *,
    data: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    order_by: Any = None,
    reading: Reading = AS_USUAL,
) -> Groups:
    """Return the groups of what the user passed, in the order of their keys.

    Raises
    ------
    InputError
        As :func:`open_source`.
    """
    if by is None:
        without = " must give the groups of predictions; got None (without groups there is assess)"
        raise InputError(Argument("by"), without)
    if data is None:
        _refuse_names(y_true=y_true, y_prob=y_prob, by=by, clusters=clusters, order_by=order_by)
        seen = observations(y_true, y_prob, sample_weight, reading)
        seen = _clustered(seen, clusters, y_true=y_true, y_prob=y_prob)
        seen = _ordered(seen, order_by, y_true=y_true, y_prob=y_prob)
        for column in group_columns(by):
            if column is y_true:
                holds = Argument("by"), " holds the outcomes, ", Argument("y_true")
                raise InputError(*holds, f": {SELECTED}")
            check_alignment(y_true=y_true, y_prob=y_prob, by=column)
        keys, codes = grouped(by, seen.rows)
        names: tuple[str, ...] = ("group",)
        if isinstance(keys[0], tuple):
            names = tuple(f"group {i + 1}" for i in range(len(keys[0])))
        return _apart(seen, keys, codes, names)
    columns = named_columns(
        y_true, y_prob, sample_weight, by, clusters, order_by=order_by, reading=reading
    )
    data = readable(data, columns.names, lambda names: columns.check(names, Argument("data")))
    if _is_files(data):
        from secant.sources.files.source import open_file_groups  # noqa: PLC0415  (as above)

        return staying(open_file_groups(data, columns), data)
    table = _table(data)
    if _is_lazy(table):
        return _engine_groups(table, columns)
    seen = _read(table, columns)
    values = [_column(table, name) for name in columns.by]
    try:
        keys, codes = grouped(values if len(values) > 1 else values[0], seen.rows)
    except InputError as error:
        raise columns.explain(error) from error
    return _apart(seen, keys, codes, columns.by)


def open_side_by_side(
    y_true: Any,
    y_probs: Sequence[tuple[str, Any]],
    by: Any = None,
    *,
    data: Any,
    sample_weight: Any = None,
    clusters: Any = None,
    reading: Reading = AS_USUAL,
    moments: bool = False,
) -> SideBySide | None:
    """Return several columns of scores in the same files, and their groups, to be read together.

    Parameters
    ----------
    y_probs
        The columns, each after what messages call the argument that names it.
    moments
        Whether blocks of all rows are to know the noise of each.

    Returns
    -------
    SideBySide or None
        First all rows of each column, then its groups; None where the data are not in files.

    Raises
    ------
    InputError
        As :func:`open_source`.
    """
    several = []
    for name, column in y_probs:
        try:
            named = named_columns(y_true, column, sample_weight, by, clusters, reading=reading)
            several.append((name, named))
        except InputError as error:
            raise error.renamed({"y_prob": name}) from error
    names = list(dict.fromkeys(name for _, columns in several for name in columns.names))

    def check(available: Sequence[str]) -> None:
        for _, columns in several:
            columns.check(available, Argument("data"))

    data = readable(data, names, check)
    if not _is_files(data):
        return None
    from secant.sources.files import source as files  # noqa: PLC0415  (pyarrow is an extra)

    return staying(files.open_side_by_side(data, several, moments=moments), data)


def open_rows(
    y_true: Any,
    y_prob: Any,
    *,
    asked: str,
    data: Any = None,
    sample_weight: Any = None,
    reading: Reading = AS_USUAL,
) -> Observations:
    """Return all rows in memory, for a question that sums do not answer.

    Parameters
    ----------
    asked
        The function that asks it, for the message where an engine keeps its rows.

    Raises
    ------
    InputError
        As :func:`open_source`; and if the rows are an engine's.
    """
    if data is None:
        _refuse_names(y_true=y_true, y_prob=y_prob)
        return observations(y_true, y_prob, sample_weight, reading)
    if _is_kept(data):
        raise _kept_by_the_engine(asked)
    source = open_source(y_true, y_prob, data=data, sample_weight=sample_weight, reading=reading)
    assert isinstance(source, RowSource)  # noqa: S101
    return source.in_memory()


def repeated_units(data: Any, used: Collection[str | None]) -> str | None:
    """Say which column looks like the id of units that have several rows each; None if none does.

    Only the first rows are looked at, of tables in memory and of files; an engine is not asked.

    Parameters
    ----------
    data
        As in :func:`open_source`.
    used
        The columns that are used, and so are no such thing.
    """

    def unused(names: Sequence[str]) -> list[str]:
        return [name for name in telling(names) if name not in used]

    if _is_files(data):
        columns, every = _of_files(data, unused)
    elif isinstance(data, Mapping) or _is_frame(data):
        table = _table(data)
        names = unused([str(name) for name in _names(table)])
        whole = [(name, _column(table, name)) for name in names if name in _names(table)]
        # A mapping may hold anything beside what is used.
        arrays = {name: values for name, values in whole if _is_column(values)}
        columns = {name: values[:SAMPLE] for name, values in arrays.items()}
        every = all(len(values) <= SAMPLE for values in arrays.values())
    else:
        return None
    found = (repeated(name, values, all_rows=every) for name, values in columns.items())
    return next((each for each in found if each is not None), None)


def _of_files(
    data: Any, choose: Callable[[Sequence[str]], list[str]]
) -> tuple[dict[str, Any], bool]:
    """Return the first rows of some columns; none where these cannot be read, and need not be."""
    from secant.sources.files.formats import arrow  # noqa: PLC0415  (pyarrow is an extra)
    from secant.sources.files.source import first_rows  # noqa: PLC0415

    try:
        return first_rows(data, choose, SAMPLE)
    except (SecantError, arrow().ArrowException):
        return {}, True


def _is_column(values: Any) -> bool:
    """Tell whether something is a list, or a column of one of the libraries."""
    typed = hasattr(values, "dtype") or hasattr(values, "type")
    return isinstance(values, list) or (typed and getattr(values, "ndim", 1) == 1)


def _is_frame(data: Any) -> bool:
    """Tell whether ``data`` is a data frame in memory."""
    narwhals = require("narwhals", "frames", "data frames and tables of engines need")
    data = single_named(data)
    frame = narwhals.from_native(data, pass_through=True)
    return frame is not data and not _is_lazy(frame)


def open_columns(data: Any, wanted: Mapping[str, Any], *, asked: str) -> dict[str, Any]:
    """Return columns in memory, by the argument that names them.

    Parameters
    ----------
    data
        A data frame, a mapping of arrays, or files.
    wanted
        For each argument the name of a column, a list of names, or None.
    asked
        The function that asks for them, for the message where an engine keeps its rows.

    Returns
    -------
    dict
        For each argument an array, a list of arrays, or None.

    Raises
    ------
    InputError
        If there is no such column, or the rows are an engine's.
    """
    names = {
        Argument(argument): [column_name(argument, each) for each in _listed(given)]
        for argument, given in wanted.items()
        if given is not None
    }

    def check(available: Sequence[str]) -> None:
        for argument, several in names.items():
            for name in several:
                check_column(argument, name, available, Argument("data"))

    listed = list(dict.fromkeys(name for several in names.values() for name in several))
    data = readable(data, listed, check)
    if _is_files(data):
        from secant.sources.files.source import read_columns  # noqa: PLC0415  (as above)

        read = read_columns(data, names)
    else:
        table = _table(data)
        if _is_lazy(table):
            raise _kept_by_the_engine(asked)
        check(_names(table))
        read = {name: _column(table, name) for several in names.values() for name in several}

    def found(given: Any) -> Any:
        return [read[name] for name in given] if _is_list(given) else read[given]

    return {argument: None if given is None else found(given) for argument, given in wanted.items()}


def _kept_by_the_engine(asked: str) -> InputError:
    return InputError(
        Argument("data"),
        f" is a table of an engine, which keeps its rows, and {asked} needs them all",
        hint="; fetch them first (.collect(), .compute(), .df(), .toPandas()), or ask assess, "
        "which needs sums alone",
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _listed(value: Any) -> Sequence[Any]:
    return value if _is_list(value) else [value]


def _refuse_names(**arguments: Any) -> None:
    """Refuse the names of columns where nothing is said of what."""
    for argument, value in arguments.items():
        if isinstance(value, str):
            raise InputError(
                Argument(argument),
                f" must be an array of values; got the text {value!r}",
                hint=" (the name of a column? then pass data= as well)",
            )


def _plain(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Source:
    """Return arrays, wherever they lie, that come in the order of scores and independently."""
    if on_a_device(y_true, y_prob, sample_weight):
        return _tensors(y_true, y_prob, sample_weight, reading)
    return of_arrays(y_true, y_prob, sample_weight, reading)


def _tensors(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Source:
    from secant.sources.tensors.opening import open_tensors  # noqa: PLC0415  (as above)

    return open_tensors(y_true, y_prob, sample_weight, reading)


def _apart(
    seen: Observations,
    keys: list[Any],
    codes: IntArray,
    by: tuple[str, ...],
    *,
    numbered: bool = True,
) -> Apart:
    pieces = split(seen, codes, len(keys))
    full, sources, empty = [], [], []
    for number in key_order(keys):
        if (piece := pieces[number]) is None:
            empty.append(keys[number])
        else:
            full.append(keys[number])
            sources.append(_rows(piece, numbered=numbered))
    return Apart(full, sources, by, tuple(empty))


# Tables -------------------------------------------------------------------------------------------


def _is_files(data: Any) -> bool:
    """Tell whether ``data`` is a path, or a list of paths."""
    if _is_list(data):
        return bool(data) and all(isinstance(item, (str, os.PathLike)) for item in data)
    return isinstance(data, (str, os.PathLike))


def _table(data: Any, names: Sequence[str] = ()) -> Any:
    """Return a mapping of arrays, or what narwhals makes of a frame; ``names`` will be read."""
    if isinstance(data, Mapping):
        return data
    narwhals = require("narwhals", "frames", "data frames and tables of engines need")
    try:
        return narwhals.from_native(single_named(data, names), pass_through=False)
    except TypeError as error:
        raise InputError(
            Argument("data"),
            " must be a data frame, a table of an engine, a stream of Arrow batches, a mapping of "
            f"arrays, a path or a list of paths; got {type(data).__name__}",
        ) from error


def _is_kept(data: Any) -> bool:
    """Tell whether ``data`` is a table whose rows an engine keeps."""
    if _is_files(data) or isinstance(data, Mapping):
        return False
    narwhals = require("narwhals", "frames", "data frames and tables of engines need")
    data = single_named(data)
    frame = narwhals.from_native(data, pass_through=True)
    return frame is not data and _is_lazy(frame)


def _is_lazy(table: Any) -> bool:
    return not isinstance(table, Mapping) and not hasattr(table, "to_numpy")


def _names(table: Any) -> Sequence[str]:
    return list(table) if isinstance(table, Mapping) else table.columns


def _read(table: Any, columns: Columns) -> Observations:
    """Check the columns of a table in memory, without copying what needs no copy."""
    columns.check(_names(table), Argument("data"))
    weight = None if columns.sample_weight is None else _column(table, columns.sample_weight)
    labels, scores = _column(table, columns.y_true), _column(table, columns.y_prob)
    clusters = None if columns.clusters is None else _column(table, columns.clusters)
    try:
        seen = observations(labels, scores, weight, columns.reading)
        seen = _clustered(seen, clusters)
        if columns.order_by is None:
            return seen
        order = _column(table, columns.order_by)
        return _ordered(seen, order, name=columns.order_by, y_true=labels, y_prob=scores)
    except InputError as error:
        raise columns.explain(error) from error


def _clustered(seen: Observations, clusters: Any, **aligned: Any) -> Observations:
    """Return rows that know which of them belong together."""
    if clusters is None:
        return seen
    if clusters is aligned.get("y_true"):
        holds = Argument("clusters"), " holds the outcomes, ", Argument("y_true")
        raise InputError(*holds, "; it must tell which rows belong together")
    check_alignment(**aligned, clusters=clusters)
    return replace(seen, clusters=cluster_codes(clusters, seen.rows))


def _ordered(
    seen: Observations, order_by: Any, *, name: str | None = None, **aligned: Any
) -> Observations:
    """Return rows that know their places along another order; the order of scores is no other."""
    if order_by is None or order_by is aligned.get("y_prob"):
        return seen
    outcomes = aligned.get("y_true")
    if order_by is outcomes:
        raise holds_outcomes("y_true")
    check_alignment(**aligned, order_by=order_by)
    keys, axis = ordering(order_by, seen.rows, name)
    if axis.kind == "number":
        if are_equal(keys, seen.scores):
            return seen
        raw = one_dimensional("y_true", outcomes)
        if are_outcomes(keys, seen.labels) or are_outcomes(keys, raw):
            raise holds_outcomes("y_true")
    return replace(seen, keys=keys, axis=axis)


def _rows(seen: Observations, *, numbered: bool = True) -> Source:
    """Return rows as a source; those that came from an engine have no numbers to tell."""
    if seen.axis is None:
        return RowSource(seen)
    return OrderedSource(seen, None if numbered else Forbidden(len(seen.forbidden), ()))


def _engine(table: Any, columns: Columns) -> Source:
    from secant.sources.engines.ordered import open_engine_along  # noqa: PLC0415  (as narwhals is)
    from secant.sources.engines.source import open_engine  # noqa: PLC0415

    return (open_engine if columns.order_by is None else open_engine_along)(table, columns)


def _engine_groups(table: Any, columns: Columns) -> Groups:
    from secant.sources.engines.ordered import fetched  # noqa: PLC0415  (as above)
    from secant.sources.engines.source import open_engine_groups  # noqa: PLC0415

    if columns.order_by is None:
        return open_engine_groups(table, columns)
    seen, names = fetched(table, columns)
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    codes = np.array([number[name] for name in names], np.int64)
    keys = [name[0] if len(columns.by) == 1 else name for name in number]
    return _apart(seen, keys, codes, columns.by, numbered=False)


def _column(table: Any, name: str) -> Any:
    return table[name] if isinstance(table, Mapping) else table[name].to_native()
