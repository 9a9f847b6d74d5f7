"""Temperature scaling: calibration before and after
=================================================

::

    python examples/temperature_scaling.py

A classifier of three classes whose logits are too large by half is overconfident. One number,
the temperature, fitted on some of the data, divides the logits of the rest.

Needs the extra torch.
"""

# sphinx_gallery_thumbnail_path = "gallery/reliability-models.png"

from __future__ import annotations

import torch

import secant
from secant.torch import from_logits


def predictions(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make up logits, too large by half, and the classes that came true."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(n, 3, generator=generator)
    truth = torch.multinomial(logits.softmax(dim=1), 1, generator=generator)[:, 0]
    return 1.5 * logits, truth


def temperature(logits: torch.Tensor, truth: torch.Tensor) -> float:
    """Return what to divide logits by so that the likelihood is highest."""
    found = torch.zeros(1, requires_grad=True)  # its logarithm, so that it stays positive
    optimizer = torch.optim.LBFGS([found], max_iter=50)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(logits / found.exp(), truth)
        value.backward()
        return value

    optimizer.step(loss)
    return float(found.detach().exp())


def main() -> None:
    """Fit the temperature on some data and assess the rest before and after."""
    divisor = temperature(*predictions(50_000, seed=1))
    logits, truth = predictions(20_000, seed=2)
    print(f"temperature {divisor:.2f}\n")
    for name, scaled in (("before", logits), ("after", logits / divisor)):
        print(f"{name}: {secant.assess(*from_logits(scaled, truth))}\n")


if __name__ == "__main__":
    main()
