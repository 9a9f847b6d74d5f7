"""What the command found: the same numbers as the library's, and how they stand with a gate."""

import pytest

import secant
from commands import found, table
from helpers import optional

optional("click")

from secant._results.gate import Gate  # noqa: E402  (with what follows)
from secant.cli._outcome import Columns  # noqa: E402  (it belongs to the command)


def test_every_number_is_the_library_s():
    outcome = found()
    plain = outcome.to_dict()
    assert plain["models"] == {name: each.to_dict() for name, each in outcome.models.items()}
    assert plain["groups"] == {name: each.to_dict() for name, each in outcome.groups.items()}
    assert plain["best_first"] == list(secant.assess_models(
        table()["happened"], {name: table()[name] for name in ("forecast", "better")}
    ))  # fmt: skip
    assert "gate" not in plain
    assert not outcome.crossed


def test_one_model_is_compared_with_none():
    assert "comparisons" not in found(scores=("forecast",)).to_dict()


@pytest.mark.parametrize("groups", [True, False])
def test_a_gate_is_crossed_by_models_and_groups(groups):
    outcome = found(Gate(0.05, max_ecce_r=0.0), groups=groups)
    gate = outcome.to_dict()["gate"]
    assert outcome.crossed
    assert gate["models"] == ["forecast"]
    assert ("groups" in gate) is groups
    assert not found(Gate(0.05, max_ecce_r=0.9)).crossed


def test_columns_that_are_not_there_are_not_named():
    assert Columns("y", ("p",), None, ()).to_dict() == {
        "y_true": "y", "y_prob": ["p"], "weight": None, "by": [],
    }  # fmt: skip
    assert Columns("y", ("p",), None, (), ("a",), "id").to_dict()["clusters"] == "id"
