"""The fixture ``source``: a test that asks for it runs once for every home of the predictions."""

import pytest

import servers
import sparks
from makers import MAKERS, arguments


@pytest.fixture(params=sorted(MAKERS))
def source(request, tmp_path):
    """Return a function from columns to the arguments of ``assess`` or ``assess_by``."""

    def make(columns):
        return arguments(columns, MAKERS[request.param](columns, tmp_path))

    return make


@pytest.fixture(scope="session", autouse=True)
def _no_server_stays_behind():
    yield
    sparks.stop()
    servers.stop()


def pytest_collection_modifyitems(items):
    """Let Ibis read answers of SQLite by way of a pandas option that is deprecated."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"))
