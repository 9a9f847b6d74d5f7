"""``secant monitor``: from dated files to an alarm, a state and a page."""

import json
import os
import subprocess
import sys
from datetime import date, timedelta

import numpy as np
import pytest

import secant
from commands import command
from helpers import PACKAGE, optional
from secant._api import monitor_files

click = optional("click")
optional("rich")
pyarrow = optional("pyarrow")
from pyarrow import parquet  # noqa: E402

START = date(2026, 1, 1)


def run(*arguments, **options):
    """Run the command line in this process."""
    return command("monitor", *arguments, **options)


def write(folder, number, *, off=False, n=600):
    rng = np.random.default_rng(number)
    scores = rng.random(n)
    happened = (rng.random(n) < (scores**1.5 if off else scores)).astype(np.int8)
    table = pyarrow.table({"happened": happened, "forecast": scores})
    parquet.write_table(table, folder / f"preds-{START + timedelta(number)}.parquet")


@pytest.fixture
def calm(tmp_path):
    folder = tmp_path / "calm"
    folder.mkdir()
    for number in range(5):
        write(folder, number)
    return folder


@pytest.fixture
def off(tmp_path):
    folder = tmp_path / "off"
    folder.mkdir()
    for number in range(8):
        write(folder, number, off=number >= 4)
    return folder


def test_no_alarm(calm):
    shown = run(calm)
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    assert "Guessed: --y-prob forecast, --y-true happened" in words
    assert "No alarm in 5 batches. No scores are seen to be off." in words
    assert "Added 5 periods, 2026-01-01 to 2026-01-05." in words


def test_an_alarm(off, tmp_path):
    shown = run(off, "--json", tmp_path / "found.json")
    assert shown.exit_code == 1, shown.output
    words = " ".join(shown.output.split())
    found = json.loads((tmp_path / "found.json").read_text())
    monitor = found["monitor"]
    assert monitor["alarm"]
    assert f"Alarm at {monitor['alarm_time']}: not calibrated." in words
    assert monitor["since"] in {"2026-01-04", "2026-01-05"}
    assert monitor["where"]["direction"] == "too high"
    assert found["columns"] == {"y_true": "happened", "y_prob": "forecast", "time": None}
    assert len(found["added"]) == 8


def test_quiet_is_one_line(calm, off):
    for folder in (calm, off):
        shown = run(folder, "-q")
        assert len(shown.stdout.splitlines()) == 1
        assert shown.stdout.endswith("Guessed: --y-prob forecast, --y-true happened.\n")


def test_json_on_standard_output(off):
    shown = run(off, "--json", "-")
    assert json.loads(shown.stdout)["monitor"]["alarm"] is True
    assert shown.exit_code == 1


def test_a_state_grows_with_the_folder(calm, tmp_path):
    state = tmp_path / "monitor.json"
    assert run(calm, "--state", state).exit_code == 0
    write(calm, 5)
    shown = run(calm, "--state", state)
    assert "Added 2026-01-06; 5 known before, with the same sums." in shown.output
    straight = secant.Monitor()
    for path in sorted(calm.iterdir()):
        straight.add("happened", "forecast", data=path, time=date.fromisoformat(path.stem[6:]))
    assert secant.Monitor.load(state).to_dict() == straight.to_dict()
    stamp = state.stat().st_mtime_ns
    shown = run(calm, "--state", state)
    assert "Nothing new was added; 6 known before" in shown.output
    assert state.stat().st_mtime_ns == stamp


def test_an_old_alarm_is_still_one(off, tmp_path):
    state = tmp_path / "monitor.json"
    assert run(off, "--state", state).exit_code == 1
    assert run(off, "--state", state, "-q").exit_code == 1


def test_a_changed_period_is_refused_and_the_state_kept(calm, tmp_path):
    state = tmp_path / "monitor.json"
    run(calm, "--state", state)
    content = state.read_bytes()
    write(calm, 2, n=599)
    write(calm, 7)
    shown = run(calm, "--state", state)
    assert shown.exit_code == 2
    assert "Error: --time: the period 2026-01-03 was added with 600 predictions" in shown.output
    assert state.read_bytes() == content


def test_later_periods_wait(calm):
    shown = run(calm, "--until", "2026-01-03")
    assert "Added 3 periods" in shown.output
    assert "2 left for later, from 2026-01-04." in " ".join(shown.output.split())


def test_settings_belong_to_the_state(calm, tmp_path):
    state = tmp_path / "monitor.json"
    assert run(calm, "--state", state, "--tolerance", 0.02, "--alpha", 0.01).exit_code == 0
    monitor = secant.Monitor.load(state)
    assert (monitor.tolerance, monitor.alpha) == (0.02, 0.01)
    assert run(calm, "--state", state, "--tolerance", 0.02).exit_code == 0
    shown = run(calm, "--state", state, "--tolerance", 0.03)
    assert shown.exit_code == 2
    assert "was begun with 0.02" in shown.output


def test_a_page(off, tmp_path):
    page = tmp_path / "page.html"
    shown = run(off, "--html", page, "--title", "Churn <b>")
    assert f"Wrote {page}" in " ".join(shown.output.split())
    text = page.read_text()
    assert "Churn &lt;b&gt;" in text
    assert "Evidence over time" in text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--time", "day"], "has no column 'day', which --time names"),
        (["--title", "x"], "--title does nothing without --html"),
        (["--html", "-"], "a page is a file"),
        (["--every", "year"], "is not one of 'day', 'week', 'month'"),
        (["--alpha", "0"], "--alpha"),
        (["--tolerance", "1"], "--tolerance"),
        (["--html", "nowhere/page.html"], "there is no folder nowhere"),
        (["--y-prob", "happened"], "which column holds the outcomes"),
    ],
)
def test_bad_usage(calm, options, complaint):
    shown = run(calm, *options)
    assert shown.exit_code == 2
    assert complaint.lower() in " ".join(shown.output.split()).lower()


def test_a_damaged_state_is_refused(calm, tmp_path):
    state = tmp_path / "monitor.json"
    state.write_text("{}")
    shown = run(calm, "--state", state)
    assert shown.exit_code == 2
    assert "is not the state of a secant.Monitor" in shown.output
    assert state.read_text() == "{}"


def test_a_state_among_the_files_is_not_overwritten(calm):
    path = next(calm.iterdir())
    shown = run(calm, "--state", path)
    assert shown.exit_code == 2
    assert "would be overwritten" in shown.output


def test_help_says_what_matters():
    words = " ".join(run("--help").output.split())
    assert "However often you look" in words
    assert "every row must be new" in words
    assert "when all its outcomes are known" in words
    for option in ("--time", "--every", "--until", "--tolerance", "--alpha", "--state", "--html"):
        assert option in words


def test_a_process_of_its_own(off, tmp_path):
    command = [sys.executable, "-W", "error", "-m", "secant", "monitor", str(off), "--state"]
    command += [str(tmp_path / "state.json"), "--html", str(tmp_path / "page.html")]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Alarm at" in done.stdout
    assert (tmp_path / "page.html").exists()
    assert secant.Monitor.load(tmp_path / "state.json").alarm


def test_no_period_is_lost_between_two_runs_at_once(calm, tmp_path):
    """Whichever comes first: what a run has added without complaint is in the state."""
    state = tmp_path / "monitor.json"
    assert run(calm, "--state", state, "--until", "2026-01-03").exit_code == 0
    before = state.read_bytes()
    days = {day: f"2026-01-0{day}" for day in (4, 5)}
    for _ in range(3):
        state.write_bytes(before)
        begun = {}
        for day, name in days.items():
            line = [sys.executable, "-m", "secant", "monitor", calm / f"preds-{name}.parquet"]
            begun[day] = subprocess.Popen(
                [*line, "--state", state, "-q"], stderr=subprocess.PIPE, text=True
            )
        said = {day: process.communicate()[1] for day, process in begun.items()}
        kept = {str(each.time) for each in secant.Monitor.load(state).history}
        for day, process in begun.items():
            assert process.returncode in {0, 2}, said
            assert (process.returncode == 0) == (days[day] in kept)
        assert len(kept) > 3


def test_a_run_whose_state_was_written_meanwhile_says_so(calm, tmp_path, monkeypatch):
    state = tmp_path / "monitor.json"
    assert run(calm, "--state", state).exit_code == 0
    write(calm, 5)
    other = secant.Monitor.load(state)
    after = monitor_files.add_files

    def meanwhile(*arguments, **options):
        other.add([0, 1], [0.5, 0.5], time=date(2026, 1, 9))
        other.save(state)
        return after(*arguments, **options)

    monkeypatch.setattr(monitor_files, "add_files", meanwhile)
    shown = run(calm, "--state", state)
    assert shown.exit_code == 2
    assert "is not what it was when this process read it" in " ".join(shown.stderr.split())
    assert secant.Monitor.load(state).to_dict() == other.to_dict()
