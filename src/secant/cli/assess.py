"""``secant assess``: from files of predictions to a verdict."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from secant._input.options import Adjust, Method, WeightKind, words
from secant.cli._guess import guess, notes
from secant.cli._outputs import STDOUT, emit, unusable
from secant.cli._refusal import refuse
from secant.errors import SecantError

if TYPE_CHECKING:
    from rich.console import Console

    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration
    from secant._results.gate import Gate, GroupsStand, Stand
    from secant._results.models import Models

__all__ = ["command"]

_GATE_CROSSED = 1
# Options that say how to do what another one asks for.
_GOES_WITH = {
    "weight_kind": "weight",
    "adjust": "by",
    "depth": "segments",
    "min_rows": "segments",
    "title": "html",
}


@dataclass(frozen=True)
class _Columns:
    """The columns in use."""

    y_true: str
    y_prob: tuple[str, ...]
    weight: str | None
    by: tuple[str, ...]
    segments: tuple[str, ...] = ()
    clusters: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "y_true": self.y_true,
            "y_prob": list(self.y_prob),
            "weight": self.weight,
            "by": list(self.by),
            **({"segments": list(self.segments)} if self.segments else {}),
            **({"clusters": self.clusters} if self.clusters is not None else {}),
        }


@dataclass(frozen=True)
class _Outcome:
    """What was found, and what it was found in."""

    files: tuple[str, ...]
    columns: _Columns
    guessed: dict[str, str]
    settings: dict[str, Any]
    models: dict[str, Calibration]
    groups: dict[str, Assessments]
    segments: dict[str, Assessments]
    gate: Gate | None
    started: datetime
    elapsed: float

    @cached_property
    def ranked(self) -> Models:
        """The models in order, compared with each other."""
        from secant._api.assess_models import ranked  # noqa: PLC0415  (not for `secant --help`)

        return ranked(self.models)

    @cached_property
    def stands(self) -> dict[str, Stand]:
        """How each model stands with the gate."""
        return {} if self.gate is None else self.gate.judge_models(self.models)

    @cached_property
    def group_stands(self) -> dict[str, GroupsStand]:
        """How the groups of each model stand with it."""
        return self._judged(self.groups)

    @cached_property
    def segment_stands(self) -> dict[str, GroupsStand]:
        """How the segments found for each model stand with it."""
        return self._judged(self.segments)

    def _judged(self, tables: dict[str, Assessments]) -> dict[str, GroupsStand]:
        if self.gate is None:
            return {}
        models = len(self.models)
        return {name: self.gate.judge_groups(each, models) for name, each in tables.items()}

    @property
    def crossed(self) -> bool:
        """Whether any model, or any group or segment of any model, crosses the gate."""
        tables = *self.group_stands.values(), *self.segment_stands.values()
        return any(each.crossed for each in self.stands.values()) or any(
            each.crossing for each in tables
        )

    def to_dict(self) -> dict[str, Any]:
        import secant  # noqa: PLC0415  (for its version)
        from secant._results.assessments import plain_name  # noqa: PLC0415
        from secant._results.parts import SCHEMA  # noqa: PLC0415

        found: dict[str, Any] = {
            "schema": SCHEMA,
            "secant": secant.__version__,
            "files": list(self.files),
            "columns": self.columns.to_dict(),
            "guessed": self.guessed,
            "settings": self.settings,
            "started": self.started.isoformat(),
            "elapsed": self.elapsed,
            "models": {name: result.to_dict() for name, result in self.models.items()},
        }
        if len(self.models) > 1:
            found["best_first"] = list(self.ranked)
            compared = self.ranked.comparisons.items()
            found["comparisons"] = {name: each.to_dict() for name, each in compared}
        if self.groups:
            found["groups"] = {name: groups.to_dict() for name, groups in self.groups.items()}
        if self.segments:
            found["segments"] = {name: each.to_dict() for name, each in self.segments.items()}
        if self.gate is not None:
            found["gate"] = {
                "alpha": self.gate.alpha,
                **self.gate.limits,
                "crossed": self.crossed,
                "models": [name for name, stand in self.stands.items() if stand.crossed],
                "judgements": {name: stand.to_dict() for name, stand in self.stands.items()},
            }
            if self.groups:
                found["gate"]["groups"] = {
                    name: [plain_name(key) for key in stands.crossing]
                    for name, stands in self.group_stands.items()
                }
                found["gate"]["group_judgements"] = {
                    name: [
                        {"key": plain_name(key), "judgements": stand.to_dict()}
                        for key, stand in zip(stands.keys, stands.stands, strict=True)
                    ]
                    for name, stands in self.group_stands.items()
                }
            if self.segments:
                found["gate"]["segments"] = {
                    name: list(stands.crossing) for name, stands in self.segment_stands.items()
                }
        return found


@click.command("assess", short_help="Say whether predictions are calibrated, and where not.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--y-true", metavar="COL", help="Column of outcomes: 0 and 1, or see --pos-label.")
@click.option(
    "--y-prob",
    multiple=True,
    metavar="COL",
    help="Column of predicted probabilities; give it again for each further model.",
)
@click.option("--weight", metavar="COL", help="Column of weights.")
@click.option(
    "--weight-kind",
    type=click.Choice(words(WeightKind)),
    default="sampling",
    show_default=True,
    help="Whether weights correct for sampling, or count copies of rows.",
)
@click.option(
    "--outcome-weights",
    metavar="W0,W1",
    help="What rows of outcome 0 and of outcome 1 weigh, where rows were kept by their outcome: "
    "20,1 if of the failures one in twenty was kept, and every event.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COL",
    help="Column of groups; again for combinations of several.",
)
@click.option(
    "--clusters",
    metavar="COL",
    help="Column that tells which rows belong together: the patient, the customer, the question. "
    "Rows of one may depend on each other.",
)
@click.option(
    "--segments",
    metavar="COL,COL...",
    help="Columns to search, and their pairs, for kinds of rows that are off; P-values and limits "
    "account for the search.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 3),
    default=2,
    show_default=True,
    help="How many conditions a segment may have.",
)
@click.option(
    "--min-rows",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    metavar="N",
    help="How many predictions a segment has at least.",
)
@click.option("--pos-label", metavar="VALUE", help="The outcome that counts as the event.")
@click.option(
    "--method",
    type=click.Choice(words(Method)),
    default="auto",
    show_default=True,
    help="How to compute P-values.",
)
@click.option(
    "--confidence-level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Level of all limits; the verdict tests at one minus it. 0.95 unless given; with "
    "--alpha, one minus that.",
)
@click.option(
    "--adjust",
    type=click.Choice(words(Adjust)),
    default="holm",
    show_default=True,
    help="How to adjust the P-values of groups for their number.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Gate: the P-value up to which chance is ruled out, 0.05 unless given: how often a "
    "calibrated model may fail.",
)
@click.option(
    "--max-ecce-r",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="X",
    help="Gate: the largest ECCE-R tolerated: misplaced events in the worst range, as a share of "
    "all predictions. 0 if no limit is given.",
)
@click.option(
    "--max-miscalibration",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="X",
    help="Gate: the largest mean miscalibration tolerated over any range of scores, 0.1 for ten "
    "points; crossed where more is shown.",
)
@click.option(
    "--within",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="X",
    help="Gate: what ECCE-R must be shown not to exceed; also crossed for want of data.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a report.")
@click.option(
    "--json",
    "json_to",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write every number; - prints them in place of the verdict.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the cumulative graph; the format follows the name (.png, .svg, .pdf).",
)
@click.option("--title", help="Title of the report.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print one line a model, and one for its groups and segments.",
)
@click.option("--details", is_flag=True, help="Print every number there is to say of a model.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Say whether predictions are calibrated, how far off they are, and where.

    FILES are Parquet, CSV or lines of JSON (also gzipped), Feather or Arrow; - is standard input.
    Several files, a glob in quotes or a folder are read as one table, which may be larger than
    memory. Columns that are not named are guessed where their names leave no doubt, and the output
    says so.

    \b
    Examples:
      secant assess preds.parquet
      secant assess preds.csv --y-true label --y-prob score --html report.html
      secant assess 'day=*/*.parquet' --y-prob old --y-prob new --by segment
      secant assess preds.parquet --segments age,region,device
      secant assess preds.parquet --alpha 0.01 --max-ecce-r 0.02 --quiet    # in a pipeline
      secant assess preds.parquet --max-miscalibration 0.1    # no range ten points off
      secant assess preds.parquet --within 0.02               # before it goes live
      secant assess preds.parquet --json - | jq .models

    The gate is on when --alpha or one of its limits is given; a limit that is not given is not
    judged. --max-ecce-r and --max-miscalibration are crossed only by what is beyond chance AND
    beyond the tolerance; --within is crossed unless the data show it. With --by every group must
    pass too, with --segments every segment that was found; P-values are adjusted for their number
    and for that of models. An outcome that its score ruled out (an event after a score of 0) is
    beyond chance whatever the P-value.

    \b
    Exit codes:
      0  fine: assessed, and no gate crossed
      1  the gate is crossed
      2  bad input or usage
      3  a defect of secant itself
    130  interrupted (143 if ended by SIGTERM)
    """
    try:
        _refuse_idle(ctx)
        _check(options)
        _run(ctx, options)
    except (SecantError, OSError) as error:
        refuse(error)


def _refuse_idle(ctx: click.Context) -> None:
    """Refuse an option that would do nothing, because it goes with another that is not there."""
    for idle, other in _GOES_WITH.items():
        given = ctx.get_parameter_source(idle) is ParameterSource.COMMANDLINE
        if given and not ctx.params[other]:
            name, needed = (
                next(each.opts[0] for each in ctx.command.params if each.name == parameter)
                for parameter in (idle, other)
            )
            raise click.UsageError(f"{name} does nothing without {needed}.")


def _check(options: dict[str, Any]) -> None:
    """Refuse before the work what could not be done after it."""
    from secant.sources.files.paths import find  # noqa: PLC0415  (not for `secant --help`)

    if options["html"] == STDOUT:
        raise click.UsageError("--html -: a report is a file; only --json can be printed")
    outputs = {"--html": options["html"], "--json": options["json_to"], "--plot": options["plot"]}
    inputs = [found.path for found in find(list(options["files"]))]
    if wrong := unusable(outputs, inputs):
        refuse(wrong)
    if options["plot"] is not None:
        from secant.plot._saving import check_ending  # noqa: PLC0415  (as above)

        check_ending(options["plot"])


def _run(ctx: click.Context, options: dict[str, Any]) -> None:
    json_to = options["json_to"]
    outcome, asides = _assess(options)
    # Files first: whoever reads what is printed may leave before its end.
    written = [_plot(outcome, options["plot"]), _report(outcome, options), _json(outcome, json_to)]
    if options["quiet"] or json_to == STDOUT:  # which somebody counts on to be nothing else
        emit("".join(f"{line}\n" for line in asides), err=True)
        asides = []
    if json_to == STDOUT:
        emit(_json_text(outcome))
    else:
        emit(_printed(outcome, asides, quiet=options["quiet"], details=options["details"]))
    if not options["quiet"]:
        for path in written:
            if path is not None:
                # stdout belongs to whoever reads the JSON.
                emit(f"Wrote {path}\n", err=json_to == STDOUT)
    if outcome.crossed:
        ctx.exit(_GATE_CROSSED)


def _assess(options: dict[str, Any]) -> tuple[_Outcome, list[str]]:
    """Call the library for every model; say what it was not told."""
    import secant  # noqa: PLC0415  (not for `secant --help`)
    from secant._results.gate import Gate  # noqa: PLC0415
    from secant.sources.files.source import column_kinds  # noqa: PLC0415

    started, start = datetime.now(UTC).astimezone(), time.monotonic()
    files = list(options["files"])
    limits = {name: options[name] for name in ("max_ecce_r", "max_miscalibration", "within")}
    gate = None
    if any(given is not None for given in (options["alpha"], *limits.values())):
        gate = Gate(options["alpha"] or 0.05, **limits)
    weight, by = options["weight"], options["by"]
    features = _features(options["segments"])
    clusters = options["clusters"]
    if clusters is not None and features:
        raise click.UsageError(
            "--clusters does not go together with --segments, which searches rows that are "
            "independent; --by takes clusters."
        )
    if options["outcome_weights"] is not None and features:
        raise click.UsageError("--outcome-weights does not go together with --segments.")
    taken = {*by, *features, weight, clusters} - {None}
    kinds = column_kinds(files)
    y_true, y_prob, guessed = guess(kinds, options["y_true"], options["y_prob"], taken)
    if y_true in by:
        raise click.UsageError(
            f"--by {y_true} is the column of outcomes. Among rows chosen by what happened even "
            "perfect forecasts look wrong."
        )
    if y_true in features:
        raise click.UsageError(
            f"--segments names {y_true}, the column of outcomes. Among rows chosen by what "
            "happened even perfect forecasts look wrong."
        )
    if len(set(y_prob)) < len(y_prob):
        raise click.UsageError(f"--y-prob names a column twice: {', '.join(y_prob)}")
    settings = {
        "pos_label": _label(options["pos_label"], kinds.get(y_true)),
        "weight_kind": options["weight_kind"],
        "outcome_weights": _outcome_weights(options["outcome_weights"]),
        "method": options["method"],
        "confidence_level": _level(options["confidence_level"], gate),
    }
    how = {"data": files, "sample_weight": weight, "clusters": clusters, **settings}
    groups = {}
    if by:  # first, because a column that is not there should not be found out after hours
        settings["adjust"] = adjust = options["adjust"]
        groups = {
            name: secant.assess_by(y_true, name, list(by), adjust=adjust, **how) for name in y_prob
        }
    segments = {}
    if features:
        searching = {"depth": options["depth"], "min_rows": options["min_rows"]}
        settings |= searching
        searching |= {
            name: value
            for name, value in how.items()
            if name not in {"method", "clusters", "outcome_weights"}
        }
        segments = {
            name: secant.assess_segments(y_true, name, features=list(features), **searching)
            for name in y_prob
        }
    models = {name: secant.assess(y_true, name, **how) for name in y_prob}
    columns = _Columns(y_true, y_prob, weight, by, features, clusters)
    outcome = _Outcome(
        files=tuple(files),
        columns=columns,
        guessed=guessed,
        settings=settings,
        models=models,
        groups=groups,
        segments=segments,
        gate=gate,
        started=started,
        elapsed=time.monotonic() - start,
    )
    used = {y_true, *y_prob, *by, *features}
    return outcome, notes(kinds, guessed, used, weighted=weight is not None)


def _outcome_weights(given: str | None) -> tuple[float, ...] | None:
    """Return two numbers with a comma between them; what else was given is told by the library."""
    if given is None:
        return None
    try:
        return tuple(float(each) for each in given.split(","))
    except ValueError:
        raise click.UsageError(
            f"--outcome-weights takes two numbers with a comma between them, such as 20,1; got "
            f"{given}"
        ) from None


def _features(listed: str | None) -> tuple[str, ...]:
    """Return the columns of a list with commas."""
    if listed is None:
        return ()
    names = tuple(name.strip() for name in listed.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise click.UsageError(f"--segments must list different columns, a,b,c; got {listed!r}")
    return names


def _level(asked: float | None, gate: Gate | None) -> float:
    """Return the level asked for; unless one is, verdict and gate speak at the same."""
    if asked is not None:
        return asked
    return 0.95 if gate is None else gate.confidence_level


def _label(text: str | None, kind: str | None) -> Any:
    """Read the event as the column has it: numbers have no '2', and truths no 'true'."""
    if text is None or kind == "other":
        return text
    if text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


# Output -------------------------------------------------------------------------------------------


def _printed(outcome: _Outcome, asides: list[str], *, quiet: bool, details: bool) -> str:
    """Return what is to be printed, with the colours and the width of where it goes."""
    from secant.cli._terminal import terminal  # noqa: PLC0415  (not for `secant --help`)

    console = terminal()
    with console.capture() as captured:
        _show(console, outcome, asides, quiet=quiet, details=details)
    return captured.get()


def _show(
    console: Console, outcome: _Outcome, asides: list[str], *, quiet: bool, details: bool
) -> None:
    """Print what was found, then how it stands with the gate."""
    from secant._results import group_words, verdict  # noqa: PLC0415  (as above)
    from secant._results.wording import visible  # noqa: PLC0415
    from secant.cli._terminal import show_groups, show_model, show_models  # noqa: PLC0415

    def say(name: str, line: str) -> None:
        several = len(outcome.models) > 1
        shown = f"{visible(name)}: {line}" if several else line
        console.print(shown, markup=False, soft_wrap=True)

    gate, little = outcome.gate, verdict.LITTLE
    if gate is not None:
        little = verdict.tolerated(
            gate.max_ecce_r, gate.max_miscalibration, gate.within, gate.confidence_level
        )
    if asides:
        console.print("\n".join(asides) + "\n", style="dim", markup=False)
    if len(outcome.models) > 1 and not quiet:
        show_models(console, outcome.ranked)
        console.print()
    for name, result in outcome.models.items():
        if quiet:
            say(name, f"{verdict.headline(result, little)}. {verdict.brief(result)}")
        else:
            alone = len(outcome.models) == 1
            show_model(console, None if alone else name, result, details=details, little=little)
            console.print()
    for name, groups in [*outcome.groups.items(), *outcome.segments.items()]:
        if quiet:
            say(name, group_words.headline(groups))
        else:
            show_groups(console, name if len(outcome.models) > 1 else None, groups)
            console.print()
    for line in _gate_words(outcome):
        console.print(line, markup=False, soft_wrap=True)


def _gate_words(outcome: _Outcome) -> list[str]:
    """Say how each model stands with the gate, then its groups."""
    from secant._results.wording import visible  # noqa: PLC0415  (as above)

    said = [(name, stand.words) for name, stand in outcome.stands.items()]
    said += [(name, stands.words) for name, stands in outcome.group_stands.items()]
    said += [(name, _segment_words(stands)) for name, stands in outcome.segment_stands.items()]
    several = len(outcome.models) > 1
    return [f"{visible(name)}: {words}" if several else words for name, words in said]


def _segment_words(stands: GroupsStand) -> str:
    """Say how segments stand with the gate."""
    crossing = stands.crossing
    if not crossing:
        return "Gate passed by all segments that were searched."
    many = f"{len(crossing)} segment{'s' if len(crossing) > 1 else ''}"
    return f"Gate crossed by {many} (adjusted P-values): {'; '.join(crossing)}."


def _json_text(outcome: _Outcome) -> str:
    return json.dumps(outcome.to_dict(), indent=2, allow_nan=False, default=str) + "\n"


def _json(outcome: _Outcome, path: Path | None) -> Path | None:
    if path is None or path == STDOUT:
        return None
    from secant._base.writing import write_whole  # noqa: PLC0415  (as above)

    write_whole(path, _json_text(outcome).encode())
    return path


def _plot(outcome: _Outcome, path: Path | None) -> Path | None:
    if path is None:
        return None
    from secant.plot._saving import save  # noqa: PLC0415  (matplotlib is an extra)

    save(path, outcome.models)
    return path


def _report(outcome: _Outcome, options: dict[str, Any]) -> Path | None:
    path: Path | None = options["html"]
    if path is None:
        return None
    from secant import report  # noqa: PLC0415  (as above)

    roles = {"outcome": outcome.columns.y_true, "forecast": ", ".join(outcome.columns.y_prob)}
    if outcome.columns.weight is not None:
        roles["weight"] = outcome.columns.weight
    if outcome.columns.by:
        roles["groups"] = ", ".join(outcome.columns.by)
    if outcome.columns.segments:
        roles["segments"] = ", ".join(outcome.columns.segments)
    about = report.Provenance(
        files=outcome.files,
        columns=roles,
        command=shlex.join(["secant", *sys.argv[1:]]),
        started=outcome.started,
        elapsed=outcome.elapsed,
        gate=_gate_words(outcome),
    )
    several, groups, segments = len(outcome.models) > 1, outcome.groups, outcome.segments
    report.write(
        path,
        outcome.ranked if several else next(iter(outcome.models.values())),
        groups=groups if several else next(iter(groups.values()), None),
        segments=segments if several else next(iter(segments.values()), None),
        title=options["title"],
        provenance=about,
    )
    return path
