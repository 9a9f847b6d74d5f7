"""Calibration as a test: for pytest, for pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._api.assess import assess
from secant._api.assess_by import assess_by
from secant._results.gate import Gate

if TYPE_CHECKING:
    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration

__all__ = ["assert_calibrated"]


def assert_calibrated(
    y_true: Any,
    y_prob: Any,
    *,
    by: Any = None,
    alpha: float = 0.01,
    max_ecce_r: float | None = None,
    max_miscalibration: float | None = None,
    within: float | None = None,
    **options: Any,
) -> Calibration | Assessments:
    """Raise AssertionError if predictions are miscalibrated beyond chance and beyond a tolerance.

    Both must be so: at ten million predictions a deviation nobody minds is beyond chance, and
    with thirty a large one may be chance. An outcome that its score ruled out, such as an event
    after a score of 0, is beyond chance whatever the P-value. A test that passes does not prove
    calibration; the result that is returned says what could have been seen. Chance is ruled out by
    :attr:`secant.Calibration.pvalue`, whether a range can be named or not. To have calibration
    shown, up to a tolerance, ask for ``within``: then too few predictions fail as well.

    Parameters
    ----------
    y_true, y_prob
        As in :func:`secant.assess`.
    by : optional
        Groups, as in :func:`secant.assess_by`: then every group must pass, with P-values
        adjusted for their number.
    alpha : float
        The P-value up to which chance is ruled out: how often a calibrated model may
        fail.
    max_ecce_r : float, optional
        The largest ECCE-R that is tolerated. It is compared with the ECCE-R of these predictions,
        which noise raises: a model near its tolerance may fail. 0.02 if no limit is given; a limit
        that is not given beside another is not judged.
    max_miscalibration : float, optional
        The largest mean miscalibration that is tolerated over any range of scores: 0.1 is ten
        points. It fails where some range is shown to be beyond, so a model within it fails at most
        as often as ``alpha`` says, and a narrow defect of few predictions may pass.
    within : float, optional
        What the true ECCE-R must be shown not to exceed: it fails unless the upper end of its
        confidence interval is at most this. For calibrated predictions that takes about
        (2 / ``within``) squared of them, with the ``alpha`` of 0.01.
    **options
        Passed on to :func:`secant.assess` or :func:`secant.assess_by`, such as ``data``,
        ``sample_weight`` or ``pos_label``. ``confidence_level`` is 1 - ``alpha`` unless given.

    Returns
    -------
    Calibration or Assessments
        The result, when the predictions pass.

    Raises
    ------
    AssertionError
        With the verdict: how far off, and where.
    InputError
        If the input is unusable.

    Notes
    -----
    ``alpha`` differs from that of ``secant assess``, which is 0.05 where it is not given. A test
    runs at every change, and should fail a calibrated model less often. Give it to have the same
    gate in both places.

    Examples
    --------
    >>> import numpy as np
    >>> from secant.testing import assert_calibrated
    >>> rng = np.random.default_rng(0)
    >>> forecast = rng.random(2000)
    >>> happened = rng.random(2000) < forecast
    >>> result = assert_calibrated(happened, forecast)
    >>> assert_calibrated(happened, forecast**2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Gate failed: P = ... (level 0.01), ECCE-R 0.17... (tolerance 0.02), n = 2,000.
    ...
    >>> assert_calibrated(happened, forecast, within=0.01)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Gate failed: too few predictions to show that ECCE-R is at most 0.01; ...
    ...
    """
    __tracebackhide__ = True  # pytest shows the line that called
    gate = Gate(alpha, max_ecce_r, max_miscalibration, within)
    # The verdict below speaks at the level of the gate.
    options.setdefault("confidence_level", gate.confidence_level)
    if by is None:
        result = assess(y_true, y_prob, **options)
        stand = gate.judge(result)
        if stand.crossed:
            raise AssertionError(f"{stand.words}\n{result}")
        return result
    results = assess_by(y_true, y_prob, by, **options)
    stands = gate.judge_groups(results)
    if stands.crossing:
        raise AssertionError(f"{stands.words}\n{results}")
    return results
