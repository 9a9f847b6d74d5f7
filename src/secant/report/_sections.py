"""The parts of the page, top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant import null
from secant._wording import counted, metric, percent, points, predictions, pvalue, score
from secant.report import _charts
from secant.report._definitions import DEFINITIONS
from secant.report._html import Markup, join, name, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._calibration import Calibration
    from secant._results import Statistic
    from secant.report._provenance import Provenance

__all__ = ["bins", "header", "metrics", "provenance", "scores", "tool", "verdicts"]

_GONE = (
    "This result no longer has its predictions, only the points of its curve, and bins need "
    "them. Assess the predictions again to see this part."
)
_DEFAULT_BINS = 15


def term(text: str, says: str, **attributes: Any) -> Markup:
    """Return a word that explains itself under the pointer, the finger or the keyboard's focus."""
    return tag(
        "span", text, tag("span", says, role="tooltip"), class_="term", tabindex=0, **attributes
    )


def header(title: str, results: Sequence[Calibration], about: Provenance) -> Markup:
    """Return title, files, number of predictions and date."""
    facts: list[object] = [name(file) for file in about.files[:3]]
    if len(about.files) > 3:
        facts.append(f"and {counted(len(about.files) - 3, 'more file')}")
    if results and len({result.n for result in results}) == 1:
        facts.append(predictions(results[0].n))
    facts.append(about.date)
    dots = [join(" \N{MIDDLE DOT} " if number else "", fact) for number, fact in enumerate(facts)]
    return tag("header", tag("h1", name(title)), tag("p", *dots, class_="meta"))


# --- the verdict ----------------------------------------------------------------------------------


def verdicts(names: Sequence[str | None], results: Sequence[Calibration]) -> Markup:
    """Return the verdicts of all models side by side."""
    cards = [_verdict_card(i, names[i], result, len(results)) for i, result in enumerate(results)]
    return tag("section", *cards, class_="verdicts", aria_label="Verdict")


def _verdict_card(number: int, model: str | None, result: Calibration, several: int) -> Markup:
    first, *details = str(result).split("\n")
    headline, _, rest = first.partition(". ")
    caption = None
    if several > 1:
        caption = tag("h2", swatch(number), name(model_name(model, number)))
    return tag(
        "article",
        caption,
        tag("p", tag("strong", f"{headline}."), f" {rest}", class_="verdict"),
        _strip(result),
        tag("ul", *(tag("li", line) for line in details), class_="details"),
        class_="card",
    )


def model_name(model: str | None, number: int) -> str:
    """Return the name of a model, also of one nobody named."""
    return f"Model {number + 1}" if model is None else model


def swatch(number: int) -> Markup:
    """Return a short piece of a model's line."""
    return _charts.picture(
        tag("path", d="M0 500h1000", class_=f"curve model-{number % 5}"), class_="swatch"
    )


def _strip(result: Calibration) -> Markup:
    r, mad = result.ecce_r, result.ecce_mad
    figures = [
        ("ECCE-R", metric(r.value), _limits(r, result)),
        ("ECCE-MAD", metric(mad.value), _limits(mad, result)),
        ("In units of noise", f"{metric(r.normalized)} sigma", _expected()),
        ("Happened", percent(result.base_rate), f"forecast {percent(result.mean_score)}"),
    ]
    return tag("dl", *(_figure(*each) for each in figures), class_="strip")


def _figure(label: str, value: str, below: str) -> Markup:
    title = term(label, DEFINITIONS[label]) if label in DEFINITIONS else label
    return tag("div", tag("dt", title), tag("dd", value), tag("dd", below, class_="small"))


def _limits(statistic: Statistic, result: Calibration) -> str:
    low, high = statistic.ci
    return f"{100 * result.confidence_level:g}% limits {metric(low)} to {metric(high)}"


def _expected() -> str:
    return f"perfect calibration gives about {null.range.mean:.2g}"


# --- the secant tool ------------------------------------------------------------------------------


def tool() -> Markup:
    """Return what is laid over the cumulative plot to choose a range with."""
    def handle(identifier: str, says: str, **more: Any) -> Markup:
        return tag(
            "div", *more.pop("inside", ()), id=identifier, role="slider", tabindex=0,
            aria_label=says, aria_valuemin=0, aria_valuemax=100, aria_valuenow=0, **more,
        )

    return tag(
        "div",
        handle("whole", "Move the range"),
        handle("from", "Start of the range", class_="handle", inside=[tag("span", class_="knob")]),
        handle("to", "End of the range", class_="handle", inside=[tag("span", class_="knob")]),
        tag("span", id="caliper-text"),
        id="tool",
        hidden=True,
    )


def readout() -> Markup:
    """Return where the chosen range is put into words."""
    def cell(identifier: str, label: str) -> Markup:
        return tag("div", tag("dt", label), tag("dd", id=identifier))

    return tag(
        "div",
        tag("p", tag("strong", id="read-gap"), " ", tag("span", id="read-says"), id="read-line"),
        tag(
            "dl",
            cell("read-scores", "Scores"),
            cell("read-n", "Predictions"),
            cell("read-forecast", "Mean forecast"),
            cell("read-happened", "Happened"),
            cell("read-miscalibration", "Miscalibration"),
            cell("read-limits", "Limits"),
        ),
        tag("p", id="said", class_="unseen", aria_live="polite"),
        class_="readout",
        id="readout",
        hidden=True,
    )


# --- bins -----------------------------------------------------------------------------------------


def bins(names: Sequence[str | None], numbers: Sequence[dict[str, Any]]) -> Markup:
    """Return the reliability diagram and the ECE against the number of bins, for each model."""
    blocks = [_bins_of(i, names[i], each, len(numbers)) for i, each in enumerate(numbers)]
    some = any(each["bins"] for each in numbers)
    return tag(
        "section",
        tag("h2", "Why not just ECE?"),
        tag(
            "p",
            "A binned error changes with the bins, and noise alone keeps it away from 0: with "
            "perfect calibration it would still reach the noise floor. The ECCE has no bins.",
            class_="lead",
        ),
        _controls() if some else None,
        tag("div", *blocks, class_="side-by-side"),
        id="bins",
        data_strategy="uniform",
    )


def _controls() -> Markup:
    def choice(value: str, label: str) -> Markup:
        box = tag("input", type="radio", name="strategy", value=value, checked=value == "uniform")
        return tag("label", box, label)

    return tag(
        "div",
        tag(
            "label",
            tag("span", "Bins ", tag("output", _DEFAULT_BINS, id="bins-count")),
            tag("input", type="range", id="bins-slider", min=0, max=1, value=0, step=1),
            class_="slider",
        ),
        tag(
            "fieldset",
            tag("legend", "Bins of equal", class_="unseen"),
            choice("uniform", "equal width"),
            choice("quantile", "equal count"),
        ),
        class_="controls",
    )


def _bins_of(number: int, model: str | None, numbers: dict[str, Any], several: int) -> Markup:
    caption = None
    if several > 1:
        caption = tag("h3", swatch(number), name(model_name(model, number)))
    if numbers["bins"] is None:
        return tag("div", caption, tag("p", _GONE, class_="gone"), class_="bins")
    diagram, _ = _charts.reliability(numbers["bins"])
    ecce_r = numbers["ecce_r"]["value"]

    def cell(label: str, text: str, class_: str) -> Markup:
        return tag("div", tag("dt", label), tag("dd", text, class_=class_), class_=f"of-{class_}")

    return tag(
        "div",
        caption,
        tag(
            "dl",
            cell("ECE", "", "ece"),
            cell("noise floor", "", "noise_floor"),
            cell("ECCE-R, whatever the bins", metric(ecce_r), "ecce"),
            class_="moving",
        ),
        tag("figure", diagram, tag("figcaption", "Reliability diagram: on the diagonal is good.")),
        tag(
            "figure",
            _charts.ece_by_bins(numbers["bins"], ecce_r),
            tag("figcaption", _spread(numbers)),
        ),
        class_="bins",
        data_model=number,
    )


def _spread(numbers: dict[str, Any]) -> str:
    values = [row["ece"] for rows in numbers["bins"].values() for row in rows]
    return (
        f"The same predictions have an ECE from {metric(min(values))} to {metric(max(values))}, "
        f"as one cuts the bins, and one ECCE-R: {metric(numbers['ecce_r']['value'])}."
    )


# --- scores ---------------------------------------------------------------------------------------


def scores(names: Sequence[str | None], numbers: Sequence[dict[str, Any]]) -> Markup:
    """Return how scores are distributed, for each model."""
    blocks = []
    for number, each in enumerate(numbers):
        caption = None
        if len(numbers) > 1:
            caption = tag("h3", swatch(number), name(model_name(names[number], number)))
        if each["distribution"] is None:
            blocks.append(tag("div", caption, tag("p", _GONE, class_="gone")))
        else:
            drawn = _charts.distribution(each["distribution"])
            outside = tag("figcaption", _outside(each["distribution"]))
            blocks.append(tag("div", caption, tag("figure", drawn, outside)))
    return tag(
        "section",
        tag("h2", "Scores"),
        tag("div", *blocks, class_="side-by-side"),
        id="scores",
    )


def _outside(numbers: dict[str, Any]) -> Markup:
    edges = numbers["edges"]
    ends = [(numbers["below"], "below", edges[0]), (numbers["above"], "above", edges[-1])]
    more = "".join(
        f" {percent(share)} of the predictions have a score {where} {edge:g}."
        for share, where, edge in ends
        if share > 0
    )
    return join("How often each score was given; the dark part is how often the event came.", more)


# --- all numbers ----------------------------------------------------------------------------------


def metrics(
    names: Sequence[str | None],
    results: Sequence[Calibration],
    numbers: Sequence[dict[str, Any]],
) -> Markup:
    """Return every number with its definition."""
    heads = [tag("th", "Metric", scope="col")]
    for number, model in enumerate(names):
        written = name(model_name(model, number)) if len(names) > 1 else "Value"
        heads.append(tag("th", written, scope="col", class_="number"))
    rows = []
    for label, read in _ROWS.items():
        cells = [read(result, each) for result, each in zip(results, numbers, strict=True)]
        if all(cell is None for cell in cells):
            continue
        title = tag("th", term(label, DEFINITIONS[label]), scope="row")
        texts = ["\N{EN DASH}" if cell is None else cell for cell in cells]
        rows.append(tag("tr", title, *(tag("td", text, class_="number") for text in texts)))
    body = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return tag(
        "section",
        tag("h2", "All numbers"),
        tag("p", "Point at a name, or tap it, for its definition.", class_="lead screen"),
        tag("div", body, class_="table"),
        id="metrics",
    )


Read = "Callable[[Calibration, dict[str, Any]], str | None]"


def _statistic_rows(label: str, attribute: str) -> dict[str, Any]:
    def of(read: Any) -> Any:
        return lambda result, numbers: read(getattr(result, attribute))

    def limits(result: Calibration, numbers: dict[str, Any]) -> str:
        low, high = getattr(result, attribute).ci
        return f"{metric(low)} to {metric(high)}"

    return {
        label: of(lambda s: metric(s.value)),
        f"{label}, limits": limits,
        f"{label}, in sigma": of(lambda s: metric(s.normalized)),
        f"{label}, P-value": of(
            lambda s: f"{pvalue(s.pvalue, s.log10_pvalue, s.bracket).removeprefix('= ')}"
            f" ({s.method})"
        ),
    }


def _ece_row(strategy: str) -> Any:
    def read(result: Calibration, numbers: dict[str, Any]) -> str | None:
        rows = (numbers["bins"] or {}).get(strategy, [])
        found = [row for row in rows if row["n_bins"] == _DEFAULT_BINS]
        if not found:
            return None
        return f"{metric(found[0]['ece'])} (noise floor {metric(found[0]['noise_floor'])})"

    return read


_ROWS: dict[str, Any] = {
    "Predictions": lambda result, numbers: f"{result.n:,}",
    "Mean forecast": lambda result, numbers: percent(result.mean_score),
    "Happened": lambda result, numbers: percent(result.base_rate),
    **_statistic_rows("ECCE-R", "ecce_r"),
    **_statistic_rows("ECCE-MAD", "ecce_mad"),
    "Sigma": lambda result, numbers: metric(result.sigma),
    "Detectable ECCE-R": lambda result, numbers: metric(result.detectable),
    "ECE, 15 equal widths": _ece_row("uniform"),
    "ECE, 15 equal counts": _ece_row("quantile"),
    "Forbidden outcomes": lambda result, numbers: f"{len(result.forbidden):,}"
    if result.forbidden
    else None,
}


# --- where it comes from --------------------------------------------------------------------------


def provenance(about: Provenance, results: Sequence[Calibration], version: str) -> Markup:
    """Return where the numbers come from, and a way to take them along."""
    facts = [*about.facts(results), ("Version", f"secant {version}")]
    pairs = [join(tag("dt", label), tag("dd", value)) for label, value in facts]
    return tag(
        "section",
        tag("h2", "Where this comes from"),
        tag("dl", *pairs, class_="facts"),
        tag(
            "p",
            tag("button", "Download the numbers (JSON)", id="download", type="button"),
            class_="screen",
        ),
        id="provenance",
    )
