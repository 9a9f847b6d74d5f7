"""Our numbers beside the paper's."""

import json

import pytest

from helpers import DATA, PACKAGE
from secant.paper import experiments, reference
from secant.paper.experiments import Fixed


def golden(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def test_the_known_values_are_the_golden_ones():
    known = json.loads((PACKAGE / "paper" / "reference.json").read_text(encoding="utf-8"))
    for ours, row in zip(known["synthetic"], golden("synthetic"), strict=True):
        assert {name: row[name] for name in ours if name != "ece"} == {
            name: value for name, value in ours.items() if name != "ece"
        }
        for entry, expected in zip(ours["ece"], row["ece"], strict=True):
            code = expected.get("reference_width_ece1", expected["width_ece1"])
            assert entry["ece1"] == code
            assert entry.get("misplaced", 0) == expected.get("misplaced_by_reference", 0)
            assert entry["ece2"] in (None, expected["width_ece2"])
            assert (entry["ece2"] is None) == ("misplaced" in entry)
    golden_rows = [
        {name: value for name, value in row.items() if name != "realizations"}
        for row in golden("convergence")
    ]
    assert known["convergence"] == golden_rows


def test_what_differs_from_the_paper_is_what_we_say(known_sizes):
    compared = reference.compare(known_sizes)
    assert set(compared) == {1, 7, 8, 9, 10}
    differ = {
        figure: [row.what for row in rows if not row.agrees] for figure, rows in compared.items()
    }
    superscript = "\N{SUPERSCRIPT ONE}"
    assert differ == {
        1: [
            f"ECE{superscript}, {m} equispaced bins, square rooted scores"
            for m in (512, 1024, 2048, 4096)
        ],
        7: ["P-value of ECCE-R"],
        8: [],
        9: [],
        10: [],
    }
    assert all(row.note for rows in compared.values() for row in rows if not row.agrees)
    assert [row.ours for row in compared[1][-4:]] == ["0.07430", "0.09139", "0.1131", "0.1461"]


def test_only_what_was_computed_is_compared():
    nothing = {"synthetic": [], "convergence": []}
    assert reference.compare(nothing) == {}
    small = experiments.compute([Fixed(4096, "squared")], [])
    assert reference.compare(small) == {}


@pytest.mark.parametrize(
    ("ours", "theirs", "agrees"),
    [
        (0.0124308, "0.01243", True),
        (0.0124351, "0.01243", False),
        (5.5119, "5.512", True),
        (7.0994e-8, "7.1e-8", True),
        (7.16e-8, "7.1e-8", False),
        (0.08059, ".08059", True),
        (111.68, "111.7", True),
        (111.6, "111.7", False),
        (0.1000, ".1", True),
    ],
)
def test_printed_numbers_are_compared_to_their_digits(ours, theirs, agrees):
    assert reference.printed("x", ours, theirs).agrees is agrees
