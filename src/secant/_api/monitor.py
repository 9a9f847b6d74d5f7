"""Monitor: calibration watched batch by batch, valid however often one looks."""

from __future__ import annotations

import hashlib
import os
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._api.cells import Cells
from secant._base.endings import check_ending
from secant._base.writing import write_whole
from secant._inference.evalues import GRID
from secant._inference.monitor_file import pack, read, unpack
from secant._inference.monitor_state import CellBatch, RowBatch, State
from secant._input.options import Reading, check_level
from secant._results.monitor import history_of
from secant.errors import Argument, InputError
from secant.sources.open import open_means, open_rows
from secant.sources.tables import is_kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from secant._inference.monitor_state import Batch
    from secant._input.periods import Time
    from secant._results.monitor import MonitorHistory, Where

__all__ = ["Monitor", "kept_at"]


class Monitor:
    r"""Watch calibration batch by batch; look whenever you like.

    Feed it the predictions of a day, a week or an hour when their outcomes are known. It raises an
    alarm when the evidence against calibration is beyond chance, and says since when and at which
    scores. However often one looks, and for however long, a calibrated model ever raises an alarm
    with a probability of at most ``alpha``.

    Every row must be new. Where the same customers return every day with the same outcome, one
    surprise counts many times, and alarms are false far more often: watch a sample in which each
    occurs once. A batch is added when *all* of its outcomes are known: outcomes that arrive early
    are often those that happened.

    Parameters
    ----------
    alpha : float
        The probability of a false alarm, ever; an alarm is raised when evidence reaches
        1 / alpha.
    tolerance : float
        How far the chance of an event may lie from its score: 0.01 tolerates a point. With 0 a
        large stream shows deviations that nobody minds.

    Attributes
    ----------
    alarm : bool
        Whether an alarm has been raised.
    pvalue : float
        The P-value of everything so far, valid however often one has looked.
    since : int, str, date, datetime or None
        With which batch it probably began; None without an alarm.
    where : Where or None
        Which scores are off, and in which direction; None without an alarm.
    history : MonitorHistory
        All of it, batch by batch; print it, draw it with ``plot()``, write a page with
        ``report(path)``.

    Raises
    ------
    InputError
        If ``alpha`` lies outside (0, 1) or ``tolerance`` outside [0, 1).

    See Also
    --------
    Cells : Sums of a batch made elsewhere; shards of one batch are added as Cells, then here.
    assess : The answer to one question, asked once.

    Notes
    -----
    For a range of scores :math:`I` and a tilt :math:`d`, a batch with :math:`K` events in
    :math:`I` multiplies a bet by

    .. math:: e(I, d) = \frac{\exp(d K)}{\prod_{i \in I} (1 + u_i (e^d - 1))},
       \quad u_i = \mathrm{clip}(s_i + \tau\, \mathrm{sign}\, d, 0, 1),

    which has expectation at most 1 when every chance, given all earlier outcomes, lies within the
    tolerance :math:`\tau` of its score. Bets on 31 ranges (1, 2, 4, 8 and 16 of equal numbers of
    the first scores) and 16 tilts, and without a tolerance on 8 slopes of the log odds, are started
    after every batch and mixed with fixed weights into the evidence M. By Ville's inequality M ever
    reaches 1 / alpha with probability at most alpha, and 1 / max M is a P-value.

    An outcome that its score of exactly 0 or 1 ruled out refutes a tolerance of 0 by itself.

    References
    ----------
    .. [1] A. Ramdas, P. Grunwald, V. Vovk, G. Shafer (2023). "Game-theoretic statistics and safe
       anytime-valid inference." Statistical Science 38(4). https://doi.org/10.1214/23-STS894
    .. [2] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of
       calibration for probabilistic predictions." Journal of Machine Learning Research 23(351).
       https://doi.org/10.48550/arXiv.2205.09680

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> monitor = secant.Monitor(alpha=0.05)
    >>> for day in range(1, 41):
    ...     forecast = rng.random(1000)
    ...     chance = forecast if day < 21 else forecast**1.1
    ...     monitor.add(rng.random(1000) < chance, forecast, time=day)
    >>> monitor.alarm, monitor.history.alarm_time, monitor.since
    (True, 32, 21)
    >>> print(monitor.where)
    all scores are too high
    """

    __module__ = "secant"

    def __init__(self, alpha: float = 0.05, tolerance: float = 0.0) -> None:
        check_level(alpha, "alpha")
        _check_tolerance(tolerance)
        self._state: State = State.new(float(alpha), float(tolerance))
        # What is known to be in files: the SHA-256 of their content, None for nothing.
        self._files: dict[str, str | None] = {}

    @property
    def alpha(self) -> float:
        """The probability of a false alarm, ever, at most."""
        return self._state.alpha

    @property
    def tolerance(self) -> float:
        """How far chances may lie from scores."""
        return self._state.tolerance

    @property
    def history(self) -> MonitorHistory:
        """What has been seen, batch by batch, and what was found."""
        return history_of(self._state)

    @property
    def alarm(self) -> bool:
        """Whether an alarm has been raised."""
        return self.history.alarm

    @property
    def pvalue(self) -> float:
        """The P-value of everything so far, valid however often one has looked."""
        return self.history.pvalue

    @property
    def since(self) -> Time | None:
        """With which batch it probably began; None without an alarm."""
        return self.history.since

    @property
    def where(self) -> Where | None:
        """Which scores are off, and in which direction; None without an alarm."""
        return self.history.where

    def add(
        self,
        y_true: Any = None,
        y_prob: Any = None,
        *,
        data: Any = None,
        time: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> None:
        """Add a batch of predictions whose outcomes are all known.

        A batch with a fault in it changes nothing. In whatever order its rows stand, the numbers
        are the same to the last bit, unless an engine adds them up.

        Parameters
        ----------
        y_true : array-like, or Cells
            What happened; or, alone, the batch as :class:`Cells`, which may be a stored one. From
            Cells the evidence is never larger than from the rows, and hardly smaller; that scores
            are too extreme or too moderate as a whole cannot be seen from them. Shards of one batch
            are added up as Cells first: a batch is added once.
        y_prob : array-like of shape (n,)
            Predicted probabilities. No rows at all are a batch too.
        data : data frame, mapping, table of an engine, path or list of paths, optional
            Where to find the columns that ``y_true`` and ``y_prob`` then name. Of an engine's
            table only sums are asked, which tell what Cells tell.
        time : int, str, date, datetime or datetime64, optional
            What to call the batch; each must come after the one before. Numbered unless given.
        sample_weight
            Not taken: evidence is about single outcomes, and a weight would count some twice.
        pos_label
            As in :func:`secant.assess`.

        Raises
        ------
        InputError
            If the predictions cannot be used, have weights, or the batch does not come after the
            one before.
        """
        self._state = self._state.after(
            _batch(y_true, y_prob, data, sample_weight, pos_label), time
        )

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Any:
        """Draw the evidence over time, as ``history.plot`` does; return a MonitorDisplay."""
        return self.history.plot(ax, **kwargs)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page about it as one HTML file that works offline."""
        self.history.report(path, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as plain JSON, with the version of its schema."""
        return self.history.to_dict()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to a file, whole or not at all.

        The file is JSON under a checksum and holds sums, no rows and nothing that could be
        executed. A monitor that is loaded goes on with the same numbers to the last bit.

        Raises
        ------
        InputError
            If this monitor was loaded from the file or saved to it before, and somebody else has
            written it since: what they added would be lost. If the path ends as files of another
            kind do, in .html or .pdf.
        """
        check_ending(path, "monitor")
        place, content = os.path.realpath(path), pack(self._state)

        def check() -> None:
            if _digest(place) != self._files[place]:
                msg = (
                    f"{path} is not what it was when this process read it: another one has written "
                    "or removed it. It is left as it is; read it again and add what it lacks"
                )
                raise InputError(msg)

        write_whole(path, content, check if place in self._files else None)
        self._files[place] = hashlib.sha256(content).hexdigest()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Monitor:
        """Read a monitor that :meth:`save` wrote.

        Raises
        ------
        InputError
            If the file is not such a monitor, or is damaged or cut short; if it is no file at all
            but a folder, a pipe or a device.
        """
        monitor, content = cls(), read(path)
        monitor._state = unpack(path, content)
        monitor._files = {os.path.realpath(path): hashlib.sha256(content).hexdigest()}
        return monitor

    def __str__(self) -> str:
        return str(self.history)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.history._repr_html_()


def kept_at(path: str | os.PathLike[str], **settings: float) -> Monitor:
    """Return the monitor that a file holds; where there is none, a new one that begins there."""
    if os.path.exists(path):  # noqa: PTH110
        return Monitor.load(path)
    monitor = Monitor(**settings)
    monitor._files = {os.path.realpath(path): None}  # noqa: SLF001  (of the same house)
    return monitor


def _digest(place: str) -> str | None:
    """Return the SHA-256 of a file; None where there is none."""
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _check_tolerance(value: Any) -> None:
    if not (isinstance(value, Real) and 0 <= float(value) < 1):
        raise InputError(Argument("tolerance"), f" must lie in [0, 1); got {value!r}")


def _batch(y_true: Any, y_prob: Any, data: Any, sample_weight: Any, pos_label: Any) -> Batch:
    if sample_weight is not None:
        raise InputError(
            Argument("sample_weight"),
            " cannot be used by a monitor: its evidence is about single outcomes",
        )
    if isinstance(y_true, Cells):
        return _of_cells(y_true, {"y_prob": y_prob, "data": data, "pos_label": pos_label})
    for name, value in (("y_true", y_true), ("y_prob", y_prob)):
        if value is None:
            raise InputError(Argument(name), " is missing; a batch is two arrays, or Cells")
    if data is None and _is_empty(y_true) and _is_empty(y_prob):
        return RowBatch(np.empty(0), np.empty(0, np.int64))
    reading = Reading(pos_label=pos_label)
    if data is not None and is_kept(data):
        return CellBatch(*open_means(y_true, y_prob, GRID, data=data, reading=reading))
    rows = open_rows(y_true, y_prob, asked="Monitor.add", data=data, reading=reading)
    return RowBatch(rows.scores, rows.labels)


def _of_cells(cells: Cells, others: dict[str, Any]) -> CellBatch:
    for name, value in others.items():
        if value is not None:
            raise InputError(Argument(name), " cannot be given beside Cells, which hold a batch")
    sums = cells._sums  # noqa: SLF001  (of the same house)
    if sums.outcome_weights is not None:
        weights = "these Cells weigh outcomes, which a monitor cannot use"
        raise InputError(weights)
    if sums.sampling:
        weights = "these Cells hold predictions with sampling weights, which a monitor cannot use"
        raise InputError(weights)
    return CellBatch.of(sums, cells.n_cells, cells.forbidden)


def _is_empty(column: Any) -> bool:
    try:
        return len(column) == 0 and not isinstance(column, str)
    except TypeError:
        return False
