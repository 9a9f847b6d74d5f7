"""A report people can open: one HTML file with the verdict, the curve and every number.

The file needs no network, no server and no library: charts are drawn by the page itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from secant._base.endings import check_ending
from secant._base.writing import write_whole
from secant._drawing.models import named
from secant._drawing.order import check_one_axis
from secant._results import model_words
from secant._results.assessments import Assessments
from secant._results.calibration import Calibration
from secant._results.models import Models
from secant._results.monitor import MonitorHistory
from secant.errors import InputError
from secant.report._notebook import evidence_picture, small_picture
from secant.report._provenance import Provenance

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = [
    "Provenance",
    "evidence_picture",
    "render",
    "render_monitor",
    "small_picture",
    "write",
    "write_monitor",
]


def write(
    path: str | os.PathLike[str],
    results: Calibration | Sequence[Calibration] | Mapping[str, Calibration] | None = None,
    *,
    groups: Assessments | Mapping[str, Assessments] | None = None,
    segments: Assessments | Mapping[str, Assessments] | None = None,
    title: str | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Write a report as one HTML file that works offline.

    Parameters
    ----------
    path : path-like
        Where to, ending in .html or .htm; the file appears whole or not at all.
    results : Calibration, sequence of Calibration or mapping from names to Calibration
        What to report; several models stand side by side, and as :class:`secant.Models` with how
        they compare. None where there are only groups.
    groups : Assessments or mapping from names of models to Assessments, optional
        Groups, for a table from which their curves can be laid over the plot; a table for each
        model where a mapping says whose groups they are.
    segments : Assessments or mapping from names of models to Assessments, optional
        Segments that :func:`secant.assess_segments` found, in the same way.
    title : str, optional
        Title of the page.
    provenance : Provenance, optional
        Input files, columns and time, to be shown at the end.

    Raises
    ------
    InputError
        If the path ends otherwise; if there is nothing to report, or something that is not a
        :class:`Calibration`; if results are along different axes; or if groups are of a model that
        is not among the results.

    Examples
    --------
    >>> import secant, secant.report
    >>> result = secant.assess([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.9])
    >>> secant.report.write("report.html", result, title="Four forecasts")  # doctest: +SKIP
    """
    check_ending(path, "page")
    page = render(results, groups=groups, segments=segments, title=title, provenance=provenance)
    # A text from data may hold half of a surrogate pair, which UTF-8 cannot write.
    write_whole(path, page.encode("utf-8", "xmlcharrefreplace"))


def render(
    results: Calibration | Sequence[Calibration] | Mapping[str, Calibration] | None = None,
    *,
    groups: Assessments | Mapping[str, Assessments] | None = None,
    segments: Assessments | Mapping[str, Assessments] | None = None,
    title: str | None = None,
    provenance: Provenance | None = None,
) -> str:
    """Return the page that :func:`write` writes.

    Parameters
    ----------
    results, groups, segments, title, provenance
        As in :func:`write`.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        As :func:`write`.
    """
    from secant import __version__  # noqa: PLC0415  (the package itself stands beside its parts)
    from secant.report import _page  # noqa: PLC0415

    tables = [*_tables(groups), *_tables(segments, "segments", "assess_segments")]
    only_groups = results is None and any(table for _, table in tables)
    if results is None and tables and not only_groups:
        msg = "no segment was found, so there is no curve to draw; report the whole beside them"
        raise InputError(msg)
    names, found = ((), ()) if only_groups else named(results, Calibration)
    check_one_axis([*found, *(group for _, table in tables for group in [*table.values()][:1])])
    for whose, _ in tables:
        if found and whose not in (None, *names):
            msg = f"groups are of {whose!r}, which is not the name of a model among the results"
            raise InputError(msg)
    return _page.render(
        names,
        found,
        tables,
        title="Calibration report" if title is None else str(title),
        about=Provenance() if provenance is None else provenance,
        version=__version__,
        compared=model_words.words_of(results) if isinstance(results, Models) else (),
    )


def write_monitor(
    path: str | os.PathLike[str],
    history: Any,
    *,
    title: str | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Write what a monitor has seen and found as one HTML file that works offline.

    Parameters
    ----------
    path : path-like
        Where to, ending in .html or .htm; the file appears whole or not at all.
    history : MonitorHistory
        What to report.
    title, provenance
        As in :func:`write`.

    Raises
    ------
    InputError
        If the path ends otherwise, or no predictions have been added yet.
    """
    check_ending(path, "page")
    page = render_monitor(history, title=title, provenance=provenance)
    write_whole(path, page.encode("utf-8", "xmlcharrefreplace"))


def render_monitor(
    history: Any, *, title: str | None = None, provenance: Provenance | None = None
) -> str:
    """Return the page that :func:`write_monitor` writes.

    Parameters
    ----------
    history, title, provenance
        As in :func:`write_monitor`.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        As :func:`write_monitor`.
    """
    from secant import __version__  # noqa: PLC0415  (as in render)
    from secant.report import _monitor  # noqa: PLC0415

    if not isinstance(history, MonitorHistory):
        msg = f"only the history of a Monitor can be reported; got {type(history).__name__}"
        raise InputError(msg)
    if not history.n:
        msg = "no predictions have been added to this monitor yet, so there is nothing to report"
        raise InputError(msg)
    return _monitor.render(
        history,
        title="Calibration over time" if title is None else str(title),
        about=Provenance() if provenance is None else provenance,
        version=__version__,
    )


def _tables(
    groups: Any, argument: str = "groups", made_by: str = "assess_by"
) -> list[tuple[str | None, Assessments]]:
    """Return groups with the name of the model whose they are, where one is given."""
    if groups is None:
        return []
    # Assessments are a mapping too, from keys to results.
    alone = isinstance(groups, Assessments) or not isinstance(groups, Mapping)
    tables: list[tuple[str | None, Any]] = [(None, groups)] if alone else list(groups.items())
    for _, table in tables:
        if not isinstance(table, Assessments):
            got = type(table).__name__
            msg = f"{argument} must be Assessments, as {made_by} returns; got a {got}"
            raise InputError(msg)
    return tables
