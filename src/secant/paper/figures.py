"""The paper's synthetic figures, drawn from the numbers of :mod:`secant.paper.experiments`.

matplotlib is imported when something is drawn, and its settings are put back afterwards.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from secant import null
from secant._base.extras import require
from secant._drawing.graph import Bare
from secant._drawing.style import COLORS
from secant.paper import experiments, synthetic
from secant.plot import CumulativeDisplay, ReliabilityDisplay
from secant.plot._draw import model_line
from secant.plot._graph import draw_graph, fractions
from secant.plot._room import write_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from secant import Calibration
    from secant._input.options import Strategy
    from secant.paper.experiments import ConvergenceRow, Statistics
    from secant.paper.synthetic import Family

__all__ = [
    "FIGURES",
    "FORMATS",
    "Drawing",
    "PaperFigure",
    "convergence",
    "cumulative",
    "diagram",
    "ece_against_bins",
    "new_figure",
    "paper_style",
    "publish",
    "reliability_diagrams",
    "success_probabilities",
]

FORMATS = ("pdf", "png")
"""File formats that can be written, the same bytes in every run."""

_N = 32768
_PNG_DPI = 200
# Limits of an axis closer than this ratio get evenly spaced ticks.
_NARROW = 4
_QUARTERS = (0, 0.25, 0.5, 0.75, 1)
# Resamples behind the grey lines; the seed only makes them the same in every run.
_RESAMPLES = 20
_SEED = 987654321

_INK, _GUIDE = (COLORS[name][0] for name in ("ink", "guide"))
_GRID = (COLORS["muted"][0], 0.12)

_NAMES: dict[Family, str] = {
    "equispaced": "Equispaced scores",
    "squared": "Squared scores",
    "square rooted": "Square-rooted scores",
}
_METRICS = {
    "ece1": r"ECE$^1$",
    "ece2": r"ECE$^2$",
    "ecce_mad": "ECCE-MAD",
    "ecce_r": "ECCE-R",
    "ecce_mad_normalized": r"ECCE-MAD / $\sigma$",
    "ecce_r_normalized": r"ECCE-R / $\sigma$",
}
# Where the normalised metrics of calibrated predictions settle.
_LIMITS = {"ecce_mad_normalized": null.mad.mean, "ecce_r_normalized": null.range.mean}


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure of the paper.

    Attributes
    ----------
    number : int
        Its number in the paper.
    title : str
        What it shows, in a few words.
    caption : str
        What to see in it.
    draw : callable
        Draws it, from the statistics.
    """

    number: int
    title: str
    caption: str
    draw: Callable[[Statistics], Figure]

    @property
    def stem(self) -> str:
        """Name of its files, less the format."""
        return f"figure{self.number:02d}"


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw with these settings, whatever the user's are, and put theirs back.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    settings = require("matplotlib.style", "paper", "drawing needs")
    ours = {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.labelsize": 9,
        "legend.fontsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "axes.linewidth": 0.6,
        "axes.edgecolor": _INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "pdf.fonttype": 42,  # letters stay letters in the file
    }
    with settings.context(["default", ours]):
        yield


@dataclass(frozen=True, slots=True)
class Drawing:
    """The work of drawing one figure, which another process can do.

    Attributes
    ----------
    figure : PaperFigure
        What to draw.
    found : Statistics
        From which numbers.
    folder : Path
        Where to put the files, one for each format.
    formats : tuple of str
        Some of :data:`FORMATS`.
    """

    figure: PaperFigure
    found: Statistics
    folder: Path
    formats: tuple[str, ...]
    cost: ClassVar[int] = 1 << 21  # in rows of an experiment that take as long

    def run(self) -> list[Path]:
        """Draw and write, and return the files."""
        files = [self.folder / f"{self.figure.stem}.{suffix}" for suffix in self.formats]
        with paper_style():
            drawn = self.figure.draw(self.found)
            for file in files:
                # No date in the file: the same numbers give the same bytes.
                metadata = {"CreationDate": None} if file.suffix == ".pdf" else None
                drawn.savefig(file, dpi=_PNG_DPI, metadata=metadata)
        return files


def publish(
    drawn: Iterable[Path], texts: Mapping[str, str], folder: Path, out: Path
) -> tuple[Path, ...]:
    """Write texts into the folder of the files drawn, then move all of it, and return where to.

    The last text comes last: where it is the page, all that it shows is there when it is.
    """
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    staged = [*drawn, *(folder / name for name in texts)]
    return tuple(file.replace(out / file.name) for file in staged)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of some inches, which nobody else looks after."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (imported only when drawing)

    return Figure(figsize=(width, height), layout="constrained")


def diagram(
    ax: Axes, result: Calibration, n_bins: int, strategy: Strategy, **options: Any
) -> ReliabilityDisplay:
    """Draw a reliability diagram as the paper does, with lines of resampled rows."""
    display = ReliabilityDisplay.from_calibration(
        result,
        n_bins=n_bins,
        strategy=strategy,
        uncertainty="bootstrap",
        n_resamples=_RESAMPLES,
        rng=_SEED,
        ax=ax,
        linestyle=":",
        marker="*",
        **options,
    )
    ax.set_xlabel("Mean score")
    return display


def ece_against_bins(found: Statistics, *, n: int) -> Figure:
    """Draw both ECE against the number of bins, for both kinds of bins."""
    rows = [row for row in found["synthetic"] if row["n"] == n]
    figure = new_figure(7.0, 5.6)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for line, metric in zip(panels, ("ece1", "ece2"), strict=True):
        for ax, bins in zip(line, ("equispaced", "equal-count"), strict=True):
            for row in rows:
                entries = [entry for entry in row["ece"] if entry["bins"] == bins]
                x = [entry["n_bins"] for entry in entries]
                y = [entry[metric] for entry in entries]  # type: ignore[literal-required]
                _family_line(ax, x, y, row["scores"])
            ax.set_title(f"{_METRICS[metric]}, {bins} bins", loc="left")
        line[0].set_ylabel(_METRICS[metric])
    for ax in panels.flat:
        _log_axes(ax, experiments.BIN_COUNTS[::2])
    for ax in panels[1]:
        ax.set_xlabel("Number of bins $m$")
    figure.align_ylabels()
    _legend(figure, panels[0][0])
    return figure


def success_probabilities(_: Statistics, *, n: int = _N) -> Figure:
    """Draw success probability against score, with the diagonal of perfect calibration."""
    figure = new_figure(7.0, 2.9)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    for ax, family in zip(panels, synthetic.FAMILIES, strict=True):
        ax.plot([0, 1], [0, 1], color=_GUIDE, linewidth=1, zorder=1)
        ax.plot(
            synthetic.scores(n, family),
            synthetic.success_probabilities(n, family),
            color=_INK,
            linewidth=0.9,
        )
        ax.set_title(_NAMES[family], loc="left")
        ax.set_xlabel("Score $S_k$")
        ax.set_xlim(0, 1)
        ax.set_aspect("equal")
    panels[0].set_ylabel("Success probability $P_k$")
    return figure


def reliability_diagrams(_: Statistics, *, n_bins: int, strategy: Strategy, n: int = _N) -> Figure:
    """Draw the reliability diagram of each family, with lines of resampled rows."""
    figure = new_figure(7.4, 2.7)
    panels = figure.subplots(1, 3)
    for ax, family in zip(panels, synthetic.FAMILIES, strict=True):
        ax.set_title(_NAMES[family], loc="left")
        result = experiments.assess_fixed(n, family)
        diagram(ax, result, n_bins, strategy, markersize=6 if n_bins <= 16 else 3.5)
        ax.set(ylabel="" if ax is not panels[0] else "Mean response")
        ax.set(aspect="equal", xticks=_QUARTERS, yticks=_QUARTERS)
        # What the thin lines are stands in the caption; here it would lie on a line.
        for hint in [text for text in ax.texts if "thin lines" in text.get_text()]:
            hint.remove()
    return figure


def cumulative(_: Statistics, *, n: int = _N, family: Family = "square rooted") -> Figure:
    """Draw the graph of cumulative differences, observed above and expected below."""
    figure = new_figure(7.0, 8.0)
    observed, expected = figure.subplots(2, 1)
    result = experiments.assess_fixed(n, family)
    CumulativeDisplay(result, name="Observed").plot(observed, worst=False)
    curve = experiments.expected_curve(n, family)
    chart = draw_graph(expected, [Bare(curve, result.sigma)], ["exact expectations"])[0]
    fractions(expected, chart)
    name = "Exact expectations: success probabilities in place of responses"
    write_title(expected, name, chart)
    low, high = zip(observed.get_ylim(), expected.get_ylim(), strict=True)
    for ax in (observed, expected):
        ax.set(ylim=(min(low), max(high)), ylabel="Cumulative difference")
    return figure


def convergence(found: Statistics, *, metrics: tuple[str, str]) -> Figure:
    """Draw two metrics against the sample size, calibrated above and miscalibrated below."""
    figure = new_figure(7.0, 5.6)
    panels = figure.subplots(2, 2, sharex=True, sharey="col")
    for line, calibrated in zip(panels, (True, False), strict=True):
        rows = [row for row in found["convergence"] if row["calibrated"] is calibrated]
        for ax, metric in zip(line, metrics, strict=True):
            _convergence_panel(ax, rows, metric, calibrated=calibrated)
    sizes = sorted({row["n"] for row in found["convergence"]})
    for ax in panels.flat:
        _log_axes(ax, sizes[::3], powers=True)
    for ax in panels[1]:
        ax.set_xlabel("Sample size $n$")
    figure.align_ylabels()
    _legend(figure, panels[0][0])
    return figure


def _convergence_panel(
    ax: Axes, rows: list[ConvergenceRow], metric: str, *, calibrated: bool
) -> None:
    for family in synthetic.FAMILIES:
        of_family = [row for row in rows if row["scores"] == family]
        x = [row["n"] for row in of_family]
        y = [row[metric] for row in of_family]  # type: ignore[literal-required]
        _family_line(ax, x, y, family)
    if calibrated and metric in _LIMITS:
        ax.axhline(_LIMITS[metric], color=_GUIDE, linewidth=1, zorder=1)
    ax.set_ylabel(_METRICS[metric])
    ax.set_title("Calibrated" if calibrated else "Miscalibrated", loc="left")


def _family_line(ax: Axes, x: Sequence[float], y: Sequence[float], family: Family) -> None:
    look = model_line(synthetic.FAMILIES.index(family))
    ax.plot(x, y, **look, linewidth=1.1, markersize=4, label=_NAMES[family])


def _log_axes(ax: Axes, ticks: Sequence[int], *, powers: bool = False) -> None:
    """Make both axes logarithmic, with plain numbers at the ticks."""
    from matplotlib.ticker import MaxNLocator, NullLocator  # noqa: PLC0415  (only when drawing)

    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(ticks, [f"$2^{{{n.bit_length() - 1}}}$" if powers else f"{n}" for n in ticks])
    low, high = ax.get_ylim()
    if high < _NARROW * low:
        even = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        heights = [float(height) for height in even if low <= height <= high]
    else:
        heights = _log_ticks(low, high)
    ax.set_yticks(heights, [f"{height:.7f}".rstrip("0").rstrip(".") for height in heights])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(visible=True, color=_GRID, linewidth=0.8)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two limits: 1-2-5, or powers of ten alone where these crowd."""
    decades = math.log10(high / low)
    digits = (1, 2, 5) if decades < 3.2 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [tick for tick in ticks if low <= tick <= high]


def _legend(figure: Figure, ax: Any) -> None:
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(synthetic.FAMILIES),
        frameon=False,
        handlelength=3,
    )


def _registry() -> Iterator[PaperFigure]:
    sizes = {1: 32768, 35: 8192, 36: 131072}
    for number, n in sizes.items():
        yield PaperFigure(
            number,
            f"ECE against the number of bins, n = {n:,}",
            "The two binned metrics for equispaced and equal-count bins, on miscalibrated data "
            "with three families of scores. One data set has as many values as there are ways to "
            "choose bins, and with many bins noise takes over: the metric only grows.",
            partial(ece_against_bins, n=n),
        )
    yield PaperFigure(
        2,
        f"Success probabilities, n = {_N:,}",
        "The probability with which each response is 1, against its score; on the grey diagonal "
        "predictions would be calibrated. The same departures are added to all three families "
        "of scores. As in the paper some fall below 0, which has the effect of 0.",
        success_probabilities,
    )
    diagrams: dict[int, tuple[int, Strategy]] = {
        3: (16, "uniform"),
        4: (16, "quantile"),
        5: (64, "uniform"),
        6: (64, "quantile"),
    }
    for number, (n_bins, strategy) in diagrams.items():
        kind = "equispaced" if strategy == "uniform" else "equal-count"
        yield PaperFigure(
            number,
            f"Reliability diagrams with {n_bins} {kind} bins, n = {_N:,}",
            "Mean response against mean score in each bin (stars), the diagonal of perfect "
            f"calibration, and {_RESAMPLES} grey lines from data resampled with replacement, which "
            "span about 95% of what chance does. The resamples are drawn by our generator, so "
            "the grey lines are not the paper\N{RIGHT SINGLE QUOTATION MARK}s; the stars are.",
            partial(reliability_diagrams, n_bins=n_bins, strategy=strategy),
        )
    yield PaperFigure(
        7,
        f"Cumulative differences of the square-rooted scores, n = {_N:,}",
        "Above as observed, below with success probabilities in place of responses, that is, "
        "without noise. The slope of a secant line is the mean miscalibration between its "
        "ends. The lower axis shows the scores, its small ticks how they are spread; the "
        "triangle at the origin is 4\N{GREEK SMALL LETTER SIGMA} high.",
        cumulative,
    )
    yield PaperFigure(
        8,
        "ECE as the sample grows",
        "Averages over 9 realisations, with equal-count bins of 16 rows. For calibrated "
        "predictions the binned metrics do not go to 0, however large the sample; for the squared "
        "scores they hardly differ from those of miscalibrated ones.",
        partial(convergence, metrics=("ece1", "ece2")),
    )
    yield PaperFigure(
        9,
        "ECCE as the sample grows",
        "Averages over 9 realisations. For calibrated predictions the cumulative metrics go to 0 "
        "like the inverse root of n; for miscalibrated ones they stay above 0.01.",
        partial(convergence, metrics=("ecce_mad", "ecce_r")),
    )
    yield PaperFigure(
        10,
        "Normalised ECCE as the sample grows",
        "The metrics of Figure 9 in units of \N{GREEK SMALL LETTER SIGMA}. For calibrated "
        "predictions they stay near the means of their limiting laws (grey lines: "
        f"{null.mad.mean:.4f} and {null.range.mean:.4f}); for miscalibrated ones they end up "
        "growing like the root of n.",
        partial(convergence, metrics=("ecce_mad_normalized", "ecce_r_normalized")),
    )


FIGURES = {figure.number: figure for figure in sorted(_registry(), key=lambda f: f.number)}
"""The synthetic figures by their numbers."""
