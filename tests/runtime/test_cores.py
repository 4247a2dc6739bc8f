"""Threads stay on one core until they are let go. Each case is a process of its own: it is for its whole life."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from parcahyd.runtime.cores import usable_cores

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="this system does not tell its threads")


def _printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.skipif(usable_cores() < 2, reason="one core only")
def test_threads_stay_on_one_core_until_they_are_let_go() -> None:
    code = """
        import os, threading
        from parcahyd.runtime.cores import OneCore, usable_cores
        before = os.sched_getaffinity(0)
        one = OneCore()
        over = threading.Event()
        thread = threading.Thread(target=over.wait)
        thread.start()
        threads = (0, thread.native_id)
        print(one.is_kept, usable_cores(), [len(os.sched_getaffinity(number)) for number in threads])
        one.leave()
        print(one.is_kept, [os.sched_getaffinity(number) == before for number in threads])
        one.leave()
        over.set()
    """
    assert _printed(code) == "True 1 [1, 1]\nFalse [True, True]"


def test_where_there_is_one_core_only_nothing_is_kept() -> None:
    code = """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        from parcahyd.runtime.cores import OneCore
        one = OneCore()
        one.leave()
        print(one.is_kept, len(os.sched_getaffinity(0)))
    """
    assert _printed(code) == "False 1"
