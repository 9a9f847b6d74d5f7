"""The front door: where the predictions are, be it arrays, a data frame, files or an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from secant._input.arraylike import on_a_device, one_dimensional, without_mask
from secant._input.clusters import cluster_codes
from secant._input.columns import SELECTED, check_column, column_name, named_columns
from secant._input.keys import group_columns, grouped
from secant._input.observations import check_alignment, numbered_as, observations
from secant._input.options import AS_USUAL
from secant._input.ordering import are_equal, are_outcomes, holds_outcomes, ordering
from secant.errors import Argument, InputError
from secant.sources.apart import apart
from secant.sources.ordered import OrderedSource
from secant.sources.rows import RowSource, of_arrays
from secant.sources.streams import readable, staying
from secant.sources.tables import (
    is_files,
    is_kept,
    is_lazy,
    is_list,
    listed,
    names_of,
    table_of,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._blocks.cell_sums import CellMeans
    from secant._blocks.looking import Groups, Source
    from secant._input.columns import Columns
    from secant._input.observations import Observations
    from secant._input.options import Reading
    from secant.sources.files.passes import SideBySide

__all__ = [
    "open_columns",
    "open_groups",
    "open_means",
    "open_rows",
    "open_side_by_side",
    "open_source",
    "read_once",
    "read_table",
    "refuse_names",
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
        refuse_names(y_true=y_true, y_prob=y_prob, clusters=clusters, order_by=order_by)
        if clusters is order_by is None:
            return _plain(y_true, y_prob, sample_weight, reading)
        rows = {"y_true": y_true, "y_prob": y_prob, "sample_weight": sample_weight}
        return _rows(_arrays(rows, reading, clusters=clusters, order_by=order_by))
    columns = named_columns(
        y_true, y_prob, sample_weight, clusters=clusters, order_by=order_by, reading=reading
    )
    data = _readable(data, columns)
    if is_files(data):
        from secant.sources.files.source import open_files  # noqa: PLC0415  (pyarrow is an extra)

        return staying(open_files(data, columns), data)
    table = table_of(data)
    if is_lazy(table):
        return _engine(table, columns)
    if isinstance(table, Mapping) and clusters is order_by is None:
        wanted = (columns.y_true, columns.y_prob, columns.sample_weight)
        y, p, w = (None if name is None else table.get(name) for name in wanted)
        if on_a_device(y, p, w):
            columns.check(names_of(table), Argument("data"))
            try:
                return _tensors(y, p, w, columns.reading)
            except InputError as error:
                raise columns.explain(error) from error
    return _rows(read_table(table, columns))


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
        given = tuple(map(str, by)) if isinstance(by, Mapping) else ()
        by = list(by.values()) if given else by
        refuse_names(y_true=y_true, y_prob=y_prob, by=by, clusters=clusters, order_by=order_by)
        rows = {"y_true": y_true, "y_prob": y_prob, "sample_weight": sample_weight}
        seen = _arrays(rows, reading, by=by, clusters=clusters, order_by=order_by)
        if any(column is y_true for column in group_columns(by)):
            holds = Argument("by"), " holds the outcomes, ", Argument("y_true")
            raise InputError(*holds, f": {SELECTED}")
        keys, codes = grouped(by, seen.rows + seen.left_out, seen.kept)
        by = given or _names_of(group_columns(by))
        return apart(seen, keys, codes, by, _rows)
    columns = named_columns(
        y_true, y_prob, sample_weight, by, clusters, order_by=order_by, reading=reading
    )
    data = _readable(data, columns)
    if is_files(data):
        from secant.sources.files.source import open_file_groups  # noqa: PLC0415  (as above)

        return staying(open_file_groups(data, columns), data)
    table = table_of(data)
    if is_lazy(table):
        return _engine_groups(table, columns)
    seen = read_table(table, columns)
    values = [values_of(table, name) for name in columns.by]
    try:
        keys, codes = grouped(
            values if len(values) > 1 else values[0], seen.rows + seen.left_out, seen.kept
        )
    except InputError as error:
        raise columns.explain(error) from error
    return apart(seen, keys, codes, columns.by, _rows)


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
    data, several = read_once(
        y_true,
        y_probs,
        by,
        data=data,
        sample_weight=sample_weight,
        clusters=clusters,
        reading=reading,
    )
    if not is_files(data):
        return None
    from secant.sources.files import source as files  # noqa: PLC0415  (pyarrow is an extra)

    return staying(files.open_side_by_side(data, several, moments=moments), data)


def read_once(
    y_true: Any,
    y_probs: Sequence[tuple[str, Any]],
    by: Any = None,
    *,
    data: Any,
    sample_weight: Any = None,
    clusters: Any = None,
    order_by: Any = None,
    reading: Reading = AS_USUAL,
) -> tuple[Any, list[tuple[str, Columns]]]:
    """Return data that can be opened for one column of scores after another, and what to read.

    Parameters
    ----------
    y_probs
        The columns, each after what messages call the argument that names it.

    Raises
    ------
    InputError
        As :func:`open_source`.
    """
    several = []
    for name, column in y_probs:
        try:
            columns = named_columns(
                y_true, column, sample_weight, by, clusters, order_by=order_by, reading=reading
            )
        except InputError as error:
            raise error.renamed({"y_prob": name}) from error
        several.append((name, columns))
    names = list(dict.fromkeys(name for _, columns in several for name in columns.names))

    def check(available: Sequence[str]) -> None:
        for name, columns in several:
            try:
                columns.check(available, Argument("data"))
            except InputError as error:
                raise error.renamed({"y_prob": name}) from error

    return readable(data, names, check), several


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
        refuse_names(y_true=y_true, y_prob=y_prob)
        return observations(y_true, y_prob, sample_weight, reading)
    if is_kept(data):
        raise _kept_by_the_engine(asked)
    source = open_source(y_true, y_prob, data=data, sample_weight=sample_weight, reading=reading)
    return source.observations()


def open_means(
    y_true: Any, y_prob: Any, n_cells: int, *, data: Any, reading: Reading = AS_USUAL
) -> tuple[CellMeans, int, tuple[int, int]]:
    """Return counts and mean scores of cells of equal width, of a table whose rows an engine keeps.

    Returns
    -------
    means, n_cells, impossible
        What cells hold, how many there are, and how many events have a score of 0, and how many
        failures a score of 1.

    Raises
    ------
    InputError
        As :func:`open_source`.
    """
    from secant.sources.engines.source import cell_means  # noqa: PLC0415  (narwhals is an extra)

    columns = named_columns(y_true, y_prob, reading=reading)
    means, impossible = cell_means(table_of(data, columns.names), columns, n_cells)
    return means, n_cells, impossible


def _names_of(columns: list[Any]) -> tuple[str, ...]:
    """Return what arrays of groups are called: as a series of pandas is, where one is."""
    own = [getattr(column, "name", None) for column in columns]
    usual = ["group"] if len(own) == 1 else [f"group {i + 1}" for i in range(len(own))]
    return tuple(
        name if isinstance(name, str) and name else other
        for name, other in zip(own, usual, strict=True)
    )


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
        Argument(argument): [column_name(argument, each) for each in listed(given)]
        for argument, given in wanted.items()
        if given is not None
    }

    def check(available: Sequence[str]) -> None:
        for argument, several in names.items():
            for name in several:
                check_column(argument, name, available, Argument("data"))

    every = list(dict.fromkeys(name for several in names.values() for name in several))
    data = readable(data, every, check)
    if is_files(data):
        from secant.sources.files.source import read_columns  # noqa: PLC0415  (as above)

        read = read_columns(data, names)
    else:
        table = table_of(data)
        if is_lazy(table):
            raise _kept_by_the_engine(asked)
        check(names_of(table))
        read = {name: values_of(table, name) for name in every}
        if isinstance(table, Mapping):  # whose columns may be of several frames
            roles = (_numbered(role, [read[each] for each in names[role]]) for role in names)
            check_alignment(*(pair for pairs in roles for pair in pairs))

    def found(given: Any) -> Any:
        return [read[name] for name in given] if is_list(given) else read[given]

    return {argument: None if given is None else found(given) for argument, given in wanted.items()}


def _numbered(argument: str, columns: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return columns with the name of their argument, and their place where it has several."""
    if len(columns) == 1:
        return [(argument, columns[0])]
    return [(f"{argument}[{place}]", column) for place, column in enumerate(columns)]


def _kept_by_the_engine(asked: str) -> InputError:
    return InputError(
        Argument("data"),
        f" is a table of an engine, which keeps its rows, and {asked} needs them all",
        hint="; fetch them first (.collect(), .compute(), .df(), .toPandas()), or ask assess, "
        "which needs sums alone",
    )


def refuse_names(**arguments: Any) -> None:
    """Refuse the names of columns where nothing is said of what."""
    for argument, value in arguments.items():
        if isinstance(value, str):
            raise InputError(
                Argument(argument),
                f" must be an array of values; got the text {value!r}",
                hint=" (the name of a column? then pass data= as well)",
            )


def _readable(data: Any, columns: Columns) -> Any:
    """Return data that can be read, which have the columns."""
    return readable(data, columns.names, lambda names: columns.check(names, Argument("data")))


def _arrays(
    rows: dict[str, Any],
    reading: Reading,
    *,
    by: Any = None,
    clusters: Any = None,
    order_by: Any = None,
) -> Observations:
    """Check arrays that have one value a row, by the arguments of the first three."""
    y_true, y_prob, sample_weight = rows.values()
    seen = observations(y_true, y_prob, sample_weight, reading)
    several = [
        pair
        for name, columns in (("by", by), ("clusters", clusters))
        for pair in _numbered(name, group_columns(columns))
    ]
    check_alignment(*several, **rows, order_by=order_by)
    return _ordered(_clustered(seen, clusters, y_true), order_by, y_true, y_prob)


def _plain(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Source:
    """Return arrays, wherever they lie, that come in the order of scores and independently."""
    if on_a_device(y_true, y_prob, sample_weight):
        return _tensors(y_true, y_prob, sample_weight, reading)
    return of_arrays(y_true, y_prob, sample_weight, reading)


def _tensors(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Source:
    from secant.sources.tensors.opening import open_tensors  # noqa: PLC0415  (as above)

    return open_tensors(y_true, y_prob, sample_weight, reading)


def read_table(table: Any, columns: Columns) -> Observations:
    """Check the columns of a table in memory, without copying what needs no copy."""
    columns.check(names_of(table), Argument("data"))
    weight = None if columns.sample_weight is None else values_of(table, columns.sample_weight)
    labels, scores = values_of(table, columns.y_true), values_of(table, columns.y_prob)
    clusters = None
    if columns.clusters is not None:
        ids = [values_of(table, name) for name in columns.clusters]
        clusters = ids if len(ids) > 1 else ids[0]
    order = None if columns.order_by is None else values_of(table, columns.order_by)
    try:
        seen = observations(labels, scores, weight, columns.reading)
        if isinstance(table, Mapping):  # whose columns may be of several frames
            rows = {"y_true": labels, "y_prob": scores, "sample_weight": weight}
            groups = _numbered("by", [values_of(table, name) for name in columns.by])
            groups += _numbered("clusters", group_columns(clusters))
            check_alignment(*groups, **rows, order_by=order)
        seen = _clustered(seen, clusters, labels)
        return _ordered(seen, order, labels, scores, name=columns.order_by)
    except InputError as error:
        raise columns.explain(error) from error


def _clustered(seen: Observations, clusters: Any, y_true: Any) -> Observations:
    """Return rows that know which of them belong together."""
    if clusters is None:
        return seen
    if any(column is y_true for column in group_columns(clusters)):
        holds = Argument("clusters"), " holds the outcomes, ", Argument("y_true")
        raise InputError(*holds, "; it must tell which rows belong together")
    with numbered_as(seen.kept):
        codes = cluster_codes(clusters, seen.rows + seen.left_out, seen.kept)
    return replace(seen, clusters=codes)


def _ordered(
    seen: Observations, order_by: Any, y_true: Any, y_prob: Any, *, name: str | None = None
) -> Observations:
    """Return rows that know their places along another order; the order of scores is no other."""
    if order_by is None or order_by is y_prob:
        return seen
    if order_by is y_true:
        raise holds_outcomes("y_true")
    with numbered_as(seen.kept):
        keys, axis = ordering(order_by, seen.rows + seen.left_out, name, seen.kept)
    if axis.kind == "number":
        if are_equal(keys, seen.scores):
            return seen
        raw = seen.of_rows("y_true", one_dimensional("y_true", without_mask(y_true)))
        if are_outcomes(keys, seen.labels) or are_outcomes(keys, raw):
            raise holds_outcomes("y_true")
    return replace(seen, keys=keys, axis=axis)


def _rows(seen: Observations, _number: int = 0) -> Source:
    return RowSource(seen) if seen.axis is None else OrderedSource(seen)


def _engine(table: Any, columns: Columns) -> Source:
    return _engine_groups(table, columns).source(0)


def _engine_groups(table: Any, columns: Columns) -> Groups:
    from secant.sources.engines.ordered import open_engine_along  # noqa: PLC0415  (as narwhals is)
    from secant.sources.engines.source import open_engine_groups  # noqa: PLC0415

    return (open_engine_groups if columns.order_by is None else open_engine_along)(table, columns)
