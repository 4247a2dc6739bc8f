"""The tour: crawl the sample site and look at what was stored, with the commands that anybody would use.

Every command is shown before it runs, so that the tour can be repeated by hand.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from parcahyd.sample.server import SampleServer

__all__ = ["SETTINGS", "tour"]

SETTINGS = ('Map.AllowAddresses=["127.0.0.0/8"]', "Work.HostDelay=0.02", 'Work.Eager="always"')
"""What the sample needs beyond the defaults: loopback is not public, quick requests disturb no server, and the tour shows
that links can be known before their pages, which by default is done only where it saves time."""


def tour(folder: Path) -> int:
    """Crawl the sample into FOLDER/crawl.db, made anew; the exit code is that of the first command that fails, else 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in ("crawl.db", "crawl.db-wal", "crawl.db-shm"):
        (folder / old).unlink(missing_ok=True)
    with SampleServer() as server:
        _say(f"# The Kettle Museum, a sample site, is served at {server.url} while it is being crawled.")
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        forbidden = f"{server.url}private/ledger.html"
        code = _command(folder, "run", "--seed", server.url, *settings)
        _say(f"# The server was asked, in this order: {', '.join(path for _, path, _ in server.requests[:6])}, ...")
        _say(
            "# /site.TOL is a table of all links of the site, which robots.txt declares: `parcahyd explain` tells of it below."
        )
    for command in (["status"], ["urls"], ["explain", forbidden, *settings], ["verify"]):
        code = code or _command(folder, *command)
    if not code:
        program = shlex.join([os.path.relpath(sys.executable, folder), "-m", "parcahyd"])
        _say(f"\n# Everything is in {folder / 'crawl.db'}. To look further:")
        _say(f"#   cd {shlex.quote(str(folder))}; {program} --help")
    return code


def _command(folder: Path, *arguments: str) -> int:
    _say(f"\n$ parcahyd {shlex.join(arguments)}")
    return subprocess.run([sys.executable, "-m", "parcahyd", *arguments], cwd=folder, check=False).returncode


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
