"""How ``secant assess`` says what it found: in the terminal, as JSON, as a picture and a page."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from secant.cli._guess import guessed_words
from secant.cli._outputs import STDOUT

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from secant._results.gate import GroupsStand
    from secant.cli._outcome import Outcome

__all__ = ["as_json", "draw", "marked", "printed", "write_json", "write_report"]


def printed(outcome: Outcome, asides: list[str], *, quiet: bool, details: bool) -> str:
    """Return what is to be printed, with the colours and the width of where it goes."""
    from secant.cli._terminal import terminal  # noqa: PLC0415  (not for `secant --help`)

    console = terminal()
    with console.capture() as captured:
        _show(console, outcome, asides, quiet=quiet, details=details)
    return captured.get()


def _show(
    console: Console, outcome: Outcome, asides: list[str], *, quiet: bool, details: bool
) -> None:
    """Print what was found, then how it stands with the gate."""
    from secant._results import group_words, verdict  # noqa: PLC0415  (as above)
    from secant._results.wording import visible  # noqa: PLC0415
    from secant.cli._terminal import show_groups, show_model, show_models  # noqa: PLC0415

    def say(name: str, line: str) -> None:
        several = len(outcome.models) > 1
        shown = f"{visible(name)}: {line}" if several else line
        console.print(shown, markup=False, soft_wrap=True)

    if asides:
        console.print("\n".join(asides) + "\n", style="dim", markup=False)
    if len(outcome.models) > 1 and not quiet:
        show_models(console, outcome.ranked)
        console.print()
    guessed = guessed_words(outcome.guessed)
    for name, result in outcome.asked.items():
        if quiet:
            say(name, f"{outcome.headlines[name]}. {verdict.brief(result)} {guessed}".rstrip())
        else:
            alone = len(outcome.models) == 1
            called = None if alone else name
            show_model(console, called, result, details=details, guessed=guessed)
            console.print()
    for name, groups in [*outcome.groups.items(), *outcome.segments.items()]:
        if quiet:
            say(name, group_words.headline(groups))
        else:
            show_groups(console, name if len(outcome.models) > 1 else None, groups)
            console.print()
    for line in _gate_words(outcome):
        console.print(line, markup=False, soft_wrap=True)


def _gate_words(outcome: Outcome) -> list[str]:
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
    return f"Gate failed by {many} (adjusted P-values): {'; '.join(crossing)}."


def marked(roles: dict[str, str], guessed: dict[str, str]) -> dict[str, str]:
    """Return the columns by their role, of which those that were guessed say so."""
    of = {"y_true": "outcome", "y_prob": "forecast"}
    return roles | {of[role]: f"{name} (guessed by its name)" for role, name in guessed.items()}


def as_json(outcome: Outcome) -> str:
    return json.dumps(outcome.to_dict(), indent=2, allow_nan=False, default=str) + "\n"


def write_json(outcome: Outcome, path: Path | None) -> Path | None:
    if path is None or path == STDOUT:
        return None
    from secant._base.writing import write_whole  # noqa: PLC0415  (as above)

    write_whole(path, as_json(outcome).encode())
    return path


def draw(outcome: Outcome, path: Path | None) -> Path | None:
    if path is None:
        return None
    from secant.plot._saving import save  # noqa: PLC0415  (matplotlib is an extra)

    save(path, outcome.models)
    return path


def write_report(outcome: Outcome, options: dict[str, Any]) -> Path | None:
    path: Path | None = options["html"]
    if path is None:
        return None
    from secant import report  # noqa: PLC0415  (as above)

    named = {"outcome": outcome.columns.y_true, "forecast": ", ".join(outcome.columns.y_prob)}
    roles = marked(named, outcome.guessed)
    if outcome.columns.weight is not None:
        roles["weight"] = outcome.columns.weight
    if outcome.columns.by:
        roles["groups"] = ", ".join(outcome.columns.by)
    if outcome.columns.segments:
        roles["segments"] = ", ".join(outcome.columns.segments)
    if outcome.columns.clusters is not None:
        roles["clusters"] = outcome.columns.clusters
    if outcome.columns.order_by is not None:
        roles["order"] = outcome.columns.order_by
    about = report.Provenance(
        files=outcome.files,
        columns=roles,
        command=shlex.join(["secant", *sys.argv[1:]]),
        started=outcome.started,
        elapsed=outcome.elapsed,
        gate=_gate_words(outcome),
        headlines=outcome.headlines,
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
