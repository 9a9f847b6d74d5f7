"""The fixture ``source``: a test that asks for it runs once for every home of the predictions."""

from collections import Counter

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


# They take seconds to answer where others take tenths.
SLOW = {"dask", "spark", "postgres"}
# Its server runs in `make test-long`.
LONG = {"mariadb"}


def pytest_collection_modifyitems(items):
    """Let Ibis read answers of SQLite by way of a deprecated pandas option; put off slow cases.

    Of the cases that a test tries on a slow source the first of every three runs in ``make test``.
    """
    cases = Counter()
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"))
        asked = item.callspec.params.values() if hasattr(item, "callspec") else ()
        told = {each for each in asked if isinstance(each, str)}
        if LONG & told:
            item.add_marker(pytest.mark.long)
        for slow in SLOW & told:
            case = item.function, slow
            if cases[case] % 3:
                item.add_marker(pytest.mark.long)
            cases[case] += 1
