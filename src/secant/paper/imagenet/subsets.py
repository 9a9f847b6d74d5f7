"""What the paper shows of ImageNet: five true classes and all images, with what it prints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from secant.paper import experiments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import BoolArray
    from secant._results.calibration import Calibration
    from secant.paper.imagenet.predictions import Predictions

__all__ = [
    "LEAST_BINS",
    "NUMBERS",
    "PAPER_IMAGES",
    "SUBSETS",
    "EceRow",
    "Subset",
    "ece_rows",
]

PAPER_IMAGES = 1_281_167
"""Images in the paper's experiment, the whole training set."""

NUMBERS = range(11, 35)
"""Numbers of the figures."""

LEAST_BINS = 4
"""Smallest number of bins of an ECE."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Images that share four figures of the paper.

    Attributes
    ----------
    first_figure : int
        Number of the first of the four figures.
    true_class : int or None
        The class of the images; None for all images.
    name : str
        What the paper calls them.
    most_bins : int
        Largest number of bins of an ECE.
    diagrams : tuple of int
        Numbers of bins of the reliability diagrams.
    printed : tuple of str
        What the paper prints: ECCE-MAD, the same in units of sigma, ECCE-R, the same.
    """

    first_figure: int
    true_class: int | None
    name: str
    most_bins: int
    diagrams: tuple[int, int]
    printed: tuple[str, str, str, str]

    @property
    def title(self) -> str:
        """What to call it, with its class."""
        if self.true_class is None:
            return self.name
        return f"{self.name} (true class {self.true_class})"

    @property
    def figures(self) -> range:
        """Numbers of its figures: ECE, two kinds of reliability diagrams, cumulative."""
        return range(self.first_figure, self.first_figure + 4)

    def rows(self, predictions: Predictions) -> BoolArray | slice:
        """Select its images."""
        if self.true_class is None:
            return slice(None)
        return np.asarray(predictions.true_class == self.true_class)

    def bin_counts(self, n: int) -> list[int]:
        """List the powers of 2 from 4 to ``most_bins``, no more than there are images."""
        most = min(self.most_bins, n)
        return [2**k for k in range(most.bit_length()) if 2**k >= LEAST_BINS]


SUBSETS = (
    *(
        Subset(first, number, name, 1024, (8, 32), printed)
        for first, number, name, printed in (
            (11, 60, "Night snake", ("0.08059", "6.607", "0.08270", "6.780")),
            (15, 68, "Sidewinder", ("0.07081", "5.446", "0.1075", "8.267")),
            (19, 248, "Eskimo dog", ("0.05534", "4.274", "0.06715", "5.186")),
            (23, 342, "Wild boar", ("0.1161", "10.14", "0.1172", "10.23")),
            (27, 837, "Sunglasses", ("0.09972", "8.004", "0.09977", "8.008")),
        )
    ),
    Subset(31, None, "All images", 4096, (128, 1024), ("0.03306", "111.7", "0.03306", "111.7")),
)
"""All of them, in the order of the figures."""


class EceRow(experiments.EceRow):
    """The binned metrics, and what perfect calibration would give on average."""

    floor1: float
    floor2: float


def ece_rows(result: Calibration, counts: Sequence[int]) -> Iterator[EceRow]:
    """Compute both ECE for all numbers of bins and both kinds, with the paper's weights."""
    for n_bins, (bins, strategy) in product(counts, experiments.STRATEGIES.items()):
        options: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy, "weighting": "width"}
        first = result.ece(norm="l1", **options)
        second = result.ece(norm="l2", squared=True, **options)
        assert first.noise_floor is not None  # noqa: S101
        assert second.noise_floor is not None  # noqa: S101
        yield {
            "bins": bins,
            "n_bins": n_bins,
            "ece1": first.value,
            "ece2": second.value,
            "floor1": first.noise_floor,
            "floor2": second.noise_floor,
        }
