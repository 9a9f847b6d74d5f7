"""A Lightning module that logs calibration after every epoch
==========================================================

::

    python examples/lightning_module.py

Metrics that are attributes of a module move to its device and are added up across processes by
Lightning. What `compute` returns is logged by name; limits are pairs of numbers, and stay out.

Needs the extra torch and pytorch-lightning.
"""

# sphinx_gallery_thumbnail_path = "gallery/models.png"

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytorch_lightning as lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from secant.torch import CalibrationError

LOGGED = ("ecce_r", "ecce_mad", "pvalue")


class Forecaster(lightning.LightningModule):
    """Logistic regression on two features."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.calibration = CalibrationError()

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        return self.layer(points).squeeze(1)

    def training_step(self, batch: Any) -> torch.Tensor:
        """Return the loss of a batch."""
        points, labels = batch
        return torch.nn.functional.binary_cross_entropy_with_logits(self(points), labels)

    def validation_step(self, batch: Any) -> None:
        """Feed the metric."""
        points, labels = batch
        self.calibration.update(self(points).sigmoid(), labels)

    def on_validation_epoch_end(self) -> None:
        """Log the metric and forget what it has seen."""
        found = self.calibration.compute()
        self.log_dict({f"val/{name}": found[name].float() for name in LOGGED})
        self.calibration.reset()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return what takes the steps."""
        return torch.optim.Adam(self.parameters(), lr=0.05)


def data(n: int, seed: int) -> DataLoader[Any]:
    """Make up points and labels."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(n, 2, generator=generator)
    chance = torch.sigmoid(3 * points[:, 0] - points[:, 1])
    labels = (torch.rand(n, generator=generator) < chance).float()
    return DataLoader(TensorDataset(points, labels), batch_size=500)


def main() -> None:
    """Train for three epochs and print what was logged last."""
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")  # about workers that load data
    lightning.seed_everything(0, verbose=False)
    trainer = lightning.Trainer(
        max_epochs=3,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(Forecaster(), data(5000, seed=1), data(20_000, seed=2))
    for name, value in trainer.callback_metrics.items():
        print(f"{name} {float(value):.4g}")


if __name__ == "__main__":
    main()
