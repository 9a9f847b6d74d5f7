"""The pictures. Displays store numbers and draw them; matplotlib is imported when one is drawn."""

from secant.plot.cumulative import CumulativeDisplay
from secant.plot.reliability import ReliabilityDisplay

__all__ = ["CumulativeDisplay", "ReliabilityDisplay"]
