"""The page that shows the ImageNet figures, our numbers beside the paper's, and the fair table."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from secant.paper._classes import ClassRow
    from secant.paper._predictions import Predictions
    from secant.paper.imagenet_figures import Drawn, Report

__all__ = ["OTHER_IMAGES", "TRUE_CLASS", "render"]

OTHER_IMAGES = "other predictions than the paper\N{RIGHT SINGLE QUOTATION MARK}s: no match expected"
"""Stands beside the paper's numbers where they cannot be expected."""

TRUE_CLASS = (
    "The five classes are split by what the image truly shows, as the paper does. That selects on "
    "the outcome: among images of one true class a low score goes with a wrong answer, so that "
    "even a perfectly calibrated classifier looks miscalibrated (it is rejected in 69% of such "
    "tests). These figures reproduce the paper and are no evidence about a class; no P-value is "
    "given with them. The table of predicted classes below is fair."
)
"""What to know before reading the figures of single classes."""

_LEVEL = 0.05
_SHOWN = 20

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; }
figcaption, .note { color: #57606a; font-size: 0.9rem; }
.warning { border-left: 4px solid #d55e00; padding: 0.5rem 1rem; background: #fff6f0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.7rem; text-align: right; border-bottom: 1px solid #e4e7ea; }
th:first-child, td:first-child, .text { text-align: left; }
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
        f'<p class="warning">{TRUE_CLASS}</p>',
    ]
    for drawn in report.subsets:
        body += _subset(drawn, formats)
    body += _classes(report.table)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>secant: the paper's ImageNet figures</title>\n<style>{_STYLE}</style>\n"
        "</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


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
        yield from _table(("made with", ""), rows, text=2)
    skipped = predictions.made.get("unreadable", [])
    if skipped:
        yield f"<p>{len(skipped):,} images could not be read and were left out:</p><ul>"
        yield from (
            f"<li>{escape(str(entry['path']))}: {escape(str(entry['reason']))}</li>"
            for entry in skipped
        )
        yield "</ul>"


def _subset(drawn: Drawn, formats: Sequence[str]) -> Iterator[str]:
    """Show the figures of some images, and our numbers beside the paper's."""
    count = "" if drawn.result is None else f", n = {drawn.result.n:,}"
    yield f"<h2>{escape(drawn.subset.title)}{count}</h2>"
    rows = (
        [
            escape(each.what),
            escape(each.ours),
            escape(each.theirs),
            escape(each.note) or ("match" if each.agrees else "no match"),
        ]
        for each in drawn.comparisons
    )
    if drawn.comparisons:
        yield from _table(("", "here", "paper", ""), rows)
    yield from (f'<p class="note">{escape(note)}</p>' for note in drawn.notes)
    for figure in drawn.figures:
        links = " ".join(
            f'<a href="{figure.stem}.{suffix}">{suffix.upper()}</a>' for suffix in formats
        )
        title = escape(figure.title)
        shown = f'<img src="{figure.stem}.png" alt="{title}">' if "png" in formats else ""
        yield (
            f'<figure id="{figure.stem}">{shown}<figcaption><strong>Figure {figure.number}.'
            f"</strong> {title}. {escape(figure.caption)} {links}</figcaption></figure>"
        )


def _classes(table: Sequence[ClassRow] | None) -> Iterator[str]:
    """Show the fair table."""
    yield "<h2>Every predicted class</h2>"
    if table is None:
        yield "<p>The table of predictions does not say which class was predicted.</p>"
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


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, text: int = 1) -> Iterator[str]:
    """Write a table of cells that are HTML already; the first ``text`` columns hold words."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        marks = [' class="text"' if place < text else "" for place in range(len(cells))]
        inside = "".join(
            f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True)
        )
        return f"<tr>{inside}</tr>"

    yield '<div class="scroll"><table>'
    yield line("th", head)
    yield from (line("td", cells) for cells in rows)
    yield "</table></div>"
