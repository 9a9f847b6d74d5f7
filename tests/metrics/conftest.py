"""The paper's synthetic experiments, with numbers from the paper's own code."""

import json

import pytest

from helpers import DATA
from secant.paper import synthetic

SYNTHETIC = json.loads((DATA / "synthetic.json").read_text())


@pytest.fixture(scope="module", params=SYNTHETIC, ids=lambda case: case["scores"])
def case(request):
    golden = request.param
    p = synthetic.scores(golden["n"], golden["scores"])
    y = synthetic.responses(golden["n"], golden["scores"])[0]
    return golden, y, p
