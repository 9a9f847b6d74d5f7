"""Tables of top-1 predictions, in memory and as Parquet."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._base.writing import write_whole
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from secant._base.types import FloatArray, IntArray

__all__ = ["Predictions", "check_parquet", "read_predictions", "write_predictions"]

# What columns are called: by us, and in other tables.
_COLUMNS = {
    "score": ("score",),
    "response": ("response",),
    "true_class": ("true_class", "group"),
    "predicted_class": ("predicted_class",),
}
# Under this key the Parquet file says how it was made.
_KEY = b"secant"


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The top-1 predictions of a classifier, a row an image.

    Attributes
    ----------
    score : ndarray of float64
        Probability of the predicted class.
    response : ndarray of int8
        1 where the predicted class is right.
    true_class : ndarray of int64
        Number of the true class.
    predicted_class : ndarray of int64 or None
        Number of the predicted class, where the table has it.
    classes : tuple of str
        Names by the number of the class; empty where they are not known.
    paths : tuple of str
        The images, relative to the root of their tree; empty where they are not known.
    made : mapping
        How the predictions were made, as plain JSON.
    """

    score: FloatArray
    response: np.ndarray[Any, np.dtype[np.int8]]
    true_class: IntArray
    predicted_class: IntArray | None
    classes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.score)

    def name(self, number: int) -> str:
        """Return the name of a class; empty where it is not known."""
        return self.classes[number] if number < len(self.classes) else ""


def check_parquet() -> None:
    """Make sure that Parquet can be read and written.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    require("pyarrow.parquet", "imagenet", "Parquet files need")


def write_predictions(predictions: Predictions, path: str | Path) -> None:
    """Write predictions to a Parquet file, whole or not at all.

    The same predictions give the same bytes. The columns are ``path``, ``true_class``,
    ``true_name``, ``predicted_class``, ``score`` and ``response``; how the predictions were made
    and the names of all classes are in the metadata under ``secant``.

    Parameters
    ----------
    predictions : Predictions
        With paths, predicted classes and names.
    path : str or Path
        Where; a file that is there is replaced.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    check_parquet()
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    true_class = predictions.true_class.astype(np.int32)
    names = pa.DictionaryArray.from_arrays(pa.array(true_class), pa.array(predictions.classes))
    assert predictions.predicted_class is not None  # noqa: S101
    table = pa.table(
        {
            "path": pa.array(predictions.paths, pa.string()),
            "true_class": pa.array(true_class),
            "true_name": names.cast(pa.string()),
            "predicted_class": pa.array(predictions.predicted_class.astype(np.int32)),
            "score": pa.array(predictions.score),
            "response": pa.array(predictions.response),
        }
    )
    made = {**predictions.made, "classes": predictions.classes}
    table = table.replace_schema_metadata({_KEY: json.dumps(made)})
    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    write_whole(path, content.getvalue())


def read_predictions(path: str | Path) -> Predictions:
    """Read a table of top-1 predictions.

    Parameters
    ----------
    path : str or Path
        A Parquet file with columns ``score``, ``response``, ``true_class`` (or ``group``) and, for
        the table of predicted classes, ``predicted_class``. Other columns are not looked at.

    Returns
    -------
    Predictions
        Without paths.

    Raises
    ------
    InputError
        If there is no such file, it is not Parquet, a column is missing, has empty cells or is of
        the wrong type. Scores and responses are checked where they are assessed.
    MissingExtraError
        If pyarrow is not installed.
    """
    check_parquet()
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            names = _choose(path, file.schema_arrow.names)
            table = file.read(list(names.values()))
            made = dict(json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"{}")))
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise InputError(msg) from None
    except pa.ArrowInvalid as error:
        msg = f"{path} is not a Parquet file: {error}"
        raise InputError(msg) from error
    columns = {ours: _column(path, table, theirs) for ours, theirs in names.items()}
    for ours, theirs in names.items():
        if ours.endswith("_class"):
            columns[ours] = _numbers(path, theirs, columns[ours])
    return Predictions(
        score=columns["score"],
        response=columns["response"],
        true_class=columns["true_class"],
        predicted_class=columns.get("predicted_class"),
        classes=tuple(made.pop("classes", ())),
        made=made,
    )


def _choose(path: str | Path, there: list[str]) -> dict[str, str]:
    """Return the columns of a table by what we call them."""
    names = {
        ours: next((name for name in theirs if name in there), None)
        for ours, theirs in _COLUMNS.items()
    }
    for ours, theirs in names.items():
        if theirs is None and ours != "predicted_class":
            wanted = " or ".join(_COLUMNS[ours])
            msg = f"{path} has no column {wanted}; it has {', '.join(there) or 'none'}"
            raise InputError(msg)
    return {ours: theirs for ours, theirs in names.items() if theirs is not None}


def _column(path: str | Path, table: Any, name: str) -> np.ndarray[Any, Any]:
    column = table.column(name)
    if column.null_count:
        index = int(np.argmax(column.is_null().to_numpy()))
        msg = f"{path}: column {name} is empty in row {index}"
        raise InputError(msg)
    return np.asarray(column.to_numpy())


def _numbers(path: str | Path, name: str, column: np.ndarray[Any, Any]) -> IntArray:
    if not np.issubdtype(column.dtype, np.integer):
        msg = f"{path}: column {name} must hold the numbers of classes; it holds {column.dtype}"
        raise InputError(msg)
    if len(column) and column.min() < 0:
        index = int(np.argmin(column))
        msg = f"{path}: column {name} holds {column[index]} in row {index}; classes start at 0"
        raise InputError(msg)
    return column.astype(np.int64)
