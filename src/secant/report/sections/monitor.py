"""The parts of the page about a monitor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.timeline import evidence_ticks, places, time_ticks
from secant._input.periods import written
from secant._results.monitor_words import written_evidence, written_time
from secant._results.wording import percent, plain_pvalue, points, score
from secant.report import _charts
from secant.report._html import Markup, name, tag
from secant.report._parts import strip
from secant.report._scale import UNIT, Axis

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray
    from secant._results.monitor import Episode, MonitorHistory, Period, Where

__all__ = ["answer", "batches", "evidence", "ranges", "rests_on"]

_MOODS = {"too high": "high", "too low": "low"}
# Letters that have room below a chart on a screen and on a phone.
_WIDE, _NARROW = 110, 34
# The share of the axis after which what is written in the chart would have no room.
_LATEST = 0.55
_RANGES = 16
_MOST_BATCHES = 2000
_DEFINED = {
    "Evidence": "What a bet of 1 against calibration has become, at its largest so far.",
    "P-value": "The chance that evidence ever gets so large under calibration, at most. It holds "
    "however often one has looked.",
    "Since": "The batch from which the evidence grew: an estimate, read at the bet that won most.",
}


def answer(history: MonitorHistory) -> Markup:
    """Return the headline, what is off since when, and four figures."""
    notes = [tag("li", f"Note: {note}", class_="note") for note in history.notes]
    return tag(
        "section",
        tag(
            "article",
            tag("p", tag("strong", f"{history.headline}."), f" {history.story}", class_="verdict"),
            strip(_figures(history), _DEFINED),
            tag("ul", tag("li", history.extent), *notes, class_="details"),
            class_="card",
        ),
        aria_label="Verdict",
    )


def _figures(history: MonitorHistory) -> Iterable[tuple[str, str, str]]:
    largest = max(each.log10_evidence for each in history)
    yield "Evidence", written_evidence(largest), f"alarm at {history.threshold:,.4g}"
    chance = plain_pvalue(history.pvalue, log10=history.log10_pvalue)
    yield "P-value", chance, "however often one looks"
    if history.where is None:
        happened = sum(each.events for each in history) / history.n
        forecast = sum(each.n * each.mean_score for each in history if each.n) / history.n
        yield "Predictions", f"{history.n:,}", f"in {len(history):,} batches"
        yield "Mean outcome", percent(happened), f"forecast {percent(forecast)}"
    else:
        where = history.where
        began, alarm = (written_time(t) for t in (history.since, history.alarm_time))
        yield "Since", f"{began[0].upper()}{began[1:]}", f"alarm at {alarm}"
        yield "Mean outcome", percent(where.mean_response), _there(where)


def _there(where: Where) -> str:
    whole = (where.low, where.high) == (0.0, 1.0)
    return f"forecast {percent(where.mean_score)}{'' if whole else ', among these scores'}"


def rests_on(history: MonitorHistory) -> str:
    """Say what evidence is, and why one may look whenever one likes."""
    return (
        "Evidence is what a bet of 1 against calibration has become. Under calibration such a bet "
        f"is fair at best, so that it ever grows to {history.threshold:,.4g} with a chance of at "
        f"most {history.alpha:g}, however often one looks and whenever one stops. A batch belongs "
        "in it when all of its outcomes are known."
    )


# --- evidence over time ---------------------------------------------------------------------------


def evidence(history: MonitorHistory) -> Markup:
    """Return the evidence after every batch, the line that raises an alarm, and when it began."""
    times = [each.time for each in history]
    at = places(times)
    values = np.array([each.log10_evidence for each in history])
    alarm = -math.log10(history.alpha)
    side = 0.5 if len(at) == 1 else 0.012 * (at[-1] - at[0])
    across = Axis(float(at[0] - side), float(at[-1] + side))
    low, high = min(float(values.min()), 0.0), max(float(values.max()), alarm)
    vertical = Axis(low - 0.07 * (high - low), high + 0.22 * (high - low))
    powers = [
        (vertical.share(at), text) for at, text in evidence_ticks(vertical.low, vertical.high, 6)
    ]
    sides = [
        _charts.labels(
            "bottom",
            [(across.share(place), text) for place, text in time_ticks(times, room)],
            kind=kind,
        )
        for room, kind in ((_WIDE, "wide"), (_NARROW, "narrow"))
    ]
    drawn = _charts.picture(
        _since(history, at, across),
        _charts.gridlines(powers),
        tag("path", d=f"M0 {UNIT * (1 - vertical.share(alarm)):.6g}h{UNIT:g}", class_="threshold"),
        _charts.line(across.across(at), vertical.up(values), class_="curve"),
        tag("path", d=f"{_dot(across.across(at), vertical.up(values))}", class_="dots")
        if len(at) == 1
        else None,
    )
    return tag(
        "section",
        tag("h2", "Evidence over time"),
        tag("p", _lead(history), class_="lead"),
        tag(
            "div",
            tag("p", "Evidence against calibration", class_="axis-name"),
            tag(
                "div",
                drawn,
                _charts.labels("left", powers),
                *sides,
                *_marks(history, at, values, across, vertical),
                class_="area",
            ),
            class_="chart evidence",
            data_mood=_mood(history),
        ),
        id="evidence",
    )


def _lead(history: MonitorHistory) -> str:
    line = f"An alarm is raised where the line reaches {history.threshold:,.4g}"
    chance = f"a calibrated model ever gets there with a chance of at most {history.alpha:g}"
    within = f", even one that is off by {history.tolerance:g}" if history.tolerance else ""
    shaded = " Shaded: since it probably began." if history.alarm else ""
    return f"{line}; {chance}{within}.{shaded}"


def _dot(x: FloatArray, y: FloatArray) -> str:
    return f"M{x[0]:.6g} {y[0]:.6g}h0"


def _since(history: MonitorHistory, at: FloatArray, across: Axis) -> Markup | None:
    if history.first_off is None:
        return None
    left = across.share(float(at[history.first_off]))
    return tag(
        "rect",
        x=f"{UNIT * left:.6g}",
        y=0,
        width=f"{UNIT * (1 - left):.6g}",
        height=f"{UNIT:g}",
        class_="since",
    )


def _marks(
    history: MonitorHistory, at: FloatArray, values: FloatArray, across: Axis, vertical: Axis
) -> Iterable[Markup]:
    """Return what is written in the chart, and the dot at the alarm."""
    alarm = -math.log10(history.alpha)
    early = values[at <= across.low + 0.18 * (across.high - across.low)]
    near = (early > alarm - 0.03) & (early < alarm + 0.1 * (vertical.high - vertical.low))
    end = "right" if near.any() else "left"
    top = 100 * (1 - vertical.share(alarm))
    yield tag(
        "span",
        f"alarm at {history.threshold:,.4g}",
        class_="threshold-name",
        style=f"{end}:0;top:{top:.4g}%",
    )
    if history.where is None or history.first_off is None:
        return
    number = next(i for i, each in enumerate(history) if each.alarm)
    left, up = across.share(float(at[number])), vertical.share(float(values[number]))
    yield tag("span", class_="here", style=f"left:{100 * left:.4g}%;top:{100 * (1 - up):.4g}%")
    begins = across.share(float(at[history.first_off]))
    words = history.where.words
    place = f"left:{100 * min(begins, _LATEST):.4g}%;right:0"
    place += ";text-align:right" if begins > _LATEST else ""
    yield tag("span", f"{words[0].upper()}{words[1:]}", class_="found-name", style=place)


def _mood(history: MonitorHistory) -> str | None:
    if history.where is None:
        return None
    return _MOODS.get(history.where.direction, "unsure")


# --- which scores ---------------------------------------------------------------------------------


def ranges(history: MonitorHistory) -> Markup:
    """Return a table of ranges of scores: forecast and happened, before it began and since."""
    episodes = history.episodes
    several = len(episodes) > 1
    heads = [("scores", ""), ("predictions", "number minor")]
    heads += [("forecast", "number minor"), ("outcome", "number minor")]
    heads += [
        ("off by, points", "number"),
        ("noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}", "number minor"),
    ]
    if several:
        heads.append(("off before, points", "number"))
    rows = _joined(history, episodes)
    return tag(
        "section",
        tag("h2", "Which scores?"),
        tag("p", _which(history, several=several), class_="lead"),
        tag(
            "div",
            tag(
                "table",
                tag("thead", _row(heads, "th", scope="col")),
                tag("tbody", *(_range_row(each, history, several=several) for each in rows)),
            ),
            class_="table",
        ),
        id="ranges",
    )


def _which(history: MonitorHistory, *, several: bool) -> str:
    what = f"{episode_words(history)}, in ranges of scores"
    before = "; the last column is how far the same scores were off before" if several else ""
    return (
        f"{what}{before}. Positive: more happened than forecast, scores are too low. Of many "
        "ranges some leave twice their noise by chance."
    )


def episode_words(history: MonitorHistory) -> str:
    """Say which batches are shown."""
    if history.since is None:
        return "All batches"
    return f"Batches since {written_time(history.since)}"


def _joined(
    history: MonitorHistory, episodes: Sequence[Episode]
) -> list[tuple[float, float, list[FloatArray]]]:
    """Return ranges of scores with rows, events and sums of scores: since, then before."""
    edges = history.edges
    coarse = (
        np.array([0.0, 1.0]) if edges is None else np.unique(edges[:: (len(edges) - 1) // _RANGES])
    )
    found = []
    for low, high in zip(coarse[:-1].tolist(), coarse[1:].tolist(), strict=True):
        sums = []
        for each in reversed(episodes):
            inside = (each.low >= low) & (each.low < high)
            columns = (each.n, each.events, each.scored)
            sums.append(np.array([float(column[inside].sum()) for column in columns]))
        if any(one[0] for one in sums):
            found.append((low, high, sums))
    return found


def _range_row(
    row: tuple[float, float, list[FloatArray]], history: MonitorHistory, *, several: bool
) -> Markup:
    low, high, (now, *before) = row
    n, events, scored = now.tolist()
    mood = None
    cells: list[tuple[str, str]] = [
        (f"{score(low)} to {score(high)}", ""),
        (f"{n:,.0f}", "number minor"),
    ]
    if n:
        mean, rate = scored / n, events / n
        noise = 2 * math.sqrt(mean * (1 - mean) / n)
        cells += [(percent(mean), "number minor"), (percent(rate), "number minor")]
        cells += [(_signed(rate - mean), "number"), (points(noise), "number minor")]
        mood = _mood_of(low, high, history, rate - mean) if abs(rate - mean) > noise else None
    else:
        cells += [("", "number minor")] * 2 + [("", "number"), ("", "number minor")]
    if several:
        n, events, scored = before[0].tolist()
        cells.append((_signed((events - scored) / n) if n else "", "number"))
    return tag("tr", *_cells(cells, "td"), data_mood=mood)


def _mood_of(low: float, high: float, history: MonitorHistory, off: float) -> str | None:
    """Return which way a range is off, if it is among those that are found to be."""
    where, own = history.where, "low" if off > 0 else "high"
    inside = where is not None and where.low <= low and high <= where.high
    return own if inside and _mood(history) in (own, "unsure") else None


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return f"{sign}{points(abs(value))}"


# --- all batches ----------------------------------------------------------------------------------


def batches(history: MonitorHistory) -> Markup:
    """Return a table of all batches, the last first."""
    heads = [("batch", ""), ("predictions", "number"), ("forecast", "number minor")]
    heads += [("outcome", "number minor"), ("evidence", "number"), ("P so far", "number")]
    shown = list(enumerate(history))[::-1][:_MOST_BATCHES]
    more = len(history) - len(shown)
    rows = [_batch_row(each, number, history) for number, each in shown]
    left_out = f" The last {len(shown):,}; all are in the download." if more else ""
    return tag(
        "section",
        tag("h2", "All batches"),
        tag("p", f"The last one first.{left_out}", class_="lead"),
        tag(
            "div",
            tag("table", tag("thead", _row(heads, "th", scope="col")), tag("tbody", *rows)),
            class_="table",
        ),
        id="batches",
    )


def _batch_row(each: Period, number: int, history: MonitorHistory) -> Markup:
    means = (percent(each.mean_score), percent(each.mean_response)) if each.n else ("", "")
    # 0 is one only where an outcome was impossible, else a small one.
    none = history.log10_pvalue if math.isinf(history.log10_pvalue) else None
    cells: list[tuple[Any, str]] = [(name(written(each.time)), ""), (f"{each.n:,}", "number")]
    cells += [(mean, "number minor") for mean in means]
    cells += [
        (written_evidence(each.log10_evidence), "number"),
        (plain_pvalue(each.pvalue, log10=none), "number"),
    ]
    begins = history.first_off
    off = begins is not None and number >= begins
    return tag("tr", *_cells(cells, "td"), data_mood=_mood(history) if off else None)


def _row(cells: Sequence[tuple[Any, str]], element: str, **attributes: Any) -> Markup:
    return tag("tr", *_cells(cells, element, **attributes))


def _cells(cells: Sequence[tuple[Any, str]], element: str, **attributes: Any) -> list[Markup]:
    return [tag(element, text, class_=kind or None, **attributes) for text, kind in cells]
