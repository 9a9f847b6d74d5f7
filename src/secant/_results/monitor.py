"""What a monitor has seen, and what it has found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._inference.evalues import component
from secant._inference.monitor_state import Table
from secant._input.periods import written
from secant._results.base import Result, Said
from secant._results.monitor_words import written_evidence, written_time
from secant._results.parts import Curve
from secant._results.wording import (
    capital,
    percent,
    predictions,
    score,
    signed_pvalue,
    wrong_scores,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from secant._base.types import FloatArray, IntArray
    from secant._inference.monitor_state import Record, State
    from secant._input.periods import Time
    from secant.plot.monitor import MonitorDisplay

__all__ = ["Episode", "MonitorHistory", "Period", "Where", "history_of"]

SCHEMA = 1
"""Version of what ``to_dict`` returns."""


@dataclass(frozen=True, slots=True, repr=False)
class Period(Result):
    """One batch, and the evidence after it.

    Attributes
    ----------
    time : int, str, date or datetime
        What the batch is called.
    n, events : int
        Its predictions, and the events among them.
    mean_score : float
        Its mean forecast; NaN without predictions.
    evidence : float
        Evidence against calibration after this batch: what a bet of 1 against it has become.
        About 1 or less under calibration; an alarm is raised at 1 / alpha.
    log10_evidence : float
        Its decimal logarithm, also where the evidence is too large for a double.
    pvalue : float
        The P-value of everything up to here, valid however often one has looked.
    alarm : bool
        Whether an alarm has been raised by this batch or an earlier one.
    n_forbidden : int
        Predictions whose score of exactly 0 or 1 ruled out what happened.
    slopes : bool
        Whether the batch could show scores that are too extreme or too moderate; not so where it
        came as ``Cells``, nor with a tolerance.
    """

    __module__ = "secant"

    time: Time
    n: int
    events: int
    mean_score: float
    evidence: float
    log10_evidence: float
    pvalue: float
    alarm: bool
    n_forbidden: int
    slopes: bool

    def _facts(self) -> dict[str, Any]:
        facts = Result._facts(self)  # noqa: SLF001  (no super(): a class with slots is made twice)
        return facts | {"time": _json_time(self.time)}

    @property
    def mean_response(self) -> float:
        """How often the event happened; NaN without predictions."""
        return self.events / self.n if self.n else math.nan

    def _say(self) -> Said:
        rates = ""
        if self.n:
            forecast, outcome = percent(self.mean_score), percent(self.mean_response)
            rates = f", mean forecast {forecast}, mean outcome {outcome}"
        alarm = "; alarm" if self.alarm else ""
        return Said(
            f"{written(self.time)}: {predictions(self.n)}{rates}, evidence "
            f"{written_evidence(self.log10_evidence)} to 1{alarm}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Where(Result):
    """Which scores are off, and in which direction.

    Attributes
    ----------
    low, high : float
        The range of scores: from ``low`` to below ``high`` (to 1 where ``high`` is 1).
    direction : str
        "too high", "too low", "too extreme" or "too moderate".
    n : int
        Predictions in this range since it began.
    mean_score, mean_response : float
        Their mean forecast, and how often the event happened. The range and its beginning were
        chosen because they stand out, so that the difference of the two flatters.
    """

    __module__ = "secant"

    low: float
    high: float
    direction: str
    n: int
    mean_score: float
    mean_response: float

    @property
    def scores(self) -> str:
        """The range in words."""
        if (self.low, self.high) == (0.0, 1.0):
            return "all scores"
        if self.low == self.high:
            return f"scores of exactly {self.low:.0f}"
        return f"scores {score(self.low)} to {score(self.high)}"

    @property
    def words(self) -> str:
        """Which scores are off, and how, in words."""
        return f"{self.scores} are {self.direction}"

    def _say(self) -> Said:
        return Said(self.words)


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """Some consecutive batches together, as a curve can be drawn of them.

    Attributes
    ----------
    name : str
        Which batches, in words.
    batches : int
        How many.
    low, high : ndarray
        Limits of the cells that hold predictions.
    n, events, scored : ndarray
        Their predictions, the events among them, and the sums of scores.
    """

    name: str
    batches: int
    low: FloatArray
    high: FloatArray
    n: IntArray
    events: IntArray
    scored: FloatArray

    @property
    def weighted(self) -> bool:
        """Never: a monitor takes no weights."""
        return False

    @property
    def curve(self) -> Curve:
        """The cumulative differences at the ends of cells."""
        total = int(self.n.sum())
        ends = np.concatenate([self.low[:1], self.high])
        share = np.concatenate([[0], np.cumsum(self.n)]) / total
        return Curve(
            ends, share, np.concatenate([[0.0], np.cumsum(self.events - self.scored)]) / total
        )

    @property
    def noise(self) -> float:
        """Standard deviation of the last cumulative difference under calibration, nearly."""
        mean = self.scored / self.n
        return math.sqrt(float((self.n * mean * (1 - mean)).sum())) / float(self.n.sum())


@dataclass(frozen=True, eq=False, repr=False)
class MonitorHistory(Result):
    """What a monitor has seen, batch by batch, and what it has found; print it to read the answer.

    It is a sequence of :class:`Period`.

    Attributes
    ----------
    alpha : float
        The probability of a false alarm ever, at most.
    tolerance : float
        How far chances may lie from scores.
    periods : tuple of Period
        The batches, in their order.
    alarm : bool
        Whether an alarm has been raised.
    alarm_time : int, str, date, datetime or None
        The batch that raised it.
    since : int, str, date, datetime or None
        With which batch it probably began; None without an alarm.
    where : Where or None
        Which scores are off, and how; None without an alarm.
    pvalue : float
        The probability that the evidence ever gets so large under calibration, at most.
    log10_pvalue : float
        Its decimal logarithm, also where the P-value is too small for a double.
    n : int
        Predictions of all batches.
    n_forbidden : int
        Predictions whose score of exactly 0 or 1 ruled out what happened.
    """

    __module__ = "secant"

    alpha: float
    tolerance: float
    periods: tuple[Period, ...]
    alarm: bool
    alarm_time: Time | None
    since: Time | None
    where: Where | None
    pvalue: float
    log10_pvalue: float
    n: int
    n_forbidden: int
    edges: FloatArray | None = field(repr=False)
    _tables: tuple[Table | None, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.periods)

    def __iter__(self) -> Iterator[Period]:
        return iter(self.periods)

    def __getitem__(self, index: Any) -> Any:
        return self.periods[index]

    @property
    def threshold(self) -> float:
        """The evidence at which an alarm is raised."""
        return 1 / self.alpha

    @property
    def first_off(self) -> int | None:
        """The number, from 0, of the batch with which it probably began."""
        if self.since is None:
            return None
        return next(i for i, each in enumerate(self.periods) if each.time == self.since)

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The batches before it began and those since, or all of them; none without predictions."""
        begins = self.first_off
        if begins is None:
            return tuple(self._episode("All batches", 0, len(self)))
        since = written(self.periods[begins].time)
        before = self._episode(f"Before {since}", 0, begins)
        return *before, *self._episode(f"Since {since}", begins, len(self))

    def _episode(self, name: str, first: int, stop: int) -> Iterator[Episode]:
        if self.edges is None:  # all scores together
            some = [each for each in self.periods[first:stop] if each.n]
            sums = [(each.n, each.events, each.n * each.mean_score) for each in some]
            edges, columns = np.array([0.0, 1.0]), np.array(sums or [(0, 0, 0.0)]).sum(0)[:, None]
        else:
            table = Table.added(each for each in self._tables[first:stop] if each is not None)
            edges, columns = self.edges, np.array([table.n, table.events, table.scored])
        kept = np.flatnonzero(columns[0])
        if kept.size:
            n, events, scored = columns[:, kept]
            counts = n.astype(np.int64), events.astype(np.int64)
            yield Episode(name, stop - first, edges[kept], edges[kept + 1], *counts, scored)

    # Words --------------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """The answer in a few words."""
        if not self.periods:
            return "Nothing has been added yet"
        within = f" within {self.tolerance:g}" if self.tolerance else ""
        if self.alarm:
            return f"Alarm at {written_time(self.alarm_time)}: not calibrated{within}"
        return f"No alarm in {_batches(len(self))}"

    @property
    def story(self) -> str:
        """Which scores are off since when; where there is no alarm, what that means."""
        if not self.periods:
            return "Add a batch of predictions when all of its outcomes are known."
        if self.where is None:
            beyond = f" by more than {self.tolerance:g}" if self.tolerance else ""
            return (
                f"No scores are seen to be off{beyond}. That is no proof of calibration: a small "
                "error, or one that has only begun, takes more predictions to show."
            )
        where = self.where
        if where.low == where.high:
            what, s = "event" if where.low == 0 else "failure", "" if where.n == 1 else "s"
            return (
                f"{where.n:,} {what}{s} came after a score of exactly {where.low:.0f}, the first "
                f"at {written_time(self.since)}: no chance explains that."
            )
        since = written_time(self.since)
        found = f"{capital(where.scores)} have been {where.direction} since about {since}"
        if where.direction in {"too extreme", "too moderate"}:
            return f"{found} ({predictions(where.n)})."
        return (
            f"{found}: mean forecast {percent(where.mean_score)}, mean outcome "
            f"{percent(where.mean_response)} ({predictions(where.n)})."
        )

    @property
    def evidence_words(self) -> str:
        """How much evidence there is, and what raises an alarm, in a sentence."""
        largest = max((each.log10_evidence for each in self.periods), default=0.0)
        if math.isinf(self.log10_pvalue):
            return "An outcome that its score ruled out has the P-value 0."
        chance = signed_pvalue(self.pvalue, log10=self.log10_pvalue)
        return (
            f"Evidence has reached {written_evidence(largest)} to 1, an alarm is raised at "
            f"{self.threshold:,.4g} to 1 (P {chance}, valid however often one looks)."
        )

    @property
    def extent(self) -> str:
        """How much has been seen, in a sentence."""
        if not self.periods:
            return ""
        first, last = (written(self.periods[end].time) for end in (0, -1))
        return f"{predictions(self.n)} in {_batches(len(self))}, {first} to {last}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What else one should know, a sentence each."""
        said = []
        if self.n_forbidden:
            refutes = "" if self.tolerance else ": that alone refutes them"
            said.append(f"{wrong_scores(self.n_forbidden)}{refutes}.")
        without = sum(not each.slopes for each in self.periods if each.n)
        if without and not self.tolerance:
            said.append(
                f"{_batches(without)} came as sums (Cells, tables of engines), which cannot show "
                "scores that are too extreme or too moderate as a whole; ranges of scores were "
                "watched."
            )
        if self.periods and self.edges is None:
            said.append(
                "Fewer than 160 predictions so far: all scores are watched together, and ranges "
                "of scores once there are that many."
            )
        return tuple(said)

    def _say(self) -> Said:
        lines = [self.evidence_words, self.extent] if self.periods else []
        return Said(f"{self.headline}.", self.story, lines, notes=self.notes)

    def _picture(self) -> str:
        from secant.report import evidence_picture  # noqa: PLC0415  (pages stand above numbers)

        return evidence_picture(self) if len(self) > 1 else ""

    # Elsewhere ----------------------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        del facts["edges"], facts["periods"]
        times = {name: _json_time(facts[name]) for name in ("alarm_time", "since")}
        words = {"schema": SCHEMA, "verdict": self.headline, "text": self._say().text()}
        return {**words, **facts, **times, "notes": self.notes, "history": self.periods}

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> MonitorDisplay:
        """Draw the evidence over time.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        **kwargs
            Passed on to ``ax.plot`` for the line.

        Returns
        -------
        MonitorDisplay
            Drawn.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        from secant.plot.monitor import MonitorDisplay  # noqa: PLC0415  (drawing stands above numbers)

        return MonitorDisplay(self).plot(ax, **kwargs)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page about it as one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Where to, ending in .html or .htm; the file appears whole or not at all.
        title : str, optional
            Title of the page.
        """
        from secant.report import write_monitor  # noqa: PLC0415  (as above)

        write_monitor(path, self, title=title)


def history_of(state: State) -> MonitorHistory:
    """Return what there is to say of a state."""
    records = state.records
    refutes = state.tolerance == 0
    periods: list[Period] = []
    most, refuted, alarmed = 0.0, False, None
    for record in records:
        most = max(most, record.log_evidence)
        refuted |= refutes and sum(record.impossible) > 0
        # 1 / alpha is rounded: evidence of 20 is enough for 0.05.
        alarm = refuted or most >= -math.log(state.alpha) * (1 - 1e-12)
        if alarm and alarmed is None:
            alarmed = record
        periods.append(_period(record, 0.0 if refuted else math.exp(-most), alarm=alarm))
    log_pvalue = -math.inf if refuted else -most
    since, where = (None, None) if alarmed is None else _found(state, refuted=refuted)
    return MonitorHistory(
        alpha=state.alpha,
        tolerance=state.tolerance,
        periods=tuple(periods),
        alarm=alarmed is not None,
        alarm_time=None if alarmed is None else alarmed.time,
        since=since,
        where=where,
        pvalue=math.exp(log_pvalue),
        log10_pvalue=log_pvalue / math.log(10),
        n=sum(record.n for record in records),
        n_forbidden=sum(sum(record.impossible) for record in records),
        edges=state.edges,
        _tables=tuple(record.table for record in records),
    )


def _period(record: Record, pvalue: float, *, alarm: bool) -> Period:
    return Period(
        time=record.time,
        n=record.n,
        events=record.events,
        mean_score=record.scored / record.n if record.n else math.nan,
        evidence=math.exp(record.log_evidence) if record.log_evidence < 709 else math.inf,
        log10_evidence=record.log_evidence / math.log(10),
        pvalue=min(pvalue, 1.0),
        alarm=alarm,
        n_forbidden=sum(record.impossible),
        slopes=record.sloped,
    )


def _found(state: State, *, refuted: bool) -> tuple[Time, Where]:
    """Return since when, and where, something is off: as things stood when evidence was largest."""
    records = state.records
    peak = max(records, key=lambda record: record.log_evidence)
    if refuted and peak.log_evidence < -math.log(state.alpha):
        return _impossible(records)
    best = component(peak.heaviest)
    since = records[peak.start - 1 :]
    if state.edges is None:
        columns = zip(*((each.n, each.events, each.scored) for each in since), strict=True)
        return since[0].time, _where((0.0, 1.0), best.direction, map(sum, columns))
    table = Table.added(record.table for record in since if record.table is not None)
    cells = slice(best.first, best.last)
    sums = (float(column[cells].sum()) for column in (table.n, table.events, table.scored))
    ends = float(state.edges[best.first]), float(state.edges[best.last])
    return since[0].time, _where(ends, best.direction, sums)


def _where(ends: tuple[float, float], direction: str, sums: Iterable[float]) -> Where:
    n, events, scored = sums
    means = (scored / n, events / n) if n else (math.nan, math.nan)
    return Where(*ends, direction, int(n), *means)


def _impossible(records: Sequence[Record]) -> tuple[Time, Where]:
    """Return the first batch with an outcome that its score ruled out, and which score that was."""
    first = next(record for record in records if sum(record.impossible))
    zeros = sum(record.impossible[0] for record in records)
    ones = sum(record.impossible[1] for record in records)
    if first.impossible[0]:
        return first.time, Where(0.0, 0.0, "too low", zeros, 0.0, 1.0)
    return first.time, Where(1.0, 1.0, "too high", ones, 1.0, 0.0)


def _json_time(time: Time | None) -> int | str | None:
    return time if time is None or isinstance(time, (int, str)) else written(time)


def _batches(count: int) -> str:
    return f"{count:,} batch{'' if count == 1 else 'es'}"
