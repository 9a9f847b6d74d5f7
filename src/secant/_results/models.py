"""The results of several models on the same outcomes, read together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._inference.limits import at_level
from secant._metrics.ecce import METRICS
from secant._results import model_words
from secant._results.base import SCHEMA, Said, Tabular

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from secant._input.options import ModelScore
    from secant._results.calibration import Calibration
    from secant._results.model_comparison import ModelComparison
    from secant.plot import CumulativeDisplay

__all__ = ["Behind", "Models"]


class Behind(NamedTuple):
    """How much more a model loses than the first, with limits and Holm's P-value of no more."""

    difference: float
    ci: tuple[float, float]
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class Models(Tabular, Mapping[str, "Calibration"]):
    """Several models assessed on the same outcomes, a mapping from names; print it to read it.

    Attributes
    ----------
    results : dict of str to Calibration
        Each model by itself, the smallest Brier score first, or log loss.
    comparisons : dict of str to ModelComparison
        The first model (A) against every other (B). Their level accounts for the number of pairs
        of models, so that whichever comes first, the chance of any wrong word stays at the
        level asked for. Empty where rows belong together in clusters, or are put along another
        axis than scores.
    confidence_level : float
        The level asked for.
    score : {"brier", "log_loss"}
        By which score models are ranked.
    behind : dict of str to tuple
        For every other model ``difference``, how much more than the first it loses on average,
        ``ci``, limits that account for the number of pairs, and ``pvalue``, paired and adjusted by
        Holm's method. Empty where comparisons are, and without models that cannot be tested in
        pairs.
    """

    __module__ = "secant"

    results: dict[str, Calibration]
    comparisons: dict[str, ModelComparison]
    confidence_level: float
    score: ModelScore = "brier"
    behind: dict[str, Behind] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Calibration:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def not_worse(self) -> list[str]:
        """The first model, and those that are not known to forecast worse than it."""
        alpha = 1 - self.confidence_level
        worse = {name for name, each in self.behind.items() if at_level(each.pvalue, alpha)}
        return [name for name in self.results if name not in worse]

    @property
    def table(self) -> dict[str, list[Any]]:
        """The numbers as columns, one value a model: what ``to_pandas`` and ``to_polars`` hold."""
        columns: dict[str, list[Any]] = {}
        for name, result in self.results.items():
            for column, value in _numbers(name, result).items():
                columns.setdefault(column, []).append(value)
        return columns

    @property
    def verdict(self) -> str:
        """Which model makes better forecasts, and which is better calibrated beyond chance."""
        return " ".join(model_words.words_of(self))

    def _facts(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "confidence_level": self.confidence_level,
            "score": self.score,
            "not_worse": self.not_worse,
            "models": self.results,
            "comparisons": self.comparisons,
            "behind": {name: each._asdict() for name, each in self.behind.items()},
        }

    def _say(self) -> Said:
        headline, *others = model_words.words_of(self) or [""]
        return Said(headline, lines=others, tables=[model_words.table(self)])

    def plot(self, ax: Any = None, **kwargs: Any) -> CumulativeDisplay:
        """Draw the graphs of all models over each other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        **kwargs
            Passed on to ``ax.plot`` for the curves.

        Returns
        -------
        CumulativeDisplay
            The picture and its parts.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        from secant.plot import CumulativeDisplay  # noqa: PLC0415  (drawing stands above numbers)

        return CumulativeDisplay(dict(self.results)).plot(ax, **kwargs)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report of all models: one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Where to, ending in .html or .htm; the file appears whole or not at all.
        title : str, optional
            Title of the page.
        """
        from secant.report import write  # noqa: PLC0415  (pages stand above numbers)

        write(path, self, title=title)


def _numbers(name: str, result: Calibration) -> dict[str, Any]:
    brier, log_loss = result.proper_scores
    steepest = result.steepest
    return {
        "model": name,
        "n": result.n,
        "ecce_r": result.ecce_r.value,
        "ecce_r_by_chance": result.by_chance(METRICS[0]) * result.sigma,
        "ci_low": result.ecce_r.ci[0],
        "ci_high": result.ecce_r.ci[1],
        "pvalue": result.pvalue,
        "ecce_r_pvalue": result.ecce_r.pvalue,
        "direction": result.direction,
        "off_by_at_least": None if steepest is None else steepest.at_least,
        "brier": None if brier is None else brier.value,
        "mcb": None if brier is None else brier.mcb,
        "dsc": None if brier is None else brier.dsc,
        "log_loss": None if log_loss is None else log_loss.value,
    }
