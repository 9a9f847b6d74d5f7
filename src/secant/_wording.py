"""Numbers rounded for reading; full precision is in the results themselves."""

from __future__ import annotations

import math

__all__ = ["counted", "metric", "percent", "points", "predictions", "pvalue", "score"]


def metric(value: float) -> str:
    """Write three significant digits, zeros at the end included."""
    if value == 0:
        return "0"
    return "infinitely many" if math.isinf(value) else f"{value:#.3g}".rstrip(".")


def score(value: float) -> str:
    """Write a score with three decimals, or more where it is very small."""
    return f"{value:.3f}" if value == 0 or value >= 1e-3 else f"{value:.3g}"


def points(value: float) -> str:
    """Write a difference of probabilities in percentage points."""
    return metric(100 * value)


def percent(value: float) -> str:
    """Write a probability as a percentage; 100% is certainty and nothing less."""
    text = metric(100 * value)
    return f"{100 * value:.7g}%" if text == "100" and value < 1 else f"{text}%"


def counted(n: int, thing: str) -> str:
    """Write "1 prediction", "2,000 predictions"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def predictions(n: int) -> str:
    """Write how many predictions."""
    return counted(n, "prediction")


def pvalue(value: float, log10: float, bracket: tuple[float, float] | None = None) -> str:
    """Write a P-value with its sign of equality, also one too small for a double."""
    if value >= 1e-3:
        # Around the usual levels a second digit would hide on which side it lies.
        return f"= {value:.{3 if 0.005 <= value < 0.1 else 2}g}"
    if value > 1e-300:
        return f"= {value:.1e}"
    if math.isinf(log10):
        return "= 0"
    if bracket is not None and bracket[0] == 0:  # known to be below, no more
        return f"< 1e{math.ceil(log10)}"
    exponent = math.floor(log10)
    mantissa = f"{10 ** (log10 - exponent):.1f}"
    return f"= 1.0e{exponent + 1}" if mantissa == "10.0" else f"= {mantissa}e{exponent}"
