"""The rows that scores rule out."""

from dataclasses import FrozenInstanceError

import pytest

from secant._base.types import Forbidden
from secant._input.observations import observations


def test_forbidden_rows_are_counted_and_numbered():
    assert observations([1, 0, 1], [0.0, 1.0, 1.0]).refused == Forbidden(2, (0, 1))


def test_forbidden_rows_without_numbers_still_count():
    unnumbered = Forbidden(3, ())
    assert (unnumbered.count, unnumbered.rows) == (3, ())
    with pytest.raises(FrozenInstanceError):
        unnumbered.count = 0
