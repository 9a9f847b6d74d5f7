"""``secant assess``: from files of predictions to a verdict."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from secant._base.ending import end_if_asked
from secant._input.options import Adjust, Method, Missing, WeightKind, words
from secant.cli._guess import FIRST_ROWS, guess, guessed_words, notes
from secant.cli._outcome import Columns, Outcome
from secant.cli._outputs import STDOUT, emit, unusable
from secant.cli._refusal import refuse
from secant.cli._showing import as_json, draw, printed, write_json, write_report
from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration
    from secant._results.gate import Gate

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
    "--order-by",
    metavar="COL",
    help="Column of numbers or times to put predictions along in place of their scores: are they "
    "right on average at each value of it?",
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
    "--missing",
    type=click.Choice(words(Missing)),
    default="refuse",
    show_default=True,
    help="What becomes of rows without a score or an outcome: an error, or they are left out, "
    "which the verdict says.",
)
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
    help="Gate: the largest ECCE-R tolerated: misplaced events over the range that has most, as a "
    "share of all predictions. 0.02 if no limit is given.",
)
@click.option(
    "--max-miscalibration",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="X",
    help="Gate: the largest mean miscalibration tolerated over any range of scores, 0.1 for ten "
    "points; fails where more is shown.",
)
@click.option(
    "--within",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="X",
    help="Gate: what ECCE-R must be shown not to exceed; also fails for want of data.",
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
    memory. Columns that are not named are guessed where their names leave no doubt, and the verdict
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
    judged; if none is given ECCE-R may be 0.02. --max-ecce-r and --max-miscalibration fail what is
    beyond chance AND beyond the tolerance, --within what the data do not show. With --by every
    group must pass too, with --segments every segment that was found; P-values are adjusted for
    their number and for that of models. An outcome that its score ruled out (an event after a score
    of 0) is beyond chance whatever the P-value.

    \b
    Exit codes:
      0  fine: assessed, and no gate failed
      1  the gate failed
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
    try:
        inputs = [found.path for found in find(list(options["files"]))]
    except InputError as error:
        hint = _one_more_model(options["files"]) if options["y_prob"] else ""
        raise (error.but(hint=hint) if hint else error) from error
    if wrong := unusable(outputs, inputs):
        refuse(wrong)
    if options["plot"] is not None:
        from secant.plot._saving import check_ending  # noqa: PLC0415  (as above)

        check_ending(options["plot"])


def _one_more_model(files: Sequence[str]) -> str:
    """Say how a further model is named, where the first file that is not there may be one."""
    missing = next((name for name in files[1:] if not Path(name).exists()), "")
    if re.fullmatch(r"\w+", missing) and Path(files[0]).exists():
        return f"; for a further model write --y-prob {missing}"
    return ""


def _run(ctx: click.Context, options: dict[str, Any]) -> None:
    json_to = options["json_to"]
    outcome, asides = _assess(options)
    # Files first: whoever reads what is printed may leave before its end.
    written = [
        draw(outcome, options["plot"]),
        write_report(outcome, options),
        write_json(outcome, json_to),
    ]
    end_if_asked()
    if options["quiet"] or json_to == STDOUT:  # which somebody counts on to be nothing else
        emit("".join(f"{line}\n" for line in asides), err=True)
        asides = []
    if json_to == STDOUT:
        if outcome.guessed:
            emit(f"{guessed_words(outcome.guessed)}\n", err=True)
        emit(as_json(outcome))
    else:
        emit(printed(outcome, asides, quiet=options["quiet"], details=options["details"]))
    if not options["quiet"]:
        for path in written:
            if path is not None:
                # stdout belongs to whoever reads the JSON.
                emit(f"Wrote {path}\n", err=json_to == STDOUT)
    if outcome.crossed:
        ctx.exit(_GATE_CROSSED)


def _assess(options: dict[str, Any]) -> tuple[Outcome, list[str]]:
    """Call the library for every model; say what it was not told."""
    import secant  # noqa: PLC0415  (not for `secant --help`)
    from secant._input.combinations import check_combination  # noqa: PLC0415
    from secant._results.gate import Gate  # noqa: PLC0415
    from secant.sources.files.source import column_kinds, two_valued  # noqa: PLC0415

    started, start = datetime.now(UTC).astimezone(), time.monotonic()
    files = list(options["files"])
    limits = {name: options[name] for name in ("max_ecce_r", "max_miscalibration", "within")}
    gate = None
    if any(given is not None for given in (options["alpha"], *limits.values())):
        gate = Gate(options["alpha"] or 0.05, **limits)
    weight, by = options["weight"], options["by"]
    features = _features(options["segments"])
    clusters = options["clusters"]
    order_by = options["order_by"]
    check_combination(
        clusters=clusters,
        order_by=order_by,
        outcome_weights=options["outcome_weights"],
        missing=options["missing"],
        segments=features,
    )
    taken = {*by, *features, weight, clusters, order_by} - {None}
    kinds = column_kinds(files)
    rivals = partial(two_valued, files, most=FIRST_ROWS)
    y_true, y_prob, guessed = guess(kinds, options["y_true"], options["y_prob"], taken, rivals)
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
        "missing": options["missing"],
        "method": options["method"],
        "confidence_level": _level(options["confidence_level"], gate),
    }
    how = {
        "data": files,
        "sample_weight": weight,
        "clusters": clusters,
        "order_by": order_by,
        **settings,
    }
    grouping = {}
    if by:
        settings["adjust"] = grouping["adjust"] = options["adjust"]
    models, groups = _models_and_groups(
        y_true, y_prob, list(by), grouping | how, page=options["html"] is not None
    )
    segments = {}
    if features:
        searching = {"depth": options["depth"], "min_rows": options["min_rows"]}
        settings |= searching
        searching |= {
            name: value
            for name, value in how.items()
            if name not in {"method", "clusters", "order_by", "outcome_weights", "missing"}
        }
        segments = {
            name: secant.assess_segments(y_true, name, features=list(features), **searching)
            for name in y_prob
        }
    columns = Columns(y_true, y_prob, weight, by, features, clusters, order_by)
    outcome = Outcome(
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
    return outcome, [] if weight is not None else notes(kinds, used)


def _models_and_groups(
    y_true: str, y_prob: tuple[str, ...], by: list[str], how: dict[str, Any], *, page: bool
) -> tuple[dict[str, Calibration], dict[str, Assessments]]:
    """Assess every model and its groups, in passes over the files that all of them share."""
    import secant  # noqa: PLC0415  (not for `secant --help`)
    from secant._api.together import assess_together  # noqa: PLC0415
    from secant.report._numbers import needed  # noqa: PLC0415

    also = needed if page else None
    columns = {name: name for name in y_prob}
    together = assess_together(y_true, columns, by or None, also=also, **how)
    if together is not None:
        return together
    groups = {}
    if by:  # first, because a column that is not there should not be found out after hours
        groups = {name: secant.assess_by(y_true, name, by, **how) for name in y_prob}
    how = {name: value for name, value in how.items() if name != "adjust"}
    return {name: secant.assess(y_true, name, **how) for name in y_prob}, groups


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
    if text is None or kind in {"text", "other"}:
        return text
    if text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
