"""A program of somebody else's: mypy --strict and pyright read it beside the installed wheel.

What is marked as wrong must be found wrong, or the types of secant say nothing.
"""

from typing import assert_type

import secant
from secant.testing import assert_calibrated

y, p = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]

result = secant.assess(y, p, method="exact", confidence_level=0.9)
assert_type(result, secant.Calibration)
assert_type(result.ecce_r, secant.Statistic)
assert_type(result.ecce_r.pvalue, float)
shape: str = result.shape
assert_type(secant.ecce_r(y, p), float)
assert_type(secant.assess_by(y, p, [1, 1, 2, 2]), secant.Assessments)
assert_type(secant.null.range.sf(1.5) * 1.0, float)
assert_calibrated(y, p)

secant.assess(y, p, method="exactly")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
secant.assess(y, p, confidence=0.9)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
secant.asess(y, p)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
