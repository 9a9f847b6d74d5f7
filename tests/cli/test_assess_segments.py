"""``secant assess --segments``: what is searched, printed, written and refused."""

import json

import numpy as np
import pytest

import secant
from commands import assess
from helpers import optional

optional("click")
optional("rich")
pyarrow = optional("pyarrow")

NAMED = ("--y-true", "happened", "--y-prob", "forecast")


def run(*arguments):
    """Run the command line in this process."""
    return assess(*arguments, env={"COLUMNS": "120"})  # in which the table fits


def table(off=-0.2, n=5000):
    rng = np.random.default_rng(0)
    forecast, region = rng.uniform(0.25, 0.75, n), rng.choice(["north", "south", "<west>"], n)
    age = rng.integers(18, 68, n)
    young = (region == "north") & (age < 28)
    chance = forecast + off * young - off * young.mean()
    return {
        "happened": (rng.random(n) < chance).astype(np.int8),
        "forecast": forecast,
        "region": region,
        "age": age,
    }


@pytest.fixture
def file(tmp_path):
    import pyarrow.parquet

    path = tmp_path / "preds.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table()), path)
    return path


SEARCH = ("--segments", "region,age")


def test_what_is_found_is_printed(file):
    shown = run(file, *NAMED, *SEARCH)
    assert shown.exit_code == 0, shown.output
    known = secant.assess_segments(
        "happened", "forecast", data=str(file), features=["region", "age"]
    )
    assert known.failing == ("region = north and age 18 to 27",)
    assert f"of {known.searched} segments searched" in " ".join(shown.output.split())
    assert known.failing[0] in shown.output
    assert "Not searched:" in shown.output
    counted = f"3 of {known.searched} segments searched are miscalibrated"
    assert counted in run(file, *NAMED, *SEARCH, "--quiet").output


def test_json_has_every_number(file):
    told = json.loads(run(file, *NAMED, *SEARCH, "--json", "-", "--min-rows", "300").stdout)
    assert told["columns"]["segments"] == ["region", "age"]
    assert told["settings"]["min_rows"] == 300
    assert told["settings"]["depth"] == 2
    found = told["segments"]["forecast"]
    assert found["groups"][0]["key"] == "region = north and age 18 to 27"
    assert found["searched"] > 0


def test_the_gate_is_crossed_by_a_segment(file):
    strict = run(file, *NAMED, *SEARCH, "--alpha", "0.05", "--max-ecce-r", "0.05")
    assert strict.exit_code == 1
    assert "Gate failed by 1 segment (adjusted P-values): region = north and age" in strict.output
    assert run(file, *NAMED, "--alpha", "0.05", "--max-ecce-r", "0.05").exit_code == 0
    lax = run(file, *NAMED, *SEARCH, "--alpha", "0.05", "--max-ecce-r", "0.5")
    assert lax.exit_code == 0
    assert "Gate passed by all segments that were searched." in lax.output
    gate = json.loads(run(file, *NAMED, *SEARCH, "--alpha", "0.05", "--json", "-").stdout)["gate"]
    assert gate["segments"] == {"forecast": ["region = north and age 18 to 27"]}


def test_nothing_found(tmp_path):
    import pyarrow.parquet

    path = tmp_path / "preds.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table(off=0)), path)
    page = tmp_path / "page.html"
    shown = run(path, *NAMED, *SEARCH, "--html", page)
    assert shown.exit_code == 0, shown.output
    assert "is found to be miscalibrated" in " ".join(shown.output.split())
    assert 'id="segments-0"' in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--segments", "region,happened"), "the column of outcomes"),
        (("--segments", "region,nothing"), "no column 'nothing'"),
        (("--segments", "region,,age"), "must list different columns"),
        (("--segments", ""), "must list different columns"),
        (("--segments", "age,age"), "must list different columns"),
        (("--depth", "2"), "--depth does nothing without --segments"),
        (("--min-rows", "9"), "--min-rows does nothing without --segments"),
        (("--segments", "age", "--depth", "4"), "not in the range"),
        (("--segments", "age", "--min-rows", "9999"), "--min-rows 9999 is more than"),
    ],
)
def test_refused(file, arguments, complaint):
    shown = run(file, *NAMED, *arguments)
    assert shown.exit_code == 2, shown.output
    assert complaint in " ".join(shown.output.split())


def test_help_says_so():
    shown = " ".join(run("--help").output.split())
    assert "--segments COL,COL..." in shown
    assert "account for the search" in shown
