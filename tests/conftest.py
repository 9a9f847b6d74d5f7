"""Settings for the whole suite: hypothesis profiles and shared fixtures."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# What helpers assert is explained like what tests assert.
pytest.register_assert_rewrite("doors", "faults", "forgeries", "samples", "states")
from helpers import SHARED_DATA  # noqa: E402
from samples import MANY, N_MANY  # noqa: E402
from secant._blocks import kernels  # noqa: E402
from states import P, W, Y, state  # noqa: E402

# No test depends on how fast the machine is: no deadline, and no complaint about slow generation.
_NO_CLOCK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# dev: new examples in every run, few enough to wait for. ci: the same examples in every run.
# few: for `make coverage`, which asks what is run and not what holds.
# thorough: for a change to the numerics, `SECANT_HYPOTHESIS=thorough pytest tests/laws`.
settings.register_profile("few", max_examples=3, derandomize=True, **_NO_CLOCK)
settings.register_profile("dev", max_examples=50, **_NO_CLOCK)
settings.register_profile("ci", max_examples=200, derandomize=True, print_blob=True, **_NO_CLOCK)
settings.register_profile("thorough", max_examples=5000, **_NO_CLOCK)
settings.load_profile(os.environ.get("SECANT_HYPOTHESIS", "dev"))


def pytest_make_parametrize_id(val, argname):
    """Name bytes and hostile or long text after their argument, and the rest as pytest does."""
    if not isinstance(val, bytes | str):
        return None
    plain = isinstance(val, str) and val.isascii() and val.isprintable() and len(val) <= 80
    return None if plain else argname


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give all tests of Spark to one process, so that one session serves them; spread the rest."""
    from xdist.scheduler import LoadScopeScheduling

    class SparkTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "spark" if "spark" in nodeid else nodeid

    return SparkTogether(config, log)


@pytest.fixture(scope="session", autouse=True)
def _numpy_alone():
    """Leave rows to numpy, whatever was compiled before: tests of compiled passes ask for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "is_usable", lambda _: False)
        yield


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of real predictions, or skip the test where it is not there."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real predictions (shared/data beside the repository) are not here")
    return SHARED_DATA


@pytest.fixture(scope="module", params=MANY)
def many(request):
    """Return labels and scores of more rows than are sorted."""
    rng = np.random.default_rng(11)
    p = MANY[request.param](rng)
    return (rng.random(N_MANY) < p**1.05).astype(int), p


@pytest.fixture
def saved(tmp_path):
    """Return the path of a few cells that were saved."""
    target = tmp_path / "a state"
    state(64, {"y_true": Y, "y_prob": P, "sample_weight": W}).save(target)
    return target
