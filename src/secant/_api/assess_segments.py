"""Which kinds of rows are off, with the search accounted for."""

from __future__ import annotations

import math
from contextlib import nullcontext
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._api.calibrations import calibrations
from secant._base.progress import showing
from secant._inference.adjust import JOINT
from secant._inference.draws import FEWEST_DRAWS, FEWEST_REDRAWS, same_every_time
from secant._input.options import (
    ClassAdjust,
    Reading,
    check_choice,
    check_level,
    check_whole,
    generator,
)
from secant._results.assessments import Assessments
from secant._results.segments import Segment
from secant._results.wording import visible
from secant.errors import Argument, InputError
from secant.sources.apart import Apart
from secant.sources.segments import open_segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.progress import Report
    from secant._blocks.segment_sums import Grouping, Searchable
    from secant._inference.segments import Conditions, Segments, Verdicts
    from secant._input.options import WeightKind
    from secant._results.calibration import Calibration

__all__ = ["assess_segments"]

# Draws of all outcomes: as many as rows x groupings x draws within this budget allow. What is
# counted are coins, about a nanosecond each.
_COINS = 6_000_000_000
# Cells at which paths are read in draws, each of which computes every segment anew.
_CELLS = 128
# Rows x groupings that a search may add up, and segments whose sums it may hold.
_WORK = 10_000_000_000
_SEGMENTS = 50_000


def assess_segments(
    y_true: Any,
    y_prob: Any,
    *,
    features: Any,
    data: Any = None,
    depth: int = 2,
    min_rows: int = 200,
    bins: int = 5,
    max_levels: int = 20,
    adjust: ClassAdjust | None = None,
    sample_weight: Any = None,
    weight_kind: WeightKind = "sampling",
    pos_label: Any = None,
    confidence_level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    progress: Report | None = None,
) -> Assessments:
    r"""Find the kinds of rows that are off, over features and their combinations.

    Calibrated overall need not be calibrated for everybody: where young customers in the north are
    forecast too low and others a little too high, the whole may look perfect. This searches all
    conjunctions of at most ``depth`` conditions such as ``region = north and age 18 to 27``.
    Among hundreds of segments some are off by chance, and an unadjusted search finds something in
    practically any data; here P-values and limits account for the search.

    Parameters
    ----------
    y_true, y_prob, sample_weight, weight_kind, pos_label
        As in :func:`assess`.
    features : list of str, or a mapping from names to arrays
        With ``data``, the columns to search; without it, their values, in a mapping or a data
        frame. They must be known before the outcome is. Numbers and dates are cut at their
        quantiles, other values are a level each; missing values are a level of their own.
    data : optional
        Where the predictions are, if not in arrays; as in :func:`assess`.
    depth : int
        How many conditions a segment may have: 1 to 3.
    min_rows : int
        How many observations a segment has at least.
    bins : int
        How many ranges a numeric feature is cut into; one of fewer distinct values has a level
        for each.
    max_levels : int
        How many values are kept of a feature that is not numeric: the most frequent ones.
    adjust : {"westfall-young", "holm"}, optional
        How P-values are adjusted for the number of segments. By default all outcomes are drawn
        again and again (Westfall and Young) where the rows are in memory and few enough, and
        Holm's adjustment is used elsewhere.
    confidence_level : float
        Findings are at one minus it, after adjustment; limits hold at it for all segments at once.
    draws : int, optional
        How many times to draw all outcomes; by default 999, fewer for many rows. Drawing stops
        early when 100 draws have a segment as extreme as the most extreme one observed.
    rng : int or numpy.random.Generator, optional
        Randomness for draws, which are the same in every run without it.
    progress : callable, optional
        Called now and then with what is done and how much there is to do.

    Returns
    -------
    Assessments
        The segments found, strongest first, each a :class:`Segment`: a table and a mapping from a
        segment in words to its result. ``searched`` counts the segments searched, ``standing_out``
        those with an adjusted P-value at the level, ``not_searched`` says what was left out.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its place.

    Notes
    -----
    The statistic of a segment is :math:`\sqrt{2 V h(R/V)}`, where :math:`R` is its ECCE-R times its
    weight, read at the ends of up to 256 cells of scores, :math:`V` its variance and
    :math:`h(u) = (1 + u)\log(1 + u) - u` (Bennett). Joint redraws compare it with the step-down
    maximum over all segments; Holm's adjustment starts from the probability that the range of
    Brownian motion exceeds it.

    One cause makes many segments stand out. The strongest is reported, its miscalibration at each
    score is taken off its rows, and the others are computed again; so a part of a reported segment
    is reported only for what it says beyond that. At most ten are reported. Of segments that are
    nearly the same the one with fewer conditions is taken. Adjusted P-values are those of the first
    pass, before anything was taken off.

    The mean miscalibration of a segment has limits at :math:`1 - a/m`, for m segments searched and
    :math:`a` = 1 - ``confidence_level``: Clopper and Pearson's for the number of events, minus the
    mean score; with sampling weights those of a range of scores, :math:`\pm q_R(a/m)\hat\sigma`.

    Where the whole is off so are its segments: ask :func:`assess` first. A segment that is not
    found is not thereby calibrated, and one that is found need not be the
    cause: a feature that was not given may be.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young (1993). "Resampling-based multiple testing." Wiley.
    .. [2] S. Holm (1979). "A simple sequentially rejective multiple test procedure." Scandinavian
       Journal of Statistics 6(2). https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> forecast = rng.uniform(0.1, 0.9, 6000)
    >>> region = rng.choice(["north", "south"], 6000)
    >>> age = rng.integers(18, 68, 6000)
    >>> young = (region == "north") & (age < 28)
    >>> chance = np.where(young, forecast - 0.1, forecast + 0.01)
    >>> happened = rng.random(6000) < chance
    >>> secant.assess(happened, forecast).found
    False
    >>> result = secant.assess_segments(
    ...     happened, forecast, features={"region": region, "age": age}
    ... )
    >>> result.failing
    ('region = north and age 18 to 27',)
    >>> result.searched
    17
    """
    if adjust is not None:
        check_choice("adjust", adjust, ClassAdjust)
        if adjust not in (JOINT, "holm"):
            knows = " is not for segments, which share rows; use "
            raise InputError(Argument("adjust", adjust), knows, Argument("adjust", "holm"))
    check_level(confidence_level)
    check_whole("depth", depth, 1, 3)
    check_whole("min_rows", min_rows, 1)
    check_whole("bins", bins, 2, 100)
    check_whole("max_levels", max_levels, 1, 1000)
    if draws is not None:
        check_whole("draws", draws, 1)
        if adjust == "holm":
            raise InputError(Argument("draws"), " does nothing with ", Argument("adjust", "holm"))
    generators = generator(rng)
    with nullcontext() if progress is None else showing(progress):
        searchable = open_segments(
            y_true,
            y_prob,
            features,
            data=data,
            sample_weight=sample_weight,
            reading=Reading(weight_kind, pos_label),
            bins=int(bins),
            most=int(max_levels),
        )
        search = _Search(
            searchable,
            depth=int(depth),
            min_rows=int(min_rows),
            level=float(confidence_level),
        )
        return search.run(adjust, draws, generators)


class _Search:
    """One search: what there is to search, what was found, and what was not searched."""

    def __init__(self, searchable: Searchable, *, depth: int, min_rows: int, level: float) -> None:
        self._data, self._depth, self._min_rows = searchable, depth, min_rows
        self._level, self._alpha = level, 1 - level
        if min_rows > searchable.rows and not searchable.counted:
            many = f" is more than the {searchable.rows:,} rows there are"
            raise InputError(Argument("min_rows", min_rows), many)
        levels = searchable.levels
        self._why_holm = ""
        self._left_out = [each.left_out for each in levels if each.left_out]
        useful = [number for number, each in enumerate(levels) if len(each) > 1]
        for number, each in enumerate(levels):
            if number not in useful:
                value = each.words[0].removeprefix("= ") if each.words else "nothing"
                self._left_out.append(f"{each.name}: one value only ({value})")
        self._groupings = self._affordable(useful)

    def _affordable(self, useful: list[int]) -> list[Grouping]:
        """Return the combinations of features to search, those of fewer first."""
        chosen: list[Grouping] = []
        for length in range(1, self._depth + 1):
            more = list(combinations(useful, length))
            if self._data.rows * (len(chosen) + len(more)) > _WORK and chosen:
                self._left_out.append(
                    f"conjunctions of {length} conditions or more: {len(more):,} combinations of "
                    f"features times {self._data.rows:,} rows are beyond the limit of {_WORK:.0e}"
                )
                break
            chosen += more
        return chosen

    def run(
        self, adjust: ClassAdjust | None, draws: int | None, rng: np.random.Generator | None
    ) -> Assessments:
        draws = self._how_many(adjust, draws)
        if draws:
            self._data.cells_for_draws(_CELLS)
        segments = self._catalogue()
        if draws and len(segments):
            verdicts = self._drawn(segments, draws, same_every_time(rng))
        else:
            from secant._inference.segments import by_holm  # noqa: PLC0415

            verdicts = by_holm(segments, self._alpha, self._data.heaviest)
        return self._result(segments, verdicts)

    def _how_many(self, adjust: ClassAdjust | None, draws: int | None) -> int:
        """Return how often to draw all outcomes; 0 is Holm's adjustment."""
        if not self._data.at_hand:
            if adjust == JOINT or draws is not None:
                raise InputError(
                    Argument("adjust", JOINT),
                    " draws the outcomes of all rows, which must be in memory; use ",
                    Argument("adjust", "holm"),
                )
            if adjust is None:
                self._why_holm = "which takes all rows in memory (arrays in Python)"
            return 0
        if adjust == "holm" or not self._groupings:
            return 0
        coins = self._data.rows * len(self._groupings)
        if draws is not None:
            return draws
        affordable = min(FEWEST_DRAWS, _COINS // coins)
        if adjust == JOINT:
            return int(max(affordable, FEWEST_REDRAWS))
        if affordable >= FEWEST_REDRAWS:
            return int(affordable)
        self._why_holm = "which takes long for so many rows (adjust='westfall-young')"
        return 0

    def _catalogue(self) -> Segments:
        from secant._inference.segments import Catalogue  # noqa: PLC0415  (not for `import secant`)

        catalogue = Catalogue(self._min_rows, _SEGMENTS)
        for grouping, sums in zip(self._groupings, self._data.sums(self._groupings), strict=True):
            if len(grouping) == 1:
                self._refuse_outcome(self._data.levels[grouping[0]].name, sums)
            catalogue.add(grouping, sums)
        segments = catalogue.segments()
        if catalogue.small:
            many = "segment" if catalogue.small == 1 else "segments"
            self._left_out.append(
                f"{catalogue.small:,} {many} of fewer than {self._min_rows:,} rows"
            )
        if catalogue.beyond:
            self._left_out.append(
                f"{catalogue.beyond:,} conjunctions beyond the first {_SEGMENTS:,}"
            )
        return segments

    def _refuse_outcome(self, name: str, sums: Any) -> None:
        """Refuse a feature that tells the outcome in every row."""
        n, n1 = sums.n.sum(axis=-1), sums.n1
        told = ((n1 == 0) | (n1 == n)).all() and 0 < n1.sum() < n.sum()
        if told and n.sum() >= max(self._min_rows, 50):
            from secant._input.columns import SELECTED  # noqa: PLC0415

            tells = f" holds {name!r}, which tells the outcome in every row: {SELECTED}"
            raise InputError(Argument("features"), tells)

    def _drawn(self, segments: Segments, draws: int, rng: np.random.Generator) -> Verdicts:
        from secant._blocks.segment_sums import Adder  # noqa: PLC0415
        from secant._inference.segments import Redraw  # noqa: PLC0415

        chunk, levels, cell = self._data.in_order()
        shape = segments.gain.shape
        nowhere = shape[0] * shape[1]
        kind = np.int32 if nowhere < np.iinfo(np.int32).max else np.int64
        place = np.full((cell.size, len(segments.places) or 1), nowhere, kind)
        sizes = [len(each) for each in self._data.levels]
        adder = Adder(sizes, (), shape[1])
        for number, (grouping, (rows, at)) in enumerate(segments.places.items()):
            code, size = adder.codes(levels, grouping)
            row = np.full(size, -1, np.int64)
            row[np.ravel_multi_index(at, [sizes[feature] + 1 for feature in grouping])] = rows
            owner = row[code]
            inside = owner >= 0
            place[inside, number] = owner[inside] * shape[1] + cell[inside]
        weights = chunk.weights if self._data.sampling else None
        copies = None if chunk.weights is None or weights is not None else chunk.weights
        redraw = Redraw(
            segments,
            chunk.scores,
            place,
            weights=weights,
            copies=None if copies is None else copies.astype(np.int64),
        )
        return redraw.verdicts(
            chunk.labels,
            alpha=self._alpha,
            rng=rng,
            draws=draws,
            heaviest=self._data.heaviest,
        )

    def _result(self, segments: Segments, verdicts: Verdicts) -> Assessments:
        from secant._inference.limits import at_level  # noqa: PLC0415
        from secant._inference.segments import reported  # noqa: PLC0415

        def inside(conditions: Conditions) -> Any:
            return self._data.inside(conditions, list(segments.places))

        chosen = reported(segments, verdicts, self._alpha, inside)
        results = self._calibrated(
            [(segments.conditions[i], int(segments.n[i])) for i in chosen], len(segments)
        )
        rows = self._rows(segments, verdicts, chosen, results)
        conditions = "condition" if self._depth == 1 else "conditions"
        more = f"conjunctions of more than {self._depth} {conditions}"
        out = sum(at_level(float(p), self._alpha) for p in verdicts.pvalues)
        return Assessments(
            rows,
            ("segment",),
            "holm" if verdicts.draws is None else JOINT,
            self._level,
            what="segment",
            draws=verdicts.draws,
            searched=len(segments),
            standing_out=out,
            not_searched=tuple(map(visible, [*self._left_out, more])),
            why_holm=self._why_holm,
        )

    def _calibrated(
        self, wanted: Sequence[tuple[Conditions, int]], among: int
    ) -> list[Calibration]:
        """Assess segments, with limits that hold for all that were searched."""
        if not wanted:
            return []
        sources = [self._data.source(conditions, n) for conditions, n in wanted]
        names = [self._words(conditions) for conditions, _ in wanted]
        level = 1 - self._alpha / among
        return calibrations(Apart(names, sources), method="auto", confidence_level=level)

    def _rows(
        self,
        segments: Segments,
        verdicts: Verdicts,
        chosen: Sequence[int],
        results: Sequence[Calibration],
    ) -> tuple[Segment, ...]:
        rows = []
        for number, result in zip(chosen, results, strict=True):
            conditions = segments.conditions[number]
            parents = [
                other for other in chosen if set(segments.conditions[other]) < set(conditions)
            ]
            parent = max(parents, key=lambda other: len(segments.conditions[other]), default=None)
            off = result.between(0, 1, fixed_in_advance=not result.weighted)
            rows.append(
                Segment(
                    key=self._words(conditions),
                    calibration=result,
                    adjusted_pvalue=float(verdicts.pvalues[number]),
                    status="miscalibrated",
                    log10_pvalue=_log10(float(verdicts.pvalues[number])),
                    conditions=tuple(self._parts(conditions)),
                    miscalibration=off.miscalibration,
                    ci=off.ci,
                    parent=None if parent is None else self._words(segments.conditions[parent]),
                )
            )
        return tuple(rows)

    def _parts(self, conditions: Conditions) -> list[tuple[str, str]]:
        levels = self._data.levels
        return [
            (visible(levels[feature].name), visible(levels[feature].words[level]))
            for feature, level in conditions
        ]

    def _words(self, conditions: Conditions) -> str:
        return " and ".join(" ".join(part) for part in self._parts(conditions))


def _log10(pvalue: float) -> float:
    return math.log10(pvalue) if pvalue else -math.inf
