"""Which containers and types are read as arrays, and in which words the others are refused."""

import array
import re
import sys
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import secant
from doors import NAN, P, W, Y, answers, every_door, many_told, names
from helpers import optional
from secant import InputError
from secant._input.arraylike import device_of, one_dimensional

# --- single values that are refused ---------------------------------------------------------------


def test_a_whole_number_beyond_all_doubles():
    with pytest.raises(InputError, match=r"^y_prob\[1\] is "):
        secant.ecce_r([0, 1], [0.5, 10**400])
    with pytest.raises(InputError, match=r"^y_true\[1\] is "):
        secant.ecce_r([0, 10**400], [0.5, 0.5])


@pytest.mark.parametrize("position", [0, 1, 2])
def test_object_columns_with_something_missing(position):
    pandas = optional("pandas")
    for missing in (None, pandas.NA, NAN, pandas.NaT):
        arguments = [list(Y), list(P), list(W)]
        arguments[position][2] = missing
        arguments[position] = np.array(arguments[position], dtype=object)
        argument = ("y_true", "y_prob", "sample_weight")[position]
        with pytest.raises(InputError, match=names(argument, 2, repr(missing))):
            secant.ecce_r(*arguments[:2], sample_weight=arguments[2])


# --- whole arguments that are refused -------------------------------------------------------------


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.3, "one-dimensional; got a single float"),
        (np.array(0.3), "one-dimensional"),
        ("0.3", "'0.3'"),
        (b"01", "b'01'"),
        ({0.1: 1}, "one-dimensional; got a single dict"),
        ({0.1, 0.2}, "one-dimensional; got a single set"),
        ((x for x in P), "one-dimensional; got a single generator"),
        ([[1], [2, 3]], "cannot be read as an array"),
        (np.zeros((8, 1)), r"\(8, 1\).*column"),
        (np.zeros((8, 2)), r"\(8, 2\)"),
        (np.zeros((8, 3)), r"\(8, 3\)"),
        (np.zeros((1, 8)), r"\(1, 8\)"),
        (np.zeros((8, 2, 2)), r"\(8, 2, 2\)"),
        (np.zeros((0, 2)), r"\(0, 2\)"),
    ],
)
def test_not_one_dimensional(door, argument, value, says):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: value}
    with pytest.raises(InputError, match=rf"^{argument}\b.*{says}"):
        door(arguments["y_true"], arguments["y_prob"], sample_weight=arguments["sample_weight"])


def test_two_columns_of_probabilities():
    both = np.column_stack([1 - np.array(P), P])
    with pytest.raises(InputError, match=r"y_prob.*\(8, 2\).*positive class.*probs\[:, 1\]"):
        secant.assess(Y, both)


@pytest.mark.parametrize(
    ("argument", "columns", "advice"),
    [
        ("y_prob", 2, r"probs\[:, 1\]$"),
        ("y_prob", 3, "assess_classes$"),
        ("y_true", 2, r"one-hot\? pass y_true.argmax\(axis=1\)\)$"),
        ("y_true", 3, r"one-hot\? pass y_true.argmax\(axis=1\), .* assess_classes\)$"),
        ("sample_weight", 2, r"\(8, 2\)$"),
    ],
)
def test_the_advice_on_several_columns_is_for_the_argument(argument, columns, advice):
    arguments = {"y_true": Y, "y_prob": P, argument: np.eye(columns)[np.arange(8) % columns]}
    with pytest.raises(InputError, match=rf"^{argument} .*{advice}"):
        secant.assess(**arguments)


@pytest.mark.parametrize("argument", ["y_true", "y_prob"])
def test_none_in_place_of_an_array(argument):
    with pytest.raises(InputError, match=rf"^{argument}\b.*None"):
        secant.assess(**{"y_true": Y, "y_prob": P, argument: None})


@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array(P, complex), "0.125"),
        (np.array(["2024-01-31"] * 8, "M8[D]"), "2024-01-31"),
        (np.arange(8).astype("m8[s]") + np.timedelta64(7, "s"), "7"),
        (np.array([(0.5,)] * 8, [("p", float)]), "0.5"),
        (["0.5"] * 8, "'0.5'"),
        (np.array([b"0.5"] * 8), "b'0.5'"),
        (np.array(["0.5"] * 8, np.dtypes.StringDType()), "'0.5'"),
    ],
    ids=["complex", "datetime", "timedelta", "structured", "text", "bytes", "StringDType"],
)
def test_not_numbers(argument, values, shown):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: values}
    with pytest.raises(InputError, match=rf"^{argument}\b.*{re.escape(shown)}"):
        secant.ecce_r(**arguments)


@pytest.mark.parametrize("argument", ["y_prob", "sample_weight"])
def test_values_are_shown_as_users_write_them(argument):
    with pytest.raises(InputError, match=r"^\w+\b.* '0\.5'(; turn it into numbers first)?$"):
        secant.ecce_r(**{"y_true": Y, "y_prob": P, argument: ["0.5"] * 8})


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_complex_numbers(door, argument):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: np.array(P, complex)}
    y, p, w = arguments.values()
    with pytest.raises(InputError, match=rf"^{argument}\b.*complex"):
        door(y, p, sample_weight=w)


@every_door
@pytest.mark.parametrize("position", [0, 1, 2])
def test_masked_arrays(door, position):
    arguments = [np.array(Y), np.array(P), np.array(W)]
    arguments[position] = np.ma.array(arguments[position], mask=np.arange(8) == 6)
    argument = ("y_true", "y_prob", "sample_weight")[position]
    with pytest.raises(InputError, match=rf"{argument}\[6\] is masked"):
        door(*arguments[:2], sample_weight=arguments[2])


def test_a_masked_value_in_a_list():
    with pytest.raises(InputError, match=r"y_prob\b"):
        secant.ecce_r(Y, [*P[:-1], np.ma.masked])


def test_a_mask_that_hides_nothing():
    assert answers(np.ma.array(Y), np.ma.array(P, mask=False)) == answers(Y, P)


class OnAnotherDevice:
    """A tensor that cannot become an array, and says so as torch does."""

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_an_object_that_refuses_to_become_an_array(door, argument):
    y, p, w = (
        {"y_true": Y, "y_prob": P, "sample_weight": W} | {argument: OnAnotherDevice()}
    ).values()
    with pytest.raises(InputError, match=rf"^{argument}\b.*cuda:0"):
        door(y, p, sample_weight=w)


# --- what is taken --------------------------------------------------------------------------------


FLOATS = ["f2", "f4", "f8", "g", ">f2", ">f4", ">f8", "O"]
LABELS = ["?", "i1", "u1", "i2", ">i2", "i4", ">u4", "i8", ">i8", "u8", *FLOATS]


@pytest.mark.parametrize("dtype", FLOATS)
def test_types_of_scores(dtype):
    assert answers(Y, np.array(P, dtype)) == answers(Y, P)
    assert answers(Y, P, np.array(W, dtype)) == answers(Y, P, W)


@pytest.mark.parametrize("dtype", LABELS)
def test_types_of_labels(dtype):
    assert answers(np.array(Y, dtype), P) == answers(Y, P)
    # Scores of 0 and 1 may be whole numbers or booleans too.
    certain = [0, 1, 1, 1, 0, 0, 1, 0]
    assert answers(Y, np.array(certain, dtype)) == answers(Y, [float(x) for x in certain])


@pytest.mark.parametrize("number", [Decimal, Fraction, np.float32, np.float64])
def test_columns_of_number_objects(number):
    scores = np.empty(8, object)
    scores[:] = [number(score) for score in P]
    assert answers(Y, scores) == answers(Y, P)
    assert answers(Y, list(scores)) == answers(Y, P)


class HasArray:
    """The least that numpy reads: no dtype, no copy."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class Tensor:
    """A tensor with a gradient: like torch's, it becomes an array only once detached."""

    def __init__(self, values, *, requires_grad=True):
        self.values, self.requires_grad = np.array(values), requires_grad

    def detach(self):
        return Tensor(self.values, requires_grad=False)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values if dtype is None else self.values.astype(dtype)


def _read_only(values):
    copy = np.array(values)
    copy.flags.writeable = False
    return copy


def _every_third(values):
    return np.repeat(values, 3)[1::3]


def _reversed_in_memory(values):
    return np.array(values)[::-1].copy()[::-1]


def _column(order):
    return lambda values: np.array([values, values, values], order=order).T[:, 1]


def _unaligned(values):
    values = np.array(values)
    raw = np.frombuffer(b"\0" + values.tobytes(), np.uint8)
    return np.ndarray(values.shape, values.dtype, raw, offset=1)


def _memoryview(values):
    return memoryview(np.array(values))


LAYOUTS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "read-only": _read_only,
    "strided": _every_third,
    "negative stride": _reversed_in_memory,
    "column of rows": _column("C"),
    "column of columns": _column("F"),
    "unaligned": _unaligned,
    "big-endian": lambda values: (a := np.array(values)).astype(a.dtype.newbyteorder(">")),
    "memoryview": _memoryview,
    "subclass": lambda values: np.array(values).view(np.recarray),
    "__array__": HasArray,
    "tensor": Tensor,
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@every_layout
def test_containers(layout):
    assert answers(layout(Y), layout(P)) == answers(Y, P)
    assert answers(layout(Y), layout(P), layout(W)) == answers(Y, P, W)
    assert answers(layout(Y), layout(P), layout(W), weight_kind="frequency") == answers(
        Y, P, W, weight_kind="frequency"
    )


def test_more_containers():
    assert answers(range(2), [0.25, 0.5]) == answers([0, 1], [0.25, 0.5])
    assert answers(array.array("b", Y), array.array("d", P)) == answers(Y, P)
    assert answers(bytearray(Y), P) == answers(Y, P)
    constant = np.broadcast_to(0.25, 8)
    assert answers(Y, constant) == answers(Y, [0.25] * 8)


@pytest.mark.parametrize("layout", list(LAYOUTS.values())[3:], ids=list(LAYOUTS)[3:])
def test_containers_of_many_rows(layout, many, expected):
    labels, scores, weights = many
    assert many_told(layout(labels), layout(scores)) == expected[0]
    assert many_told(layout(labels), layout(scores), layout(weights)) == expected[1]


@pytest.mark.parametrize("dtype", ["f4", ">f4", "g", ">f8"])
def test_types_of_many_scores(dtype, many, expected):
    labels, scores, weights = many
    assert many_told(labels, scores.astype(dtype)) == expected[0]
    assert many_told(labels, scores.astype(dtype), weights.astype(dtype)) == expected[1]


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", ">i4", "f2", "f4"])
def test_types_of_many_labels(dtype, many, expected):
    labels, scores, _ = many
    assert many_told(labels.astype(dtype), scores) == expected[0]


# --- other libraries ------------------------------------------------------------------------------


def test_pandas_series():
    pandas = optional("pandas")
    y, p, w = pandas.Series(Y), pandas.Series(P), pandas.Series(W)
    assert answers(y, p, w) == answers(Y, P, W)
    # An index that counts from 0 says nothing: such columns are paired by place.
    for labels in (list(range(10, 18))[::-1], list("hgfedcba"), [1, "a", None, 2.5, 3, 4, 5, 6]):
        p.index = labels  # the last cannot be sorted
        assert answers(y, p, w) == answers(Y, P, W)
    frame = pandas.DataFrame({"y": Y, "p": P, "other": "x"})
    assert answers(frame["y"], frame.p) == answers(Y, P)
    assert answers(frame["y"][::2], frame["p"][::2]) == answers(Y[::2], P[::2])


@pytest.mark.parametrize(
    "labels", ["Int64", "Int8", "UInt8", "boolean", "Float64", "category", "object"]
)
@pytest.mark.parametrize("scores", ["Float64", "Float32", "float32", "object", "category"])
def test_pandas_types(labels, scores):
    pandas = optional("pandas")
    assert answers(pandas.Series(Y).astype(labels), pandas.Series(P).astype(scores)) == answers(
        Y, P
    )


@pytest.mark.parametrize("dtype", ["string", "str", "object", "category"])
def test_pandas_text(dtype):
    pandas = optional("pandas")
    words = pandas.Series(["yes" if label else "no" for label in Y], dtype=dtype)
    assert answers(words, P, pos_label="yes") == answers(Y, P, pos_label=1)
    with pytest.raises(InputError, match=r"y_true holds text.*Name it with pos_label$"):
        secant.ecce_r(words, P)
    words[2] = None
    with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan|<NA>)"):
        secant.assess(words, P, pos_label="yes")


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "float64", "object", "category"])
def test_pandas_missing(dtype):
    pandas = optional("pandas")
    column = pandas.Series([0, 1, None, 1], dtype=dtype)
    with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(column, P[:4])
    with pytest.raises(InputError, match=r"y_prob\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(Y[:4], column)
    with pytest.raises(InputError, match=r"sample_weight\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(Y[:4], P[:4], sample_weight=column)


def test_pandas_frame_of_one_column():
    pandas = optional("pandas")
    with pytest.raises(InputError, match=r"^y_prob .*\(8, 1\)"):
        secant.assess(Y, pandas.DataFrame({"p": P}))


def test_polars():
    polars = optional("polars")
    y, p, w = polars.Series(Y), polars.Series(P), polars.Series(W)
    assert answers(y, p, w) == answers(Y, P, W)
    assert answers(y.cast(polars.Boolean), p.cast(polars.Float32)) == answers(Y, P)
    assert answers(y.cast(polars.Int8)[1:6], p[1:6]) == answers(Y[1:6], P[1:6])
    pieces = polars.concat([p[:3], p[3:]], rechunk=False)
    assert pieces.n_chunks() == 2
    assert answers(y, pieces) == answers(Y, P)
    words = polars.Series(["yes" if label else "no" for label in Y])
    for column in (words, words.cast(polars.Categorical), words.cast(polars.Enum(["no", "yes"]))):
        assert answers(column, P, pos_label="yes") == answers(Y, P, pos_label=1)
    frame = polars.DataFrame({"y": Y, "p": P})
    assert answers(frame["y"], frame["p"]) == answers(Y, P)


def test_polars_missing():
    polars = optional("polars")
    for dtype in (polars.Float64, polars.Int64, polars.Boolean):
        column = polars.Series([0, 1, None, 1]).cast(dtype)
        with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan)"):
            secant.ecce_r(column, P[:4])
        with pytest.raises(InputError, match=r"y_prob\[2\] is (None|nan)"):
            secant.ecce_r(Y[:4], column)
    words = polars.Series(["a", None, "b", "a"])
    with pytest.raises(InputError, match=names("y_true", 1, "None")):
        secant.assess(words, P[:4], pos_label="a")


def test_pyarrow():
    pyarrow = optional("pyarrow")
    y, p, w = pyarrow.array(Y), pyarrow.array(P), pyarrow.array(W)
    assert answers(y, p, w) == answers(Y, P, W)
    assert answers(pyarrow.array([bool(label) for label in Y]), p.cast("float")) == answers(Y, P)
    assert answers(y[1:6], p[1:6]) == answers(Y[1:6], P[1:6])
    assert answers(
        pyarrow.chunked_array([Y[:3], Y[3:]]), pyarrow.chunked_array([P[:5], P[5:]])
    ) == (answers(Y, P))
    words = pyarrow.array(["yes" if label else "no" for label in Y])
    for column in (words, words.dictionary_encode(), pyarrow.chunked_array([words[:2], words[2:]])):
        assert answers(column, P, pos_label="yes") == answers(Y, P, pos_label=1)
    table = pyarrow.table({"y": Y, "p": P})
    assert answers(table["y"], table["p"]) == answers(Y, P)
    for column in (
        pyarrow.array([0, None, 1, 1]),
        pyarrow.chunked_array([[0.0], [None, 1.0, 1.0]]),
    ):
        with pytest.raises(InputError, match=r"y_true\[1\] is (None|nan)"):
            secant.ecce_r(column, P[:4])
        with pytest.raises(InputError, match=r"y_prob\[1\] is (None|nan)"):
            secant.ecce_r(Y[:4], column)


def test_scikit_learn_hands_over_what_it_makes():
    linear_model = optional("sklearn.linear_model")
    features = np.linspace(-1, 1, 8)[:, None]
    words = np.array(["no", "yes"])[Y]
    probs = linear_model.LogisticRegression().fit(features, words).predict_proba(features)
    result = secant.assess(words, probs[:, 1], pos_label="yes")
    assert result.to_dict() == secant.assess(Y, probs[:, 1].tolist()).to_dict()
    with pytest.raises(InputError, match=r"probs\[:, 1\]"):
        secant.assess(words, probs, pos_label="yes")


class Dlpack:
    """What speaks dlpack and nothing else."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


def test_what_speaks_dlpack_alone_is_read():
    y, p = np.array([0, 1, 1]), np.array([0.2, 0.6, 0.9])
    assert secant.ecce_r(Dlpack(y), Dlpack(p)) == secant.ecce_r(y, p)


class OfTorch:
    """What a tensor of torch is to us."""

    def __init__(self, values, dtype="torch.float32"):
        self.values, self.dtype = values, dtype

    def detach(self):
        return self

    def float(self):
        return OfTorch(self.values)

    def __array__(self, *_, **__):
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.array(self.values)


def test_short_floats_of_torch_become_longer_ones():
    p = [0.25, 0.5, 0.75]
    assert one_dimensional("y_prob", OfTorch(p, "torch.bfloat16")).tolist() == p


@pytest.mark.parametrize(("device", "told"), [("cpu", None), ("cuda:1", "cuda:1")])
def test_tensors_say_where_they_are(device, told, monkeypatch):
    class Device:
        type = device.partition(":")[0]

        def __str__(self):
            return device

    tensor = OfTorch([0.5])
    tensor.device = Device()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=OfTorch))
    assert device_of(tensor) == told


class DlpackElsewhere:
    def __dlpack__(self, **_):
        raise BufferError("the array is on a CUDA device")

    def __dlpack_device__(self):
        return 2, 0


class Shortened:
    dtype = "torch.bfloat16"

    def __array__(self, *_, **__):
        raise TypeError("Got unsupported ScalarType BFloat16")


class Sparse:
    nnz = 2

    def toarray(self):
        return np.zeros((3, 1))


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (DlpackElsewhere(), r"pass it as \.cpu\(\)"),
        (Shortened(), r"pass it as \.float\(\)"),
        (Sparse(), r"is sparse, and every row counts; pass it as \.toarray\(\)\.ravel\(\)"),
        (np.zeros(3, "V2"), r"pass it as \.astype\('float32'\)"),
        (np.zeros(3, [("a", "f4"), ("b", "f4")]), "pass one of its fields"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_what_numpy_cannot_read_is_refused_with_what_helps(value, remedy, place):
    arguments = [[0, 1, 1], [0.2, 0.6, 0.9]]
    arguments[place] = value
    with pytest.raises(InputError, match=remedy):
        secant.assess(*arguments)


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_whole_numbers_of_128_bits_are_read_where_they_fit(kind):
    polars = optional("polars")
    if not hasattr(polars, kind):
        pytest.skip(f"this polars has no {kind}")
    narrow = polars.Series("n", [3, 1, 2])
    wide = narrow.cast(getattr(polars, kind))
    assert one_dimensional("y_true", wide).tolist() == [3, 1, 2]
    assert one_dimensional("by", wide).dtype.kind in "iu"
    too_wide = polars.Series("n", [1 << 100], dtype=getattr(polars, kind))
    said = rf"order_by \(column 'n'\) is of type {kind} and holds .* cast it to Float64"
    with pytest.raises(InputError, match=said):
        one_dimensional("order_by", too_wide)


def test_whole_numbers_in_a_list_are_never_merged():
    """Of numbers on both sides of 2^63 numpy makes doubles."""
    y, p = [0, 1] * 30, [0.3, 0.7] * 30
    numbers = [2**63 - 1 + k % 2 for k in range(60)]
    assert np.asarray(numbers).dtype == np.float64
    assert set(secant.assess_by(y, p, numbers)) == {2**63 - 1, 2**63}
    assert len(secant.assess(y, p, order_by=numbers).curve.difference) == 3
    many = [2**63 - 30 + k for k in range(60)]
    assert secant.assess(y, p, clusters=many).n_clusters == 60
