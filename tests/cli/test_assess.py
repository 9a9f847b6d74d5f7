"""``secant assess``: from files to a verdict, a gate and files."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import secant
from helpers import optional
from secant._results import verdict, wording

click = optional("click")
optional("rich")
pyarrow = optional("pyarrow")


def run(*arguments, **options):
    """Run the command line in this process."""
    from click.testing import CliRunner

    from secant.cli import cli

    return CliRunner().invoke(cli, ["assess", *map(str, arguments)], **options)


def table(n=4000, seed=0):
    """Return predictions of two models in three groups, of which one is off."""
    rng = np.random.default_rng(seed)
    forecast = rng.uniform(0.05, 0.95, n)
    segment = rng.choice(["north", "south", "[red]west"], n)
    chance = np.where(segment == "south", forecast**1.6, forecast)
    return {
        "happened": (rng.random(n) < chance).astype(np.int8),
        "forecast": forecast,
        "better": np.clip(chance, 0, 1),
        "segment": segment,
        "days": rng.integers(1, 4, n),
    }


def write(path, columns):
    import pyarrow.csv
    import pyarrow.parquet

    arrow = pyarrow.table(columns)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(arrow, path)
    else:
        pyarrow.parquet.write_table(arrow, path)
    return path


@pytest.fixture
def columns():
    return table()


@pytest.fixture
def file(tmp_path, columns):
    return write(tmp_path / "preds.parquet", columns)


NAMED = ("--y-true", "happened", "--y-prob", "forecast")


# --- what is printed ------------------------------------------------------------------------------


def test_the_three_answers(file, columns):
    result = secant.assess(columns["happened"], columns["forecast"])
    shown = run(file, *NAMED)
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    assert verdict.headline(result) in words
    assert " ".join(verdict.where(result).split()) in words
    assert verdict.averages(result) in words
    for name in ("ECCE-R", "ECCE-MAD", "if calibrated", "95% limits", result.ecce_r.method):
        assert name in words
    assert "▁" in shown.output
    assert "█" in shown.output


def test_significant_intervals_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    off = np.where((p > 0.1) & (p < 0.4), 0.15, 0) - np.where((p > 0.6) & (p < 0.9), 0.15, 0)
    columns = {"y": (rng.random(6000) < p + off).astype(int), "p": p}
    result = secant.assess(columns["y"], columns["p"])
    assert len(result.intervals) == 2
    shown = run(write(tmp_path / "a.parquet", columns)).output
    for each in result.intervals:
        assert f"{each.low:.3f} to {each.high:.3f}" in shown
        assert f"{each.n:,}" in shown


def test_groups_are_sorted_counted_and_shown_literally(file, columns):
    shown = run(file, *NAMED, "--by", "segment")
    assert shown.exit_code == 0, shown.output
    assert "1 of 3 groups is miscalibrated at 5% after Holm's correction." in shown.output
    table_of_groups = shown.output[shown.output.index("1 of 3 groups") :]
    assert "[red]west" in table_of_groups
    assert table_of_groups.index("south") < table_of_groups.index("north")


def test_quiet_is_a_line_a_model(file):
    shown = run(file, *NAMED, "--y-prob", "better", "--by", "segment", "--quiet")
    lines = shown.output.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("forecast: Miscalibrated: ECCE-R 0.0")
    assert lines[1].startswith("better: No miscalibration found: ECCE-R 0.0")
    assert lines[2].startswith("forecast: 1 of 3 groups")


def test_names_with_markup_show_literally(tmp_path, columns):
    columns["[bold]x[/bold]"] = columns.pop("forecast")
    file = write(tmp_path / "a.parquet", columns)
    arguments = ("--y-true", "happened", "--y-prob", "[bold]x[/bold]", "--y-prob", "better")
    for more in ((), ("--quiet",), ("--alpha", "0.01")):
        assert "[bold]x[/bold]: " in run(file, *arguments, *more).output


# --- which columns --------------------------------------------------------------------------------


def test_columns_are_guessed_where_there_is_no_doubt(tmp_path, columns):
    named = {key: columns[key] for key in ("happened", "forecast", "segment")}
    shown = run(write(tmp_path / "a.parquet", named))
    assert shown.exit_code == 0, shown.output
    assert "Guessed: --y-prob forecast, --y-true happened" in shown.output
    only = {"outcome_2024": named["happened"], "model": named["forecast"]}
    for suffix in ("parquet", "csv"):
        shown = run(write(tmp_path / f"b.{suffix}", only))
        assert "Guessed: --y-prob model, --y-true outcome_2024" in shown.output


@pytest.mark.parametrize("option", [("--quiet",), ("--json", "-"), ("--json", "-", "--quiet")])
def test_guesses_go_to_stderr_where_stdout_is_for_a_reader(tmp_path, columns, option):
    named = {key: columns[key] for key in ("happened", "forecast")}
    shown = run(write(tmp_path / "a.parquet", named), *option)
    assert shown.stderr == "Guessed: --y-prob forecast, --y-true happened\n"
    if "--json" in option:
        found = json.loads(shown.stdout)
        assert found["guessed"] == {"y_prob": "forecast", "y_true": "happened"}
    else:
        assert len(shown.stdout.splitlines()) == 1


def test_a_forgotten_column_of_weights_is_mentioned_and_not_used(tmp_path, columns):
    columns["Sample_Weight"] = columns.pop("days")
    file = write(tmp_path / "a.parquet", columns)
    words = "Not used: the column Sample_Weight. If it holds weights, say --weight Sample_Weight."
    shown = run(file, *NAMED)
    assert words in " ".join(shown.stdout.split())
    shown = run(file, *NAMED, "--json", "-")
    assert shown.stderr == f"{words}\n"
    found = json.loads(shown.stdout)
    assert found["columns"]["weight"] is None
    assert found["guessed"] == {}
    result = secant.assess(columns["happened"], columns["forecast"])
    assert found["models"]["forecast"]["ecce_r"]["value"] == result.ecce_r.value
    for used in (("--weight", "Sample_Weight"), ("--by", "Sample_Weight")):
        assert "Not used" not in run(file, *NAMED, *used).output


def test_a_column_of_words_is_no_column_of_weights(tmp_path, columns):
    columns["w"] = columns["segment"]
    assert "Not used" not in run(write(tmp_path / "a.parquet", columns), *NAMED).output


def test_doubt_is_an_error_that_lists_the_columns(file, tmp_path, columns):
    shown = run(file, "--y-true", "happened")
    # "forecast" is a name people use; "better" is not.
    assert shown.exit_code == 0, shown.output
    two = {"score": columns["forecast"], "probability": columns["better"], "y": columns["happened"]}
    shown = run(write(tmp_path / "c.parquet", two))
    assert shown.exit_code == 2
    assert "say --y-prob COLUMN" in shown.output
    assert "score, probability, y" in shown.output
    three = {"p": columns["forecast"], "a": columns["happened"], "b": columns["happened"]}
    shown = run(write(tmp_path / "d.parquet", three))
    assert shown.exit_code == 2
    assert "say --y-true COLUMN" in shown.output


def test_a_row_is_not_taken_for_names(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("1,0.5\n0,0.3\n1,0.6\n")
    shown = run(file)
    assert shown.exit_code == 2
    assert "called 1, 0.5: is the line of names missing?" in " ".join(shown.output.split())
    shown = run(file, "--y-true", "1", "--y-prob", "0.5", "--json", "-")
    assert json.loads(shown.stdout)["models"]["0.5"]["n"] == 2
    shown = run(write(tmp_path / "a.parquet", {}))
    assert shown.exit_code == 2
    assert "line of names" not in shown.output


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
        shown = run(*files, *arguments, *weights, "--json", "-")
        found = json.loads(shown.stdout)["models"]["forecast"]
        assert found["n"] == expected.n
        assert found["ecce_r"]["value"] == pytest.approx(expected.ecce_r.value, abs=1e-12)


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
    shown = run(file, "--y-true", "y", "--y-prob", "p", "--pos-label", label, "--json", "-")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["models"]["p"]["base_rate"] == pytest.approx(2 / 3)


# --- files ----------------------------------------------------------------------------------------


def test_json_holds_every_number(file, columns, tmp_path):
    out = tmp_path / "out.json"
    shown = run(file, *NAMED, "--by", "segment", "--json", out, "--alpha", "0.01")
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
        "pos_label": None, "weight_kind": "sampling", "method": "auto", "confidence_level": 0.99,
        "adjust": "holm",
    }  # fmt: skip
    assert found["gate"] == {
        "alpha": 0.01, "max_ecce_r": 0.0, "crossed": True, "models": ["forecast"],
        "groups": {"forecast": ["south"]},
    }  # fmt: skip
    assert found["secant"] == secant.__version__


def test_json_on_stdout_is_nothing_else(file):
    shown = run(file, *NAMED, "--json", "-")
    assert json.loads(shown.stdout)["models"]["forecast"]["n"] == 4000
    assert shown.stderr == ""


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(file, tmp_path, ending):
    optional("matplotlib")
    out = tmp_path / f"curve.{ending}"
    shown = run(file, *NAMED, "--y-prob", "better", "--plot", out)
    assert shown.exit_code == 0, shown.output
    start = out.read_bytes()[:400]
    assert {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[ending] in start


def test_a_picture_of_no_known_format_is_refused(file, tmp_path):
    shown = run(file, *NAMED, "--plot", tmp_path / "curve.doc")
    assert shown.exit_code == 2
    assert "a picture ends in .png, .svg or .pdf" in shown.output
    assert list(tmp_path.iterdir()) == [file]


def test_report(file, tmp_path):
    out = tmp_path / "report.html"
    shown = run(
        file, *NAMED, "--y-prob", "better", "--by", "segment", "--html", out, "--title", "<b>"
    )
    assert shown.exit_code == 0, shown.output
    page = out.read_text()
    assert "&lt;b&gt;" in page
    assert str(file) in page
    assert "<h2>Groups of <bdi>forecast</bdi></h2>" in page
    assert "better" in page
    assert "<dt>Gate</dt>" not in page
    assert run(file, *NAMED, "--alpha", "0.01", "--html", out).exit_code == 1
    assert "<dt>Gate</dt><dd>Gate crossed: ECCE-R" in out.read_text()


@pytest.mark.parametrize("option", ["--html", "--json", "--plot"])
def test_an_output_never_replaces_an_input(tmp_path, columns, option):
    # A picture's name must end in .png, and a file of predictions may be linked from there.
    file = write(tmp_path / "preds.parquet", columns)
    before, link = file.read_bytes(), tmp_path / "link.png"
    link.symlink_to(file)
    for out in (file, link) if option != "--plot" else (link,):
        shown = run(file, *NAMED, option, out)
        assert shown.exit_code == 2, shown.output
        assert "would be overwritten" in " ".join(shown.output.split())
        assert file.read_bytes() == before


def test_outputs_that_cannot_be_are_refused_before_the_work(file, tmp_path):
    same = tmp_path / "same"
    shown = run(file, *NAMED, "--html", same, "--json", same)
    assert shown.exit_code == 2
    assert "--html writes there already" in shown.output
    assert not same.exists()
    for name in ("", "."):
        assert run(file, *NAMED, "--html", name).exit_code == 2
    shown = run(file, *NAMED, "--html", "-")
    assert shown.exit_code == 2
    assert "only --json can be printed" in shown.output


def test_what_is_no_file_is_written_to_and_not_replaced(file, tmp_path):
    # As /dev/stdout and /dev/null are; a test had better not try it with those.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as reader:
        assert run(file, *NAMED, "--json", pipe).exit_code == 0
        assert json.loads(reader.read(1 << 16))["models"]["forecast"]["n"] == 4000
    assert pipe.is_fifo()


def test_a_link_stays_a_link(file, tmp_path):
    out, link = tmp_path / "out.json", tmp_path / "latest.json"
    link.symlink_to(out)
    assert run(file, *NAMED, "--json", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(out.read_text())["files"] == [str(file)]


def test_infinite_groups_are_json(tmp_path):
    columns = {"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.7, 0.9], "g": [1.5, np.inf, -np.inf, 1.5]}
    file = write(tmp_path / "a.parquet", columns)
    shown = run(file, "--y-true", "y", "--y-prob", "p", "--by", "g", "--json", "-")
    assert shown.exit_code == 0, shown.output
    groups = json.loads(shown.stdout)["groups"]["p"]["groups"]
    assert {str(group["key"]) for group in groups} == {"1.5", "inf", "-inf"}


# --- terminals of all kinds -----------------------------------------------------------------------


def process(*arguments, **options):
    command = [sys.executable, "-m", "secant", "assess", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, **options)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_will_do(tmp_path, columns, encoding):
    columns["segment"] = np.where(columns["segment"] == "south", "Süd \u2192 \u0416", "x")
    file = write(tmp_path / "a.parquet", columns)
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = process(file, *NAMED, "--by", "segment", env=env)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode(encoding)
    whole = encoding == "utf-8"
    assert ("▁" in shown) is whole
    assert ("Süd \u2192 \u0416" if whole else "\\u2192 \\u0416") in shown


def test_a_reader_who_leaves_costs_neither_report_nor_exit_code(file, tmp_path):
    report = tmp_path / "report.html"
    command = [sys.executable, "-m", "secant", "assess", file, *NAMED, "--html", report]
    for gate, code in (((), 0), (("--alpha", "0.01"), 1)):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as gone:
            done = subprocess.run(
                [*command, *gate], check=False, stdout=gone, stderr=subprocess.PIPE
            )
        assert done.returncode == code, done.stderr
        assert done.stderr == b""
        assert report.exists()
        report.unlink()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_no_line_is_longer_than_the_terminal_and_no_number_is_cut(file, columns, width):
    shown = run(file, *NAMED, "--by", "segment", env={"COLUMNS": str(width)}).output
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    result = secant.assess(columns["happened"], columns["forecast"])
    if width >= 60:
        for number in (result.ecce_r.value, result.ecce_mad.value, *result.ecce_r.ci):
            assert wording.metric(number) in shown
        for each in secant.assess_by(
            columns["happened"], columns["forecast"], columns["segment"]
        ).rows:
            assert wording.metric(each.calibration.ecce_r.value) in shown


def test_names_cannot_steer_the_terminal(tmp_path, columns):
    columns["seg\x1b[2Jment"] = np.where(columns["segment"] == "south", "\x1b]0;title\x07", "a\nb")
    columns["fore\x1bcast"] = columns["forecast"]
    file = write(tmp_path / "a.parquet", columns)
    arguments = (*NAMED, "--y-prob", "fore\x1bcast", "--by", "seg\x1b[2Jment", "--alpha", "0.01")
    for more in ((), ("--quiet",)):
        shown = run(file, *arguments, *more).output
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "fore\\x1bcast: " in shown
        assert "\\x1b]0;title\\x07" in shown


def test_a_group_without_a_name_is_told_from_a_missing_one(tmp_path, columns):
    columns["segment"] = pyarrow.array(["", None] * 2000)
    shown = run(write(tmp_path / "a.parquet", columns), *NAMED, "--by", "segment").output
    assert "(empty)" in shown
    assert "(missing)" in shown


# --- the gate and exit codes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 0, None),
        (("--alpha", "0.01"), 1, "Gate crossed: ECCE-R"),
        (("--max-ecce-r", "0.02"), 1, "Gate crossed: ECCE-R"),
        (("--alpha", "0.01", "--max-ecce-r", "0.5"), 0, "Detectable, and within your tolerance"),
        (
            ("--alpha", "0.01", "--max-ecce-r", "0.02", "--y-prob", "better"),
            1,
            "better: Gate passed",
        ),
        (("--alpha", "1e-300"), 0, "Gate passed"),
    ],
)
def test_the_gate(file, options, code, words):
    for more in ((), ("--quiet",)):
        shown = run(file, *NAMED, *options, *more)
        assert shown.exit_code == code, shown.output
        assert words is None or words in " ".join(shown.output.split())


def test_impossible_outcomes_cross_the_gate_whatever_the_pvalue(tmp_path):
    rng = np.random.default_rng(0)
    p = np.append(rng.uniform(0.2, 0.8, 400), np.zeros(200))
    y = (rng.random(600) < p).astype(int)
    y[-2:] = 1
    file = write(tmp_path / "a.parquet", {"y": y, "p": p, "g": ["all"] * 600})
    reason = "; 2 impossible outcomes rule out chance, whatever the P-value."
    for more in ((), ("--quiet",)):
        shown = run(file, "--alpha", "0.01", *more)
        assert shown.exit_code == 1, shown.output
        words = " ".join(shown.output.split())
        assert "No miscalibration found beyond 2 impossible outcomes" in words
        assert words.endswith(reason)
        shown = run(file, "--max-ecce-r", "0.5", "--by", "g", *more)
        assert shown.exit_code == 0, shown.output
        words = " ".join(shown.output.split())
        assert "Detectable, and within your tolerance" in words
        assert "Gate passed by the only group" in words


def test_a_group_alone_can_cross_the_gate(tmp_path):
    rng = np.random.default_rng(4)
    p = rng.random(20_000)
    small = np.arange(20_000) < 600
    y = rng.random(20_000) < np.where(small, np.clip(p + 0.15, 0, 1), p - 0.0045)
    columns = {"y": y.astype(int), "p": p, "g": np.where(small, "small", "large")}
    file = write(tmp_path / "a.parquet", columns)
    gate = ("--alpha", "0.01", "--max-ecce-r", "0.05")
    assert run(file, *gate).exit_code == 0
    shown = run(file, "--by", "g", *gate)
    assert shown.exit_code == 1
    assert "Gate crossed by 1 of 2 groups: small" in " ".join(shown.output.split())


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
    shown = run(*(str(each).replace("{file}", str(file)) for each in arguments))
    assert shown.exit_code == 2, shown.output
    assert words in " ".join(shown.output.split())
    assert "Traceback" not in shown.output


def test_a_real_process_answers_with_its_exit_code(file):
    command = [sys.executable, "-m", "secant", "assess", str(file), *NAMED, "--alpha", "0.01", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Gate crossed" in done.stdout
    assert done.stderr == ""  # no progress bar where there is no terminal


def test_a_column_of_groups_that_is_not_there_is_found_out_before_the_work(file, monkeypatch):
    monkeypatch.setattr(secant, "assess", lambda *_, **__: pytest.fail("the work has begun"))
    shown = run(file, *NAMED, "--by", "nowhere")
    assert shown.exit_code == 2, shown.output
    assert "no column 'nowhere', which --by names" in " ".join(shown.output.split())


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (ZeroDivisionError, 3)])
def test_only_the_gate_exits_with_1(file, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(secant, "assess", fail)
    shown = run(file, *NAMED)
    assert shown.exit_code == code
    assert ("Interrupted." if code == 130 else "ZeroDivisionError") in shown.stderr


def test_help_has_examples_and_exit_codes():
    shown = run("--help").output
    for words in ("Examples:", "Exit codes:", "--max-ecce-r", "secant assess preds.parquet"):
        assert words in shown


def test_the_list_of_commands_cuts_no_sentence():
    from click.testing import CliRunner

    from secant.cli import cli

    shown = CliRunner().invoke(cli, ["--help"]).output
    commands = shown[shown.index("Commands:") :].splitlines()[1:]
    assert len(commands) == len(cli.commands)
    assert all(line.endswith(".") and not line.endswith("..") for line in commands)


def test_demo(tmp_path):
    from click.testing import CliRunner

    from secant.cli import cli

    shown = CliRunner().invoke(cli, ["demo", "--out", str(tmp_path / "demo")])
    assert shown.exit_code == 0, shown.output
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {"predictions.parquet", "stations.parquet", "report.html", "stations.html"}
    assert "Over scores 0.292 to 1.000 predictions are too high by 2.51 points" in " ".join(
        shown.output.split()
    )
    assert "1 of 3 groups is miscalibrated" in shown.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    from click.testing import CliRunner

    from secant.cli import cli

    shown = CliRunner().invoke(cli, ["completion", shell])
    assert shown.exit_code == 0
    assert "_SECANT_COMPLETE" in shown.output


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
    shown = run(file, *idle)
    assert shown.exit_code == 2
    assert needed in shown.output
