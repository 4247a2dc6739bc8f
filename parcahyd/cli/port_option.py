"""The option of commands that serve something on this machine."""

from __future__ import annotations

import click

__all__ = ["port_option"]

port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8090,
    show_default=True,
    help="The port on 127.0.0.1; 0 takes any free one.",
)
