"""Settings for tensors."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Have torch work in one thread: tests run side by side already."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
