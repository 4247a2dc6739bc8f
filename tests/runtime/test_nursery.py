"""Children that begin early are taken once, hold nothing that is not theirs, and end if nobody takes them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SCRIPT = """
    import json, os, sys, threading
    from pathlib import Path
    from parcahyd.runtime.nursery import Nursery

    if "with a thread" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()

    def children():
        found = set()
        for one in Path("/proc").glob("[0-9]*"):
            try:
                if int((one / "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                    found.add(int(one.name))
            except OSError:
                continue
        return found

    def files(pid):
        return {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()}

    nursery = Nursery()
    nursery.fill()
    early = children()
    first, second = nursery.worker(0), nursery.worker(1)
    first_end = os.readlink(f"/proc/self/fd/{first.buffer.fileno()}")
    told = {
        "early": len(early),
        "the first is early": first.child.pid in early,
        "the second is early": second.child.pid in early,
        "numbers": [first.child.number, second.child.number],
    }
    nursery.close()
    told["left"] = children() == {first.child.pid, second.child.pid}
    told["alive"] = [first.child.wait(0.01), second.child.wait(0.01)]
    told["others have its end"] = first_end in files(second.child.pid)
    first.child.kill(), second.child.kill()
    nursery.close()
    print(json.dumps(told))
"""


def told_by(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(("arguments", "early"), [((), 2), (("with a thread",), 0)])
def test_early_children_are_taken_once_and_end_where_nobody_takes_them(arguments: tuple[str, ...], early: int) -> None:
    assert told_by(*arguments) == {
        "early": early,
        "the first is early": bool(early),
        "the second is early": False,
        "numbers": [0, 1],
        "left": True,
        "alive": [None, None],
        "others have its end": False,
    }
