"""Where the numbers of a report come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from secant._results.wording import predictions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Provenance"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the numbers of a report come from.

    Attributes
    ----------
    files : sequence of str
        Names of the input files.
    columns : mapping from str to str
        What each column was used as, such as ``{"outcome": "label", "forecast": "score"}``.
    command : str, optional
        The command that was run.
    started : datetime, optional
        When the assessment began; now unless given.
    elapsed : float, optional
        How many seconds it took.
    gate : sequence of str
        How the results stand with a gate, in sentences.
    headlines : mapping from str to str
        What the gate's tolerances make of the answer about each model, in a few words.
    """

    files: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    started: datetime = field(default_factory=lambda: datetime.now(UTC).astimezone())
    elapsed: float | None = None
    gate: Sequence[str] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)

    @property
    def date(self) -> str:
        """The day and the minute, for reading."""
        return f"{self.started.day} {self.started:%B %Y, %H:%M}"

    def facts(
        self, rows: int | None, methods: Sequence[str], one: str = "prediction"
    ) -> Iterator[tuple[str, str]]:
        """Return what to show, as pairs of a label and a text; a row is ``one`` of what."""
        for number, file in enumerate(self.files):
            yield ("Input" if len(self.files) == 1 else f"Input {number + 1}"), file
        for role, column in self.columns.items():
            yield f"Column: {role}", column
        if rows is not None:
            yield "Rows", predictions(rows).replace("prediction", one)
        if methods:
            yield "P-values", ", ".join(methods)
        for words in self.gate:
            yield "Gate", words
        if self.command is not None:
            yield "Command", self.command
        yield "Made", self.started.isoformat(sep=" ", timespec="seconds")
        if self.elapsed is not None:
            yield "Took", f"{self.elapsed:.2g} s"

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain JSON."""
        return {
            "files": list(self.files),
            "columns": dict(self.columns),
            "command": self.command,
            "started": self.started.isoformat(),
            "elapsed": self.elapsed,
            "gate": list(self.gate),
        }
