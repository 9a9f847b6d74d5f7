"""Anything array-like as a one-dimensional array, or a clear word why not."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.rules import missing
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from secant._base.types import FloatArray, IntArray

__all__ = [
    "device_of",
    "from_objects",
    "is_missing",
    "names_of_rows",
    "of_rows",
    "on_a_device",
    "one_dimensional",
    "one_value_a_row",
    "plain_value",
    "real_array",
    "real_matrix",
    "shown",
    "without_mask",
    "wrong_shape",
    "wrong_type",
]

# What to pass in place of an array with a column for each of two classes, or of several.
_HINTS = {
    "y_prob": (
        "; pass the probabilities of the positive class alone, probs[:, 1]",
        "; for the probabilities of several classes there is assess_classes",
    ),
    "y_true": (
        " (one-hot? pass y_true.argmax(axis=1))",
        " (one-hot? pass y_true.argmax(axis=1), for several classes to assess_classes)",
    ),
    "by": ("; pass a list of its columns",) * 2,
}


def one_dimensional(argument: str, value: Any) -> np.ndarray[Any, Any]:
    """Turn anything array-like into a one-dimensional array, or say why not."""
    array = _array(argument, value)
    if array.ndim == 1:
        return array
    raise wrong_shape(argument, array.shape, type(value).__name__)


def names_of_rows(argument: str, value: Any) -> np.ndarray[Any, Any]:
    """Return what names the group or the cluster of each row, whole numbers as whole numbers.

    numpy makes doubles of a column of them where one is missing, which merges those from 2**53 on.
    """
    array = one_dimensional(argument, value)
    if isinstance(value, np.ndarray) or array.dtype.kind != "f":
        return array
    if not (np.isnan(array).any() or (np.abs(array) >= 2**53).any()):
        return array
    listed = value
    if not isinstance(value, (list, tuple)):
        methods = (getattr(value, name, None) for name in ("to_pylist", "to_list", "tolist"))
        as_list = next(filter(None, methods), None)
        if as_list is None:
            return array
        listed = as_list()
    given = np.empty(array.shape[0], object)
    given[:] = listed
    return given


def wrong_shape(argument: str, shape: tuple[int, ...], kind: str) -> InputError:
    """Return the error about what is a single value, or has several columns."""
    must = " must be one-dimensional; "
    if not shape:
        return InputError(Argument(argument), must, f"got a single {kind}")
    hint = _shape_hint(argument, shape)
    return InputError(Argument(argument), must, f"its shape is {shape}", hint=hint)


# Kinds of device in dlpack that are memory of the host: plain, and pinned for CUDA or ROCm.
_HOST = frozenset({1, 3, 11})
_CUDA, _MANAGED, _ROCM = 2, 13, 10


def device_of(value: Any) -> str | None:
    """Name the device on which an array lies as torch does; None for the host's memory."""
    torch: Any = sys.modules.get("torch")
    is_tensor: bool = isinstance(value, getattr(torch, "Tensor", ()))
    if is_tensor:
        return None if value.device.type == "cpu" else str(value.device)
    try:
        kind, number = value.__dlpack_device__()
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError):
        return None
    if kind in _HOST:
        return None
    return f"cuda:{number}" if kind in {_CUDA, _MANAGED, _ROCM} else f"device {int(kind)}:{number}"


def on_a_device(*columns: Any) -> bool:
    """Tell whether arrays lie on a device, and torch can read them there."""
    return any(map(device_of, columns)) and find_spec("torch") is not None


def _array(argument: str, value: Any) -> np.ndarray[Any, Any]:
    """Turn anything array-like into an array, nothing of which is masked."""
    if isinstance(value, (str, bytes)):
        raise InputError(Argument(argument), f" must be an array of values; got the text {value!r}")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise _masked(argument, *np.argwhere(np.ma.getmaskarray(value))[0].tolist())
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if item is np.ma.masked:
                raise _masked(argument, index)
    if hasattr(value, "toarray") and hasattr(value, "nnz"):
        hint = "; pass it as .toarray().ravel()"
        raise InputError(Argument(argument), " is sparse, and every row counts", hint=hint)
    # A tensor that carries a gradient refuses to become an array; files have a detach() as well.
    if hasattr(value, "detach") and hasattr(value, "__array__"):
        value = value.detach()
        if str(getattr(value, "dtype", "")) == "torch.bfloat16":  # numpy has no such floats
            value = value.float()
    value = _narrower(argument, value)
    try:
        # What speaks dlpack alone, as arrays of JAX and CuPy may, would become one object.
        only_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        array = np.from_dlpack(value) if only_dlpack else np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        unread = f" cannot be read as an array: {error}"
        raise InputError(Argument(argument), unread, hint=_remedy(value, error)) from error
    return np.array(value, dtype=object) if _were_other(value, array) else array


def _were_other(value: Any, array: np.ndarray[Any, Any]) -> bool:
    """Tell whether numpy gave the values of a list one type that some of them did not have.

    It makes texts of numbers and of NaN among texts, and doubles of whole numbers too large for
    them, which merges some.
    """
    if not isinstance(value, (list, tuple)) or array.ndim != 1:
        return False
    if array.dtype.kind in "US":
        text = str if array.dtype.kind == "U" else bytes
        return not all(isinstance(item, text) for item in value)
    if array.dtype != np.float64:
        return False
    large = array.size > 0 and bool(np.abs(array).max() >= 2**53)
    return large and all(isinstance(item, (int, np.integer)) for item in value)


# Whole numbers of Polars that numpy has not, and what holds most of them.
_WIDE = {"Int128": "Int64", "UInt128": "UInt64"}


def _narrower(argument: str, value: Any) -> Any:
    """Return whole numbers of 128 bits in 64, or say that they do not fit; others as they are."""
    from_polars = type(value).__module__.startswith("polars.")
    wide = str(getattr(value, "dtype", "")) if from_polars else ""  # a frame has none
    if wide not in _WIDE:
        return value
    polars: Any = sys.modules["polars"]
    try:
        return value.cast(getattr(polars, _WIDE[wide]))
    except polars.exceptions.InvalidOperationError as error:
        column = f" (column {value.name!r})" if value.name else ""
        raise InputError(
            Argument(argument),
            f"{column} is of type {wide} and holds numbers of more than 64 bits",
            hint="; cast it to Float64, or to String where it names groups or clusters",
        ) from error


def _remedy(value: Any, error: BaseException) -> str:
    """Say what makes a tensor readable that numpy cannot read as it is."""
    told = f"{error} {getattr(value, 'dtype', '')}".casefold()
    if "bfloat16" in told:
        return "; pass it as .float()"
    return "; pass it as .cpu()" if any(word in told for word in ("cuda", "device", "gpu")) else ""


def _masked(argument: str, *place: int) -> InputError:
    first = ", ".join(map(str, place))
    left_out = f"[{first}] is masked; secant does not drop rows, leave them out yourself"
    return InputError(Argument(argument), left_out, value="masked", row=place[0])


def _shape_hint(argument: str, shape: tuple[int, ...]) -> str:
    """Suggest what a two-dimensional array was probably meant to be."""
    if len(shape) != 2:
        return ""
    if shape[1] == 1:
        return "; pass its single column"
    two, several = _HINTS.get(argument, ("", ""))
    return two if shape[1] == 2 else several


def real_array(
    argument: str, value: Any, keep: tuple[type[np.floating[Any]], ...], *, drops: bool = False
) -> np.ndarray[Any, Any]:
    """Turn anything array-like into a one-dimensional array of real numbers.

    ``drops`` makes NaN of what is missing, in place of refusing it.
    """
    array = one_dimensional(argument, value)
    if array.dtype.type in keep:
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        return from_objects(argument, array, drops=drops)
    raise wrong_type(argument, array, "real numbers")


def real_matrix(argument: str, value: Any) -> np.ndarray[Any, Any]:
    """Turn anything array-like into a two-dimensional array of doubles or floats."""
    array = _array(argument, value)
    if array.ndim != 2:
        must = " must have a row a prediction and a column a class; "
        raise InputError(Argument(argument), must, f"its shape is {array.shape}")
    if array.dtype in {np.dtype(np.float32), np.dtype(np.float64)}:
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        return np.stack([from_objects(f"{argument}[{i}]", row) for i, row in enumerate(array)])
    raise wrong_type(argument, array.ravel(), "real numbers")


def wrong_type(argument: str, array: np.ndarray[Any, Any], wanted: str) -> InputError:
    """Return the error about values that are not what they should be."""
    text = array.dtype.kind in "UST"
    hint = "; turn it into numbers first" if text and wanted == "real numbers" else ""
    if array.dtype.names:
        hint = "; pass one of its fields"
    elif array.dtype.kind == "V":  # floats of other libraries, such as bfloat16
        hint = "; pass it as .astype('float32')"
    what = "text" if text else f"values of type {array.dtype}"
    first = f"; the first is {shown(array[0])}" if array.shape[0] else ""
    return InputError(Argument(argument), f" must hold {wanted}; got {what}{first}", hint=hint)


def of_rows(
    argument: str, values: np.ndarray[Any, Any], rows: int, kept: IntArray | None = None
) -> np.ndarray[Any, Any]:
    """Return a column that has one value for each row passed, for those that are kept.

    Raises
    ------
    InputError
        If it is too short or too long.
    """
    if values.shape[0] != rows:
        raise one_value_a_row(argument, values.shape[0], rows)
    return values if kept is None else values[kept]


def one_value_a_row(argument: str, values: int, rows: int) -> InputError:
    """Return the error about an argument that is too short or too long."""
    return InputError(
        Argument(argument), f" must have one value a row; it has {values:,}, not {rows:,}"
    )


def without_mask(value: Any) -> Any:
    """Return an array in which None stands for what is masked."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        nothing = np.array(None, dtype=object)
        return np.where(np.ma.getmaskarray(value), nothing, value.data)
    return value


def from_objects(argument: str, array: np.ndarray[Any, Any], *, drops: bool = False) -> FloatArray:
    """Read a column of Python objects as doubles, naming the first that is not a number."""
    numbers = np.empty(array.shape[0])
    for index, item in enumerate(array):
        try:
            numbers[index] = _number(item)
        except (TypeError, ValueError, OverflowError) as error:
            if is_missing(item):
                if drops:
                    numbers[index] = np.nan
                    continue
                raise missing(argument, repr(item), index) from error
            text = isinstance(item, (str, bytes))
            raise InputError(
                ", not a number" if text else ", not a number a double can hold",
                argument=argument,
                value=repr(item),
                row=index,
                hint="; turn texts into numbers first" if text else "",
            ) from error
    return numbers


def is_missing(item: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, pandas.NA."""
    if item is None:
        return True
    # What is missing is not equal to itself, or not equal to anything in particular.
    differs = item != item  # noqa: PLR0124
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else True


def _number(item: Any) -> float:
    if isinstance(item, (str, bytes)):  # "0.3" would convert, but a column of texts is a mistake
        raise TypeError
    return float(item)


def shown(value: Any) -> str:
    """Return a value as users write it: 'a' rather than np.str_('a'), a date as a date."""
    return repr(plain_value(value)) if isinstance(value, (str, bytes, np.number)) else str(value)


def plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
