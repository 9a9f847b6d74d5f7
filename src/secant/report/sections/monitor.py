"""The parts of the page about a monitor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from secant._drawing.evidence import evidence as describe
from secant._drawing.evidence import mood_of
from secant._input.periods import written
from secant._results.monitor_words import written_evidence, written_time
from secant._results.wording import percent, plain_pvalue, points, score
from secant.report._html import Markup, name, row, table, tag
from secant.report._parts import strip
from secant.report._svg import PHONE, frame, grid, picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray
    from secant._results.monitor import Episode, MonitorHistory, Period, Where

__all__ = ["answer", "batches", "evidence", "ranges", "rests_on"]

_RANGES = 16
_NOISE = "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
_COLUMNS = ("predictions", "forecast", "outcome", _NOISE)
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
    chart = describe(history, PHONE)
    shown = picture(chart, behind=grid(chart.y))
    return tag(
        "section",
        tag("h2", "Evidence over time"),
        tag("p", _lead(history), class_="lead"),
        frame(chart, shown, class_="evidence"),
        id="evidence",
    )


def _lead(history: MonitorHistory) -> str:
    line = f"An alarm is raised where the line reaches {history.threshold:,.4g}"
    chance = f"a calibrated model ever gets there with a chance of at most {history.alpha:g}"
    within = f", even one that is off by {history.tolerance:g}" if history.tolerance else ""
    shaded = " Shaded: since it probably began." if history.alarm else ""
    return f"{line}; {chance}{within}.{shaded}"


# --- which scores ---------------------------------------------------------------------------------


def ranges(history: MonitorHistory) -> Markup:
    """Return a table of ranges of scores: forecast and happened, before it began and since."""
    episodes = history.episodes
    several = len(episodes) > 1
    heads = [("scores", ""), *((title, "number minor") for title in _COLUMNS)]
    heads.insert(4, ("off by, points", "number"))
    if several:
        heads.append(("off before, points", "number"))
    kinds = [kind for _, kind in heads]
    body = [_range_row(each, history, kinds) for each in _joined(history, episodes)]
    return tag(
        "section",
        tag("h2", "Which scores?"),
        tag("p", _which(history, several=several), class_="lead"),
        table(heads, body),
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
    found: tuple[float, float, list[FloatArray]], history: MonitorHistory, kinds: Sequence[str]
) -> Markup:
    low, high, (now, *before) = found
    n, events, scored = now.tolist()
    cells, mood = [f"{score(low)} to {score(high)}", f"{n:,.0f}", *[""] * 4], None
    if n:
        mean, rate = scored / n, events / n
        noise = 2 * math.sqrt(mean * (1 - mean) / n)
        cells[2:] = [percent(mean), percent(rate), _signed(rate - mean), points(noise)]
        mood = _mood_of(low, high, history, rate - mean) if abs(rate - mean) > noise else None
    for n, events, scored in (each.tolist() for each in before):
        cells.append(_signed((events - scored) / n) if n else "")
    return row(cells, kinds, data_mood=mood)


def _mood_of(low: float, high: float, history: MonitorHistory, off: float) -> str | None:
    """Return which way a range is off, if it is among those that are found to be."""
    where, own = history.where, "low" if off > 0 else "high"
    inside = where is not None and where.low <= low and high <= where.high
    return own if inside and mood_of(history) in (own, "unsure") else None


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return f"{sign}{points(abs(value))}"


# --- all batches ----------------------------------------------------------------------------------


def batches(history: MonitorHistory) -> Markup:
    """Return a table of all batches, the last first."""
    heads = [("batch", ""), ("predictions", "number"), ("forecast", "number minor")]
    heads += [("outcome", "number minor"), ("evidence", "number"), ("P so far", "number")]
    kinds = [kind for _, kind in heads]
    shown = list(enumerate(history))[::-1][:_MOST_BATCHES]
    more = len(history) - len(shown)
    rows = [_batch_row(each, number, history, kinds) for number, each in shown]
    left_out = f" The last {len(shown):,}; all are in the download." if more else ""
    return tag(
        "section",
        tag("h2", "All batches"),
        tag("p", f"The last one first.{left_out}", class_="lead"),
        table(heads, rows),
        id="batches",
    )


def _batch_row(each: Period, number: int, history: MonitorHistory, kinds: Sequence[str]) -> Markup:
    means = (percent(each.mean_score), percent(each.mean_response)) if each.n else ("", "")
    # 0 is one only where an outcome was impossible, else a small one.
    none = history.log10_pvalue if math.isinf(history.log10_pvalue) else None
    evidence, chance = written_evidence(each.log10_evidence), plain_pvalue(each.pvalue, log10=none)
    off = history.first_off is not None and number >= history.first_off
    cells = [name(written(each.time)), f"{each.n:,}", *means, evidence, chance]
    return row(cells, kinds, data_mood=mood_of(history) if off else None)
