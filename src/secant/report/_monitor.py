"""The page about a monitor: the answer, the evidence over time, the scores before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._inference.limits import critical
from secant._results.base import plain
from secant._results.monitor_words import ASSUMES
from secant.report._html import join, tag
from secant.report._page import document
from secant.report._parts import caption
from secant.report.sections import cumulative, header, monitor

if TYPE_CHECKING:
    from secant._base.types import NumberArray
    from secant._results.monitor import Episode, MonitorHistory
    from secant.report._html import Markup
    from secant.report._provenance import Provenance

__all__ = ["render"]

_LEVEL = 0.95
_METHODS = ["evidence (e-values), valid however often one looks"]
_CHOSEN = (
    "When it began was found in the same predictions, so that these limits are a little too "
    "narrow for the batches since then."
)


def render(history: MonitorHistory, *, title: str, about: Provenance, version: str) -> str:
    """Return the page as HTML."""
    # What is read first are the batches since it began.
    episodes = list(reversed(history.episodes))
    views = [cumulative.view(each, episodes) for each in episodes]
    numbers = {
        "secant": version,
        "title": title,
        "provenance": about.to_dict(),
        "models": [_series(each, history) for each in episodes],
        "groups": [],
        "monitor": history.to_dict(),
    }
    body = join(
        header.header(title, history.n, about),
        monitor.answer(history),
        monitor.evidence(history),
        _curves(episodes, views[0], history),
        monitor.ranges(history),
        monitor.batches(history),
        tag(
            "section",
            tag("h2", "What this rests on"),
            tag("p", monitor.rests_on(history), class_="lead"),
            tag("p", ASSUMES, class_="lead"),
        ),
        header.provenance(about, history.n, _METHODS, version),
        tag("footer", f"Made with secant {version}."),
    )
    return document(title, body, numbers, {"models": views, "groups": []})


def _curves(episodes: list[Episode], first: dict[str, Any], history: MonitorHistory) -> Markup:
    """Return the cumulative plot of the batches before and since, with the tool that reads it."""
    names = [each.name for each in episodes]
    keys = [caption(number, names, "span") for number in range(len(names))]
    return join(
        cumulative.section(episodes, first),
        tag("p", *keys, class_="legend", aria_label="Lines") if len(names) > 1 else None,
        tag("p", _CHOSEN, class_="lead") if history.alarm else None,
    )


def _series(episode: Episode, history: MonitorHistory) -> dict[str, Any]:
    """Return what the secant tool needs to read some batches."""
    curve, total = episode.curve, float(episode.n.sum())
    columns: dict[str, Any] = {
        "score": curve.score,
        "next": np.append(episode.low, np.nan),
        "n": np.concatenate([[0], np.cumsum(episode.n)]),
        "fraction": curve.fraction,
        "scored": np.concatenate([[0.0], np.cumsum(episode.scored)]) / total,
        "difference": curve.difference,
    }
    sigma = max(episode.noise, _seen(episode))
    found = _found(episode, history) if episode.name.startswith("Since") else []
    return {
        "name": episode.name,
        "noise": episode.noise,
        "confidence_level": _LEVEL,
        "half_width": critical(null.range, 1 - _LEVEL) * sigma,
        "intervals": found,
        "worst": {"n": 0},
        "curve": {name: plain(column) for name, column in columns.items()},
    }


def _seen(episode: Episode) -> float:
    """Return the standard deviation that the outcomes themselves show."""
    mean, rate = episode.scored / episode.n, episode.events / episode.n
    squares = episode.n * (rate * (1 - 2 * mean) + mean * mean)
    return float(np.sqrt(squares.sum()) / episode.n.sum())


def _found(episode: Episode, history: MonitorHistory) -> list[dict[str, Any]]:
    """Return the range that is off, between ends of cells that hold predictions."""
    where = history.where
    if where is None or where.direction not in {"too high", "too low"} or where.low == where.high:
        return []
    if (where.low, where.high) == (0.0, 1.0):  # which has a button anyway
        return []
    inside = np.flatnonzero((episode.low >= where.low) & (episode.high <= where.high))
    gap = _sum(episode.events - episode.scored, inside)
    if not inside.size or not gap:
        return []
    low, high = float(episode.low[inside[0]]), float(episode.high[inside[-1]])
    return [{"low": low, "high": high, "miscalibration": gap / _sum(episode.n, inside)}]


def _sum(column: NumberArray, inside: Any) -> float:
    return float(column[inside].sum())
