"""What scores and weights must be like."""

import re

import numpy as np
import pytest

import secant
from doors import INF, NAN, P, W, Y, bad, every_door, names, wide_door, with_item
from helpers import optional
from secant import InputError
from secant._input import rules
from secant._input.rules import forbidden_rows, missing

ABOVE = np.nextafter(1.0, 2.0)
BAD_SCORES = [
    (NAN, "nan"),
    (INF, "inf"),
    (-INF, "-inf"),
    (1 + 1e-7, "1.0000001"),
    (ABOVE, "1.0000000000000002"),
    (-1e-9, "-1e-09"),
    (-5e-324, "-5e-324"),
    (2, "2.0"),
    (-1, "-1.0"),
    (None, "None"),
    ("0.3", "'0.3'"),
    (1j, "1j"),
]
BAD_WEIGHTS = [
    (-1, "-1.0"),
    (-1e-300, "-1e-300"),
    (NAN, "nan"),
    (INF, "inf"),
    (-INF, "-inf"),
    (1.01e100, "1.01e+100"),
    (9.9e-101, "9.9e-101"),
    (None, "None"),
    ("1", "'1'"),
]


@every_door
@bad(BAD_SCORES)
def test_bad_score(door, item, shown):
    # Beside numbers a text would make a column of texts, a complex number one of complex numbers.
    column = with_item(P, 3, item, object if isinstance(item, str | complex) else None)
    with pytest.raises(InputError, match=names("y_prob", 3, shown)):
        door(Y, column)


@every_door
@bad(BAD_WEIGHTS)
def test_bad_weight(door, item, shown):
    column = with_item(W, 3, item, object if isinstance(item, str) else None)
    with pytest.raises(InputError, match=names("sample_weight", 3, shown)):
        door(Y, P, sample_weight=column)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "O"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, "above", -0.5])
def test_bad_score_of_any_type(dtype, value):
    one = np.ones((), dtype if dtype != "O" else "f8")
    value = np.nextafter(one, one + one) if value == "above" else value
    column = with_item(P, 5, value, dtype)
    with pytest.raises(InputError, match=names("y_prob", 5, repr(float(value)))):
        secant.ecce_r(Y, column)


@every_door
@pytest.mark.parametrize("zero", [0, 0.0, -0.0, False])
def test_all_weights_zero(door, zero):
    with pytest.raises(InputError, match="sample_weight is zero in every row"):
        door(Y, P, sample_weight=[zero] * 8)


@pytest.mark.parametrize(
    ("scores", "hint"),
    [
        ([12.5, 25, 25, 50, 87.5, 62.5, 100, 0], "percent.*divide by 100"),
        ([-2.1, 0.3, 1.7, -0.4, 3.2, 0.1, -5.5, 0.9], "logits.*sigmoid"),
        ([0.5, 1.2, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, 250, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, -1e-9, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, INF, -3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
    ],
)
def test_hints_about_the_scale(scores, hint):
    first = next(i for i, score in enumerate(scores) if not 0 <= score <= 1)
    expected = names("y_prob", first, repr(float(scores[first])))
    with pytest.raises(InputError, match=expected + (f".*{hint}" if hint else "")) as caught:
        secant.ecce_r(Y, scores)
    if hint is None:
        assert not re.search("percent|logit", str(caught.value))


@wide_door
def test_frequency_weights_must_be_whole(door):
    with pytest.raises(InputError, match=names("sample_weight", 4, "1.5") + ".*whole.*sampling"):
        door(Y, P, sample_weight=with_item(W, 4, 1.5), weight_kind="frequency")
    with pytest.raises(InputError, match=r"sample_weight\b.*\be?\+?\d+.*2\*\*53"):
        door(Y, P, sample_weight=[2.0**52] * 8, weight_kind="frequency")
    # The same weights are fine as sampling weights.
    door(Y, P, sample_weight=with_item(W, 4, 1.5))
    door(Y, P, sample_weight=[2.0**52] * 8)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_weights_at_the_ends_of_the_allowed_range(scale):
    assert secant.ecce_r(Y, P, sample_weight=[scale] * 8) == pytest.approx(
        secant.ecce_r(Y, P), rel=0, abs=1e-12
    )


def test_forbidden_rows_are_found_wherever_they_are():
    """Rows are looked at a piece at a time, and most pieces have none."""
    n = (1 << 17) * 2 + 5
    scores, labels, weights = np.full(n, 0.5), np.zeros(n, int), np.ones(n)
    places = [0, (1 << 17) - 1, n - 2, n - 1]
    scores[places], labels[places], weights[n - 2] = [0, 1, 0, 0], [1, 0, 1, 0], 0
    assert forbidden_rows(labels, scores, None) == tuple(places[:3])
    assert forbidden_rows(labels, scores, weights) == tuple(places[:2])
    assert forbidden_rows(labels[1:9], scores[1:9], None) == ()


@pytest.mark.parametrize(
    ("argument", "called", "way_out"),
    [
        ("y_true", "outcome", "drop such rows first$"),
        ("y_prob", "score", "drop such rows first, or fill them in$"),
        ("sample_weight", "weight", "drop such rows first, or fill them in$"),
        ("probs[3]", "probability", "drop such rows first, or fill them in$"),
        ("low", "value", "drop such rows first, or fill them in$"),
    ],
)
def test_what_is_missing_has_a_way_out(argument, called, way_out):
    error = missing(argument, "nan", 7)
    assert re.search(
        rf"\[7\] is nan; a missing {called} cannot be assessed, .*{way_out}", str(error)
    )
    assert (error.argument, error.row) == (argument, 7)


@pytest.mark.parametrize("name", ["SCORE", "OUTCOME", "WEIGHT", "SCALE", "COUNT"])
def test_a_rule_marks_the_same_values_in_arrays_tensors_and_columns(name):
    rule = getattr(rules, name)
    values = [0.0, 1.0, -1.0, 0.5, 2.0, 1e-101, 1e-100, 1e101, INF, -INF, 2.5, 3.0]
    marked = rule.broken(np.array(values)).tolist()
    assert any(marked)
    assert not all(marked)
    assert rule.broken(optional("torch").tensor(values, dtype=float)).tolist() == marked
    narwhals, polars = optional("narwhals"), optional("polars")
    frame = narwhals.from_native(polars.DataFrame({"x": values}))
    assert frame.select(found=rule.broken(narwhals.col("x")))["found"].to_list() == marked
