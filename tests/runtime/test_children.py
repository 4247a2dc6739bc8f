"""Children are born as copies or as interpreters, hold nothing that is not theirs, and end with their channel."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SCRIPT = """
    import contextlib, json, os, socket, sys, threading
    from pathlib import Path
    from parcahyd.runtime.channel import socket_pair
    from parcahyd.runtime.children import Child

    if "with a thread" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    secret, _ = socket.socketpair()
    here, there = socket_pair()
    first = Child("worker", 0, sockets=[here])
    comm = Path(f"/proc/{first.pid}/comm")
    while comm.read_text().strip() != "crawl-worker":
        assert first.wait(0.01) is None
    links = set()
    for path in Path(f"/proc/{first.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # It still loads modules, whose files come and go.
            links.add(os.readlink(path))
    told = {
        "is a copy": Path(f"/proc/{first.pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes(),
        "has the secret": os.readlink(f"/proc/self/fd/{secret.fileno()}") in links,
        "has our end": os.readlink(f"/proc/self/fd/{first.end.fileno()}") in links,
        "is alive": first.wait(0.01) is None,
        "output": os.readlink(f"/proc/{first.pid}/fd/1"),
    }
    first.end.close()
    told["ended with its channel"] = first.wait(20)
    here, _ = socket_pair()
    second = Child("worker", 1, sockets=[here])
    second.kill()
    told["killed"] = second.wait()
    print(json.dumps(told))
"""


def told_by(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(("arguments", "is_copy"), [((), True), (("with a thread",), False)])
def test_a_child_has_its_own_and_nothing_else_and_ends_with_its_channel(arguments: tuple[str, ...], is_copy: bool) -> None:
    assert told_by(*arguments) == {
        "is a copy": is_copy,
        "has the secret": False,
        "has our end": False,
        "is alive": True,
        "output": "/dev/null",
        "ended with its channel": 1,
        "killed": -9,
    }
