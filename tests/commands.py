"""The command line, run by a test, and files for it."""

import inspect
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np

# The options that name the columns of `table`.
NAMED = ("--y-true", "happened", "--y-prob", "forecast")


def command(*arguments, **options):
    """Run a command in this process."""
    from click.testing import CliRunner

    from secant.cli import cli

    words = list(map(str, arguments))
    if "mix_stderr" not in inspect.signature(CliRunner).parameters:
        return CliRunner().invoke(cli, words, prog_name="secant", **options)
    # Before click 8.2 what is printed comes either together or apart, and tests ask for both.
    done = CliRunner(mix_stderr=False).invoke(cli, words, prog_name="secant", **options)
    parts = {name: getattr(done, name) for name in ("exit_code", "exception", "stdout", "stderr")}
    return SimpleNamespace(**parts, output=done.stderr + done.stdout)


def assess(*arguments, **options):
    """Run ``secant assess`` in this process."""
    return command("assess", *arguments, **options)


def wide(*arguments):
    """Run ``secant assess`` in this process, on a terminal where lines have room."""
    return assess(*arguments, env={"COLUMNS": "200"})


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


def found(gate=None, scores=("forecast", "better"), *, groups=True):
    """Return what the command finds in `table`, to be shown."""
    import secant
    from secant.cli._outcome import Columns, Outcome

    data = table()
    label = data["happened"]
    models = {name: secant.assess(label, data[name]) for name in scores}
    by = {name: secant.assess_by(label, data[name], data["segment"]) for name in scores}
    return Outcome(
        files=("preds.parquet",),
        columns=Columns("happened", scores, None, ("segment",)),
        guessed={},
        settings={},
        models=models,
        groups=by if groups else {},
        segments={},
        gate=gate,
        started=datetime(2022, 1, 1, tzinfo=UTC),
        elapsed=1.0,
    )
