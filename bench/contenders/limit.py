"""The limit: libcurl fetches the known URLs, and nothing is done with them. No crawler in one thread can be faster."""

from __future__ import annotations

from pathlib import Path

import pycurl

from bench.contenders.contender import Contender, Peers, Task

__all__ = ["limit"]

_SCRIPT = Path(__file__).resolve().parents[1] / "peers" / "known_list.py"


def limit(peers: Peers) -> Contender:
    def command(task: Task) -> list[str]:
        return [peers.python, str(_SCRIPT), str(task.known)]

    version = pycurl.version.split()[0].removeprefix("PycURL/").strip('"')
    return Contender(
        "limit", f"pycurl {version}", "fetches a list of all URLs that it was given, and drops the bodies", command
    )
