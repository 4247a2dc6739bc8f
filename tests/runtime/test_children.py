"""Children inherit their channel and the lock and nothing else, and end with their channel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from parcahyd.runtime.children import usable_cores

SCRIPT = """
    import contextlib, json, os, socket, tempfile
    from pathlib import Path
    from parcahyd.runtime.children import Child

    secret, _ = socket.socketpair()
    lock = tempfile.TemporaryFile()
    first = Child("crawl-worker", lock.fileno())
    comm = Path(f"/proc/{first.pid}/comm")
    ready = lambda: comm.read_text().strip() == "crawl-worker" and os.readlink(f"/proc/{first.pid}/fd/0") == os.devnull
    while not ready():
        assert first.wait(0.01) is None
    links = set()
    for path in Path(f"/proc/{first.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # It still loads modules, whose files come and go.
            links.add(os.readlink(path))
    told = {
        "has the lock": os.readlink(f"/proc/self/fd/{lock.fileno()}") in links,
        "has the secret": os.readlink(f"/proc/self/fd/{secret.fileno()}") in links,
        "has our end": os.readlink(f"/proc/self/fd/{first.end.fileno()}") in links,
        "is alive": first.wait(0.01) is None,
        "output": os.readlink(f"/proc/{first.pid}/fd/1"),
    }
    first.end.close()
    told["ended with its channel"] = first.wait(120)
    second = Child("update-database", lock.fileno())
    second.kill()
    told["killed"] = second.wait()
    print(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_child_has_its_own_and_nothing_else_and_ends_with_its_channel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told == {
        "has the lock": True,
        "has the secret": False,
        "has our end": False,
        "is alive": True,
        "output": os.devnull,
        "ended with its channel": 1,
        "killed": -9,
    }


SIGNALLED = """
    import json, os, signal, tempfile
    from pathlib import Path
    from parcahyd.runtime.children import Child

    lock = tempfile.TemporaryFile()
    child = Child("crawl-worker", lock.fileno())
    numbers = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    for number in numbers:  # It loads its first modules now.
        os.kill(child.pid, number)
    comm = Path(f"/proc/{child.pid}/comm")
    while child.wait(0.01) is None and comm.read_text().strip() != "crawl-worker":
        pass
    for number in numbers:
        os.kill(child.pid, number)
    told = {"ended by": child.wait(0.5), "held back here": [int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])]}
    child.end.close()
    told["ended with its channel"] = child.wait(120)
    print(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_child_ignores_requests_to_stop_from_its_first_instruction_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SIGNALLED)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"ended by": None, "held back here": [], "ended with its channel": 1}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity mask")
def test_the_cores_that_may_be_used_are_counted() -> None:
    assert usable_cores() == len(os.sched_getaffinity(0))
