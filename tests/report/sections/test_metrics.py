"""The table of all numbers."""

import re

import secant
import secant.report


def test_what_is_detectable_is_possible():
    few = secant.report.render(secant.assess([1], [0.3]))
    row = re.search(r"Detectable ECCE-R.*?</tr>", few)[0]
    assert ">none</td>" in row
