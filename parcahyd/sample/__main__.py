"""`python -m parcahyd.sample serve` serves the sample site; `python -m parcahyd.sample tour` crawls it.

The tour crawls the sample site, changes one number on it and refreshes that page, and shows what was stored, with the ordinary
commands. It prints every command before it
runs, so that a reader can repeat it.

Tested in tests/sample/test_tour.py.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click

from parcahyd.cli.options import port_option
from parcahyd.sample.server import CHANGING_PAGE, GUESTS, SampleServer

__all__ = ["SETTINGS", "sample", "tour"]


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


SETTINGS = ('Map.AllowAddresses=["127.0.0.0/8"]', "Work.HostDelay=0.02", 'Work.Eager="always"')
"""Settings of the tour: loopback addresses must be allowed, the own server needs no delay, and tables of links are requested
even where that saves no time, to show them."""


def tour(folder: Path) -> int:
    """Crawl the sample into FOLDER/crawl.db, made anew; the exit code is that of the first command that fails, else 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in ("crawl.db", "crawl.db-wal", "crawl.db-shm"):
        (folder / old).unlink(missing_ok=True)
    with SampleServer() as server:
        _print(f"# The Kettle Museum, a sample site, is served at {server.url} while it is being crawled.")
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        forbidden = f"{server.url}private/ledger.html"
        code = _command(folder, "run", "--seed", server.url, *settings)
        _print(f"# The server was asked, in this order: {', '.join(path for _, path, _ in server.requests[:6])}, ...")
        _print(
            "# /site.TOL is a table of all links of the site, which robots.txt declares: `parcahyd explain` tells of it below."
        )
        code = code or _refresh(folder, server, settings)
    for command in (["status"], ["urls"], ["explain", forbidden, *settings], ["verify"]):
        code = code or _command(folder, *command)
    if not code:
        program = shlex.join([os.path.relpath(sys.executable, folder), "-m", "parcahyd"])
        _print(f"\n# Everything is in {folder / 'crawl.db'}. To look further:")
        _print(f"#   cd {shlex.quote(str(folder))}; {program} --help")
    return code


def _refresh(folder: Path, server: SampleServer, settings: list[str]) -> int:
    """The second run: one number of a page has changed, and only the table of what changes is fetched."""
    server.change()
    before = len(server.requests)
    _print(f"\n# On the start page, the number of today's guests went from {GUESTS[0]} to {GUESTS[1]}. Refresh that page:")
    code = _command(folder, "run", "--refresh", server.url + CHANGING_PAGE.lstrip("/"), *settings)
    asked = [path for _, path, _ in server.requests[before:]]
    _print(f"# The server was asked for {' and '.join(asked) or 'nothing'}, and for nothing else.")
    if asked and CHANGING_PAGE not in asked:
        moved, whole = sum(map(server.size_of, asked)), server.size_of(CHANGING_PAGE)
        _print(
            f"# That is the part of the page that changes: {moved:,} bytes came instead of the whole page of {whole:,}, "
            "and the crawl has the new page."
        )
    return code


def _command(folder: Path, *arguments: str) -> int:
    _print(f"\n$ parcahyd {shlex.join(arguments)}")
    return subprocess.run([sys.executable, "-P", "-m", "parcahyd", *arguments], cwd=folder, check=False).returncode


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sample(prog_name="python -m parcahyd.sample")
