"""Every example runs as a user starts it, and does what it says."""

import os
import re
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional
from makers import arrow

# Why an example does nothing but say what it needs, when it is started without arguments.
WAITS = {
    "dask_cluster": "needs the address of a Dask cluster; tests/sources/drive_dask.py starts one",
    "spark_cluster": "needs that of a Spark cluster; tests/sources/drive_spark.py starts one",
}
TORCH = ("torch", "torchmetrics")
LIBRARIES = {
    "daily_monitor": ("pyarrow.parquet",),
    "dask_cluster": ("dask.dataframe", "distributed"),
    "lightning_module": (*TORCH, "pytorch_lightning"),
    "plot_ece": ("matplotlib",),
    "plot_how_it_works": ("matplotlib",),
    "plot_planning": ("matplotlib",),
    "plot_reading": ("matplotlib",),
    "recalibrate": ("sklearn",),
    "segments_diabetes": ("sklearn",),
    "spark_cluster": ("pyspark",),
    "temperature_scaling": TORCH,
    "token_confidence": TORCH,
    "torch_loop": TORCH,
}
NAMES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def start(name, folder, *arguments):
    """Run an example in a process of its own, in a folder."""
    for library in LIBRARIES.get(name, ()):
        optional(library)
    script = ROOT / "examples" / f"{name}.py"
    surroundings = {
        "PYTHONPATH": str(PACKAGE.parent),  # in place of `pip install secant`
        "MPLBACKEND": "agg",  # no windows
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", str(script), *map(str, arguments)],
        cwd=folder,
        env=os.environ | surroundings,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_in_an_empty_folder(name, tmp_path):
    if name == "recalibrate":
        pytest.importorskip("sklearn", "1.8", reason="scales temperatures since 1.8")
    run = start(name, tmp_path)
    assert not list(tmp_path.iterdir())
    if name in WAITS:
        assert (run.returncode, run.stdout) == (2, "")
        assert re.match(rf"usage: {name}\.py .*\n.* required: \w+, folder\n\Z", run.stderr)
    else:
        assert (run.returncode, run.stderr) == (0, "")
        CHECKS[name](run.stdout)


def test_tables_name_examples():
    assert set(CHECKS) | set(WAITS) == set(NAMES)
    assert set(LIBRARIES) < set(NAMES)


# What each prints ---------------------------------------------------------------------------------


def repeated_questions(printed):
    alone, together = printed.split("As 400 questions:")
    assert "Miscalibrated" in alone
    assert "question has 10 rows each" in alone
    assert "No miscalibration found" in together
    assert "4,000 predictions among 400 clusters" in together


def three_days(printed):
    table = printed.partition("\nday ")[2].splitlines()
    assert [line[:10] for line in table[1:4]] == DAYS
    assert table[4].startswith(f"Alarm at {DAYS[-1]}: not calibrated within 0.005.")


def logs(printed):
    sure, right = printed.split("\nInspect, ")
    assert "Miscalibrated: too high" in sure
    assert "No miscalibration found" in right
    assert "300 clusters" in right


def logged_by_lightning(printed):
    logged = dict(line.split() for line in printed.splitlines())
    assert set(logged) == {"val/ecce_r", "val/ecce_mad", "val/pvalue"}
    assert 0 < float(logged["val/ecce_mad"]) <= float(logged["val/ecce_r"]) < 0.2


def recalibrated(printed):
    before, temperature, isotonic, compared = printed.split("\n\n")
    assert before.startswith("as it is: Miscalibrated: too low on average, and too extreme. ")
    assert "What usually helps: temperature or beta scaling" in before
    assert temperature.startswith("temperature: Miscalibrated: alternating, 3 times. ")
    assert "What usually helps: isotonic regression" in temperature
    assert isotonic.startswith("isotonic: No miscalibration found. ")
    assert "Model B is closer to calibration than model A." in compared
    # The table of the page.
    page = (ROOT / "docs" / "recalibrate.md").read_text(encoding="utf-8")
    for text in (before, temperature, isotonic):
        for number in re.search(
            r"ECCE-R ([\d.]+), .*Brier score ([\d.]+)[,;] .*log loss ([\d.]+)\.", text, re.DOTALL
        ).groups():
            assert f"| {number} |" in page


def patients(printed):
    whole, segments = printed.split("\n\n", 1)
    assert whole.startswith("No miscalibration found.")
    assert "log triglycerides" in segments.splitlines()[-1]


def customers(printed):
    whole, segments = printed.split("\n\n", 1)
    assert whole.startswith("No miscalibration found.")
    assert segments.startswith("2 of 124 segments searched are miscalibrated")
    assert "region = north and age 18 to 30" in segments


def temperature(printed):
    found, before, after = printed.split("\n\n")[:3]
    assert 1.4 < float(found.split()[1]) < 1.6
    assert before.startswith("before: Miscalibrated: too high on average, and too extreme.")
    assert after.startswith("after: No miscalibration found.")


def grows_overconfident(printed):
    _, early, late, cells = printed.splitlines()
    assert float(late.split()[1]) > 2 * float(early.split()[1])
    assert cells.startswith("<secant.Cells: 20,000 predictions")


def trusts_itself_too_much(printed):
    assert printed.startswith("Miscalibrated: too high on average, and too extreme.")


def one_of_two_is_too_high(printed):
    calibrated, high, *verdict = printed.splitlines()
    assert calibrated.startswith("calibrated: ECCE-R P = 0.")
    assert high.startswith("too high: ECCE-R P = 2.1e-08")
    assert verdict[0].startswith("Miscalibrated: too high.")


def the_same_twice(printed):
    first, second = re.search(r"^([\d.]+) ([\d.]+)$", printed, re.MULTILINE).groups()
    assert first == second


def smaller_takes_more(printed):
    rows = [line.replace(",", "").split(": ") for line in printed.splitlines()]
    assert len(rows) == 4
    assert sorted(rows, key=lambda row: int(row[1])) == rows
    assert sorted(rows, key=lambda row: -float(row[0])) == rows


CHECKS = {
    "clusters_questions": repeated_questions,
    "daily_monitor": three_days,
    "evaluation_logs": logs,
    "lightning_module": logged_by_lightning,
    "plot_ece": one_of_two_is_too_high,
    "plot_how_it_works": the_same_twice,
    "plot_planning": smaller_takes_more,
    "plot_reading": the_same_twice,
    "recalibrate": recalibrated,
    "segments_diabetes": patients,
    "segments_hidden": customers,
    "temperature_scaling": temperature,
    "token_confidence": trusts_itself_too_much,
    "torch_loop": grows_overconfident,
}


# The daily monitor, with files of one's own -------------------------------------------------------

DAYS = ["2026-02-28", "2026-03-01", "2026-03-02"]


@pytest.fixture
def days(tmp_path):
    """Write a file of predictions for each of three days, the last of them miscalibrated."""
    parquet, rng = optional("pyarrow.parquet"), np.random.default_rng(0)
    made = {}
    for day in DAYS:
        forecast = rng.random(20_000)
        chance = forecast**1.5 if day == DAYS[-1] else forecast
        made[day] = {"happened": (rng.random(20_000) < chance).astype(int), "forecast": forecast}
        parquet.write_table(arrow(made[day]), tmp_path / f"{day}.parquet", row_group_size=7000)
    return made


def test_the_daily_monitor(days, tmp_path):
    def monitor(*arguments, alarm=False):
        run = start("daily_monitor", tmp_path, *arguments)
        assert (run.returncode, run.stderr) == (int(alarm), "")
        return run.stdout

    by_hand = secant.Monitor(tolerance=0.005)
    for day in DAYS:
        monitor("add", "monitor.json", day, f"{day}.parquet", alarm=day == DAYS[-1])
        by_hand.add(days[day]["happened"], days[day]["forecast"], time=date.fromisoformat(day))
    assert secant.Monitor.load(tmp_path / "monitor.json").to_dict() == by_hand.to_dict()

    shown = monitor("show", "monitor.json", alarm=True)
    table = shown.splitlines()
    assert [line[:10] for line in table[1:4]] == DAYS
    assert table[3].split()[1] == "20,000"
    assert table[4].startswith(f"Alarm at {DAYS[-1]}: not calibrated within 0.005.")

    # A day added again counts once, and nothing but the state is left behind.
    monitor("add", "monitor.json", DAYS[-1], f"{DAYS[-1]}.parquet", alarm=True)
    assert monitor("show", "monitor.json", alarm=True) == shown
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"{day}.parquet" for day in DAYS),
        "monitor.json",
    ]


@pytest.mark.parametrize("arguments", ["add", "add a b c", "show", "remove a"])
def test_the_daily_monitor_says_how_it_is_used(arguments, tmp_path):
    run = start("daily_monitor", tmp_path, *arguments.split())
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("usage: daily_monitor.py ")
    assert "Traceback" not in run.stderr
