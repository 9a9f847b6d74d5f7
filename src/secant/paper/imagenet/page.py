"""The page that shows the ImageNet figures, our numbers beside the paper's, and the fair table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from secant.paper.page import STYLE, caption, document, image, spaced
from secant.report._html import Markup, join, row, table, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from secant.paper.imagenet.figures import Drawn, Report
    from secant.paper.imagenet.predictions import Predictions
    from secant.paper.reference import Comparison

__all__ = ["OTHER_IMAGES", "TRUE_CLASS", "render"]

_S = "\N{RIGHT SINGLE QUOTATION MARK}s"

OTHER_IMAGES = f"other predictions than the paper{_S}: no match expected"
"""Stands beside the paper's numbers where they cannot be expected."""

TRUE_CLASS = (
    "The five classes are split by what the image truly shows, as the paper does. That selects on "
    "the outcome: a class that is often taken for its look-alikes is right less often than its "
    "scores say, and a favoured one more often, even where every score is right on average. So "
    "perfectly calibrated classifiers are rejected in most such tests. These figures "
    "reproduce the paper and are no evidence about a class; no P-value is given with them. The "
    "table of predicted classes below is fair."
)
"""What to know before reading the figures of single classes."""

_TITLE = f"secant: the paper{_S} ImageNet figures"
_LEVEL = 0.05
_SHOWN = 20
_HEAD = (
    *("class", "n", "mean score", "right", "ECCE-R", "/ \N{GREEK SMALL LETTER SIGMA}"),
    *("P", "Holm", "B-H", "furthest off"),
)

_STYLE = """
.warning { border-left: 4px solid #d55e00; padding: .5rem 1rem; background: #fff6f0; }
figure { margin: 1.5rem 0; }
td.number, th.number { text-align: right; }
"""


def render(report: Report, predictions: Predictions, formats: Sequence[str]) -> str:
    """Return the page.

    Parameters
    ----------
    report : Report
        What was computed and drawn.
    predictions : Predictions
        What of.
    formats : sequence of str
        Formats of the files of figures.

    Returns
    -------
    str
        HTML. It shows the PNG files that lie beside it; names from data are escaped.
    """
    body = [
        tag("h1", f"ImageNet: the paper{_S} Figures 11 to 34"),
        *_about(report, predictions),
        _contents(report),
        tag("p", TRUE_CLASS, class_="warning"),
    ]
    for drawn in report.subsets:
        body += _subset(drawn, formats, judged=report.as_in_the_paper)
    body += _classes(report.table)
    return document(_TITLE, f"{STYLE}{_STYLE}", body)


def _contents(report: Report) -> Markup:
    subsets = (drawn.subset for drawn in report.subsets)
    links = [tag("a", subset.name, href=f"#figure{subset.first_figure}") for subset in subsets]
    links.append(tag("a", "Every predicted class", href="#classes"))
    return tag("nav", spaced(links), aria_label="Contents")


def _about(report: Report, predictions: Predictions) -> Iterator[str]:
    """Say which predictions these are."""
    accuracy = float(predictions.response.mean())
    yield tag(
        "p",
        f"{len(predictions):,} images, {accuracy:.1%} of them recognised. The score is the "
        "probability of the predicted class, the response whether that is right.",
    )
    if not report.as_in_the_paper:
        yield tag(
            "p",
            f"The paper{_S} numbers are those of ResNet-18 on the 1,281,167 images of the training "
            "set. These are other predictions, so the two need not agree; they stand side by side "
            "for orientation.",
        )
    made = {key: value for key, value in predictions.made.items() if key != "unreadable"}
    if made:
        yield _table(("made with", ""), made.items(), text=(0, 1))
    skipped = predictions.made.get("unreadable", [])
    if skipped:
        yield tag("p", f"{len(skipped):,} images could not be read and were left out:")
        yield tag("ul", *(tag("li", f"{each['path']}: {each['reason']}") for each in skipped))


def _subset(drawn: Drawn, formats: Sequence[str], *, judged: bool) -> Iterator[str]:
    """Show the figures of some images, and our numbers beside the paper's, judged or not."""
    count = "" if drawn.result is None else f", n = {drawn.result.n:,}"
    yield f'<section id="figure{drawn.subset.first_figure}">'
    yield tag("h2", f"{drawn.subset.title}{count}")
    if drawn.result is not None and drawn.subset.true_class is None:
        lines = (join(line) for line in str(drawn.result).split("\n"))
        yield tag("p", Markup(tag("br").join(lines)))
    if drawn.comparisons:
        head = ("", "here", "paper", "")[: 4 if judged else 3]
        rows = (_comparison(row)[: len(head)] for row in drawn.comparisons)
        yield _table(head, rows, text=(0, 3))
    yield from (tag("p", note, class_="muted") for note in drawn.notes)
    for figure in drawn.figures:
        number = tag("strong", f"Figure {figure.number}.")
        words = caption(figure, formats, number, f" {figure.title}. ")
        yield tag("figure", image(figure, formats, figure.title), words)
    yield "</section>"


def _comparison(row: Comparison) -> tuple[str, ...]:
    return row.what, row.ours, row.theirs, row.note or ("match" if row.agrees else "differs")


def _classes(rows: Sequence[dict[str, Any]] | None) -> Iterator[str]:
    """Show the fair table."""
    yield f'<section id="classes">{tag("h2", "Every predicted class")}'
    if rows is None:
        yield tag("p", "The table of predictions does not say which class was predicted.")
        yield "</section>"
        return
    strict, lenient = (
        sum(row[name] <= _LEVEL for row in rows) for name in ("holm", "benjamini_hochberg")
    )
    yield tag(
        "p",
        "Split by what the classifier says, which is known together with the score. Of "
        f"{len(rows):,} classes it ever predicts, ",
        tag("strong", f"{strict:,} are miscalibrated"),
        f" at {_LEVEL:.0%} after Holm{_S} adjustment for that many tests ({lenient:,} after "
        f"Benjamini and Hochberg{_S}). P-values: "
        f"{', '.join(sorted({row['method'] for row in rows}))}. ",
        tag("a", "All columns as CSV", href="imagenet_classes.csv"),
        ".",
    )
    yield _table(_HEAD, map(_class_row, rows[:_SHOWN]))
    if len(rows) > _SHOWN:
        others = tag("summary", f"The other {len(rows) - _SHOWN:,} classes")
        yield tag("details", others, _table(_HEAD, map(_class_row, rows[_SHOWN:])))
    yield "</section>"


def _class_row(row: dict[str, Any]) -> tuple[str, ...]:
    off = f"{100 * row['miscalibration']:+.1f} points, {row['low']:.3f} to {row['high']:.3f}"
    return (
        f"{row['predicted_class']} {row['name']}".rstrip(),
        f"{row['n']:,}",
        f"{row['mean_score']:.1%}",
        f"{row['accuracy']:.1%}",
        f"{row['ecce_r']:.4f}",
        f"{row['ecce_r_normalized']:.2f}",
        _power(row["pvalue"], row["log10_pvalue"]),
        f"{row['holm']:.2g}",
        f"{row['benjamini_hochberg']:.2g}",
        "" if math.isnan(row["miscalibration"]) else off.replace("-", "\N{MINUS SIGN}"),
    )


def _power(value: float, log10: float) -> str:
    """Write a P-value that may be too small for a double."""
    return f"1e{math.floor(log10)}" if value == 0 and math.isfinite(log10) else f"{value:.2g}"


def _table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, text: Sequence[int] = (0,)
) -> Markup:
    """Return a table; all but the columns of text hold numbers."""
    kinds = ["" if place in text else "number" for place in range(len(head))]
    return table(zip(head, kinds, strict=True), (row(cells, kinds) for cells in rows))
