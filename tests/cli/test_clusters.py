"""``secant assess --clusters``: what is asked, printed, written and refused; and the hint."""

import json

import numpy as np
import pytest

import secant
from commands import wide as run
from helpers import optional

optional("click")
optional("rich")
optional("pyarrow")

NAMED = ("--y-true", "label", "--y-prob", "score")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(412), 5)
    score = rng.random(patient.size)
    label = (rng.random(patient.size) < score).astype(int)
    rows = zip(label.tolist(), score.tolist(), patient.tolist(), strict=True)
    lines = ["label,score,patient_id,arm", *(f"{y},{s!r},P{who},{who % 2}" for y, s, who in rows)]
    path = tmp_path / "preds.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_answer_is_the_library_s(file, tmp_path):
    done = run(file, *NAMED, "--clusters", "patient_id", "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    assert "among 412 clusters" in done.output
    told = json.loads((tmp_path / "out.json").read_text())
    assert told["columns"]["clusters"] == "patient_id"
    wanted = secant.assess("label", "score", data=file, clusters="patient_id")
    assert told["models"]["score"] == json.loads(json.dumps(wanted.to_dict()))


def test_groups_and_the_page_know_clusters(file, tmp_path):
    page = tmp_path / "page.html"
    done = run(file, *NAMED, "--clusters", "patient_id", "--by", "arm", "--html", page)
    assert done.exit_code == 0, done.output
    assert "<dt>Column: clusters</dt><dd>patient_id</dd>" in page.read_text()
    assert ">412</td>" in page.read_text()


def test_what_does_not_go_together_is_refused_in_the_words_of_options(file):
    done = run(file, *NAMED, "--clusters", "patient_id", "--method", "exact")
    assert done.exit_code == 2
    assert "--method exact does not go together with --clusters" in done.output
    done = run(file, *NAMED, "--clusters", "patient_id", "--segments", "arm")
    assert done.exit_code == 2
    assert "--clusters does not go together with --segments" in done.output
    done = run(file, *NAMED, "--clusters", "arm")
    assert done.exit_code == 2
    assert "--clusters makes 2 clusters; fewer than 20" in done.output
    done = run(file, *NAMED, "--clusters", "patient")
    assert done.exit_code == 2
    assert "did you mean 'patient_id'?" in done.output


def test_a_column_of_ids_is_told_of_and_not_acted_on(file):
    done = run(file, *NAMED)
    assert "patient_id has 5 rows each" in done.output
    assert "use --clusters patient_id" in done.output
    assert "simulated" not in done.output
    assert "rows each" not in run(file, *NAMED, "--clusters", "patient_id").output
