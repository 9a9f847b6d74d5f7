"""The reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._drawing.diagrams import reliability
from secant._drawing.models import OfEstimator, assess_models, named, names_of
from secant._input.observations import observations
from secant._input.options import Uncertainty, check_choice
from secant._results import wording
from secant._results.calibration import Calibration
from secant._results.parts import Reliability
from secant.errors import InputError
from secant.plot._bootstrap import resample_result, resample_rows
from secant.plot._diagram import below, draw_counts, draw_diagram, legend, lines
from secant.plot._draw import new_axes, space_of
from secant.plot._room import write_title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    from secant._input.observations import Observations
    from secant._input.options import BinLimits, Strategy, WeightKind
    from secant._results.scores import IsotonicFit
    from secant.plot._bootstrap import Resamples

__all__ = ["ReliabilityDisplay"]


class ReliabilityDisplay(OfEstimator):
    """The reliability diagram: how often it happened against what was forecast, bin by bin.

    Points on the diagonal are calibrated on average over their bin; below it predictions are too
    high, above it too low. The picture depends on the bins: with few of them deviations cancel,
    with many noise looks like deviation. :class:`CumulativeDisplay` needs none.

    Parameters
    ----------
    bins : Reliability, sequence of Reliability or mapping from names to Reliability
        What to draw, as :meth:`Calibration.reliability` returns it; several share the axes.
    name : str or sequence of str, optional
        Names of bins that have none.
    uncertainty : {"bars", "bootstrap", None}
        Draw the limits of each bin, lines of resampled data (which need ``resamples``), or
        neither.
    resamples : sequence of Resamples, optional
        For each model the diagrams of its resamples, as the class methods make them.
    recalibrated : sequence of IsotonicFit, optional
        For each model its recalibrated forecast, :attr:`Calibration.recalibrated`, to be drawn.

    Attributes
    ----------
    bins : tuple of Reliability
        One a model: edges, counts, averages and limits.
    names : tuple of str or None
        Their names.
    uncertainty : str or None
        What is drawn around the points.
    resamples : tuple of Resamples
        For each model ``mean_score`` and ``mean_response``, arrays with one row a resample and one
        column a bin, NaN in empty bins; without bootstrap, nothing.
    recalibrated : tuple of IsotonicFit
        The recalibrated forecast of each model, where asked for.
    ax_, figure_
        Where it was drawn.
    line_, lines_ : Line2D and list of Line2D
        The points of the first model, and of all.
    diagonal_ : Line2D
        The diagonal.
    bars_ : list of LineCollection
        The limits of bins, where asked for.
    resamples_ : list of LineCollection
        The lines of resampled data, where asked for.
    recalibrated_ : list of Line2D
        The recalibrated forecasts, where asked for.
    counts_ax_ : Axes or None
        The axes below, where counts were asked for.
    counts_ : list of BarContainer or StepPatch
        The counts of bins, of one or of several models.
    legend_ : Legend or None
        Names of several models.

    Raises
    ------
    InputError
        If there is nothing to draw, something that is not a :class:`Reliability`, or no resamples
        to draw.

    See Also
    --------
    CumulativeDisplay : The same without bins.

    Notes
    -----
    The bars are limits for each bin taken by itself, as :meth:`Calibration.reliability` computes
    them. The thin lines are those of the paper [1]_: rows are drawn with replacement and binned
    anew, twenty times, so that they span about 95% of what chance does. Rows of equal score and
    response are alike, so their multiplicities are drawn instead, which is the same; among many
    predictions (more than 65,536) also rows of nearly equal score, closer than a pixel. Rows with
    sampling weights are not alike and have to be at hand: use :meth:`from_predictions`.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> forecast = rng.random(5000)
    >>> happened = rng.random(5000) < forecast**1.2
    >>> bins = secant.assess(happened, forecast).reliability(n_bins=10, strategy="quantile")
    >>> display = secant.ReliabilityDisplay(bins)
    >>> display.bins[0].mean_score.round(2)[:3]
    array([0.05, 0.15, 0.25])

    Any axes will do; without, a new figure is made.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display.plot(ax, counts=True).counts_ax_.get_ylabel()
    'Predictions'
    """

    __module__ = "secant"

    bins: tuple[Reliability, ...]
    names: tuple[str | None, ...]
    uncertainty: Uncertainty | None
    resamples: tuple[Resamples, ...]
    recalibrated: tuple[IsotonicFit, ...]
    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    lines_: list[Line2D]
    diagonal_: Line2D
    bars_: list[LineCollection]
    resamples_: list[LineCollection]
    recalibrated_: list[Line2D]
    counts_ax_: Axes | None
    counts_: list[BarContainer | StepPatch]
    legend_: Legend | None

    def __init__(
        self,
        bins: Reliability | Sequence[Reliability] | Mapping[str, Reliability],
        *,
        name: str | Sequence[str] | None = None,
        uncertainty: Uncertainty | None = "bars",
        resamples: Sequence[Resamples] = (),
        recalibrated: Sequence[IsotonicFit] = (),
    ) -> None:
        self.names, self.bins = named(bins, Reliability, name)
        self.uncertainty, self.resamples = uncertainty, tuple(resamples)
        self.recalibrated = tuple(recalibrated)
        if uncertainty is not None:
            check_choice("uncertainty", uncertainty, Uncertainty)
        if uncertainty == "bootstrap" and len(self.resamples) != len(self.bins):
            msg = (
                "bins alone cannot be resampled: use ReliabilityDisplay.from_calibration or "
                "from_predictions, or uncertainty='bars'"
            )
            raise InputError(msg)

    @classmethod
    def from_calibration(
        cls,
        results: Calibration | Sequence[Calibration] | Mapping[str, Calibration],
        *,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        limits: BinLimits = "clopper-pearson",
        uncertainty: Uncertainty | None = "bars",
        n_resamples: int = 20,
        rng: Any = None,
        recalibrated: bool = False,
        name: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        counts: bool = False,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Sort the predictions behind results into bins and draw them.

        Parameters
        ----------
        results : Calibration, sequence of Calibration or mapping from names to Calibration
            What :func:`secant.assess` returned, for one or more models.
        n_bins, strategy, limits
            As in :meth:`Calibration.reliability`.
        uncertainty : {"bars", "bootstrap", None}
            Draw the limits of each bin, lines of resampled data, or neither.
        n_resamples : int
            How many resamples to draw with ``uncertainty="bootstrap"``.
        rng : int or numpy.random.Generator, optional
            Randomness for them; give one to get the same picture again.
        recalibrated : bool
            Draw the recalibrated forecast too, a staircase that needs no bins: what each score
            would have to become, by isotonic regression.
        name : str or sequence of str, optional
            Names of results that have none.
        ax, counts, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay
            Drawn.

        Raises
        ------
        InputError
            If an option is unknown, quantile bins outnumber the predictions, the predictions are
            gone, or weighted predictions are to be resampled.
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> import secant
        >>> result = secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9])
        >>> display = secant.ReliabilityDisplay.from_calibration(
        ...     result, n_bins=2, uncertainty="bootstrap", rng=0, ax=Figure().subplots()
        ... )
        >>> display.resamples[0].mean_response.shape
        (20, 2)
        """
        display = cls._from_results(
            *named(results, Calibration, name),
            options={"n_bins": n_bins, "strategy": strategy},
            limits=limits,
            uncertainty=uncertainty,
            n_resamples=n_resamples,
            rng=rng,
            recalibrated=recalibrated,
        )
        return display.plot(ax, counts=counts, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        weight_kind: WeightKind = "sampling",
        pos_label: Any = None,
        confidence_level: float = 0.95,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        limits: BinLimits = "clopper-pearson",
        uncertainty: Uncertainty | None = "bars",
        n_resamples: int = 20,
        rng: Any = None,
        recalibrated: bool = False,
        name: str | None = None,
        ax: Axes | None = None,
        counts: bool = False,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Sort predictions into bins and draw them.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            What happened.
        y_prob : array-like of shape (n,), or mapping from names to such
            Predicted probabilities of one model, or of several for the same outcomes.
        sample_weight, weight_kind, pos_label, confidence_level
            As in :func:`secant.assess`.
        n_bins, strategy, limits, uncertainty, n_resamples, rng, recalibrated
            As in :meth:`from_calibration`; weighted predictions can be resampled here.
        name : str, optional
            Name of the model.
        ax, counts, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay
            Drawn.

        Raises
        ------
        InputError
            As :func:`secant.assess`; also if an option is unknown or quantile bins outnumber the
            predictions.
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> import secant
        >>> display = secant.ReliabilityDisplay.from_predictions(
        ...     [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], n_bins=2, ax=Figure().subplots()
        ... )
        >>> display.line_.get_xydata()
        array([[0.25, 0.  ],
               [0.75, 1.  ]])
        """
        rules = {
            "sample_weight": sample_weight,
            "weight_kind": weight_kind,
            "pos_label": pos_label,
        }
        # The displays need no P-value, and the asymptotic one costs nothing.
        results = assess_models(
            y_true, y_prob, name, method="asymptotic", confidence_level=confidence_level, **rules
        )
        names, found = named(results, Calibration, name)
        models = y_prob.values() if isinstance(y_prob, Mapping) else [y_prob]
        display = cls._from_results(
            names,
            found,
            options={"n_bins": n_bins, "strategy": strategy},
            limits=limits,
            uncertainty=uncertainty,
            n_resamples=n_resamples,
            rng=rng,
            recalibrated=recalibrated,
            rows=[partial(observations, y_true, scores, **rules) for scores in models],
        )
        return display.plot(ax, counts=counts, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        counts: bool = False,
        label: str | Sequence[str] | None = None,
        title: str | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw.

        Axes that hold a display already take another one beside it, with a legend.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. Axes and figure stay as they are: where the
            figure has no layout engine, fewer and smaller words are written in narrow margins.
            ``plt.subplots(layout="constrained")`` makes room for all of them.
        counts : bool
            Show below how many predictions each bin holds. The axes for that take a fifth of the
            room of ``ax``.
        label : str or sequence of str, optional
            What a legend says of the lines, in place of names; even a single one then has a legend.
        title : str, optional
            In place of ours. ``ax.set_title``, before or after, replaces ours too.
        **kwargs
            Passed on to ``ax.plot`` for the points.

        Returns
        -------
        ReliabilityDisplay
            Itself.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        ax = new_axes(5.4, 6.4 if counts else 5.4) if ax is None else ax
        labels = names_of(label, len(self.bins), "label")
        first = len(lines(ax))
        several = first + len(self.bins) > 1
        names = [
            given or self.names[number] or f"model {first + number + 1}"
            for number, given in enumerate(labels)
        ]
        chart = reliability(
            space_of(ax),
            self.bins,
            first=first,
            limits=self.uncertainty == "bars",
            resamples=self.resamples if self.uncertainty == "bootstrap" else (),
            recalibrated=self.recalibrated,
            hints=[self._words(), "line: recalibrated" if self.recalibrated else ""],
        )
        drawn = draw_diagram(ax, chart, names, **kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_ = [*drawn["bins"], *drawn["many bins"]]
        self.line_, [self.diagonal_] = self.lines_[0], drawn["diagonal"]
        self.bars_, self.resamples_ = drawn["limits"], drawn["resamples"]
        self.recalibrated_ = drawn["recalibrated"]
        self.counts_ = draw_counts(ax, self.bins, chart, first) if counts else []
        self.counts_ax_ = below(ax) if counts else None
        write_title(ax, None if several or label is not None else self.names[0], chart, title)
        self.legend_ = legend(ax) if several or label is not None else None
        return self

    @classmethod
    def _from_results(
        cls,
        names: tuple[str | None, ...],
        results: tuple[Calibration, ...],
        *,
        options: dict[str, Any],
        limits: BinLimits,
        uncertainty: Uncertainty | None,
        n_resamples: int,
        rng: Any,
        recalibrated: bool,
        rows: Sequence[Callable[[], Observations]] = (),
    ) -> ReliabilityDisplay:
        """Bin and, where asked for, resample; ``rows`` gives the rows of each result."""
        bins = [result.reliability(**options, limits=limits) for result in results]
        resamples = []
        if uncertainty == "bootstrap":
            options = {
                **options,
                "size": _check_size(n_resamples),
                "rng": np.random.default_rng(rng),
            }
            for number, result in enumerate(results):
                if rows and result.weighted:
                    resamples.append(resample_rows(rows[number](), result, **options))
                else:
                    resamples.append(resample_result(result, **options))
        unnamed = any(name is None for name in names)
        return cls(
            bins,
            name=None if unnamed else [str(name) for name in names],
            uncertainty=uncertainty,
            resamples=resamples,
            recalibrated=[result.recalibrated for result in results] if recalibrated else (),
        )

    def _words(self) -> str:
        """Say what is drawn around the points."""
        if self.uncertainty == "bars":
            levels = {wording.level(bins.confidence_level) for bins in self.bins}
            return f"bars: {' or '.join(sorted(levels))} limits of each bin"
        if self.uncertainty == "bootstrap":
            return f"thin lines: {len(self.resamples[0].mean_score)} resamples"
        return ""


def _check_size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        msg = f"n_resamples must be a whole number of at least 1; got {value!r}"
        raise InputError(msg)
    return int(value)
