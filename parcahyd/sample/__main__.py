"""`python -m parcahyd.sample serve` serves the sample site; `python -m parcahyd.sample tour` crawls it."""

from __future__ import annotations

from pathlib import Path

import click

from parcahyd.cli.options import port_option
from parcahyd.sample.server import SampleServer
from parcahyd.sample.tour import tour


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def sample() -> None:
    """The Kettle Museum, a small site to try PARCAHYD on."""


@sample.command()
@port_option
def serve(port: int) -> None:
    """Serve the sample site until interrupted."""
    try:
        sample_server = SampleServer(port=port)
    except OSError as failure:
        raise click.ClickException(f"port {port} cannot be had: {failure.strerror} (choose another with --port)") from failure
    with sample_server as server:
        click.echo(f"The sample site is at {server.url} (end it with Ctrl-C)")
        server.wait()


@sample.command("tour")
@click.option(
    "--into",
    "folder",
    default="sample-crawl",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where crawl.db is written; one that is there is replaced.",
)
def _tour(folder: Path) -> None:
    """Serve the sample site on a free port, crawl it, and show what was stored."""
    raise SystemExit(tour(folder))


if __name__ == "__main__":
    sample(prog_name="python -m parcahyd.sample")
