"""Rows checked batch by batch: what is refused is what would be refused in one array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import NAN, names
from secant import InputError
from secant._input.batches import Checks
from secant._input.observations import observations
from secant._input.options import Reading


def checks(*, weight_kind="sampling", pos_label=None):
    return Checks(Reading(weight_kind, pos_label))


def batch(labels, scores=None, weights=None, words=None):
    scores = [0.5] * len(labels) if scores is None else scores
    weights = None if weights is None else np.array(weights, float)
    words = None if words is None else np.array(words)
    return np.array(labels), np.array(scores, float), weights, words


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.25, 1])), min_size=1, max_size=30),
    st.integers(1, 30),
)
def test_batches_are_seen_as_one_array(rows, size):
    y, p = (list(column) for column in zip(*rows, strict=True))
    seen, all_checks = observations(y, p), checks()
    labels, refused = [], []
    for start in range(0, len(y), size):
        piece = slice(start, start + size)
        happened, forbidden = all_checks.batch(*batch(y[piece], p[piece]))
        labels += happened.tolist()
        refused += (forbidden + start).tolist()
    all_checks.finish(weighted=False)
    assert labels == y
    assert tuple(refused) == seen.forbidden
    assert all_checks.extent == (seen.rows, seen.lowest, seen.highest)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (batch([0, 1, 2]), names("y_true", 2, "2")),
        (batch([0, 1], [0.5, NAN]), names("y_prob", 1, "nan")),
        (batch([0, 1], weights=[1, -1]), names("sample_weight", 1, "-1.0")),
    ],
)
def test_a_fault_is_named_by_its_place_in_the_batch(fault, says):
    several = checks()
    several.batch(*batch([0, 1, 1], weights=[1, 1, 1]))
    with pytest.raises(InputError, match=says):
        several.batch(*fault)


def test_all_batches_keep_to_one_code():
    several = checks()
    assert several.batch(*batch([0, 1]))[0].tolist() == [0, 1]
    assert several.batch(*batch([1, 1]))[0].tolist() == [1, 1]  # fits either code
    with pytest.raises(InputError, match=names("y_true", 1, "-1") + ".*rows before it have 0"):
        several.batch(*batch([1, -1]))


def test_words_are_read_by_their_numbers():
    several = checks(pos_label="yes")
    words = ["maybe", "yes", "no"]  # a dictionary may hold words that no row has
    assert several.batch(*batch([1, 2, 1], words=words))[0].tolist() == [True, False, True]
    with pytest.raises(InputError, match=names("y_true", 2, "'maybe'")):
        several.batch(*batch([1, 1, 0], words=words))


def test_what_only_all_batches_together_can_tell():
    with pytest.raises(InputError, match="there are no rows"):
        checks().finish(weighted=False)
    weightless = checks()
    weightless.batch(*batch([0, 1], weights=[0, 0]))
    with pytest.raises(InputError, match="zero in every row"):
        weightless.finish(weighted=True)
    weightless.batch(*batch([0, 1], weights=[0, 1]))
    weightless.finish(weighted=True)


def test_copies_are_counted_over_all_batches():
    several = checks(weight_kind="frequency")
    several.batch(*batch([0, 1], weights=[2.0**52, 2.0**51]))
    with pytest.raises(InputError, match=r"at most 2\*\*53 can be counted"):
        several.batch(*batch([0, 1], weights=[2.0**52, 1]))


def test_a_second_look_counts_rows_and_checks_nothing_else():
    again = checks()
    assert again.again(np.array([-1, 1]), np.array([0.5, 0.5])).tolist() == [False, True]
    assert again.rows == 2


def test_words_that_need_to_be_told_apart_are_refused_as_in_one_array():
    """No row is to blame, so none is named."""
    with pytest.raises(InputError, match="which is the event") as caught:
        checks().batch(*batch([0, 1, 1], words=["no", "yes"]))
    assert caught.value.row is None
    with pytest.raises(InputError, match="which is the event"):
        observations(["no", "yes", "yes"], [0.5] * 3)
