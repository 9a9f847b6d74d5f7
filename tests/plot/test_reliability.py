"""The reliability diagram: what is drawn equals the bins."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from datasets import datasets
from helpers import optional
from secant import InputError, ReliabilityDisplay

optional("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def axes(width=5.4, height=5.4, **options):
    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


@given(datasets(most=80), st.integers(1, 20), st.sampled_from(["uniform", "quantile"]))
@settings(max_examples=30)
def test_what_is_drawn_equals_the_bins(data, n_bins, strategy):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    bins = result.reliability(n_bins=min(n_bins, result.n), strategy=strategy)
    display = bins.plot(axes(), counts=True)
    filled = bins.count > 0
    assert display.bins == (bins,)
    assert (display.line_.get_xdata() == bins.mean_score[filled]).all()
    assert (display.line_.get_ydata() == bins.mean_response[filled]).all()
    limits = np.asarray(display.bars_[0].get_segments())
    assert (limits[:, 0, 1] == bins.low[filled]).all()
    assert (limits[:, 1, 1] == bins.high[filled]).all()
    assert (limits[:, :, 0] == bins.mean_score[filled][:, None]).all()
    [counts] = display.counts_
    assert [bar.get_height() for bar in counts] == bins.count.tolist()
    assert [bar.get_x() for bar in counts] == bins.edges[:-1].tolist()
    display.figure_.canvas.draw()


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_resamples_are_drawn_as_lines(predictions, strategy):
    display = ReliabilityDisplay.from_predictions(
        *predictions, n_bins=8, strategy=strategy, uncertainty="bootstrap", rng=1, ax=axes()
    )
    [resamples], [lines] = display.resamples, display.resamples_
    assert display.bars_ == []
    assert resamples.mean_score.shape == resamples.mean_response.shape == (20, 8)
    for path, score, response in zip(lines.get_segments(), *resamples, strict=True):
        assert (path == np.column_stack([score, response])).all()


def test_empty_bins_leave_no_gap(predictions):
    y, p = predictions
    outer = (p < 0.2) | (p > 0.8)
    display = ReliabilityDisplay.from_predictions(
        y[outer], p[outer], n_bins=10, uncertainty="bootstrap", rng=1, ax=axes()
    )
    assert np.isnan(display.bins[0].mean_score).sum() == 6
    assert len(display.line_.get_xdata()) == 4
    for path in display.resamples_[0].get_segments():
        assert not np.isnan(path).any()


def test_neither_bars_nor_lines(predictions):
    display = ReliabilityDisplay.from_predictions(*predictions, uncertainty=None, ax=axes())
    assert display.bars_ == display.resamples_ == []
    assert display.counts_ax_ is None


def test_axes_are_labelled(predictions):
    uniform = ReliabilityDisplay.from_predictions(*predictions, n_bins=12, ax=axes())
    assert uniform.ax_.get_xlabel() == "Mean forecast (12 bins of equal width)"
    below = uniform.plot(axes(), counts=True)
    assert below.ax_.get_xlabel() == ""
    assert below.counts_ax_.get_xlabel() == "Mean forecast (12 bins of equal width)"
    mixed = [*uniform.bins, secant.assess(*predictions).reliability(strategy="quantile")]
    assert ReliabilityDisplay(mixed).plot(axes()).ax_.get_xlabel() == "Mean forecast"


# Several models -----------------------------------------------------------------------------------


@pytest.mark.parametrize("uncertainty", ["bars", "bootstrap", None])
def test_several_models_share_the_axes(predictions, uncertainty):
    y, p = predictions
    display = ReliabilityDisplay.from_predictions(
        y, {"a": p, "b": p**2}, uncertainty=uncertainty, rng=0, counts=True, ax=axes()
    )
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "b"]
    first, second = display.lines_
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    for bins, line, outline in zip(display.bins, display.lines_, display.counts_, strict=True):
        filled = bins.count > 0
        assert (line.get_ydata() == bins.mean_response[filled]).all()
        values, edges, _ = outline.get_data()
        assert (values == bins.count).all()
        assert (edges == bins.edges).all()


def test_displays_drawn_one_after_another_join(predictions):
    y, p = predictions
    ax = axes()
    first = ReliabilityDisplay.from_predictions(y, p, name="a", counts=True, ax=ax)
    second = ReliabilityDisplay.from_predictions(y, p**2, name="b", counts=True, ax=ax)
    assert second.counts_ax_ is first.counts_ax_
    assert second.diagonal_ is first.diagonal_
    assert [text.get_text() for text in second.legend_.get_texts()] == ["a", "b"]
    assert second.line_.get_marker() != first.line_.get_marker()
    assert len(ax.figure.axes) == 2
    words = [text.get_text() for text in ax.texts]
    assert len(words) == len(set(words))
    third = ReliabilityDisplay.from_predictions(y, p, n_bins=3, uncertainty=None, ax=ax)
    assert third.counts_ax_ is None
    assert ax.get_xlabel() == ""
    assert first.counts_ax_.get_xlabel() == "Mean forecast (3 bins of equal width)"


# Ways to make one ---------------------------------------------------------------------------------


def test_results_and_predictions_give_the_same(predictions):
    options = {"n_bins": 7, "strategy": "quantile", "uncertainty": "bootstrap", "rng": 5}
    made = ReliabilityDisplay.from_predictions(*predictions, **options, ax=axes())
    result = secant.assess(*predictions)
    again = ReliabilityDisplay.from_calibration(result, **options, ax=axes())
    assert (made.line_.get_xydata() == again.line_.get_xydata()).all()
    assert (made.resamples[0].mean_response == again.resamples[0].mean_response).all()
    plotted = result.reliability(n_bins=7, strategy="quantile").plot(axes())
    assert (made.line_.get_xydata() == plotted.line_.get_xydata()).all()


def test_what_cannot_be_drawn_is_refused(predictions):
    result = secant.assess(*predictions)
    bins = result.reliability()
    with pytest.raises(InputError, match="bins alone cannot be resampled"):
        bins.plot(axes(), uncertainty="bootstrap")
    with pytest.raises(InputError, match="uncertainty must be one of 'bars', 'bootstrap'"):
        ReliabilityDisplay(bins, uncertainty="boxes")
    with pytest.raises(InputError, match=r"results\[0\] is a Calibration, not a Reliability"):
        ReliabilityDisplay([result])
    with pytest.raises(InputError, match="n_resamples must be a whole number"):
        ReliabilityDisplay.from_calibration(
            result, uncertainty="bootstrap", n_resamples=0, ax=axes()
        )
    weighted = secant.assess(*predictions, sample_weight=predictions[1] + 0.5)
    with pytest.raises(InputError, match=r"needs their rows: use ReliabilityDisplay\.from_pred"):
        ReliabilityDisplay.from_calibration(weighted, uncertainty="bootstrap", ax=axes())


def test_options_go_to_the_points(predictions):
    line = ReliabilityDisplay.from_predictions(*predictions, ms=9, ls=":", ax=axes()).line_
    assert (line.get_markersize(), line.get_linestyle()) == (9, ":")


def test_titles(predictions):
    ax = axes()
    ReliabilityDisplay.from_predictions(*predictions, name="Trees", ax=ax)
    assert ax.get_title(loc="left") == "Trees\nDistance from the diagonal is miscalibration"
    mine = axes()
    mine.set_title("Mine")
    ReliabilityDisplay.from_predictions(*predictions, name="Trees", ax=mine)
    assert mine.get_title(loc="left") == ""


def test_the_recalibrated_forecast_is_drawn_as_a_staircase(predictions):
    y, p = predictions
    result = secant.assess(y, p)
    display = ReliabilityDisplay.from_calibration(result, recalibrated=True, ax=axes())
    [line], [steps] = display.recalibrated_, display.recalibrated
    assert steps is result.recalibrated
    scores, forecasts = steps.line
    assert (line.get_xdata() == scores).all()
    assert (line.get_ydata() == forecasts).all()
    assert (np.diff(forecasts) >= 0).all()
    assert "line: recalibrated" in [text.get_text() for text in display.ax_.texts]
    both = ReliabilityDisplay.from_predictions(y, {"a": p, "b": p**2}, recalibrated=True, ax=axes())
    assert [line.get_color() for line in both.recalibrated_] == [
        line.get_color() for line in both.lines_
    ]
    assert ReliabilityDisplay.from_calibration(result, ax=axes()).recalibrated_ == []


def test_a_label_and_a_title_can_be_given(predictions):
    display = ReliabilityDisplay.from_predictions(*predictions, label="Mine", title="T", ax=axes())
    assert [text.get_text() for text in display.legend_.get_texts()] == ["Mine"]
    assert display.line_.get_label() == "Mine"
    assert display.ax_.get_title(loc="left") == "T"


def test_bins_of_a_result_are_drawn_with_its_recalibrated_forecast(predictions):
    result = secant.assess(*predictions)
    bins = result.reliability()
    [stairs] = bins.plot(axes(), recalibrated=True).recalibrated_
    np.testing.assert_array_equal(stairs.get_xydata().T, result.recalibrated.line)
    assert not bins.plot(axes()).recalibrated_
    assert "_of" not in bins.to_dict()
    copied = pickle.loads(pickle.dumps(bins))  # noqa: S301
    assert copied.plot(axes(), recalibrated=True).recalibrated_
    alone = dataclasses.replace(bins, _of=None)
    with pytest.raises(secant.InputError, match="no result"):
        alone.plot(axes(), recalibrated=True)
