"""``secant monitor``: calibration watched period by period, from dated files."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from secant._base.ending import end_if_asked
from secant._input.periods import EVERY, written
from secant.cli._guess import FIRST_ROWS, guess, guessed_words
from secant.cli._outputs import STDOUT, emit, unusable
from secant.cli._refusal import refuse
from secant.cli._showing import marked
from secant.cli.assess import _label
from secant.errors import SecantError

if TYPE_CHECKING:
    from rich.console import Console

    from secant._api.monitor import Monitor
    from secant._api.monitor_files import Updated
    from secant._results.monitor import MonitorHistory

__all__ = ["command"]

_ALARM = 1


@dataclass(frozen=True)
class _Outcome:
    """What was found, and what it was found in."""

    files: tuple[str, ...]
    columns: dict[str, str | None]
    guessed: dict[str, str]
    settings: dict[str, Any]
    history: MonitorHistory
    updated: Updated
    started: datetime
    elapsed: float

    def to_dict(self) -> dict[str, Any]:
        import secant  # noqa: PLC0415  (for its version)

        return {
            "secant": secant.__version__,
            "files": list(self.files),
            "columns": self.columns,
            "guessed": self.guessed,
            "settings": self.settings,
            "started": self.started.isoformat(),
            "elapsed": self.elapsed,
            "added": [written(each) for each in self.updated.added],
            "known": [written(each) for each in self.updated.known],
            "later": [written(each) for each in self.updated.later],
            "monitor": self.history.to_dict(),
        }


@click.command("monitor", short_help="Watch calibration over time; look as often as you like.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--y-true", metavar="COL", help="Column of outcomes: 0 and 1, or see --pos-label.")
@click.option("--y-prob", metavar="COL", help="Column of predicted probabilities.")
@click.option(
    "--time",
    "time_column",
    metavar="COL",
    help="Column of dates, times or numbers that says which period a row belongs to. Unless "
    "given, the date in each file's name (2026-03-01 or 20260301).",
)
@click.option(
    "--every",
    type=click.Choice(EVERY),
    help="How long a period is; a day, unless given. Times that are no dates are periods as they "
    "are.",
)
@click.option(
    "--until",
    metavar="PERIOD",
    help="The last period to add: later ones wait until all their outcomes are known.",
)
@click.option("--pos-label", metavar="VALUE", help="The outcome that counts as the event.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="X",
    help="How far chances may lie from scores: 0.01 tolerates a point. 0 unless given.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="The probability of a false alarm, ever; 0.05 unless given.",
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the monitor is kept from run to run: read where it exists, and written.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page.")
@click.option(
    "--json",
    "json_to",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write every number; - prints them in place of the answer.",
)
@click.option("--title", help="Title of the page.")
@click.option("-q", "--quiet", is_flag=True, help="Print one line.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Watch calibration over time, with an alarm that looking often does not make false.

    Each period (a day, a week, a month) is a batch. The alarm is raised when the evidence against
    calibration reaches 1 / alpha, and says since when and at which scores. However often you look,
    a calibrated model ever raises it with a probability of at most alpha.

    FILES are Parquet, CSV (also .csv.gz) or Feather; several files, a glob in quotes or a folder
    are read as one table. With --state a growing folder can be given again and again: a period
    that is known, with the same sums, is skipped; one with other sums is refused, and so is a new
    one that comes before the last.

    \b
    Examples:
      secant monitor 'preds/*.parquet' --state monitor.json --html monitor.html
      secant monitor preds.parquet --time date --every week --tolerance 0.01
      secant monitor 'day=*/*.parquet' --time day --until 2026-03-31 --state monitor.json -q
      secant monitor preds.csv --time date --json - | jq .monitor.alarm

    A period belongs in it when all its outcomes are known; those that arrive early are often the
    ones that happened. And every row must be new: where the same customers return every day with
    the same outcome, one surprise counts many times, and alarms are false far more often.

    \b
    Exit codes:
      0  fine: no alarm
      1  an alarm, in this run or an earlier one of the same state
      2  bad input or usage
      3  a defect of secant itself
    130  interrupted
    """
    try:
        _check(options)
        _run(ctx, options)
    except (SecantError, OSError) as error:
        refuse(error)


def _check(options: dict[str, Any]) -> None:
    """Refuse before the work what could not be done after it."""
    from secant.sources.files.paths import find  # noqa: PLC0415  (not for `secant --help`)

    if options["html"] == STDOUT:
        raise click.UsageError("--html -: a page is a file; only --json can be printed")
    if options["title"] is not None and options["html"] is None:
        raise click.UsageError("--title does nothing without --html.")
    names = {"--html": "html", "--json": "json_to", "--state": "state"}
    outputs = {option: options[name] for option, name in names.items()}
    inputs = [found.path for found in find(list(options["files"]))]
    if wrong := unusable(outputs, inputs):
        refuse(wrong)


def _run(ctx: click.Context, options: dict[str, Any]) -> None:
    json_to = options["json_to"]
    outcome, monitor = _watch(options)
    # Files first: whoever reads what is printed may leave before its end. The state last, so that
    # a run whose page could not be written can be repeated.
    wrote = [_page(outcome, options), _json(outcome, json_to)]
    if options["state"] is not None and outcome.updated.added:
        monitor.save(options["state"])
        wrote.append(options["state"])
    end_if_asked()
    if json_to == STDOUT and outcome.guessed:
        emit(f"{guessed_words(outcome.guessed)}\n", err=True)
    emit(_text(outcome) if json_to == STDOUT else _printed(outcome, options["quiet"]))
    if not options["quiet"]:
        for path in wrote:
            if path is not None:
                emit(f"Wrote {path}\n", err=json_to == STDOUT)
    if outcome.history.alarm:
        ctx.exit(_ALARM)


def _watch(options: dict[str, Any]) -> tuple[_Outcome, Monitor]:
    """Feed the monitor what is new in the files."""
    from secant._api.monitor_files import add_files  # noqa: PLC0415  (not for `secant --help`)
    from secant.sources.files.source import column_kinds, two_valued  # noqa: PLC0415

    started, start = datetime.now(UTC).astimezone(), time.monotonic()
    files, when = list(options["files"]), options["time_column"]
    monitor = _monitor(options)
    kinds = column_kinds(files)
    named = () if options["y_prob"] is None else (options["y_prob"],)
    rivals = partial(two_valued, files, most=FIRST_ROWS)
    y_true, (y_prob, *_), guessed = guess(kinds, options["y_true"], named, {when} - {None}, rivals)
    settings = {
        "alpha": monitor.alpha,
        "tolerance": monitor.tolerance,
        "every": options["every"],
        "until": options["until"],
        "pos_label": _label(options["pos_label"], kinds.get(y_true)),
    }
    updated = add_files(
        monitor,
        files,
        y_true,
        y_prob,
        time=when,
        every=options["every"],
        until=options["until"],
        pos_label=settings["pos_label"],
    )
    outcome = _Outcome(
        files=tuple(files),
        columns={"y_true": y_true, "y_prob": y_prob, "time": when},
        guessed=guessed,
        settings=settings,
        history=monitor.history,
        updated=updated,
        started=started,
        elapsed=time.monotonic() - start,
    )
    return outcome, monitor


def _monitor(options: dict[str, Any]) -> Monitor:
    """Return the monitor that is kept, or a new one."""
    from secant._api.monitor import Monitor, kept_at  # noqa: PLC0415  (not for `secant --help`)

    path = options["state"]
    asked = {name: options[name] for name in ("alpha", "tolerance") if options[name] is not None}
    if path is None:
        return Monitor(**asked)
    monitor = kept_at(path, **asked)
    for name, value in asked.items():
        if value != getattr(monitor, name):
            raise click.UsageError(
                f"--{name} {value:g}: {path} was begun with {getattr(monitor, name):g}, and what a "
                "monitor tolerates cannot change on the way. Begin a new state."
            )
    return monitor


# Output -------------------------------------------------------------------------------------------


def _printed(outcome: _Outcome, quiet: bool) -> str:  # noqa: FBT001
    """Return what is to be printed, with the colours and the width of where it goes."""
    from secant.cli._terminal import terminal  # noqa: PLC0415  (not for `secant --help`)

    console = terminal()
    with console.capture() as captured:
        _show(console, outcome, quiet=quiet)
    return captured.get()


def _show(console: Console, outcome: _Outcome, *, quiet: bool) -> None:
    """Print the answer, then what was added."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    from secant._results.wording import visible  # noqa: PLC0415

    history, guessed = outcome.history, guessed_words(outcome.guessed)
    if quiet:
        told = history.story if history.alarm else history.evidence_words
        line = f"{history.headline}. {told} {guessed}".rstrip()
        console.print(visible(line), markup=False, soft_wrap=True)
        return
    words = Text()
    words.append(visible(f"{history.headline}. "), "bold red" if history.alarm else "bold green")
    words.append(visible(history.story))
    if guessed:
        words.append(f" {guessed}", "bold")
    console.print(words)
    if history.periods:
        console.print(Text(visible(f"{history.evidence_words} {history.extent}"), "dim"))
    for note in history.notes:
        console.print(Text(f"Note: {note}", "yellow"))
    console.print(Text(visible(_added(outcome.updated))))


def _added(updated: Updated) -> str:
    """Say what became of the periods in the files."""
    if not updated.added:
        said = "Nothing new was added"
    elif len(updated.added) == 1:
        said = f"Added {written(updated.added[0])}"
    else:
        first, last = written(updated.added[0]), written(updated.added[-1])
        said = f"Added {len(updated.added):,} periods, {first} to {last}"
    if updated.known:
        said += f"; {len(updated.known):,} known before, with the same sums"
    if updated.later:
        said += f"; {len(updated.later):,} left for later, from {written(updated.later[0])}"
    return f"{said}."


def _text(outcome: _Outcome) -> str:
    return json.dumps(outcome.to_dict(), indent=2, allow_nan=False, default=str) + "\n"


def _json(outcome: _Outcome, path: Path | None) -> Path | None:
    if path is None or path == STDOUT:
        return None
    from secant._base.writing import write_whole  # noqa: PLC0415  (as above)

    write_whole(path, _text(outcome).encode())
    return path


def _page(outcome: _Outcome, options: dict[str, Any]) -> Path | None:
    path: Path | None = options["html"]
    if path is None:
        return None
    from secant import report  # noqa: PLC0415  (as above)

    roles = {"y_true": "outcome", "y_prob": "forecast", "time": "time"}
    columns = {roles[key]: name for key, name in outcome.columns.items() if name is not None}
    about = report.Provenance(
        files=outcome.files,
        columns=marked(columns, outcome.guessed),
        command=shlex.join(["secant", *sys.argv[1:]]),
        started=outcome.started,
        elapsed=outcome.elapsed,
    )
    report.write_monitor(path, outcome.history, title=options["title"], provenance=about)
    return path
