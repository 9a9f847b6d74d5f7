"""Calibration inside a training loop: a metric of constant size, and confidences from logits.

Needs the extra ``torch``. Tensors may lie on any device; they are never copied as a whole.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from secant import null
from secant._api.cells import Cells, of_sums
from secant._base.extras import require
from secant._blocks.cell_sums import CellSums
from secant._blocks.grids import dyadic_grid
from secant._blocks.table import Totals
from secant._input.options import AS_USUAL, check_choice, check_whole
from secant.errors import Argument, InputError
from secant.sources.tensors.reading import columns

torch = require("torch", "torch", "secant.torch needs")
torchmetrics = require("torchmetrics", "torch", "secant.torch needs")

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["CalibrationError", "from_logits"]

Task = Literal["binary", "top-label"]
# Distances from a cell's lower end are added up as integers, in this part of a cell: the sums are
# the same in whatever order batches and processes come.
_PLACES = 2.0**30
# Numbers looked at together when logits become confidences.
_CHUNK = 1 << 22


class CalibrationError(torchmetrics.Metric):  # type: ignore[name-defined,misc]  # comes as Any
    """ECCE-R and ECCE-MAD of all predictions seen, as a metric of torchmetrics.

    The state is the sums of a :class:`secant.Cells`: of constant size, added up across batches and
    processes. Metrics are therefore known between limits that surely hold them, and are narrow.

    Parameters
    ----------
    task : {"binary", "top-label"}
        ``"binary"``: ``preds`` are probabilities that ``target`` is 1. ``"top-label"``: ``preds``
        have a row a prediction and a column a class; the highest is assessed.
    n_cells : int
        Number of cells of equal width over [0, 1), a power of two.
    **kwargs
        For ``torchmetrics.Metric``.

    Raises
    ------
    InputError
        If ``task`` or ``n_cells`` is not one of these.

    Examples
    --------
    >>> import torch
    >>> from secant.torch import CalibrationError
    >>> metric = CalibrationError()
    >>> metric.update(torch.tensor([0.2, 0.6, 0.9]), torch.tensor([0, 1, 1]))
    >>> found = metric.compute()
    >>> sorted(found)
    ['ecce_mad', 'ecce_mad_bounds', 'ecce_r', 'ecce_r_bounds', 'pvalue', 'sigma']
    >>> round(float(found["ecce_r"]), 4)
    0.1667
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    counts: Tensor
    places: Tensor
    remainders: Tensor
    squares: Tensor
    variance: Tensor
    log_loss: Tensor
    forbidden: Tensor

    def __init__(self, task: Task = "binary", n_cells: int = 65536, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_choice("task", task, Task)
        dyadic_grid(n_cells)  # refuses what is no number of cells
        self.task, self.n_cells = task, int(n_cells)
        slots = 2 * (self.n_cells + 1)
        for name in ("counts", "places", "remainders", "squares"):
            self.add_state(name, torch.zeros(slots, dtype=torch.int64), dist_reduce_fx="sum")
        for name in ("variance", "log_loss"):
            self.add_state(name, torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("forbidden", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch; one with a fault in it changes nothing.

        Parameters
        ----------
        preds
            Probabilities: one for each target, or of every class with ``task="top-label"``.
        target
            0 or 1 for each prediction, or the number of its class.

        Raises
        ------
        InputError
            If a value is unusable, such as NaN or a logit.
        """
        if self.task == "top-label":
            preds, target = _top_label(preds, target)
        if not target.numel() and preds.shape == target.shape:
            return
        flat = _as_target(preds, target)
        try:
            rows = columns(target.detach().ravel(), flat, None, AS_USUAL).checked()
        except InputError as error:
            raise error.renamed({"y_prob": "preds", "y_true": "target"}) from error
        scores = rows.scores.double()
        scaled = scores * self.n_cells
        cell = scaled.floor()
        place = scaled - cell
        slot = 2 * cell.long() + rows.labels
        self.counts += torch.bincount(slot, minlength=len(self.counts))
        whole = (place * _PLACES).floor()
        remainder = (place * _PLACES - whole) * _PLACES
        square = place * place * _PLACES
        states = (self.places, whole), (self.remainders, remainder), (self.squares, square)
        for state, values in states:
            state.index_add_(0, slot, values.round().long())
        chance = torch.where(rows.labels == 1, scores, 1 - scores)
        self.log_loss -= chance.log().sum()
        self.variance += (scores * (1 - scores)).sum()
        certain = (scores == 0) | (scores == 1)
        self.forbidden += (certain & (rows.labels != scores)).sum()

    def compute(self) -> dict[str, Tensor]:
        """Return the metrics of everything seen.

        Returns
        -------
        dict
            ``ecce_r`` and ``ecce_mad``, the middle of the limits ``ecce_r_bounds`` and
            ``ecce_mad_bounds``; ``sigma``; ``pvalue``, the asymptotic P-value of ``ecce_r``.

        Raises
        ------
        InputError
            If nothing has been seen yet.
        """
        bounds = self.cells.bounds()
        ecce_r, ecce_mad = sum(bounds.ecce_r) / 2, sum(bounds.ecce_mad) / 2
        if bounds.sigma > 0:
            pvalue = float(null.range.sf(ecce_r / bounds.sigma))
        else:
            pvalue = float(bounds.ecce_r[0] == 0)
        found = {
            "ecce_r": ecce_r,
            "ecce_mad": ecce_mad,
            "sigma": bounds.sigma,
            "pvalue": pvalue,
            "ecce_r_bounds": bounds.ecce_r,
            "ecce_mad_bounds": bounds.ecce_mad,
        }
        kind = {"dtype": self.variance.dtype, "device": self.device}
        return {name: torch.tensor(value, **kind) for name, value in found.items()}

    @property
    def cells(self) -> Cells:
        """The state as a :class:`secant.Cells`, to be saved, added up or monitored."""
        names = ("counts", "places", "remainders", "squares")
        counts, places, remainders, squares = (getattr(self, n).cpu().numpy() for n in names)
        sums = CellSums(dyadic_grid(self.n_cells), sampling=False, moments=True, log_loss=True)
        sums.count = counts.copy()
        sums.offset = (places + remainders / _PLACES) / _PLACES
        low, unit = np.repeat(sums.grid.anchor, 2), sums.grid.unit
        # s(1 - s) with s = low + unit o, added up.
        variance = counts * low * (1 - low) + (1 - 2 * low) * unit * sums.offset
        sums.wv = np.clip(variance - unit * unit * squares / _PLACES, 0, counts / 4)
        n, whole, log_loss = int(counts.sum()), float(self.variance), float(self.log_loss)
        # Scores that are tiny beside a cell: what is kept of cells and the whole shall agree.
        cells = math.fsum(sums.wv)
        whole = whole if math.isclose(cells, whole, rel_tol=1e-10) else cells
        sums.parts = [Totals(n, n, n, whole, 0.0, 0.0, 0.0, 0.0, log_loss, ())]
        return of_sums(sums, int(self.forbidden))


def from_logits(
    logits: Tensor, labels: Tensor, *, label: int | None = None, ignore_index: int = -100
) -> tuple[Tensor, Tensor]:
    """Return what happened and the probabilities of it, ready to be assessed.

    The softmax is computed with care, in doubles, a few rows at a time: a batch of logits of a
    language model, with a hundred thousand columns, is never copied as a whole.

    Parameters
    ----------
    logits : tensor of shape (..., classes)
        Numbers before the softmax, on any device. A tensor of the shape of ``labels`` holds one
        logit each, before the sigmoid.
    labels : tensor of shape (...)
        The number of the true class; 0 or 1 where there is one logit each.
    label : int, optional
        The class whose probability is wanted, instead of the one that each row finds likeliest.
    ignore_index : int
        Rows with this label are left out, as in ``torch.nn.functional.cross_entropy``.

    Returns
    -------
    correct, confidence : tensors of shape (n,)
        Whether the likeliest class (or ``label``) was true, and its probability, a double.

    Raises
    ------
    InputError
        If shapes do not match, a label is no class, or a row of logits has no softmax (NaN, or
        nothing finite).

    Examples
    --------
    >>> import torch
    >>> from secant.torch import from_logits
    >>> logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> correct, confidence = from_logits(logits, torch.tensor([0, 2]))
    >>> correct
    tensor([ True, False])
    >>> [round(float(each), 3) for each in confidence]
    [0.787, 0.576]
    """
    logits, labels = logits.detach(), labels.detach()
    truth = labels.ravel()
    kept = (truth != ignore_index).nonzero().ravel()
    if logits.shape == labels.shape:
        _check_labels("labels", labels, kept, 2)
        sure = logits.ravel()[kept].double().sigmoid()
        return truth[kept] == 1, _checked(sure, kept, labels.shape, "sigmoid: it is NaN")
    if logits.shape[:-1] != labels.shape or not logits.shape[-1]:
        shapes = f" must have a column a class for each label; its shape is {tuple(logits.shape)}"
        raise InputError(Argument("logits"), shapes, f", that of labels {tuple(labels.shape)}")
    if label is not None:
        check_whole("label", label, 0, logits.shape[-1] - 1)
    _check_labels("labels", labels, kept, logits.shape[-1])
    rows = logits.reshape(-1, logits.shape[-1])
    correct = torch.empty(len(kept), dtype=torch.bool, device=logits.device)
    confidence = torch.empty(len(kept), dtype=torch.float64, device=logits.device)
    size = max(1, _CHUNK // rows.shape[1])
    for start in range(0, len(kept), size):
        piece = slice(start, start + size)
        chosen = kept[piece]
        some = rows[chosen].double()
        highest, found = some.max(dim=1)
        total = some.sub_(highest[:, None]).exp_().sum(dim=1)
        if label is not None:
            found = torch.full_like(found, label)
        correct[piece] = found == truth[chosen]
        confidence[piece] = some.gather(1, found[:, None])[:, 0] / total
    why = "softmax: a NaN, an infinite number, or nothing finite"
    return correct, _checked(confidence, kept, labels.shape, why)


def _check_labels(argument: str, labels: Tensor, kept: Tensor, classes: int) -> None:
    """Refuse labels that are no class: none of them would ever be right."""
    some = labels.ravel()[kept]
    known = (some >= 0) & (some < classes)
    if some.is_floating_point():
        known &= some == some.round()
    if bool(known.all()):
        return
    first = int((~known).nonzero()[0])
    place, row = _place(int(kept[first]), labels.shape)
    numbers = f"{place} is {some[first].item()!r}; classes are numbered from 0 to {classes - 1}"
    raise InputError(Argument(argument), numbers, row=row)


def _checked(confidence: Tensor, kept: Tensor, shape: Sequence[int], why: str) -> Tensor:
    if bool(confidence.isnan().any()):
        first = int(confidence.isnan().nonzero()[0])
        place, row = _place(int(kept[first]), shape)
        raise InputError(Argument("logits"), f"{place} has no {why}", row=row)
    return confidence


def _place(number: int, shape: Sequence[int]) -> tuple[str, int]:
    """Return how the place of a row of a flattened tensor is written, and its first index."""
    index = [int(part) for part in np.unravel_index(number, tuple(shape))]
    return f"[{', '.join(map(str, index))}]", index[0]


def _top_label(preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return the highest probability of each row, and whether its class was true."""
    if preds.shape[:-1] != target.shape or not preds.shape[-1]:
        shapes = f" must have a column a class for each target; its shape is {tuple(preds.shape)}"
        raise InputError(Argument("preds"), shapes, f", that of target {tuple(target.shape)}")
    preds, target = preds.detach(), target.detach()
    every = torch.arange(target.numel(), device=target.device)
    _check_labels("target", target, every, preds.shape[-1])
    if bool((preds < 0).any()):  # the highest of some logits may pass for a probability
        place, row = _place(int((preds < 0).ravel().nonzero()[0]), preds.shape)
        hint = " (these look like logits: apply a softmax over the classes first)"
        outside = f"{place} is below 0; a probability must lie in [0, 1]"
        raise InputError(Argument("preds"), outside, row=row, hint=hint)
    confidence, found = preds.max(dim=-1)
    return confidence, found == target


def _as_target(preds: Tensor, target: Tensor) -> Tensor:
    if preds.shape != target.shape:
        shapes = f" must have the shape of target; it is {tuple(preds.shape)}"
        raise InputError(Argument("preds"), shapes, f", not {tuple(target.shape)}")
    return preds.detach().ravel()
