"""How values along an axis are written."""

from secant._input.axis import Axis


def test_weeks_months_and_hours_in_words():
    week, month, hour = (Axis("t", "time", unit) for unit in ("W", "M", "h"))
    first, last = week.key("2026-03-26"), week.key("2026-04-09")
    assert week.place(first, first) == "in the week of March 26, 2026"
    assert week.place(first, last) == "from the week of March 26 to that of April 9, 2026"
    assert month.place(0, 0) == "in January 1970"
    assert hour.place(0, 0) == "at January 1, 1970, 00:00"
    assert hour.place(0, 5) == "from January 1, 1970, 00:00 to 05:00"
