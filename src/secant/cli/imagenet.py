"""``secant imagenet``: the top-1 predictions of ResNet-18 for a tree of images."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from secant._base.progress import showing
from secant.cli._bar import bar
from secant.cli._outputs import say
from secant.cli._refusal import refuse
from secant.errors import SecantError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

_MOST_WORKERS = 16


@click.command("imagenet")
@click.argument("images", type=click.Path(path_type=Path))
@click.option(
    "--weights",
    default="torchvision-default",
    show_default=True,
    metavar="FILE",
    help="State dictionary of a ResNet-18 saved by torch.save, or torchvision-default.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Parquet file to write.",
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="cuda, cpu, or auto for a GPU where there is one.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="N",
    help="Images given to the network at a time.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: min(_MOST_WORKERS, os.cpu_count() or 1),
    show_default="one a core, at most 16",
    metavar="N",
    help="Threads that read images; the numbers do not depend on it.",
)
@click.option(
    "--skip-unreadable",
    is_flag=True,
    help="Leave out images that cannot be read and list them in the file, instead of stopping.",
)
@click.option("--overwrite", is_flag=True, help="Replace FILE where it is there already.")
@click.option("--restart", is_flag=True, help="Throw away what an interrupted run left behind.")
def command(
    images: Path,
    *,
    weights: str,
    out: Path,
    device: str,
    batch_size: int,
    workers: int,
    skip_unreadable: bool,
    overwrite: bool,
    restart: bool,
) -> None:
    """Score a tree of images with ResNet-18, as the paper does.

    IMAGES holds a folder for each class; sorted by name they are the classes 0, 1, 2 and so on.
    Images are resized to 256 pixels, the middle 224 are cut out, colours are normalised. The score
    is the softmax probability of the most probable class, the response whether that is right.

    \b
    Columns of the file:
      path, true_class, true_name, predicted_class, score, response

    Finished batches are kept beside FILE. After an interruption the same command goes on where it
    stopped and writes the same file; if the images, the weights or options have changed, it says
    so instead.

    \b
    Examples:
      secant imagenet imagenet/train --out preds.parquet
      secant imagenet imagenet/val --weights resnet18.pth --out val.parquet --device cuda
      secant paper --out paper --imagenet preds.parquet
    """
    # Here, so that `secant --help` does not wait for it.
    from secant.paper import imagenet  # noqa: PLC0415

    try:
        tree = imagenet.list_images(images)
        classifier = imagenet.resnet18(weights, device=device)
        with _progress_bar():
            predictions = imagenet.score_to_file(
                tree,
                classifier,
                out,
                overwrite=overwrite,
                restart=restart,
                batch_size=batch_size,
                workers=workers,
                skip_unreadable=skip_unreadable,
            )
    except KeyboardInterrupt:
        folder = imagenet.parts_folder(out)
        click.echo()
        say(f"Interrupted. Finished batches are in {folder}; the same command goes on.")
        raise click.exceptions.Exit(130) from None
    except (SecantError, OSError) as error:
        refuse(error)
    click.echo(
        f"{len(predictions):,} images in {len(tree.classes):,} classes, "
        f"{predictions.response.mean():.2%} right; mean score {predictions.score.mean():.2%}."
    )
    for skipped in predictions.made["unreadable"]:
        say(f"Left out {skipped['path']}: {skipped['reason']}", err=True)
    say(f"Wrote {out}")


@contextmanager
def _progress_bar() -> Iterator[None]:
    """Show images done, speed and time left on the terminal; without one, nothing."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn  # noqa: PLC0415  (as above)

    columns = (BarColumn(), MofNCompleteColumn(), "{task.fields[speed]}", TimeRemainingColumn())
    with bar("Scoring", *columns) as shown:
        task = shown.add_task("", total=None, speed="", start=False)

        def show(done: float, total: float) -> None:
            if shown.tasks[0].started:
                shown.update(task, completed=done)
            else:  # those of an earlier run say nothing about the speed of this one
                shown.reset(task, total=total, completed=int(done))
            speed = shown.tasks[0].speed
            shown.update(task, speed=f"{speed:,.0f} images/s" if speed else "")

        with showing(show):
            yield
