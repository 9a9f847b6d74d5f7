"""Where the predictions are: arrays, columns of a data frame, files, an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._input.columns import SELECTED, named_columns
from secant._input.groups import grouped, key_order, split
from secant._input.observations import observations
from secant._input.options import check_choice
from secant.errors import InputError, MissingExtraError
from secant.sources.apart import Apart
from secant.sources.rows import RowSource

if TYPE_CHECKING:
    from secant._base.types import IntArray
    from secant._blocks.looking import Groups, Source
    from secant._input.columns import Columns
    from secant._input.observations import Observations

__all__ = ["open_groups", "open_source"]


def open_source(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    data: Any,
    *,
    weight_kind: str,
    pos_label: Any,
) -> Source:
    """Return the source of blocks for what the user passed.

    Raises
    ------
    InputError
        If the predictions cannot be used, or cannot be found in ``data``.
    """
    check_choice("weight_kind", weight_kind, ("sampling", "frequency"))
    reading = {"weight_kind": weight_kind, "pos_label": pos_label}
    if data is None:
        _refuse_names(y_true=y_true, y_prob=y_prob)
        return RowSource(observations(y_true, y_prob, sample_weight, **reading))
    columns = named_columns(y_true, y_prob, sample_weight, None, **reading)
    if _is_files(data):
        from secant.sources.files.source import open_files  # noqa: PLC0415  (pyarrow is an extra)

        return open_files(data, columns)
    table = _table(data)
    if _is_lazy(table):
        from secant.sources.engines.source import open_engine  # noqa: PLC0415  (narwhals is an extra)

        return open_engine(table, columns)
    return RowSource(_read(table, columns))


def open_groups(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    by: Any,
    data: Any,
    *,
    weight_kind: str,
    pos_label: Any,
) -> Groups:
    """Return the groups of what the user passed, in the order of their keys.

    Raises
    ------
    InputError
        As :func:`open_source`.
    """
    check_choice("weight_kind", weight_kind, ("sampling", "frequency"))
    if by is None:
        msg = "by must give the groups of predictions; got None (without groups there is assess)"
        raise InputError(msg)
    reading = {"weight_kind": weight_kind, "pos_label": pos_label}
    if data is None:
        _refuse_names(y_true=y_true, y_prob=y_prob, by=by)
        seen = observations(y_true, y_prob, sample_weight, **reading)
        if any(column is y_true for column in (by if isinstance(by, list) else [by])):
            msg = f"by holds the outcomes, y_true: {SELECTED}"
            raise InputError(msg)
        keys, codes = grouped(by, seen.rows)
        several = isinstance(keys[0], tuple)
        names = tuple(f"group {i + 1}" for i in range(len(keys[0]))) if several else ("group",)
        return _apart(seen, keys, codes, names)
    columns = named_columns(y_true, y_prob, sample_weight, by, **reading)
    if _is_files(data):
        from secant.sources.files.source import open_file_groups  # noqa: PLC0415  (as above)

        return open_file_groups(data, columns)
    table = _table(data)
    if _is_lazy(table):
        from secant.sources.engines.source import open_engine_groups  # noqa: PLC0415  (as above)

        return open_engine_groups(table, columns)
    seen = _read(table, columns)
    values = [_column(table, name) for name in columns.by]
    with columns.explained():
        keys, codes = grouped(values if len(values) > 1 else values[0], seen.rows)
    return _apart(seen, keys, codes, columns.by)


def _refuse_names(**arguments: Any) -> None:
    """Refuse the names of columns where nothing is said of what."""
    for argument, value in arguments.items():
        if isinstance(value, str):
            msg = (
                f"{argument} must be an array of values; got the text {value!r} (the name of a "
                "column? then pass data= as well)"
            )
            raise InputError(msg)


def _apart(seen: Observations, keys: list[Any], codes: IntArray, by: tuple[str, ...]) -> Apart:
    pieces = split(seen, codes, len(keys))
    full, sources, empty = [], [], []
    for number in key_order(keys):
        if (piece := pieces[number]) is None:
            empty.append(keys[number])
        else:
            full.append(keys[number])
            sources.append(RowSource(piece))
    return Apart(full, sources, by, tuple(empty))


# Tables -------------------------------------------------------------------------------------------


def _is_files(data: Any) -> bool:
    """Tell whether ``data`` is a path, or a list of paths."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(item, (str, os.PathLike)) for item in data)
    return isinstance(data, (str, os.PathLike))


def _table(data: Any) -> Any:
    """Return a mapping of arrays, or what narwhals makes of a frame."""
    if isinstance(data, Mapping):
        return data
    try:
        import narwhals  # noqa: PLC0415  (an extra)
    except ImportError as error:
        msg = "data frames and tables of engines need narwhals: pip install 'secant[frames]'"
        raise MissingExtraError(msg) from error
    try:
        return narwhals.from_native(data)
    except TypeError as error:
        msg = (
            "data must be a data frame, a table of an engine, a mapping of arrays, a path or a "
            f"list of paths; got {type(data).__name__}"
        )
        raise InputError(msg) from error


def _is_lazy(table: Any) -> bool:
    return not isinstance(table, Mapping) and not hasattr(table, "to_numpy")


def _read(table: Any, columns: Columns) -> Observations:
    """Check the columns of a table in memory, without copying what needs no copy."""
    available = list(table) if isinstance(table, Mapping) else table.columns
    columns.check(available, "data")
    weight = None if columns.sample_weight is None else _column(table, columns.sample_weight)
    with columns.explained():
        return observations(
            _column(table, columns.y_true),
            _column(table, columns.y_prob),
            weight,
            weight_kind=columns.weight_kind,
            pos_label=columns.pos_label,
        )


def _column(table: Any, name: str) -> Any:
    return table[name] if isinstance(table, Mapping) else table[name].to_native()
