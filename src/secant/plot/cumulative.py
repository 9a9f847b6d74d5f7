"""The graph of cumulative differences."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._drawing.findings import findings, in_short
from secant._drawing.models import OfEstimator, assess_models, named, names_of
from secant._drawing.order import check_one_axis
from secant._results.calibration import Calibration
from secant.plot._draw import artists, new_axes
from secant.plot._graph import FEW_MODELS, draw_graph, fractions, legend
from secant.plot._room import write_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.text import Text

    from secant._base.types import FloatArray
    from secant._drawing.findings import Finding
    from secant._input.options import Method, WeightKind
    from secant._results.parts import Curve

__all__ = ["CumulativeDisplay"]


class CumulativeDisplay(OfEstimator):
    r"""The graph of cumulative differences: slope is miscalibration, flat is good.

    Predictions stand in the order of their scores. Along the way the graph adds up what happened
    minus what was forecast; over any range, the slope of the secant line is how far predictions
    there are off. Where the graph falls they are too high, where it rises too low. No bins, nothing
    to tune. The triangle at the origin is the scale of noise, two sigma either way: calibrated
    predictions seldom range over more than 0.6 of its height.

    Parameters
    ----------
    results : Calibration, sequence of Calibration or mapping from names to Calibration
        What to draw; several results share the axes.
    name : str or sequence of str, optional
        Names of results that have none.

    Attributes
    ----------
    results : tuple of Calibration
        One a model, with every number about it.
    names : tuple of str or None
        Their names.
    curves : tuple of Curve
        What is drawn: score, fraction of weight and cumulative difference.
    findings : tuple of tuple of Finding
        For each model the ranges found to be off, in the order of scores, each with the ends of its
        secant; where none was found the worst range alone, which is not ``certain``.
    secants : ndarray of shape (models, 2, 2)
        Ends of the secant over the worst range of each model, as (fraction, difference).
    sigmas : ndarray
        Sigma of each model; its triangle reaches from -2 sigma to 2 sigma, and as much further as
        clusters make noise larger.
    bands : ndarray
        Half-height of each model's significance band.
    ax_, figure_
        Where it was drawn.
    line_, lines_ : Line2D and list of Line2D
        The curve of the first model, and of all; thinned to the pixel grid where they are long.
    triangles_ : list of Polygon
        The triangles at the origin.
    secants_ : list of Line2D
        The secants over ``findings``, where asked for: in the colour of their direction, or grey.
    shades_ : list of Polygon
        The shaded ranges of a single model.
    bands_ : list of Polygon
        The significance bands, where asked for.
    notes_ : list of Text
        What is written about a single model.
    legend_ : Legend or None
        Names of several models with what was found, or of one that was given a label.
    fraction_axis_ : Axes
        The upper axis.

    Raises
    ------
    InputError
        If there is nothing to draw, or something that is not a :class:`Calibration`.

    See Also
    --------
    ReliabilityDisplay : The classical picture, with bins.

    Notes
    -----
    The abscissa is the cumulative weight (the fraction of predictions when nothing is weighted) and
    the ordinate

    .. math:: C_k = \frac{1}{W} \sum_{j \le k} w_j (r_j - s_j),

    at the end of each distinct score. The lower axis shows the score at that place, and its small
    ticks, at equal steps of the score, how scores are distributed: they stand close where there are
    few predictions. Under perfect calibration the graph leaves the significance band somewhere
    with a probability of one minus the confidence level, in the limit of many predictions; leaving
    it is what ECCE-MAD tests.

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
    >>> display = secant.CumulativeDisplay(secant.assess(happened, forecast))
    >>> display.secants.round(3)
    array([[[ 0.   ,  0.   ],
            [ 0.888, -0.051]]])

    Any axes will do; without, a new figure is made.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> display.plot(ax, band=True).line_.axes is ax
    True
    """

    __module__ = "secant"

    results: tuple[Calibration, ...]
    names: tuple[str | None, ...]
    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    lines_: list[Line2D]
    triangles_: list[Polygon]
    secants_: list[Line2D]
    shades_: list[Polygon]
    bands_: list[Polygon]
    notes_: list[Text]
    legend_: Legend | None
    fraction_axis_: Axes

    def __init__(
        self,
        results: Calibration | Sequence[Calibration] | Mapping[str, Calibration],
        *,
        name: str | Sequence[str] | None = None,
    ) -> None:
        self.names, self.results = named(results, Calibration, name)
        check_one_axis(self.results)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What is drawn: score, fraction of weight and cumulative difference."""
        return tuple(result.curve for result in self.results)

    @property
    def secants(self) -> FloatArray:
        """Ends of the secant over the worst range of each model, as (fraction, difference)."""
        return np.asarray([_secant(curve) for curve in self.curves])

    @cached_property
    def findings(self) -> tuple[tuple[Finding, ...], ...]:
        """For each model the ranges found to be off, or the worst one where none was."""
        return tuple(findings(result) for result in self.results)

    @property
    def sigmas(self) -> FloatArray:
        """Sigma of each model."""
        return np.asarray([result.sigma for result in self.results])

    @property
    def bands(self) -> FloatArray:
        """Half-height of each model's significance band."""
        critical = [null.mad.isf(1 - result.confidence_level) for result in self.results]
        return np.asarray(critical) * [result.noise for result in self.results]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        weight_kind: WeightKind = "sampling",
        pos_label: Any = None,
        method: Method = "auto",
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        worst: bool | None = None,
        band: bool = False,
        **kwargs: Any,
    ) -> CumulativeDisplay:
        """Assess predictions and draw the result.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            What happened.
        y_prob : array-like of shape (n,), or mapping from names to such
            Predicted probabilities of one model, or of several for the same outcomes.
        sample_weight, weight_kind, pos_label, method, confidence_level
            As in :func:`secant.assess`.
        name : str, optional
            Name of the model.
        ax, worst, band, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        CumulativeDisplay
            Drawn.

        Raises
        ------
        InputError
            As :func:`secant.assess`.
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> import secant
        >>> happened = [0, 0, 1, 1]
        >>> models = {"modest": [0.2, 0.4, 0.5, 0.6], "bold": [0.1, 0.9, 0.9, 0.9]}
        >>> display = secant.CumulativeDisplay.from_predictions(
        ...     happened, models, ax=Figure().subplots()
        ... )
        >>> [text.get_text() for text in display.legend_.get_texts()]
        ['modest: could be noise', 'bold: could be noise']
        """
        results = assess_models(
            y_true,
            y_prob,
            name,
            sample_weight=sample_weight,
            weight_kind=weight_kind,
            pos_label=pos_label,
            method=method,
            confidence_level=confidence_level,
        )
        return cls(results, name=name).plot(ax, worst=worst, band=band, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        worst: bool | None = None,
        band: bool = False,
        label: str | Sequence[str] | None = None,
        title: str | None = None,
        **kwargs: Any,
    ) -> CumulativeDisplay:
        """Draw.

        Axes that hold a display already take another one beside it, with a legend.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. Axes and figure stay as they are: where the
            figure has no layout engine, fewer and smaller words are written in narrow margins.
            ``plt.subplots(layout="constrained")`` makes room for all of them.
        worst : bool, optional
            Mark the ranges of scores found to be off with their secants, and write how far off
            predictions there are; where none was found, mark the largest deviation in grey, since
            it could be noise. Done for up to four models unless said otherwise.
        band : bool
            Shade what the graph does not leave under perfect calibration, at the result's
            confidence level.
        label : str or sequence of str, optional
            What a legend says of the curves, in place of names and what was found; even a single
            curve then has a legend.
        title : str, optional
            In place of ours. ``ax.set_title``, before or after, replaces ours too.
        **kwargs
            Passed on to ``ax.plot`` for the curves.

        Returns
        -------
        CumulativeDisplay
            Itself.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        ax = new_axes(7.2, 4.8) if ax is None else ax
        labels = names_of(label, len(self.results), "label")
        first = len(artists(ax, "curve"))
        several = first + len(self.results) > 1
        worst = first + len(self.results) <= FEW_MODELS if worst is None else worst
        words = [
            given or f"{self._name(number, first)}: {in_short(result)}"
            for number, (given, result) in enumerate(zip(labels, self.results, strict=True))
        ]
        chart, drawn = draw_graph(
            ax,
            self.results,
            words,
            found=self.findings if worst else (),
            bands=self.bands.tolist() if band else (),
            named=label is not None,
            **kwargs,
        )
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_, self.triangles_, self.secants_ = (
            drawn[role] for role in ("curve", "triangle", "secant")
        )
        self.shades_, self.bands_ = drawn["shade"], drawn["band"]
        self.notes_ = [*drawn["head"], *drawn["note"]]
        self.line_ = self.lines_[0]
        self.legend_ = legend(ax) if several or label is not None else None
        self.fraction_axis_ = fractions(ax, chart)
        name = None if several or label is not None else self.names[0]
        write_title(ax, name, chart, title)
        return self

    def _name(self, number: int, first: int) -> str:
        name = self.names[number]
        return f"model {first + number + 1}" if name is None else name


def _secant(curve: Curve) -> FloatArray:
    """Return the ends of the secant that attains ECCE-R, the left one first."""
    ends = sorted((int(curve.difference.argmin()), int(curve.difference.argmax())))
    return np.column_stack([curve.fraction[ends], curve.difference[ends]])
