"""Clusters of separate processes on this machine, one of them killed in the middle of the work."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional
from makers import arrow

HERE = Path(__file__).parent
TOO_LONG = 600
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(map(str, [PACKAGE.parent, ROOT / "examples"])),
    "PYTHONWARNINGS": "default",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


@pytest.fixture
def predictions(tmp_path):
    """Write a set of Parquet files in folders by day; return its path and what it holds."""
    optional("narwhals")
    dataset, pa = optional("pyarrow.dataset"), optional("pyarrow")
    n, rng = 400_000, np.random.default_rng(0)
    forecast = rng.random(n)
    columns = {
        "happened": (rng.random(n) < forecast**1.02).astype(np.int64),
        "forecast": forecast,
        "day": np.arange(n) % 24,
    }
    partitioning = dataset.partitioning(pa.schema([("day", pa.int64())]), flavor="hive")
    dataset.write_dataset(
        arrow(columns), tmp_path / "set", format="parquet", partitioning=partitioning
    )
    return str(tmp_path / "set"), columns


def assert_exact(found, columns):
    wanted = secant.assess(columns["happened"], columns["forecast"]).to_dict()
    for metric in ("ecce_r", "ecce_mad"):
        for number in ("value", "normalized", "pvalue"):
            assert abs(found[metric][number] - wanted[metric][number]) <= 1e-12
    for name in ("low", "high", "n"):
        assert found["worst"][name] == wanted["worst"][name]
    assert found["n"] == wanted["n"]


@contextmanager
def running(*command, **options):
    """Run a program, and end it and all it has started, whatever happens."""
    process = subprocess.Popen(
        [str(part) for part in command], env=ENVIRONMENT, start_new_session=True, **options
    )
    watchdog = threading.Timer(TOO_LONG, end, [process])  # nobody waits for what has stopped
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        end(process)
        if process.stdout:
            process.stdout.close()


def end(process):
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(pattern, log, process):
    """Wait until a program has written something to its log, and return the match."""
    while True:
        text = log.read_text()
        if match := re.search(pattern, text):
            return match
        assert process.poll() is None, text
        time.sleep(0.05)


@contextmanager
def spark_cluster(folder):
    """Start a master and two workers of one core each; return the address and the workers."""
    program = Path(optional("pyspark").__file__).parent / "bin" / "spark-class"
    ends = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:

        def start(name, *arguments):
            log = folder / f"{name}.log"
            output = stack.enter_context(log.open("w"))
            command = program, f"org.apache.spark.deploy.{arguments[0]}", *ends, *arguments[1:]
            told = {"stdout": output, "stderr": subprocess.STDOUT, "cwd": folder}
            return stack.enter_context(running(*command, **told)), log

        master, log = start("master", "master.Master", "--port", "0")
        address = wait_for(r"Starting Spark master at (spark://[\d.:]+)", log, master)[1]
        workers = []
        for name in ("one", "two"):
            size = "-c", "1", "-m", "1g", "-d", folder / f"{name}.work"
            worker, log = start(name, "worker.Worker", *size, address)
            wait_for("Successfully registered with master", log, worker)
            workers.append(worker)
        yield address, workers


@pytest.mark.long
def test_spark_loses_a_worker(predictions, tmp_path):
    folder, columns = predictions
    with spark_cluster(tmp_path) as (master, workers), (tmp_path / "driver.log").open("w") as log:
        command = sys.executable, HERE / "drive_spark.py", master, folder
        told = {"stdout": subprocess.PIPE, "stderr": log, "text": True, "cwd": tmp_path}
        with running(*command, **told) as driver:
            assert driver.stdout.readline() == "middle\n", (tmp_path / "driver.log").read_text()
            end(workers[0])
            answer = driver.stdout.read()
            assert driver.wait() == 0, (tmp_path / "driver.log").read_text()
    answer = json.loads(answer)
    assert answer["executors left"] == 1
    assert_exact(answer["result"], columns)


@pytest.mark.long
def test_dask_loses_a_worker(predictions, tmp_path):
    optional("distributed")
    folder, columns = predictions
    command = sys.executable, HERE / "drive_dask.py", folder
    with (tmp_path / "driver.log").open("w") as log:
        told = {"stdout": subprocess.PIPE, "stderr": log, "text": True, "cwd": tmp_path}
        with running(*command, **told) as driver:
            answer = driver.stdout.read()
            assert driver.wait() == 0, (tmp_path / "driver.log").read_text()
    answer = json.loads(answer)
    assert answer["killed"]
    assert len(set(answer["before"]) & set(answer["after"])) == 1  # the other one is new
    assert_exact(answer["result"], columns)
