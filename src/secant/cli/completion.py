"""``secant completion``: the shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


@click.command("completion", short_help="Print the script for completion in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete secant's commands and options.

    \b
    Examples:
      secant completion bash >> ~/.bashrc
      secant completion zsh >> ~/.zshrc
      secant completion fish > ~/.config/fish/completions/secant.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  (one of the three that click knows)
    root = ctx.find_root()
    click.echo(kind(root.command, {}, "secant", "_SECANT_COMPLETE").source())
