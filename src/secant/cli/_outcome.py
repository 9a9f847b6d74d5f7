"""What ``secant assess`` found, and how it stands with the gate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration
    from secant._results.gate import Gate, GroupsStand, Stand
    from secant._results.models import Models

__all__ = ["Columns", "Outcome"]


@dataclass(frozen=True)
class Columns:
    """The columns in use."""

    y_true: str
    y_prob: tuple[str, ...]
    weight: str | None
    by: tuple[str, ...]
    segments: tuple[str, ...] = ()
    clusters: str | None = None
    order_by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "y_true": self.y_true,
            "y_prob": list(self.y_prob),
            "weight": self.weight,
            "by": list(self.by),
            **({"segments": list(self.segments)} if self.segments else {}),
            **({"clusters": self.clusters} if self.clusters is not None else {}),
            **({"order_by": self.order_by} if self.order_by is not None else {}),
        }


@dataclass(frozen=True)
class Outcome:
    """What was found, and what it was found in."""

    files: tuple[str, ...]
    columns: Columns
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
    def asked(self) -> dict[str, Calibration]:
        """The models, whose words go by the tolerances of the gate."""
        from secant._results.tolerance import tolerance_of  # noqa: PLC0415  (as above)

        gate = self.gate
        if gate is None:
            return self.models
        limits = gate.max_ecce_r, gate.max_miscalibration, gate.within, gate.confidence_level
        return {name: each.asked(tolerance_of(*limits)) for name, each in self.models.items()}

    @property
    def headlines(self) -> dict[str, str]:
        """The answer about each model in a few words."""
        return {name: each.verdict for name, each in self.asked.items()}

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
        from secant._results.base import SCHEMA  # noqa: PLC0415

        found: dict[str, Any] = {
            "schema": SCHEMA,
            "secant": secant.__version__,
            "files": list(self.files),
            "columns": self.columns.to_dict(),
            "guessed": self.guessed,
            "settings": self.settings,
            "started": self.started.isoformat(),
            "elapsed": self.elapsed,
            "models": {
                name: {**result.to_dict(), "verdict": self.headlines[name]}
                for name, result in self.models.items()
            },
        }
        if len(self.models) > 1:
            found["best_first"] = list(self.ranked)
            found["not_worse"] = self.ranked.not_worse
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
