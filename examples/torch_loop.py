"""Calibration inside a PyTorch training loop
==========================================

::

    python examples/torch_loop.py

A small network learns from few points with noisy labels, and grows overconfident while its loss on
the training data still falls. `secant.torch.CalibrationError` is fed batch by batch: its state has
constant size, on whatever device the predictions are, and processes add theirs up. At the end its
state is a `secant.Cells`, as a monitor or another process would take it.

Needs the extra torch.
"""

# sphinx_gallery_thumbnail_path = "gallery/cumulative.png"

from __future__ import annotations

import torch

from secant.torch import CalibrationError


def circles(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make up points, and labels that no model can always get right."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(n, 2, generator=generator)
    chance = torch.sigmoid(2 - points.square().sum(dim=1))
    return points, (torch.rand(n, generator=generator) < chance).float()


def main() -> None:
    """Train, and print after each part how well calibrated new predictions are."""
    torch.manual_seed(0)
    points, labels = circles(300, seed=1)
    new_points, new_labels = circles(20_000, seed=2)
    hidden = torch.nn.Linear(2, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU()
    model = torch.nn.Sequential(*hidden, torch.nn.Linear(256, 1), torch.nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    metric = CalibrationError()
    print("steps   ECCE-R    in sigma")
    for step in range(1, 301):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(points), labels)
        loss.backward()
        optimizer.step()
        if step in {20, 300}:
            metric.reset()
            for batch in range(0, len(new_points), 1000):
                rows = slice(batch, batch + 1000)
                metric.update(model(new_points[rows]).sigmoid(), new_labels[rows])
            found = metric.compute()
            print(f"{step:5}   {found['ecce_r']:.4f}   {found['ecce_r'] / found['sigma']:6.1f}")
    print(metric.cells)


if __name__ == "__main__":
    main()
