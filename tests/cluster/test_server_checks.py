"""A server that cannot bear a cluster is refused before anything is made, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from parcahyd.cluster.server_checks import check_server, connections_needed
from parcahyd.core.errors import UserError
from parcahyd.storage.store import Store
from tests.support.postgres import PostgresServer, fresh_database, postgres_server
from tests.support.session_pooler import SessionPooler


def refusal(url: str, partitions: int = 2, machines: int = 1) -> str:
    with pytest.raises(UserError) as caught:
        check_server(url, partitions, machines, lambda _: None)
    return str(caught.value)


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server whose rights a test may change."""
    with postgres_server() as server:
        yield server


def test_what_the_server_does_not_promise_is_told(hub_database: str) -> None:
    told: list[str] = []
    check_server(hub_database, 2, 1, told.append)
    assert [line.split()[0] for line in told] == ["synchronous_commit", "fsync", "full_page_writes"]


def test_a_file_is_refused() -> None:
    assert "is a file (write DbUrl = " in refusal("sqlite:////tmp/crawl.db")


def test_a_crawl_of_one_machine_is_left_alone(hub_database: str) -> None:
    with Store.open(hub_database) as store:
        store.last_settings()
    assert "has a crawl of one machine already" in refusal(hub_database)


def test_connections_are_counted(hub_database: str) -> None:
    with psycopg.connect(hub_database) as connection:
        row = connection.execute(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
        ).fetchone()
    assert row is not None
    partitions = next(number for number in range(1, 100) if connections_needed(number, 3) > row[0])
    check_server(hub_database, partitions - 1, 3, lambda _: None)
    message = refusal(hub_database, partitions, 3)
    assert f"{row[0]} connections, and {partitions} partitions on 3 machines need" in message
    assert "max_connections" in message


def test_a_pooler_is_found_out(hub_database: str) -> None:
    with SessionPooler(hub_database) as pooler:
        assert "connection pooler" in refusal(pooler.url)


def test_each_right_has_its_remedy(own_server: PostgresServer) -> None:
    with fresh_database(own_server.prefix) as url:
        database = url.rpartition("/")[2]
        user = url.replace("postgres@", "crawler@")
        run(url, "CREATE ROLE crawler LOGIN")
        assert refusal(user).endswith(f"(as its owner: GRANT CREATE ON DATABASE {database} TO crawler)")
        run(url, f"GRANT CREATE ON DATABASE {database} TO crawler")
        check_server(user, 2, 1, lambda _: None)
        for function in ("pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_terminate_backend(int, bigint)"):
            run(url, f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
            assert refusal(user).endswith(f"(as a superuser: GRANT EXECUTE ON FUNCTION {function} TO crawler)")
            run(url, f"GRANT EXECUTE ON FUNCTION {function} TO crawler")
        check_server(user, 2, 1, lambda _: None)
        run(url, "ALTER ROLE crawler CONNECTION LIMIT 5")
        assert "lets this user have 5 connections" in refusal(user)


def test_a_standby_is_refused() -> None:
    with postgres_server() as server:
        with psycopg.connect(f"{server.prefix}postgres") as connection:
            row = connection.execute("SHOW data_directory").fetchone()
        assert row is not None
        server.stop()
        (Path(row[0]) / "standby.signal").touch()
        server.start_again()
        assert "is a standby" in refusal(f"{server.prefix}postgres")
