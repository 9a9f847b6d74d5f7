"""The page that shows the ImageNet figures, our numbers beside the paper's, and the fair table."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from secant.paper.page import _STYLE as _PAGE_STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from secant.paper.imagenet.classes import ClassRow
    from secant.paper.imagenet.figures import Drawn, Report
    from secant.paper.imagenet.predictions import Predictions
    from secant.paper.reference import Comparison

__all__ = ["OTHER_IMAGES", "TRUE_CLASS", "render"]

OTHER_IMAGES = "other predictions than the paper\N{RIGHT SINGLE QUOTATION MARK}s: no match expected"
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

_TITLE = "secant: the paper\N{RIGHT SINGLE QUOTATION MARK}s ImageNet figures"
_LEVEL = 0.05
_SHOWN = 20

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
        "<h1>ImageNet: the paper\N{RIGHT SINGLE QUOTATION MARK}s Figures 11 to 34</h1>",
        *_about(report, predictions),
        _contents(report),
        f'<p class="warning">{TRUE_CLASS}</p>',
    ]
    for drawn in report.subsets:
        body += _subset(drawn, formats, judged=report.as_in_the_paper)
    body += _classes(report.table)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_TITLE}</title>\n<style>{_PAGE_STYLE}{_STYLE}</style></head>\n"
        "<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _contents(report: Report) -> str:
    links = [
        f'<a href="#figure{drawn.subset.first_figure}">{escape(drawn.subset.name)}</a>'
        for drawn in report.subsets
    ]
    links.append('<a href="#classes">Every predicted class</a>')
    return f'<nav aria-label="Contents">{" ".join(links)}</nav>'


def _about(report: Report, predictions: Predictions) -> Iterator[str]:
    """Say which predictions these are."""
    accuracy = float(predictions.response.mean())
    yield (
        f"<p>{len(predictions):,} images, {accuracy:.1%} of them recognised. The score is the "
        "probability of the predicted class, the response whether that is right.</p>"
    )
    if not report.as_in_the_paper:
        yield (
            "<p>The paper\N{RIGHT SINGLE QUOTATION MARK}s numbers are those of ResNet-18 on the "
            "1,281,167 images of the training set. These are other predictions, so the two need "
            "not agree; they stand side by side for orientation.</p>"
        )
    made = {key: value for key, value in predictions.made.items() if key != "unreadable"}
    if made:
        rows = ([escape(str(key)), escape(str(value))] for key, value in made.items())
        yield from _table(("made with", ""), rows, text=(0, 1))
    skipped = predictions.made.get("unreadable", [])
    if skipped:
        yield f"<p>{len(skipped):,} images could not be read and were left out:</p><ul>"
        yield from (
            f"<li>{escape(str(entry['path']))}: {escape(str(entry['reason']))}</li>"
            for entry in skipped
        )
        yield "</ul>"


def _subset(drawn: Drawn, formats: Sequence[str], *, judged: bool) -> Iterator[str]:
    """Show the figures of some images, and our numbers beside the paper's, judged or not."""
    count = "" if drawn.result is None else f", n = {drawn.result.n:,}"
    yield f'<section id="figure{drawn.subset.first_figure}">'
    yield f"<h2>{escape(drawn.subset.title)}{count}</h2>"
    if drawn.result is not None and drawn.subset.true_class is None:
        yield f"<p>{escape(str(drawn.result)).replace(chr(10), '<br>')}</p>"
    if drawn.comparisons:
        head = ("", "here", "paper", "")[: 4 if judged else 3]
        rows = (_comparison(row, judged=judged) for row in drawn.comparisons)
        yield from _table(head, rows, text=(0, 3))
    yield from (f'<p class="muted">{escape(note)}</p>' for note in drawn.notes)
    for figure in drawn.figures:
        links = " ".join(
            f'<a href="{figure.stem}.{suffix}">{suffix.upper()}</a>' for suffix in formats
        )
        title = escape(figure.title)
        shown = f'<img src="{figure.stem}.png" alt="{title}">' if "png" in formats else ""
        yield (
            f"<figure>{shown}<figcaption><strong>Figure {figure.number}.</strong> {title}. "
            f'{escape(figure.caption)} <span class="muted">{links}</span></figcaption></figure>'
        )
    yield "</section>"


def _comparison(row: Comparison, *, judged: bool) -> list[str]:
    cells = [row.what, row.ours, row.theirs]
    if judged:
        cells.append(row.note or ("match" if row.agrees else "differs"))
    return [escape(cell) for cell in cells]


def _classes(table: Sequence[ClassRow] | None) -> Iterator[str]:
    """Show the fair table."""
    yield '<section id="classes"><h2>Every predicted class</h2>'
    if table is None:
        yield "<p>The table of predictions does not say which class was predicted.</p></section>"
        return
    strict = sum(row.holm <= _LEVEL for row in table)
    lenient = sum(row.benjamini_hochberg <= _LEVEL for row in table)
    yield (
        f"<p>Split by what the classifier says, which is known together with the score. Of "
        f"{len(table):,} classes it ever predicts, <strong>{strict:,} are miscalibrated</strong> "
        f"at {_LEVEL:.0%} after Holm\N{RIGHT SINGLE QUOTATION MARK}s adjustment for that many "
        f"tests ({lenient:,} after Benjamini and Hochberg\N{RIGHT SINGLE QUOTATION MARK}s). "
        f"P-values: {escape(', '.join(sorted({row.method for row in table})))}. "
        '<a href="imagenet_classes.csv">All columns as CSV</a>.</p>'
    )
    head = (
        "class",
        "n",
        "mean score",
        "right",
        "ECCE-R",
        "/ \N{GREEK SMALL LETTER SIGMA}",
        "P",
        "Holm",
        "B-H",
        "furthest off",
    )
    yield from _table(head, map(_class_row, table[:_SHOWN]))
    if len(table) > _SHOWN:
        yield f"<details><summary>The other {len(table) - _SHOWN:,} classes</summary>"
        yield from _table(head, map(_class_row, table[_SHOWN:]))
        yield "</details>"
    yield "</section>"


def _class_row(row: ClassRow) -> list[str]:
    off = (
        ""
        if math.isnan(row.miscalibration)
        else (f"{100 * row.miscalibration:+.1f} points, {row.low:.3f} to {row.high:.3f}")
    )
    return [
        escape(f"{row.predicted_class} {row.name}".rstrip()),
        f"{row.n:,}",
        f"{row.mean_score:.1%}",
        f"{row.accuracy:.1%}",
        f"{row.ecce_r:.4f}",
        f"{row.ecce_r_normalized:.2f}",
        _power(row.pvalue, row.log10_pvalue),
        f"{row.holm:.2g}",
        f"{row.benjamini_hochberg:.2g}",
        off.replace("-", "\N{MINUS SIGN}"),
    ]


def _power(value: float, log10: float) -> str:
    """Write a P-value that may be too small for a double."""
    return f"1e{math.floor(log10)}" if value == 0 and math.isfinite(log10) else f"{value:.2g}"


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, text: Sequence[int] = (0,)
) -> Iterator[str]:
    """Write a table of cells that are HTML already; all but the columns of text hold numbers."""

    def line(tag: str, cells: Sequence[str]) -> str:
        marks = ["" if place in text else ' class="number"' for place in range(len(cells))]
        inside = "".join(
            f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True)
        )
        return f"<tr>{inside}</tr>"

    yield '<div class="table"><table>'
    yield line("th", head)
    yield from (line("td", cells) for cells in rows)
    yield "</table></div>"
