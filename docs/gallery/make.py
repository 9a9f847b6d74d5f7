"""Make the pictures of the README and the documentation: ``python docs/gallery/make.py [DIR]``.

Every picture is drawn from data made here or in an example, so that anybody gets the same.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from datetime import date, timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from secant import CumulativeDisplay, Monitor, ReliabilityDisplay
from secant.paper import synthetic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]

# The size and family of the paper's Figure 7.
SIZE = 32768
FAMILY: synthetic.Family = "square rooted"


def landing() -> Figure:
    """Draw what the first page of the site assesses."""
    rng = np.random.default_rng(0)
    forecast = rng.random(20_000)
    happened = rng.random(20_000) < 0.05 + 0.85 * forecast
    figure = _figure(6.4, 3.8)
    CumulativeDisplay.from_predictions(happened, forecast, ax=figure.subplots())
    return figure


def cumulative() -> Figure:
    """Draw the paper's synthetic predictions: how far off they are, and where."""
    figure = _figure()
    happened, forecast = _paper()
    CumulativeDisplay.from_predictions(happened, forecast, ax=figure.subplots())
    return figure


def calibrated() -> Figure:
    """Draw the same scores with calibrated outcomes: the graph stays inside the band."""
    figure = _figure()
    happened, forecast = _paper(calibrated=True)
    CumulativeDisplay.from_predictions(happened, forecast, band=True, ax=figure.subplots())
    return figure


def models() -> Figure:
    """Draw three models of the same outcomes."""
    figure = _figure(height=4.9)
    happened, forecasts = _three_models()
    CumulativeDisplay.from_predictions(happened, forecasts, ax=figure.subplots())
    return figure


def reliability() -> Figure:
    """Draw reliability diagrams of the paper's predictions, as the paper does and with limits."""
    figure = _figure(width=9.2, height=5.2)
    happened, forecast = _paper()
    left, right = figure.subplots(1, 2)
    ReliabilityDisplay.from_predictions(
        happened, forecast, n_bins=16, uncertainty="bootstrap", rng=0, counts=True, ax=left
    )
    ReliabilityDisplay.from_predictions(
        happened, forecast, n_bins=64, strategy="quantile", counts=True, ax=right
    )
    return figure


def reliability_models() -> Figure:
    """Draw reliability diagrams of three models of the same outcomes."""
    figure = _figure(width=5.2, height=5.8)
    happened, forecasts = _three_models()
    ReliabilityDisplay.from_predictions(
        happened, forecasts, n_bins=10, counts=True, ax=figure.subplots()
    )
    return figure


def bins() -> Figure:
    """Draw calibrated predictions in few bins, in many, and in none."""
    figure = _figure(width=10.5, height=3.9)
    happened, forecast = _paper(calibrated=True)
    few, many, none = figure.subplots(1, 3, width_ratios=(1, 1, 1.5))
    for ax, n_bins in ((few, 8), (many, 256)):
        ReliabilityDisplay.from_predictions(
            happened, forecast, n_bins=n_bins, strategy="quantile", uncertainty=None, ax=ax
        )
    CumulativeDisplay.from_predictions(happened, forecast, band=True, ax=none)
    return figure


def weighted() -> Figure:
    """Draw weighted predictions that take few values: each has its stretch of the axis."""
    rng = np.random.default_rng(4)
    forecast = rng.choice([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9], 4000)
    weight = rng.gamma(2, size=4000) * (1.5 - forecast)
    happened = rng.random(4000) < 0.9 * forecast
    figure = _figure()
    CumulativeDisplay.from_predictions(
        happened, forecast, sample_weight=weight, ax=figure.subplots()
    )
    return figure


def rare() -> Figure:
    """Draw forecasts of rare events."""
    rng = np.random.default_rng(5)
    forecast = rng.beta(1, 200, 50_000)
    happened = rng.random(50_000) < 1.3 * forecast
    figure = _figure()
    CumulativeDisplay.from_predictions(happened, forecast, band=True, ax=figure.subplots())
    return figure


def monitor() -> Figure:
    """Draw 200 days of 500 predictions; from the 101st on events are a little more frequent."""
    figure, rng, watched = _figure(7.2, 4.0), np.random.default_rng(2), Monitor()
    for day in range(200):
        forecast = rng.random(500)
        odds = forecast / (1 - forecast) * (np.exp(0.1) if day >= 100 else 1)
        happened = rng.random(500) < odds / (1 + odds)
        watched.add(happened, forecast, time=date(2026, 1, 1) + timedelta(day))
    watched.plot(figure.subplots())
    return figure


PICTURES: tuple[Callable[[], Figure], ...] = (
    landing,
    cumulative,
    calibrated,
    models,
    reliability,
    reliability_models,
    bins,
    weighted,
    rare,
    monitor,
)

# Examples whose pictures pages show: reading-1.png is the first of examples/plot_reading.py.
EXAMPLES = ("reading", "ece", "planning", "how_it_works")


def pictures(examples: tuple[str, ...] = EXAMPLES) -> Iterator[tuple[str, Figure]]:
    """Yield the name of every picture, and the picture."""
    for picture in PICTURES:
        yield picture.__name__, picture()
    for example in examples:
        plt.close("all")
        with contextlib.redirect_stdout(StringIO()):
            runpy.run_path(str(ROOT / "examples" / f"plot_{example}.py"))
        for number in plt.get_fignums():
            yield f"{example}-{number}", plt.figure(number)
    plt.close("all")


def make(folder: Path, examples: tuple[str, ...] = EXAMPLES) -> list[Path]:
    """Write every picture, those of examples too, into a folder and return the files."""
    files = []
    for name, picture in pictures(examples):
        path = folder / f"{name.replace('_', '-')}.png"
        drawn = BytesIO()
        picture.savefig(drawn, dpi=150)
        # A palette makes the file three times smaller, and nobody sees the difference.
        colors = Image.open(drawn).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
        colors.save(path, optimize=True)
        files.append(path)
    return files


def _figure(width: float = 7.2, height: float = 4.6) -> Figure:
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def _paper(*, calibrated: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and forecasts of the paper's synthetic data."""
    [happened] = synthetic.responses(SIZE, FAMILY, calibrated=calibrated)
    return happened, synthetic.scores(SIZE, FAMILY)


def _three_models() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return outcomes and the forecasts of a calibrated, a bold and a biased model."""
    rng = np.random.default_rng(1)
    evidence = rng.normal(-0.4, 1.3, 8000)

    def probability(log_odds: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-log_odds))

    happened = rng.random(8000) < probability(evidence)
    return happened, {
        "Logistic regression": probability(evidence),
        "Boosted trees": probability(1.5 * evidence),
        "Naive Bayes": probability(evidence + 0.25),
    }


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
