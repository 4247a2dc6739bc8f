"""The proxy in front of the hub cuts and loses what it is told to, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cluster_lab.hub_proxy import HubProxy
from tests.support.postgres import fresh_database
from tests.support.processes import wait_until

psycopg = pytest.importorskip("psycopg")

_END_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def server(postgres: str) -> Iterator[str]:
    with fresh_database(postgres) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE numbers (number integer)")
        yield url


@pytest.fixture
def proxy(server: str) -> Iterator[HubProxy]:
    parts = urlsplit(server)
    assert parts.hostname is not None
    assert parts.port is not None
    made = HubProxy("127.0.0.1", (parts.hostname, parts.port))
    yield made
    made.close()


@contextmanager
def _connected(server: str, proxy: HubProxy) -> Iterator[Any]:
    parts = urlsplit(server)
    connection = psycopg.connect(f"postgresql://postgres@127.0.0.1:{proxy.port}{parts.path}", connect_timeout=60)
    try:
        yield connection
    finally:
        connection.close()


def _stored(server: str) -> list[int]:
    with psycopg.connect(server) as connection:
        return [number for (number,) in connection.execute("SELECT number FROM numbers ORDER BY number")]


def test_what_is_not_cut_passes(server: str, proxy: HubProxy) -> None:
    with _connected(server, proxy) as connection:
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO numbers VALUES (%s)", [(number,) for number in range(500)])
        connection.commit()
        assert connection.execute("SELECT repeat('x', 200000)").fetchone() == ("x" * 200000,)
    assert _stored(server) == list(range(500))
    assert proxy.lost_commits == 0


def test_the_answer_to_a_commit_is_lost_and_the_commit_is_not(server: str, proxy: HubProxy) -> None:
    proxy.lose_commits(1)
    with _connected(server, proxy) as connection:
        connection.execute("INSERT INTO numbers VALUES (1)")
        with pytest.raises(psycopg.OperationalError):
            connection.commit()
    assert (_stored(server), proxy.lost_commits) == ([1], 1)
    with _connected(server, proxy) as connection:
        connection.execute("INSERT INTO numbers VALUES (2)")
        connection.commit()
    assert _stored(server) == [1, 2]


def test_an_answer_to_a_commit_that_never_comes(server: str, proxy: HubProxy) -> None:
    """Nothing wakes the client, not even the end of its session."""
    proxy.lose_commits(1, silently=True)
    program = (
        "import psycopg, sys\n"
        "with psycopg.connect(sys.argv[1]) as connection: connection.execute('INSERT INTO numbers VALUES (1)')"
    )
    place = f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(server).path}"
    with subprocess.Popen([sys.executable, "-c", program, place]) as client:
        assert wait_until(lambda: proxy.lost_commits == 1)
        assert _stored(server) == [1]
        with psycopg.connect(server, autocommit=True) as other:
            other.execute(_END_OTHERS)
        with pytest.raises(subprocess.TimeoutExpired):
            client.wait(0.3)
        client.kill()


def test_cut_questions_arrive_after_healing(server: str, proxy: HubProxy) -> None:
    with _connected(server, proxy) as connection:
        connection.autocommit = True
        proxy.cut("questions")
        writer = threading.Thread(target=connection.execute, args=("INSERT INTO numbers VALUES (1)",))
        writer.start()
        assert not wait_until(lambda: bool(_stored(server)), timeout=0.3)
        proxy.heal()
        writer.join()
    assert _stored(server) == [1]


def test_cut_answers_are_of_questions_that_arrived(server: str, proxy: HubProxy) -> None:
    with _connected(server, proxy) as connection:
        connection.autocommit = True
        proxy.cut("answers")
        writer = threading.Thread(target=connection.execute, args=("INSERT INTO numbers VALUES (1)",))
        writer.start()
        assert wait_until(lambda: _stored(server) == [1])
        assert writer.is_alive()
        proxy.heal()
        writer.join()
