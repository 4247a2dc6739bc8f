"""Wrong wall clocks: of one process, stepped while it runs, and of a whole PostgreSQL server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.cluster_lab.wall_clock import WallClock, why_no_wall_clock, wrong_clock
from tests.support.postgres import postgres_server

_HOUR = 3600.0
_PROGRAM = """
import sys, time
for _ in sys.stdin:
    print(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), flush=True)
"""


@pytest.fixture
def clock() -> Iterator[WallClock]:
    if reason := why_no_wall_clock():
        pytest.skip(reason)
    with wrong_clock(_HOUR) as made:
        yield made


def test_only_the_wall_clock_is_wrong_and_it_can_be_stepped(clock: WallClock) -> None:
    environment = {**os.environ, **clock.environment}
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for offset in (_HOUR, -_HOUR, 0.0):
            clock.step_to(offset)
            process.stdin.write("now\n")
            process.stdin.flush()
            wall, boot = map(float, process.stdout.readline().split())
            assert wall - time.time() == pytest.approx(offset, abs=60)
            assert boot - time.clock_gettime(time.CLOCK_BOOTTIME) == pytest.approx(0, abs=60)
        process.stdin.close()


def test_a_server_has_a_clock_of_its_own(clock: WallClock) -> None:
    import psycopg

    with postgres_server(environment=clock.environment) as server, psycopg.connect(f"{server.prefix}postgres") as connection:
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        assert row is not None
        assert row[0] - time.time() == pytest.approx(_HOUR, abs=60)
