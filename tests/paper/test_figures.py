"""The paper's figures, by the data of their artists, and the files they are written to."""

import numpy as np
import pytest

from helpers import optional
from secant import null
from secant.paper import experiments, figures, synthetic

matplotlib = optional("matplotlib")

N = 4096
NOTHING = {"synthetic": [], "convergence": []}


@pytest.fixture(scope="module")
def found():
    """Return small experiments of both kinds."""
    return experiments.compute(
        experiments.all_fixed([N]), experiments.all_convergence([1024, 2048, 4096])
    )


def families(ax):
    """Return the lines of the three score families in a panel, by name."""
    lines = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["Equispaced scores", "Squared scores", "Square-rooted scores"]
    return dict(zip(synthetic.FAMILIES, lines.values(), strict=True))


def legend_names(figure):
    [legend] = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_these_are_the_papers_figures():
    assert list(figures.FIGURES) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 35, 36]
    for number, figure in figures.FIGURES.items():
        assert figure.number == number
        assert figure.title
        assert figure.caption.endswith(".")
    assert figures.FIGURES[7].stem == "figure07"
    assert "131,072" in figures.FIGURES[36].title
    assert "8,192" in figures.FIGURES[35].title


def test_ece_against_bins(found):
    figure = figures.ece_against_bins(found, n=N)
    panels = np.reshape(figure.axes, (2, 2))
    for line, metric in zip(panels, ("ece1", "ece2"), strict=True):
        for ax, bins in zip(line, ("equispaced", "equal-count"), strict=True):
            assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
            assert bins in ax.get_title("left")
            for row in found["synthetic"]:
                expected = [
                    [entry["n_bins"], entry[metric]]
                    for entry in row["ece"]
                    if entry["bins"] == bins
                ]
                assert families(ax)[row["scores"]].get_xydata().tolist() == expected
    assert len(legend_names(figure)) == 3


def test_success_probabilities():
    figure = figures.success_probabilities(NOTHING, n=N)
    for ax, family in zip(figure.axes, synthetic.FAMILIES, strict=True):
        diagonal, curve = ax.lines
        assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
        assert np.array_equal(curve.get_xdata(), synthetic.scores(N, family))
        assert np.array_equal(curve.get_ydata(), synthetic.success_probabilities(N, family))


@pytest.mark.parametrize(("n_bins", "strategy"), [(16, "uniform"), (64, "quantile")])
def test_reliability_diagrams(n_bins, strategy):
    figure = figures.reliability_diagrams(NOTHING, n_bins=n_bins, strategy=strategy, n=N)
    for ax, family in zip(figure.axes, synthetic.FAMILIES, strict=True):
        bins = experiments.assess_fixed(N, family).reliability(n_bins=n_bins, strategy=strategy)
        [stars] = [line for line in ax.lines if line.get_marker() == "*"]
        assert stars.get_linestyle() == ":"
        filled = bins.count > 0
        assert np.array_equal(stars.get_xdata(), bins.mean_score[filled])
        assert np.array_equal(stars.get_ydata(), bins.mean_response[filled])
        [resamples] = ax.collections
        assert len(resamples.get_segments()) == 20
        assert not [text for text in ax.texts if "resamples" in text.get_text()]


def test_resamples_are_the_same_in_every_run():
    drawn = [
        figures.reliability_diagrams(NOTHING, n_bins=4, strategy="uniform", n=N).axes[0]
        for _ in range(2)
    ]
    first, second = (np.concatenate(ax.collections[0].get_segments()) for ax in drawn)
    assert np.array_equal(first, second)


def test_cumulative():
    figure = figures.cumulative(NOTHING, n=N, family="squared")
    observed, expected = figure.axes
    result = experiments.assess_fixed(N, "squared")
    for ax, difference in (
        (observed, result.curve.difference),
        (expected, experiments.expected_curve(N, "squared").difference),
    ):
        [line] = [line for line in ax.lines if len(line.get_xdata()) > 2]
        assert line.get_ydata().max() == difference.max()
        assert line.get_ydata().min() == difference.min()
        [triangle] = ax.patches
        assert np.ptp(triangle.get_xy()[:, 1]) == pytest.approx(4 * result.sigma)
        assert "Score" in ax.get_xlabel()
        assert len(ax.get_xticks(minor=True)) > 20
    assert observed.get_ylim() == expected.get_ylim()
    assert expected.get_title("left").startswith("Exact expectations")


@pytest.mark.parametrize("number", [8, 9, 10])
def test_convergence(found, number):
    figure = figures.FIGURES[number].draw(found)
    metrics = {
        8: ("ece1", "ece2"),
        9: ("ecce_mad", "ecce_r"),
        10: ("ecce_mad_normalized", "ecce_r_normalized"),
    }[number]
    panels = np.reshape(figure.axes, (2, 2))
    for line, calibrated in zip(panels, (True, False), strict=True):
        for ax, metric in zip(line, metrics, strict=True):
            assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
            assert ax.get_title("left") == ("Calibrated" if calibrated else "Miscalibrated")
            for family, drawn in families(ax).items():
                expected = [
                    [row["n"], row[metric]]
                    for row in found["convergence"]
                    if (row["scores"], row["calibrated"]) == (family, calibrated)
                ]
                assert drawn.get_xydata().tolist() == expected
    limits = [
        line.get_ydata()[0] for ax in panels[0] for line in ax.lines if len(line.get_xdata()) == 2
    ]
    assert limits == ([null.mad.mean, null.range.mean] if number == 10 else [])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0002, 0.03, [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02]),
        (0.9, 60, [1, 2, 5, 10, 20, 50]),
        (3e-5, 0.2, [1e-4, 1e-3, 1e-2, 1e-1]),
    ],
)
def test_ticks_are_round_numbers(low, high, ticks):
    assert figures._log_ticks(low, high) == ticks


def test_every_panel_has_labelled_ticks(found):
    for figure in (figures.ece_against_bins(found, n=N), figures.FIGURES[8].draw(found)):
        for ax in figure.axes:
            assert len(ax.get_yticks()) >= 2
            low, high = ax.get_ylim()
            assert all(low <= tick <= high for tick in ax.get_yticks())


def test_files_are_the_same_bytes_in_every_run(found, tmp_path):
    figure = figures.FIGURES[9]
    written = []
    for name in ("first", "second"):
        (folder := tmp_path / name).mkdir()
        files = figures.Drawing(figure, found, folder, ("pdf", "png")).run()
        assert [file.name for file in files] == ["figure09.pdf", "figure09.png"]
        written.append([file.read_bytes() for file in files])
    first, second = written
    assert first == second
    assert first[0].startswith(b"%PDF")
    assert b"CreationDate" not in first[0]
    assert first[1].startswith(b"\x89PNG")


def test_settings_of_the_user_neither_matter_nor_change(found, tmp_path):
    plain = figures.Drawing(figures.FIGURES[9], found, tmp_path, ("png",)).run()[0].read_bytes()
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        again = figures.Drawing(figures.FIGURES[9], found, tmp_path, ("png",)).run()[0]
        assert dict(matplotlib.rcParams) == before
    assert again.read_bytes() == plain
