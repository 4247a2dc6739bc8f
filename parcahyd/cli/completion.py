"""`parcahyd completion`: the script by which a shell completes commands, options and settings."""

from __future__ import annotations

import click
from click.shell_completion import shell_complete

from parcahyd.cli.application import COMPLETE_VARIABLE, PROGRAM, application

__all__ = ["command"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script of a shell.

    \b
    Put it where your shell looks for such scripts:
      bash   parcahyd completion bash > ~/.local/share/bash-completion/completions/parcahyd
      zsh    parcahyd completion zsh > ~/.zfunc/_parcahyd      (with ~/.zfunc in $fpath before compinit)
      fish   parcahyd completion fish > ~/.config/fish/completions/parcahyd.fish

    Or load it into the running shell: source <(parcahyd completion bash)
    """
    return shell_complete(application, {}, PROGRAM, COMPLETE_VARIABLE, f"{shell}_source")
