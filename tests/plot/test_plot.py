"""What both displays promise: honest about matplotlib, at home with scikit-learn."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import secant
from helpers import PACKAGE, optional
from secant import CumulativeDisplay, InputError, MissingExtraError, ReliabilityDisplay

DISPLAYS = [CumulativeDisplay, ReliabilityDisplay]


@pytest.fixture(params=DISPLAYS, ids=lambda display: display.__name__)
def display(request):
    return request.param


@pytest.fixture
def ax():
    optional("matplotlib")
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    return rng.random(200) < p, p


# Without matplotlib -------------------------------------------------------------------------------


def run_python(script, tmp_path):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(PACKAGE.parent)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_numbers_need_no_matplotlib(tmp_path):
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        sys.modules["matplotlib"] = None
        import secant
        result = secant.assess([0, 1, 1], [0.2, 0.5, 0.9])
        print(secant.CumulativeDisplay(result).secants.shape)
        print(len(secant.ReliabilityDisplay(result.reliability()).bins))
        for plot in (result.plot, result.reliability().plot):
            try:
                plot()
            except secant.MissingExtraError as error:
                print("pip" in str(error))
    """
    assert run_python(script, tmp_path) == ["(1,", "2,", "2)", "1", "True", "True"]


def test_missing_matplotlib_is_named_with_its_extra(display, predictions, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'secant\[plot\]'") as caught:
        display.from_predictions(*predictions)
    assert isinstance(caught.value, ImportError)


def test_a_broken_matplotlib_says_what_is_broken(display, predictions, monkeypatch):
    optional("matplotlib")
    for name in [name for name in sys.modules if name.startswith("matplotlib.pyplot")]:
        monkeypatch.delitem(sys.modules, name)

    class Finder:
        @staticmethod
        def find_spec(name, *_):
            if name == "matplotlib.pyplot":
                raise ModuleNotFoundError("No module named 'kiwisolver'", name="kiwisolver")

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match="kiwisolver") as caught:
        display.from_predictions(*predictions)
    assert not isinstance(caught.value, MissingExtraError)


# With matplotlib ----------------------------------------------------------------------------------


def test_importing_secant_or_making_a_display_loads_no_matplotlib(tmp_path):
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import secant
        secant.CumulativeDisplay(secant.assess([0, 1], [0.2, 0.5]))
        print("matplotlib" in sys.modules)
    """
    assert run_python(script, tmp_path) == ["False"]


def test_given_axes_need_no_pyplot(tmp_path):
    optional("matplotlib")
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from matplotlib.figure import Figure
        import secant
        result = secant.assess([0, 1, 1], [0.2, 0.5, 0.9])
        result.plot(Figure().subplots(), band=True)
        result.reliability().plot(Figure().subplots(), counts=True)
        secant.CumulativeDisplay([result, result]).plot(Figure().subplots())
        print("matplotlib.pyplot" in sys.modules)
    """
    assert run_python(script, tmp_path) == ["False"]


def test_nothing_global_changes(display, predictions, ax):
    import matplotlib as mpl

    settings, backend = dict(mpl.rcParams), mpl.get_backend()
    shown = display.from_predictions(*predictions, ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert shown.line_ is shown.lines_[0]
    assert shown.line_.axes is ax
    assert ax.figure.axes == [ax]
    assert dict(mpl.rcParams) == settings
    assert mpl.get_backend() == backend


def test_without_axes_pyplot_gets_one_new_figure(display, predictions, monkeypatch):
    mpl = optional("matplotlib")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    plt.close("all")
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("show was called"))
    settings = dict(mpl.rcParams)
    shown = display.from_predictions(*predictions)
    assert plt.get_fignums() == [shown.figure_.number]
    assert dict(mpl.rcParams) == settings
    assert mpl.get_backend() == "agg"
    plt.close("all")


def test_axes_of_a_subfigure(display, predictions):
    optional("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subfigures(1, 2)
    y, p = predictions
    options = {"counts": True} if display is ReliabilityDisplay else {"band": True}
    for place in (left, right):
        shown = display.from_predictions(y, {"a": p, "b": p**2}, ax=place.subplots(), **options)
        assert shown.figure_ is place
    figure.canvas.draw()


def test_the_users_style_is_used(display, predictions):
    mpl = optional("matplotlib")
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 17}):
        ax = Figure(layout="constrained").subplots()
        shown = display.from_predictions(*predictions, ax=ax)
    assert shown.ax_.xaxis.label.get_fontsize() == 17


def test_ink_is_light_on_dark_paper(display, predictions, ax):
    ax.set_facecolor("black")
    assert display.from_predictions(*predictions, ax=ax).line_.get_color() == "#e8eaed"


def test_inputs_are_not_changed(display, predictions, ax):
    y, p = (np.array(column) for column in predictions)
    before = y.copy(), p.copy()
    y.flags.writeable = p.flags.writeable = False
    display.from_predictions(y, p, ax=ax)
    assert (y == before[0]).all()
    assert (p == before[1]).all()


def test_input_is_checked(display, ax):
    with pytest.raises(InputError, match=r"y_prob\[1\] is 1.5"):
        display.from_predictions([0, 1], [0.2, 1.5], ax=ax)


def test_labels_of_any_two_values(display, ax):
    shown = display.from_predictions(["no", "yes"], [0.2, 0.7], pos_label="yes", ax=ax)
    same = display.from_predictions([0, 1], [0.2, 0.7], ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()


# Estimators ---------------------------------------------------------------------------------------


class Duck:
    """Not of scikit-learn, and honest about two classes."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, probs):
        self.probs = np.asarray(probs)

    def predict_proba(self, X):
        return self.probs[: len(X)]


def test_an_estimator_of_scikit_learn(display, ax):
    optional("sklearn")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(rng.random(300) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    model = LogisticRegression().fit(X, y)
    shown = display.from_estimator(model, X, y, ax=ax)
    assert shown.names == ("LogisticRegression",)
    probs = model.predict_proba(X)
    same = display.from_predictions(y, probs[:, 1], pos_label="yes", ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()
    other = display.from_estimator(model, X, y, pos_label="no", name="no", ax=ax)
    same = display.from_predictions(y, probs[:, 0], pos_label="no", ax=ax)
    assert other.names == ("no",)
    assert (other.line_.get_xydata() == same.line_.get_xydata()).all()


def test_anything_with_probabilities(display, ax):
    probs = np.array([[0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    same = display.from_predictions([0, 1, 0], probs[:, 1], ax=ax)
    shown = display.from_estimator(Duck(probs), [1, 2, 3], ["no", "yes", "no"], ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()
    assert shown.names == ("Duck",)
    flat = type("Flat", (), {"predict_proba": lambda _, X: probs[:, 1]})()
    shown = display.from_estimator(flat, [1, 2, 3], [0, 1, 0], ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()
    nameless = type("Nameless", (), {"predict_proba": lambda _, X: probs})()
    shown = display.from_estimator(nameless, [1, 2, 3], [0, 1, 0], ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()


def test_options_pass_through_an_estimator(display, ax):
    probs = np.array([[0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    weight = [1.0, 2.0, 0.5]
    shown = display.from_estimator(
        Duck(probs), [1, 2, 3], ["no", "yes", "no"], sample_weight=weight, linewidth=4, ax=ax
    )
    same = display.from_predictions([0, 1, 0], probs[:, 1], sample_weight=weight, ax=ax)
    assert (shown.line_.get_xydata() == same.line_.get_xydata()).all()
    assert shown.line_.get_linewidth() == 4


@pytest.mark.parametrize(
    ("estimator", "pos_label", "complaint"),
    [
        (object(), None, "object has no predict_proba"),
        (Duck(np.full((3, 3), 1 / 3)), None, r"shape \(3, 3\); a display needs two classes"),
        (Duck(np.full((3, 2), 1 / 2)), "maybe", "pos_label='maybe' is not a class"),
    ],
)
def test_estimators_that_will_not_do(display, ax, estimator, pos_label, complaint):
    with pytest.raises(InputError, match=complaint):
        display.from_estimator(
            estimator, [1, 2, 3], ["no", "yes", "no"], pos_label=pos_label, ax=ax
        )


# Real predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "imagenet_val_resnet50_top1",
        "cifar10_vgg16_verified",
        "nhanes_cholesterol_weighted",
        "precip_niamey_2016",
        "fivethirtyeight",
        "llm_mcqa_plaut",
    ],
)
def test_real_predictions(shared_data, name):
    pandas = optional("pandas")
    optional("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    table = pandas.read_parquet(shared_data / f"{name}.parquet")
    weight = table.get("weight")
    result = secant.assess(
        table["response"], table["score"], sample_weight=weight, method="asymptotic"
    )
    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    drawn = result.plot(left, band=True).line_.get_ydata()
    assert drawn.max() - drawn.min() == pytest.approx(result.ecce_r.value, abs=1e-15)
    uncertainty = "bars" if weight is not None else "bootstrap"
    ReliabilityDisplay.from_calibration(result, uncertainty=uncertainty, counts=True, ax=right)
    figure.canvas.draw()
