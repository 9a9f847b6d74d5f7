"""Names of columns."""

import pytest

import secant
from doors import P, W, Y
from secant import InputError

# --- likely mistakes, recognised ------------------------------------------------------------------


@pytest.mark.parametrize("names", [("y", P), (Y, "p"), ("y", "p")])
def test_names_of_columns_of_nothing(names):
    argument = "y_true" if names[0] == "y" else "y_prob"
    says = rf"^{argument} must be an array of values; got the text '[yp]' .*then pass data= as well"
    with pytest.raises(InputError, match=says):
        secant.assess(*names)
    with pytest.raises(InputError, match=says):
        secant.assess_by(*names, W)
