"""What secant takes, what it refuses and in which words, and that it leaves everything as it was.

Warnings are errors in this suite, so every test here also states that secant emits none.
"""

import pickle
import random
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from doors import INF, NAN, P, W, Y, answers, every_door, names, update, with_item
from helpers import optional
from secant import InputError
from secant._input.observations import Chunk, join, observations, pick
from secant._input.options import Reading
from secant.sources import rows as row_source

# --- single values that are refused ---------------------------------------------------------------


@given(st.data())
def test_the_first_fault_is_named_wherever_it_is(data):
    n = data.draw(st.integers(1, 40))
    arguments = {
        "y_true": [i % 2 for i in range(n)],
        "y_prob": [i / n for i in range(n)],
        "sample_weight": [1.0] * n,
    }
    argument = data.draw(st.sampled_from(sorted(arguments)))
    places = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    for place in places:
        arguments[argument][place] = data.draw(st.sampled_from([NAN, INF, -7.5, 1e101]))
    value = arguments[argument][places[0]]
    # Labels that are all -1 and 1 would be a code of their own, but -7.5 never is.
    with pytest.raises(InputError, match=names(argument, places[0], repr(value))):
        secant.ecce_r(
            arguments["y_true"], arguments["y_prob"], sample_weight=arguments["sample_weight"]
        )


@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_a_fault_in_the_last_of_many_rows(argument):
    n = 200_001
    given_arrays = {
        "y_true": np.zeros(n),
        "y_prob": np.linspace(0, 1, n),
        "sample_weight": np.ones(n),
    }
    given_arrays[argument][-1] = NAN
    with pytest.raises(InputError, match=names(argument, n - 1, "nan")):
        secant.assess(**given_arrays)


# --- whole arguments that are refused -------------------------------------------------------------


@every_door
def test_unequal_lengths(door):
    with pytest.raises(InputError, match=r"y_true has 8 values, y_prob 7\b"):
        door(Y, P[:-1])
    with pytest.raises(InputError, match=r"y_true has 1,234 values, y_prob 8\b"):
        door([0] * 1234, P)
    with pytest.raises(InputError, match=r"^sample_weight\b.*\b3\b.*\b8\b"):
        door(Y, P, sample_weight=[1, 2, 3])
    with pytest.raises(InputError, match=r"^sample_weight\b.*\b0\b.*\b8\b"):
        door(Y, P, sample_weight=[])


@every_door
@pytest.mark.parametrize("nothing", [[], (), np.empty(0), np.empty(0, object), np.empty(0, "i8")])
def test_empty(door, nothing):
    with pytest.raises(InputError, match="y_true and y_prob are empty"):
        door(nothing, nothing)


# --- weights --------------------------------------------------------------------------------------


@every_door
def test_a_row_of_weight_zero_is_absent(door):
    kept = [i for i, w in enumerate(W) if w]
    y, p, w = ([column[i] for i in kept] for column in (Y, P, W))
    for zero in (0, -0.0):
        with_zero, without = (
            door(Y, P, sample_weight=with_item(W, 4, zero)),
            door(y, p, sample_weight=w),
        )
        if door is secant.assess:
            with_zero, without = with_zero.to_dict(), without.to_dict()
            # Row numbers of forbidden rows are those of the caller's arrays.
            assert [kept[i] for i in without.pop("forbidden")] == with_zero.pop("forbidden")
        elif door is update:
            with_zero, without = with_zero.bounds(), without.bounds()
        assert with_zero == without


# --- other libraries ------------------------------------------------------------------------------


def test_rows_of_one_table_in_two_orders_are_refused():
    pandas = optional("pandas")
    frame = pandas.DataFrame({"y": Y, "p": P, "w": W}, index=list("abcdefgh"))
    with pytest.raises(InputError, match="y_true and y_prob have the same index in different"):
        secant.assess(frame["y"][::-1], frame["p"])
    with pytest.raises(InputError, match="y_true and sample_weight have the same index"):
        secant.ecce_r(frame["y"], frame["p"], sample_weight=frame["w"].sort_values())
    assert answers(frame["y"][::-1], frame["p"][::-1]) == answers(Y[::-1], P[::-1])
    assert answers(frame["y"], frame["p"].to_numpy()) == answers(Y, P)


def test_rows_of_different_tables_are_refused_unless_one_only_counts():
    pandas = optional("pandas")
    n = len(Y)
    for mine, theirs in ((list("abcdefgh"), list("bcdefghi")), (range(1, n + 1), range(2, n + 2))):
        y, p = pandas.Series(Y, index=mine), pandas.Series(P, index=theirs)
        with pytest.raises(InputError, match="y_true and y_prob have different indexes"):
            secant.assess(y, p)
        by = pandas.Series(list("aaaabbbb"), index=theirs)
        with pytest.raises(InputError, match="y_true and by have different indexes"):
            secant.assess_by(y, P, by=by)
        with pytest.raises(InputError, match=r"y_true and by\[1\] have different indexes"):
            secant.assess_by(y, P, by=[np.arange(n) % 2, by])
        with pytest.raises(InputError, match="y_true and member have different indexes"):
            secant.compare_groups(y, P, by == "a")
        with pytest.raises(InputError, match=r"y_true and features\['of'\] have different ind"):
            secant.assess_segments(y, P, features={"of": by})
        with pytest.raises(InputError, match="y_true and features have different indexes"):
            secant.assess_segments(y, P, features=pandas.DataFrame({"of": by}))
        with pytest.raises(InputError, match="y_true and probs have different indexes"):
            secant.assess_classes(y, pandas.DataFrame({0: 1 - p, 1: p}))
        with pytest.raises(InputError, match="y_prob_a and y_prob_b have different indexes"):
            secant.compare_models(Y, pandas.Series(P, index=mine), p)
        # Whatever is in first place: all that do not only count are compared with each other.
        with pytest.raises(InputError, match="y_prob and sample_weight have different indexes"):
            secant.ecce_r(pandas.Series(Y), p, sample_weight=pandas.Series(W, index=mine))
        with pytest.raises(InputError, match="y_prob and by have different indexes"):
            secant.assess_by(pandas.Series(Y), p, by=pandas.Series(list("aaaabbbb"), index=mine))
        # What a model predicts is numbered from 0, whatever rows it is for.
        assert answers(y, pandas.Series(P)) == answers(Y, P)
        assert answers(pandas.Series(Y, index=np.arange(n)), p) == answers(Y, P)


# --- nothing is changed ---------------------------------------------------------------------------


@st.composite
def predictions(draw):
    """Return labels, scores and weights as numpy arrays of many types."""
    n = draw(st.integers(1, 30))
    scores = draw(
        st.lists(
            st.one_of(st.floats(0, 1), st.integers(0, 4).map(lambda k: k / 4)),
            min_size=n,
            max_size=n,
        )
    )
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(0, 3), min_size=n - 1, max_size=n - 1))
    return (
        np.array(labels, draw(st.sampled_from(["?", "i1", "i8", "f4", "f8", "O", "U1", ">i4"]))),
        np.array(scores, draw(st.sampled_from(["f4", "f8", "O", ">f8"]))),
        np.array([1, *weights], draw(st.sampled_from(["f4", "f8", "i8", "O"]))),
    )


def use_everything(labels, scores, weights, options):
    """Call every public function that sees data, and every method of its result."""
    few = len(labels) < 1000
    chosen = {**options, "method": "auto" if few else "asymptotic"}
    result = secant.assess(labels, scores, sample_weight=weights, **chosen)
    result.worst, result.curve, str(result), result._repr_html_(), result.to_dict()
    result.between(0.2, 0.6), result.ece(norm="l2"), result.reliability(limits="wilson")
    result.ece(strategy="quantile", n_bins=1, weighting="width")
    pickle.loads(pickle.dumps(result)).between(0, 1)  # noqa: S301
    secant.assess(labels, scores, sample_weight=weights, ties="random", rng=3, **chosen)
    secant.Cells(16).update(labels, scores, weights, **options)
    if options["pos_label"] is None:
        secant.ecce_r(labels, scores, sample_weight=weights)
        secant.ecce_mad(labels, scores, sample_weight=weights)
        secant.ece(labels, scores, sample_weight=weights)
        secant.ece(labels, scores, strategy="quantile", n_bins=1, norm="max")


def snapshot(columns):
    return [
        (pickle.dumps(c.tolist()), c.tobytes() if c.dtype != object else b"", c.dtype, c.flags.num)
        for c in columns
    ]


@given(predictions(), st.sampled_from(["sampling", "frequency"]), st.booleans(), st.booleans())
def test_inputs_are_bit_identical_after_every_call(columns, kind, as_views, cut_into_cells):
    if as_views:  # of a larger array, so that writing beside the view would show as well
        bases = [np.repeat(column, 2) for column in columns]
        columns = tuple(base[::2] for base in bases)
    else:
        bases = columns
    before = snapshot(bases)
    text = columns[0].dtype.kind == "U"
    options = {"weight_kind": kind, "pos_label": "1" if text else None}
    # The limit for sorting is lowered so that few rows take the way of many.
    with mock.patch.object(
        row_source, "SORT_UP_TO", 0 if cut_into_cells else row_source.SORT_UP_TO
    ):
        use_everything(*columns, options)
    assert snapshot(bases) == before


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_many_rows_are_bit_identical_after_every_call(many, kind):
    before = snapshot(many)
    use_everything(*many, {"weight_kind": kind, "pos_label": None})
    assert snapshot(many) == before


def test_lists_are_not_changed():
    y, p, w = list(Y), list(P), list(W)
    use_everything(y, p, w, {"weight_kind": "sampling", "pos_label": None})
    assert (y, p, w) == (Y, P, W)


def test_global_state_is_not_changed(many):
    def world():
        name, keys, *rest = np.random.get_state()  # noqa: NPY002
        return (
            (name, keys.tobytes(), rest),
            random.getstate(),
            np.geterr(),
            np.get_printoptions(),
            list(warnings.filters),
        )

    before = world()
    use_everything(Y, P, W, {"weight_kind": "sampling", "pos_label": None})
    use_everything(*many, {"weight_kind": "frequency", "pos_label": None})
    with pytest.raises(InputError):
        secant.ecce_r(Y, [NAN] * 8)
    assert world() == before


# --- rows that change -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value", "says"),
    [
        ("y", 2, r"the arrays were changed .*: y_true\[1\] is 2"),
        ("p", NAN, r"the arrays were changed .*: y_prob\[1\] is nan"),
        ("p", 0.99, "the arrays were changed .*: assess them again"),
        ("w", -1.0, r"the arrays were changed .*: sample_weight\[1\] is -1"),
        ("w", 0.0, "the arrays were changed .*: assess them again"),
    ],
)
def test_rows_that_were_changed_are_noticed(argument, value, says):
    columns = {"y": np.array([0, 1, 1]), "p": np.array([0.1, 0.4, 0.8]), "w": np.ones(3)}
    seen = observations(*columns.values())
    seen.recheck()
    columns[argument][1] = value
    with pytest.raises(secant.SecantError, match=says):
        seen.recheck()


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_stands_beside_rows_comes_along_with_them(size, weighted):
    """Rows of weight zero are passed over in both."""
    rng = np.random.default_rng(0)
    p, y, keys = rng.random(30), rng.integers(0, 2, 30), rng.permutation(30)
    w = rng.integers(0, 3, 30).astype(float) if weighted else None
    seen = replace(observations(y, p, w, Reading("frequency")), keys=keys, clusters=keys)
    used = np.flatnonzero(np.ones(30) if w is None else w)
    found = [
        row
        for chunk in seen.chunks(size, clusters=True)
        for row in zip(chunk.scores, chunk.place, chunk.cluster, strict=True)
    ]
    assert found == list(zip(p[used], keys[used], keys[used], strict=True))
    assert next(seen.chunks(size)).cluster is None


def test_chunks_are_picked_and_joined():
    group = np.array([2, 0, 1])
    weights = np.array([1.0, 2.0, 3.0])
    chunk = Chunk(np.array([0.1, 0.2, 0.3]), np.array([0, 1, 1]), weights, place=group)
    parts = [pick(chunk, slice(1)), pick(chunk, np.array([False, True, True]))]
    for found, wanted in zip(join(parts), chunk, strict=True):
        assert found is wanted is None or found.tolist() == wanted.tolist()
    assert join([pick(Chunk(*chunk[:2], None), slice(2))] * 2).weights is None
