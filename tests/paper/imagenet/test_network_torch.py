"""The network from torch, with a small stand-in for torchvision.

torchvision does not import beside the build of torch that is kept for development. The real one is
checked by ``benchmarks/imagenet_gpu_check.py``.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import optional
from secant import InputError, MissingExtraError
from secant.paper import imagenet

torch = optional("torch")
image = optional("PIL.Image")


class SmallNetwork(torch.nn.Module):
    """A convolution, a mean and ``fc``, as the real one ends."""

    def __init__(self, num_classes):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 7, stride=7)
        self.norm = torch.nn.BatchNorm2d(4)
        self.fc = torch.nn.Linear(4, num_classes)

    def forward(self, x):
        return self.fc(self.norm(self.conv(x)).relu().mean((2, 3)))


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        short = min(picture.size)
        size = tuple(int(self.size * length / short) for length in picture.size)
        return picture.resize(size, image.Resampling.BILINEAR)


class CenterCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        left, top = (round((length - self.size) / 2) for length in picture.size)
        return picture.crop((left, top, left + self.size, top + self.size))


def compose(steps):
    def run(picture):
        for step in steps:
            picture = step(picture)
        return picture

    return run


@pytest.fixture
def torchvision(monkeypatch):
    def unreachable(**_):
        raise OSError("no route to host")

    module = SimpleNamespace(
        __version__="0.0",
        transforms=SimpleNamespace(Compose=compose, Resize=Resize, CenterCrop=CenterCrop),
        models=SimpleNamespace(
            resnet18=lambda weights, num_classes: SmallNetwork(num_classes),
            ResNet18_Weights=SimpleNamespace(DEFAULT=SimpleNamespace(get_state_dict=unreachable)),
        ),
    )
    monkeypatch.setitem(sys.modules, "torchvision", module)
    return module


def state(seed=0, classes=5):
    torch.manual_seed(seed)
    return SmallNetwork(classes).state_dict()


@pytest.fixture
def weights(tmp_path):
    torch.save(state(), tmp_path / "weights.pth")
    return tmp_path / "weights.pth"


def picture(width, height, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return image.fromarray(pixels)


def test_images_are_prepared_as_the_paper_says(torchvision, weights):
    found = imagenet.resnet18(weights, device="cpu")
    pictures = [picture(300, 256, 1), picture(256, 400, 2), picture(90, 70, 3)]
    prepared = [found.prepare(each) for each in pictures]
    assert {(each.shape, each.dtype) for each in prepared} == {((224, 224, 3), np.dtype("uint8"))}
    # A short side of 256 stays what it is, so the first two are cut out as they are.
    np.testing.assert_array_equal(prepared[0], np.asarray(pictures[0])[16:240, 38:262])
    np.testing.assert_array_equal(prepared[1], np.asarray(pictures[1])[88:312, 16:240])

    network = SmallNetwork(5).eval()
    network.load_state_dict(state())
    inputs = np.stack(prepared).transpose(0, 3, 1, 2) / 255
    mean, deviation = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])[:, :, None, None]
    with torch.no_grad():
        expected = network(torch.from_numpy((inputs - mean) / deviation).float()).numpy()
    np.testing.assert_allclose(found.logits(prepared), expected, atol=1e-6)
    assert found.logits(prepared).shape == (3, 5)


def test_settings_of_the_process_stay_as_they_are(torchvision, weights):
    found = imagenet.resnet18(weights, device="cpu")

    def settings():
        flags = torch.backends.cudnn
        return flags.enabled, flags.benchmark, flags.deterministic, flags.allow_tf32

    before = settings()
    found.logits([found.prepare(picture(256, 256))])
    assert settings() == before
    assert torch.is_grad_enabled()


def test_the_identity_follows_the_weights_and_not_their_file(torchvision, weights, tmp_path):
    def identity(values):
        torch.save(values, tmp_path / "other.pth")
        return imagenet.resnet18(tmp_path / "other.pth", device="cpu").identity

    usual = imagenet.resnet18(weights, device="cpu").identity
    assert usual["device"] == "cpu"
    assert usual["torch"] == torch.__version__
    assert identity(dict(reversed(state().items()))) == usual
    changed = state()
    changed["conv.weight"][0, 0, 0, 0] += 1e-6
    assert identity(changed)["weights"] != usual["weights"]


class NoTensor:
    pass


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a state dictionary"),
        (b"text", "not a state dictionary"),
        (NoTensor(), "not a state dictionary"),
        ([1, 2], "holds a list"),
        ({"fc.weight": 3}, "not a state dictionary of tensors"),
        ({"weight": torch.zeros(2)}, "no fc.weight"),
        ({"fc.weight": torch.zeros(2, 4)}, "does not hold the weights of a ResNet-18: .*conv"),
    ],
)
def test_other_files_are_refused(torchvision, tmp_path, content, message):
    file = tmp_path / "weights.pth"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        torch.save(content, file)
    with pytest.raises(InputError, match=f"(?s){message}"):
        imagenet.resnet18(file, device="cpu")


def test_what_is_not_there_is_refused(torchvision, weights):
    with pytest.raises(InputError, match=r"no file 'absent\.pth'"):
        imagenet.resnet18("absent.pth", device="cpu")
    with pytest.raises(InputError, match="device 'abacus' cannot be used"):
        imagenet.resnet18(weights, device="abacus")
    with pytest.raises(InputError, match=r"could not be fetched \(no route to host\); give a file"):
        imagenet.resnet18(device="cpu")


def test_libraries_that_do_not_fit_each_other_are_named(monkeypatch, weights):
    class Broken:
        def find_spec(self, name, *_):
            if name == "torchvision":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(MissingExtraError, match=r"do not work together \(.*nms.*imagenet"):
        imagenet.resnet18(weights)
