"""``secant assess --order-by``: what is asked, printed, written and refused."""

import json

import numpy as np
import pytest

import secant
from commands import wide as run
from helpers import optional

optional("click")
optional("rich")
optional("pyarrow")
optional("matplotlib")

NAMED = ("--y-true", "label", "--y-prob", "score")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    score = rng.uniform(0.2, 0.8, 3000)
    other = rng.uniform(0.2, 0.8, 3000)
    day = np.datetime64("2026-01-01") + rng.integers(0, 120, 3000)
    off = day > np.datetime64("2026-03-09")
    label = (rng.random(3000) < score - 0.2 * off).astype(int)
    columns = (
        label.tolist(),
        score.tolist(),
        other.tolist(),
        day.astype(str),
        rng.integers(2, size=3000),
    )
    rows = zip(*columns, strict=True)
    lines = ["label,score,other,day,arm", *(f"{y},{s!r},{o!r},{d},{a}" for y, s, o, d, a in rows)]
    path = tmp_path / "preds.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_answer_is_the_library_s(file, tmp_path):
    written = "--json", tmp_path / "out.json", "--html", tmp_path / "out.html"
    done = run(file, *NAMED, "--order-by", "day", *written, "--plot", tmp_path / "out.png")
    assert done.exit_code == 0, done.output
    assert "2026 predictions were too high by" in done.output
    assert "Along day: whether predictions are right on average at each day" in done.output
    told = json.loads((tmp_path / "out.json").read_text())
    assert told["columns"]["order_by"] == "day"
    wanted = secant.assess("label", "score", data=file, order_by="day")
    assert told["models"]["score"] == json.loads(json.dumps(wanted.to_dict()))
    assert "Along day" in (tmp_path / "out.html").read_text()
    assert "<dt>Column: order</dt><dd>day</dd>" in (tmp_path / "out.html").read_text()


def test_groups_models_and_the_gate(file):
    done = run(file, *NAMED, "--order-by", "day", "--by", "arm", "--max-ecce-r", "0.01")
    assert done.exit_code == 1
    assert "2 of 2 groups" in done.output
    done = run(file, *NAMED, "--y-prob", "other", "--order-by", "day")
    assert done.exit_code == 0, done.output
    assert "not compared further" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--order-by", "label"), "--order-by names 'label', the column of outcomes"),
        (("--order-by", "dya"), "did you mean 'day'"),
        (("--order-by", "day", "--segments", "arm"), "does not go together with --segments"),
    ],
)
def test_what_is_refused(file, arguments, words):
    done = run(file, *NAMED, *arguments)
    assert done.exit_code == 2
    assert words in done.output


def test_the_line_of_the_curve_and_the_short_answer_name_the_axis(file):
    shown = run(file, *NAMED, "--order-by", "day").output
    assert "outcome minus forecast, added up along day:" in shown
    assert "lowest score" not in shown
    assert "added up from the lowest score:" in run(file, *NAMED).output
    quiet = run(file, *NAMED, "--order-by", "day", "--quiet").output
    assert "ECCE-R along day 0." in quiet
    assert "along" not in run(file, *NAMED, "--quiet").output


def test_a_second_model_without_its_option_is_told_how(file):
    done = run(file, "--y-true", "label", "--y-prob", "score", "other")
    assert done.exit_code == 2
    wanted = "no such file or folder; for a further model write --y-prob other"
    assert wanted in " ".join(done.output.split())
    for another in (("other.csv", "--y-prob", "score"), ("other",)):
        assert "further model" not in run(file, *another).output
