"""Where the numbers come from."""

import json
from datetime import UTC, datetime

import numpy as np

import secant
import secant.report
from secant.report import Provenance


def test_provenance_is_shown(tmp_path):
    about = secant.report.Provenance(
        files=["a.parquet", "b.parquet", "c.csv", "d.csv", "e.csv"],
        columns={"outcome": "label", "forecast": "score"},
        elapsed=1.25,
    )
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    for part in ("a.parquet", "and 2 more", "Column: outcome", "label", "1.2 s", "e.csv"):
        assert part in page
    assert f"secant {secant.__version__}, numpy {np.__version__}, Python 3." in page


def test_the_gate_is_part_of_where_it_comes_from():
    about = secant.report.Provenance(gate=["Gate failed: <b>."])
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    assert "<dt>Gate</dt><dd>Gate failed: &lt;b&gt;.</dd>" in page


STARTED = datetime(2024, 3, 5, 9, 7, 30, tzinfo=UTC)


def test_only_what_is_known_is_said():
    assert list(Provenance(started=STARTED).facts(None, [])) == [
        ("Made", "2024-03-05 09:07:30+00:00")
    ]
    assert Provenance(started=STARTED).date == "5 March 2024, 09:07"


def test_all_that_is_known_is_said_in_order():
    known = {"files": ["a"], "columns": {"outcome": "y"}, "command": "c", "gate": ["g"]}
    about = Provenance(**known, started=STARTED, elapsed=0.126)
    assert list(about.facts(12_345, ["ECCE-R: exact", "ECCE-MAD: exact"])) == [
        ("Input", "a"),
        ("Column: outcome", "y"),
        ("Rows", "12,345 predictions"),
        ("P-values", "ECCE-R: exact, ECCE-MAD: exact"),
        ("Gate", "g"),
        ("Command", "c"),
        ("Made", "2024-03-05 09:07:30+00:00"),
        ("Took", "0.13 s"),
    ]
    assert [label for label, _ in Provenance(files=["a", "b"]).facts(None, [])][:2] == [
        "Input 1", "Input 2",
    ]  # fmt: skip


def test_it_is_plain_json():
    about = Provenance(files=("a",), columns={"outcome": "y"}, started=STARTED, gate=("g",))
    assert json.loads(json.dumps(about.to_dict())) == about.to_dict()
    assert datetime.fromisoformat(about.to_dict()["started"]) == STARTED
