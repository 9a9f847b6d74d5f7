"""The paper's ImageNet experiment: from images to predictions, to Figures 11 to 34."""

from secant.paper.imagenet.images import ImageTree, list_images
from secant.paper.imagenet.network import resnet18
from secant.paper.imagenet.predictions import Predictions, read_predictions, write_predictions
from secant.paper.imagenet.scoring import (
    Classifier,
    parts_folder,
    score_images,
    score_to_file,
    top_one,
)

__all__ = [
    "Classifier",
    "ImageTree",
    "Predictions",
    "list_images",
    "parts_folder",
    "read_predictions",
    "resnet18",
    "score_images",
    "score_to_file",
    "top_one",
    "write_predictions",
]
