"""What other libraries answer to the same predictions, and to faulty ones.

    make alternatives                         # with MCGrad, MAPIE, torchmetrics and relplot
    python benchmarks/alternatives.py         # with those that are installed

Prints the table of docs/alternatives.md. 20,000 made-up predictions, calibrated, from a fixed seed;
each column changes one thing about them.
"""

from __future__ import annotations

import inspect
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

import secant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS = (
    "as they are",
    "rounded to tenths",
    "the same, sorted by outcome",
    "one score missing",
    "one score 1 + 2e-7",
    "all 10 points too high",
    "weights",
)


def libraries() -> Iterator[tuple[str, Callable[..., Any], Callable[[Any, Any], float]]]:
    """Yield the call as people write it, the function, and the function of y and p to compare."""
    yield "secant `assess`, P", secant.assess, lambda y, p: secant.assess(y, p).ecce_r.pvalue
    try:
        from sklearn.calibration import calibration_curve

        def gap(y: Any, p: Any) -> float:
            return float(np.abs(np.subtract(*calibration_curve(y, p, n_bins=15))).mean())

        yield (
            f"scikit-learn {version('scikit-learn')} `calibration_curve`, mean gap",
            *(
                calibration_curve,
                gap,
            ),
        )
    except ImportError:
        pass
    try:
        import torch
        from torchmetrics.functional.classification import binary_calibration_error as ece

        yield (
            f"torchmetrics {version('torchmetrics')} `binary_calibration_error`, ECE",
            *(
                ece,
                lambda y, p: float(ece(torch.tensor(p), torch.tensor(y))),
            ),
        )
    except ImportError:
        pass
    try:
        from relplot import smECE

        yield f"relplot {version('relplot')} `smECE`", smECE, lambda y, p: float(smECE(p, y))
    except ImportError:
        pass
    try:
        from mapie.metrics.calibration import kuiper_p_value

        yield f"MAPIE {version('MAPIE')} `kuiper_p_value`, P", kuiper_p_value, kuiper_p_value
    except ImportError:
        pass
    try:
        from mcgrad.metrics import ecce_pvalue

        yield f"MCGrad {version('mcgrad')} `ecce_pvalue`, P", ecce_pvalue, ecce_pvalue
    except ImportError:
        pass


def answer(ask: Callable[[Any, Any], float], y: Any, p: Any) -> str:
    """Return what a library says, or that it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f"{ask(y.copy(), p.copy()):.3g}"
    except Exception as refusal:  # noqa: BLE001  (whatever a library raises is its refusal)
        return "refused, with its place" if isinstance(refusal, secant.InputError) else "refused"


def main() -> None:
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.5, 20_000)
    happened = (rng.random(20_000) < score).astype(int)
    tied, by_outcome = score.round(1), np.argsort(happened, kind="stable")
    missing, above = score.copy(), score.copy()
    missing[7], above[7] = np.nan, 1 + 2e-7
    cases = (
        (happened, score),
        (happened, tied),
        (happened[by_outcome], tied[by_outcome]),
        (happened, missing),
        (happened, above),
        (happened, np.clip(score + 0.1, 0, 1)),
    )
    print("| library |", " | ".join(COLUMNS), "|")
    print("|---|" + "--:|" * len(COLUMNS))
    for name, function, ask in libraries():
        weights = "yes" if "sample_weight" in inspect.signature(function).parameters else "no"
        print("|", name, "|", " | ".join(answer(ask, y, p) for y, p in cases), "|", weights, "|")


if __name__ == "__main__":
    main()
