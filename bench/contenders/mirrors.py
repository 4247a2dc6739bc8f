"""Programs that copy a site into plain files: wget2, wget, HTTrack and puf."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

from bench.contenders.contender import Absent, Contender, Peers, Task

__all__ = ["httrack", "puf", "wget", "wget2"]

_FILES = "writes plain files, and fetches what pages embed"
_DEAD_LINKS = 8
"""The exit code of both wgets when some link was dead."""


def wget2(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("wget2", "wget2")
    options = ["--recursive", "--level=inf", "--no-parent", "--max-threads=64", "--robots=on", "--quiet"]

    def command(task: Task) -> list[str]:
        return [program, *options, f"--directory-prefix={task.output}", task.url]

    return Contender("wget2", _version([program, "--version"]), _FILES, command, (0, _DEAD_LINKS))


def wget(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("wget", "wget")
    options = ["--recursive", "--level=inf", "--no-parent", "--execute=robots=on", "--no-verbose"]

    def command(task: Task) -> list[str]:
        return [program, *options, f"--directory-prefix={task.output}", task.url]

    return Contender("wget", _version([program, "--version"]), _FILES, command, (0, _DEAD_LINKS), slow=True)


def httrack(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("httrack", "httrack")
    # Its limits of connections and of bytes per second are lifted; -s2: robots.txt counts; -I0 -q: no index, no questions.
    options = ["--sockets=64", "--max-rate=0", "--connection-per-second=0", "--disable-security-limits", "-s2", "-I0", "-q"]

    def command(task: Task) -> list[str]:
        return [program, task.url, "--path", str(task.output), *options]

    return Contender("httrack", _version([program, "--version"]), f"{_FILES}, links rewritten", command, slow=True)


def puf(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("puf", "puf")
    # The whole server, what pages embed too, 64 connections, no display. It does not know robots.txt.
    options = ["-r+", "-pr+", "-lc", "64", "-ns"]

    def command(task: Task) -> list[str]:
        return [program, *options, "-P", str(task.output), task.url]

    return Contender("puf", _version([program, "-h"]), _FILES, command)


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Absent(f"not on PATH (Debian: apt install {package})")
    return found


def _version(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.[\d.]*\d(?:[-+]\d+)?", done.stdout + done.stderr)
    return found[0] if found else "unknown version"
