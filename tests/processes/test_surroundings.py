"""Loop, clock and deadline of a process, alone and in a pipeline."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from parcahyd.processes.surroundings import LEASE_IS_OVER, PipelineMemory, Surroundings
from parcahyd.runtime.guarded_loop import GuardedLoop

_CHILD = """
import sys
from parcahyd.cluster.deadline import boot_time
from parcahyd.processes.surroundings import Surroundings

surroundings = Surroundings.of(sys.argv[1])
print(surroundings.clock.now(), surroundings.has_passed(), flush=True)
surroundings.loop.run_forever()
"""


def test_a_process_alone_has_this_machines_clock_and_no_deadline() -> None:
    surroundings = Surroundings()
    assert abs(surroundings.clock.now() - time.time()) < 60.0
    assert not surroundings.has_passed()
    surroundings.before_sending()
    assert isinstance(surroundings.loop, asyncio.AbstractEventLoop)
    assert not isinstance(surroundings.loop, GuardedLoop)
    surroundings.loop.close()


def test_a_child_has_the_time_and_the_deadline_of_its_pipeline() -> None:
    memory = PipelineMemory.new()
    deadline = memory.deadline(1000.0)
    deadline.start(deadline.note())
    memory.set_time(5_000_000.0)
    command = [sys.executable, "-c", _CHILD, str(memory.descriptor)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, pass_fds=[memory.descriptor]) as child:
        assert child.stdout is not None
        now, has_passed = child.stdout.readline().split()
        assert 5_000_000.0 <= float(now) < 5_000_600.0
        assert has_passed == "False"
        deadline.end()
        assert child.wait(60) == LEASE_IS_OVER


def test_new_memory_lets_nobody_send() -> None:
    surroundings = Surroundings(PipelineMemory.new())
    assert surroundings.has_passed()
    surroundings.loop.close()
