"""torchvision's ResNet-18 as a classifier. The only module that knows torch."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant.errors import InputError, MissingExtraError
from secant.paper.imagenet.scoring import Classifier

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEFAULT", "resnet18"]

DEFAULT = "torchvision-default"
"""Stands for the weights that torchvision offers."""

_RESIZE, _CROP = 256, 224
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def resnet18(weights: str | Path = DEFAULT, *, device: str = "auto") -> Classifier:
    """Return torchvision's ResNet-18 with the paper's treatment of images.

    Images are resized to 256 pixels on the shorter side, the middle 224 x 224 are cut out, and
    colours are normalised with the usual means and standard deviations.

    Parameters
    ----------
    weights : str or Path
        A file with a state dictionary, saved by ``torch.save``, or ``"torchvision-default"`` for
        the weights torchvision offers (downloaded when they are not there yet).
    device : str
        ``"auto"`` (a GPU where there is one), or a device as torch names it: ``"cuda"``,
        ``"cuda:1"``, ``"cpu"``.

    Returns
    -------
    Classifier
        It convolves in float32, never in the shortened TF32 of newer GPUs, so that scores hardly
        depend on the machine. (Matrix products are in float32 too unless the process has told
        torch otherwise.)

    Raises
    ------
    InputError
        If there is no such file or device, or the file does not hold weights of a ResNet-18.
    MissingExtraError
        If torch or torchvision are not installed or do not work together.
    """
    torch, torchvision = _libraries()
    place = _device(torch, device)
    network, state = _network(torch, torchvision, weights)
    network.eval().to(place)
    cut = torchvision.transforms.Compose(
        [torchvision.transforms.Resize(_RESIZE), torchvision.transforms.CenterCrop(_CROP)]
    )
    # On the device as tensors: torch divides by a plain number there with an error in the last bit.
    scale = torch.tensor(255.0, device=place)
    mean, deviation = (
        torch.tensor(values, device=place).view(3, 1, 1) for values in (_MEAN, _DEVIATION)
    )

    def prepare(image: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.array(cut(image))

    def logits(images: Sequence[Any]) -> Any:
        pixels = torch.from_numpy(np.stack(images)).to(place).permute(0, 3, 1, 2)
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode())
            # Convolutions in plain float32, by the same algorithm in every run.
            stack.enter_context(
                torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
            )
            inputs = pixels.to(torch.float32).div(scale).sub(mean).div(deviation)
            return network(inputs.contiguous()).cpu().numpy()

    named = DEFAULT if str(weights) == DEFAULT else "from a file"
    identity = {
        "network": "torchvision ResNet-18",
        "weights": f"{named}, sha256 {_digest(torch, state)}",
        "device": torch.cuda.get_device_name(place) if place.type == "cuda" else str(place),
        "torch": str(torch.__version__),
        "torchvision": str(torchvision.__version__),
    }
    return Classifier(logits, prepare, identity)


def _libraries() -> tuple[Any, Any]:
    try:
        torch, torchvision = (
            require(library, "imagenet", "ResNet-18 needs") for library in ("torch", "torchvision")
        )
    except MissingExtraError:
        raise
    except (ImportError, RuntimeError, AttributeError) as error:
        msg = (
            "torch and torchvision are installed but do not work together "
            f"({type(error).__name__}: {error}); install a matching pair: "
            "pip install 'secant[imagenet]'"
        )
        raise MissingExtraError(msg) from error
    return torch, torchvision


def _device(torch: Any, device: str) -> Any:
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
        torch.zeros(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        msg = f"device {device!r} cannot be used: {str(error).partition(chr(10))[0]}"
        raise InputError(msg) from error
    return place


def _network(torch: Any, torchvision: Any, weights: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the network with its weights, and the weights."""
    state = _offered(torchvision) if str(weights) == DEFAULT else _load(torch, Path(weights))
    if "fc.weight" not in state:
        msg = f"{weights} does not hold the weights of a ResNet-18: there is no fc.weight"
        raise InputError(msg)
    network = torchvision.models.resnet18(weights=None, num_classes=len(state["fc.weight"]))
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        msg = f"{weights} does not hold the weights of a ResNet-18: {error}"
        raise InputError(msg) from error
    return network, state


def _offered(torchvision: Any) -> dict[str, Any]:
    try:
        state = torchvision.models.ResNet18_Weights.DEFAULT.get_state_dict(check_hash=True)
    except OSError as error:
        msg = f"the weights that torchvision offers could not be fetched ({error}); give a file"
        raise InputError(msg) from error
    return dict(state)


def _load(torch: Any, file: Path) -> dict[str, Any]:
    if not file.is_file():
        msg = f"weights must be a file or {DEFAULT!r}; there is no file {os.fspath(file)!r}"
        raise InputError(msg)
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what is not such a file makes the unpickler raise anything
        msg = f"{file} is not a state dictionary saved by torch.save: {error}"
        raise InputError(msg) from error
    named = isinstance(state, dict) and all(isinstance(name, str) for name in state)
    if not named or not all(isinstance(value, torch.Tensor) for value in state.values()):
        msg = f"{file} holds a {type(state).__name__}, not a state dictionary of tensors by name"
        raise InputError(msg)
    return dict(state)


def _digest(torch: Any, state: dict[str, Any]) -> str:
    """Return what changes with any weight, and not with how they were stored."""
    seen = hashlib.sha256()
    for name in sorted(state):
        values = state[name].detach().cpu()
        seen.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
        seen.update(values.flatten().view(torch.uint8).numpy().tobytes())
    return seen.hexdigest()
