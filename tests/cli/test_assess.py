"""``secant assess``: from files to a verdict, a gate and files."""

import json
import subprocess
import sys

import numpy as np
import pytest

import secant
from commands import NAMED, assess, write
from helpers import optional
from secant.sources.files import passes

optional("click")
optional("rich")
optional("pyarrow")


def test_quiet_is_a_line_a_model(file):
    shown = assess(file, *NAMED, "--y-prob", "better", "--by", "segment", "--quiet")
    lines = shown.output.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("forecast: Miscalibrated: too high")
    assert ", ECCE-R 0.0" in lines[0]
    assert lines[1].startswith("better: No miscalibration found. P = ")
    assert lines[2].startswith("forecast: 1 of 3 groups")


def test_several_files_weights_and_labels(tmp_path, columns):
    columns["label"] = np.where(columns["happened"], "yes", "no")
    half = {key: values[:2000] for key, values in columns.items()}
    rest = {key: values[2000:] for key, values in columns.items()}
    write(tmp_path / "1.parquet", half)
    write(tmp_path / "2.parquet", rest)
    arguments = ("--y-true", "label", "--y-prob", "forecast", "--pos-label", "yes")
    weights = ("--weight", "days", "--weight-kind", "frequency")
    expected = secant.assess(
        columns["happened"], columns["forecast"],
        sample_weight=columns["days"], weight_kind="frequency",
    )  # fmt: skip
    for files in ([tmp_path / "1.parquet", tmp_path / "2.parquet"], [tmp_path / "*.parquet"]):
        shown = assess(*files, *arguments, *weights, "--json", "-")
        found = json.loads(shown.stdout)["models"]["forecast"]
        assert found["n"] == expected.n
        assert found["ecce_r"]["value"] == pytest.approx(expected.ecce_r.value, abs=1e-12)


def test_weights_of_outcomes(file, columns):
    shown = assess(file, *NAMED, "--outcome-weights", "20,1", "--json", "-")
    found = json.loads(shown.stdout)
    expected = secant.assess(columns["happened"], columns["forecast"], outcome_weights=(20, 1))
    assert found["settings"]["outcome_weights"] == [20, 1]
    assert found["models"]["forecast"]["outcome_weights"] == [20, 1]
    assert found["models"]["forecast"]["ecce_r"]["pvalue"] == expected.ecce_r.pvalue
    for bad, says in (("20", "two numbers"), ("a,b", "20,1"), ("0,1", "must be positive")):
        refused = assess(file, *NAMED, "--outcome-weights", bad)
        assert refused.exit_code == 2
        assert "--outcome-weights" in refused.output
        assert says in " ".join(refused.output.split())
    refused = assess(file, *NAMED, "--outcome-weights", "2,1", "--segments", "segment")
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("outcomes", "label"),
    [
        ([1, 2, 2], "2"),
        (["1", "2", "2"], "2"),
        ([False, True, True], "True"),
        ([False, True, True], "true"),
        ([True, False, False], "false"),
    ],
)
def test_a_label_is_read_as_the_column_has_it(tmp_path, outcomes, label):
    file = write(tmp_path / "a.parquet", {"y": outcomes, "p": [0.2, 0.6, 0.7]})
    shown = assess(file, "--y-true", "y", "--y-prob", "p", "--pos-label", label, "--json", "-")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["models"]["p"]["base_rate"] == pytest.approx(2 / 3)


def test_rows_that_lack_something_are_left_out_where_asked(tmp_path, columns):
    happened = [None if row < 30 else int(each) for row, each in enumerate(columns["happened"])]
    file = write(tmp_path / "gaps.parquet", {**columns, "happened": happened})
    refused = assess(file, *NAMED)
    assert refused.exit_code == 2
    shown = assess(file, *NAMED, "--by", "segment", "--missing", "drop")
    said = " ".join(shown.output.split())
    assert said.count("30 rows without a score or an outcome were left out.") == 2
    found = json.loads(assess(file, *NAMED, "--missing", "drop", "--json", "-").stdout)
    assert found["settings"]["missing"] == "drop"
    assert found["models"]["forecast"]["n_left_out"] == 30
    searched = assess(file, *NAMED, "--missing", "drop", "--segments", "segment")
    assert searched.exit_code == 2
    assert "does not go together with" in " ".join(searched.output.split())


def test_json_holds_every_number(file, columns, tmp_path):
    out = tmp_path / "out.json"
    shown = assess(file, *NAMED, "--by", "segment", "--json", out, "--alpha", "0.01")
    assert f"Wrote {out}" in shown.output.replace("\n", "")
    found = json.loads(out.read_text())
    # Verdict and gate speak at the same level.
    result = secant.assess(columns["happened"], columns["forecast"], confidence_level=0.99)
    assert found["models"]["forecast"] == json.loads(json.dumps(result.to_dict()))
    assert found["files"] == [str(file)]
    assert found["columns"] == {
        "y_true": "happened", "y_prob": ["forecast"], "weight": None, "by": ["segment"],
    }  # fmt: skip
    assert {group["key"] for group in found["groups"]["forecast"]["groups"]} == set(
        columns["segment"]
    )
    assert found["settings"] == {
        "pos_label": None, "weight_kind": "sampling", "outcome_weights": None, "missing": "refuse",
        "method": "auto", "confidence_level": 0.99, "adjust": "holm",
    }  # fmt: skip
    whole, parts = (found["gate"].pop(name) for name in ("judgements", "group_judgements"))
    assert found["gate"] == {
        "alpha": 0.01, "max_ecce_r": 0.02, "crossed": True, "models": ["forecast"],
        "groups": {"forecast": ["south"]},
    }  # fmt: skip
    assert whole["forecast"] == [
        {
            "limit": "max_ecce_r", "tolerance": 0.02, "answer": "crossed",
            "pvalue": result.pvalue,
        }
    ]  # fmt: skip
    answers = {each["key"]: each["judgements"][0]["answer"] for each in parts["forecast"]}
    assert answers == {"south": "crossed", "north": "passed", "[red]west": "passed"}
    assert found["secant"] == secant.__version__


def test_json_on_stdout_is_nothing_else(file):
    shown = assess(file, *NAMED, "--json", "-")
    assert json.loads(shown.stdout)["models"]["forecast"]["n"] == 4000
    assert shown.stderr == ""


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(file, tmp_path, ending):
    optional("matplotlib")
    out = tmp_path / f"curve.{ending}"
    shown = assess(file, *NAMED, "--y-prob", "better", "--plot", out)
    assert shown.exit_code == 0, shown.output
    start = out.read_bytes()[:400]
    assert {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[ending] in start


def test_a_picture_of_no_known_format_is_refused(file, tmp_path):
    shown = assess(file, *NAMED, "--plot", tmp_path / "curve.doc")
    assert shown.exit_code == 2
    assert "a picture ends in .png, .svg or .pdf" in shown.output
    assert list(tmp_path.iterdir()) == [file]


def test_report(file, tmp_path):
    out = tmp_path / "report.html"
    shown = assess(
        file, *NAMED, "--y-prob", "better", "--by", "segment", "--html", out, "--title", "<b>"
    )
    assert shown.exit_code == 0, shown.output
    page = out.read_text()
    assert "&lt;b&gt;" in page
    assert str(file) in page
    assert "<h2>Groups of <bdi>forecast</bdi></h2>" in page
    assert "better" in page
    assert "<dt>Gate</dt>" not in page
    assert assess(file, *NAMED, "--alpha", "0.01", "--html", out).exit_code == 1
    assert "<dt>Gate</dt><dd>Gate failed: P = " in out.read_text()


def test_infinite_groups_are_json(tmp_path):
    columns = {"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.7, 0.9], "g": [1.5, np.inf, -np.inf, 1.5]}
    file = write(tmp_path / "a.parquet", columns)
    shown = assess(file, "--y-true", "y", "--y-prob", "p", "--by", "g", "--json", "-")
    assert shown.exit_code == 0, shown.output
    groups = json.loads(shown.stdout)["groups"]["p"]["groups"]
    assert {str(group["key"]) for group in groups} == {"1.5", "inf", "-inf"}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 0, None),
        (("--alpha", "0.01"), 1, "(tolerance 0.02)"),
        (("--max-ecce-r", "0.02"), 1, "Gate failed: P = "),
        (
            ("--alpha", "0.01", "--max-ecce-r", "0.5"),
            0,
            "Gate passed: miscalibrated, but by less than you tolerate. P = ",
        ),
        (
            ("--alpha", "0.01", "--max-ecce-r", "0.02", "--y-prob", "better"),
            1,
            "better: Gate passed",
        ),
        (("--alpha", "1e-300"), 0, "Gate passed"),
        (("--max-miscalibration", "0.02"), 1, "points are tolerated (P "),
        (("--max-miscalibration", "0.5"), 0, "no range of scores is shown to be off by more than"),
        (("--within", "0.5"), 0, "(95% limit), 0.5 is allowed."),
        (("--within", "0.001"), 1, "(95% limit), 0.001 is allowed."),
        (
            ("--within", "0.02", "--y-prob", "better"),
            1,
            "better: Gate failed: too few predictions",
        ),
        (("--max-ecce-r", "0.5", "--max-miscalibration", "0.02"), 1, "Gate failed: scores"),
        (("--within", "0.5", "--by", "segment"), 0, "by all 3 groups (shown to be within 0.5"),
    ],
)
def test_the_gate(file, options, code, words):
    for more in ((), ("--quiet",)):
        shown = assess(file, *NAMED, *options, *more)
        assert shown.exit_code == code, shown.output
        assert words is None or words in " ".join(shown.output.split())


def test_a_tolerance_gives_one_answer_everywhere(file, tmp_path):
    """What the terminal says first is what the JSON and the page say."""
    page = tmp_path / "page.html"
    given = (*NAMED, "--within", "0.5", "--html", str(page), "--json", "-")
    found = json.loads(assess(file, *given).stdout)
    (headline,) = {each["verdict"] for each in found["models"].values()}
    assert headline.startswith("Calibrated within 0.5, as far as 95% goes")
    assert headline in " ".join(assess(file, *NAMED, "--within", "0.5").output.split())
    assert f"<strong>{headline}.</strong>" in page.read_text(encoding="utf-8")


def test_the_gate_adjusts_for_several_models(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 3000)
    y = rng.random(3000) < p + 0.03
    columns = {"y": y.astype(int), "a": p, "c": p + rng.normal(0, 1e-3, 3000)}
    file = write(tmp_path / "a.parquet", columns)
    alone = secant.assess(y, p).pvalue
    level = str(1.5 * alone)
    assert assess(file, "--y-true", "y", "--y-prob", "a", "--alpha", level).exit_code == 1
    both = ("--y-true", "y", "--y-prob", "a", "--y-prob", "c", "--alpha", level)
    shown = assess(file, *both)
    assert shown.exit_code == 0, shown.output
    assert "after Holm's correction for 2 models" in " ".join(shown.output.split())
    found = json.loads(assess(file, *both, "--json", "-").stdout)["gate"]["judgements"]["a"]
    assert found[0]["pvalue"] == pytest.approx(2 * alone)


def test_impossible_outcomes_cross_the_gate_whatever_the_pvalue(tmp_path):
    rng = np.random.default_rng(0)
    p = np.append(rng.uniform(0.2, 0.8, 400), np.zeros(200))
    y = (rng.random(600) < p).astype(int)
    y[-2:] = 1
    file = write(tmp_path / "a.parquet", {"y": y, "p": p, "g": ["all"] * 600})
    reason = "; 2 wrong scores of exactly 0 or 1 rule out chance, whatever the P-value."
    for more in ((), ("--quiet",)):
        shown = assess(file, "--alpha", "0.01", "--max-ecce-r", "0", *more)
        assert shown.exit_code == 1, shown.output
        words = " ".join(shown.output.split())
        assert "2 scores of exactly 0 or 1 were wrong; no other miscalibration found" in words
        assert words.endswith(reason)
        shown = assess(file, "--max-ecce-r", "0.5", "--by", "g", *more)
        assert shown.exit_code == 0, shown.output
        words = " ".join(shown.output.split())
        assert "Gate passed: miscalibrated, but by less than you tolerate. P = " in words
        assert "Gate passed by the only group" in words


def test_a_group_alone_can_cross_the_gate(tmp_path):
    rng = np.random.default_rng(4)
    p = rng.random(20_000)
    small = np.arange(20_000) < 600
    y = rng.random(20_000) < np.where(small, np.clip(p + 0.15, 0, 1), p - 0.0045)
    columns = {"y": y.astype(int), "p": p, "g": np.where(small, "small", "large")}
    file = write(tmp_path / "a.parquet", columns)
    gate = ("--y-true", "y", "--alpha", "0.01", "--max-ecce-r", "0.05")
    assert assess(file, *gate).exit_code == 0
    shown = assess(file, "--by", "g", *gate)
    assert shown.exit_code == 1
    assert "Gate failed by 1 of 2 groups: small" in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing argument 'FILES...'"),
        (("{file}", "--alpha", "2"), "--alpha"),
        (("{file}", "--y-true", "hapened", "--y-prob", "forecast"), "did you mean 'happened'?"),
        (("{file}", *NAMED, "--y-prob", "forecast"), "names a column twice"),
        (("{file}", *NAMED, "--weight", "segment"), "segment"),
        (("missing.parquet", *NAMED), "missing.parquet"),
        (("{file}", "--y-true", "forecast", "--y-prob", "happened"), "forecast"),
        (("{file}", *NAMED, "--pos-label", "9"), "--pos-label 9 does not occur"),
        (("{file}", *NAMED, "--by", "happened"), "is the column of outcomes"),
        (("{file}", *NAMED, "--html", "nowhere/at/all/report.html"), "nowhere"),
    ],
)
def test_bad_input_and_usage_exit_with_2(file, arguments, words):
    shown = assess(*(str(each).replace("{file}", str(file)) for each in arguments))
    assert shown.exit_code == 2, shown.output
    assert words in " ".join(shown.output.split())
    assert "Traceback" not in shown.output


def test_a_real_process_answers_with_its_exit_code(file):
    command = [sys.executable, "-m", "secant", "assess", str(file), *NAMED, "--alpha", "0.01", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Gate failed" in done.stdout
    assert done.stderr == ""  # no progress bar where there is no terminal


def test_a_column_of_groups_that_is_not_there_is_found_out_before_the_work(file, monkeypatch):
    monkeypatch.setattr(passes, "run", lambda *_, **__: pytest.fail("the work has begun"))
    with pytest.raises(pytest.fail.Exception):  # the work is where this test looks for it
        assess(file, *NAMED)
    shown = assess(file, *NAMED, "--by", "nowhere")
    assert shown.exit_code == 2, shown.output
    assert "no column 'nowhere', which --by names" in " ".join(shown.output.split())


def test_help_has_examples_and_exit_codes():
    shown = assess("--help").output
    limits = "--max-ecce-r", "--max-miscalibration", "--within"
    for words in ("Examples:", "Exit codes:", *limits, "secant assess preds.parquet"):
        assert words in shown


@pytest.mark.parametrize(
    ("idle", "needed"),
    [
        (["--title", "A page"], "--title does nothing without --html."),
        (["--adjust", "holm"], "--adjust does nothing without --by."),
        (["--weight-kind", "sampling"], "--weight-kind does nothing without --weight."),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(tmp_path, idle, needed):
    file = write(tmp_path / "a.parquet", {"y": [0, 1] * 20, "p": [0.4, 0.6] * 20})
    shown = assess(file, *idle)
    assert shown.exit_code == 2
    assert needed in shown.output
