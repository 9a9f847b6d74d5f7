"""The network, where it cannot be had. With torch: test_network_torch.py."""

import sys

import pytest

from secant import MissingExtraError
from secant.paper import imagenet


@pytest.mark.parametrize("missing", ["torch", "torchvision"])
def test_a_missing_network_names_the_extra(monkeypatch, missing):
    if missing == "torchvision":
        monkeypatch.setitem(sys.modules, "torch", sys)  # anything that can be imported
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"{missing}.*pip install 'secant\[imagenet\]'"):
        imagenet.resnet18()
