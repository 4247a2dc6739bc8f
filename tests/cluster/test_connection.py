"""A session at the hub has a name and settings of its own, and the one that it replaces is ended first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.records import Identity
from parcahyd.core.errors import DatabaseUnusable, HubWentBack, StoreFailure
from tests.cluster.hub_desk import HubDesk
from tests.cluster_lab.hub_proxy import HubProxy
from tests.support.processes import wait_until

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL needs the package psycopg")

_SETTINGS = "SELECT current_setting('application_name'), current_setting('transaction_isolation'), "
_SETTINGS += "current_setting('lock_timeout'), current_setting('synchronous_commit')"


def test_settings_of_the_server_do_not_count(hub_database: str) -> None:
    with psycopg.connect(hub_database, autocommit=True) as connection:
        connection.execute("SET default_transaction_isolation = 'serializable'")
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'".encode())
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = 'off'".encode())
    hub = HubConnection(hub_database, "parcahyd me", 1.5)
    with hub.transaction():
        assert hub.rows(text(_SETTINGS)) == [("parcahyd me", "read committed", "1500ms", "on")]
    hub.close()


def test_a_stronger_setting_of_the_server_is_kept(hub_database: str) -> None:
    with psycopg.connect(hub_database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET synchronous_commit = 'remote_apply'".encode())
    hub = HubConnection(hub_database, "parcahyd me", 1.5)
    with hub.transaction():
        assert hub.value(text("SELECT current_setting('synchronous_commit')")) == "remote_apply"
    hub.close()


def test_sqlite_is_no_hub(tmp_path: object) -> None:
    with pytest.raises(DatabaseUnusable, match="postgresql://"):
        HubConnection(f"sqlite:///{tmp_path}/hub.db", "parcahyd", 1.0)


def test_another_server_is_not_the_hub(desk: HubDesk) -> None:
    identity = desk.facts.identity
    desk.connect("same", expected=identity)
    for other in (Identity(identity.system + 1, identity.timeline, 0), Identity(identity.system, identity.timeline + 1, 0)):
        with pytest.raises(HubWentBack):
            desk.connect("other", expected=other)


def test_a_session_that_was_lost_is_ended_before_the_next_one_works(desk: HubDesk) -> None:
    """The server does not notice that its client is gone. What that client sent last must not happen later."""
    hub = desk.connect("parcahyd lost")
    with pytest.raises(StoreFailure), hub.transaction() as connection:  # noqa: PT012 (it is lost in the middle)
        hub.run(text("UPDATE parcahyd_hub.states SET batch = 77"))
        lost: Any = connection.connection.driver_connection
        lost.close = lost.rollback = lambda: None
        connection.invalidate()
        raise psycopg.OperationalError("the network is gone")
    with hub.transaction():
        assert hub.rows(text("SELECT batch FROM parcahyd_hub.states FOR UPDATE")) == [(0,), (0,)]
    with pytest.raises(psycopg.OperationalError):
        lost.commit()
    assert desk.rows("SELECT DISTINCT batch FROM parcahyd_hub.states") == [(0,)]


def test_a_statement_alone_holds_no_lock(desk: HubDesk) -> None:
    hub, other = desk.connect("parcahyd one"), desk.connect("parcahyd other")
    with hub.at_once():
        hub.run(text("UPDATE parcahyd_hub.states SET batch = 5"))
        with other.transaction():
            assert other.rows(text("SELECT batch FROM parcahyd_hub.states FOR UPDATE")) == [(5,), (5,)]


def test_after_a_failed_statement_transactions_are_transactions_again(desk: HubDesk) -> None:
    hub = desk.connect("parcahyd one")
    with pytest.raises(StoreFailure), hub.at_once():
        hub.run(text("SELECT no_such_column"))
    with pytest.raises(ConnectionError), hub.transaction():  # noqa: PT012 (it fails in the middle)
        hub.run(text("UPDATE parcahyd_hub.states SET batch = 5"))
        raise ConnectionError
    assert desk.rows("SELECT DISTINCT batch FROM parcahyd_hub.states") == [(0,)]


def test_a_server_that_vanishes_without_a_word_is_noticed(desk: HubDesk) -> None:
    with desk.hub.transaction() as connection:
        session: Any = connection.connection.driver_connection
        found = session.info.get_parameters()
    assert {name: found[name] for name in ("keepalives_idle", "keepalives_interval", "keepalives_count")} == {
        "keepalives_idle": "10",
        "keepalives_interval": "3",
        "keepalives_count": "3",
    }
    assert found["tcp_user_timeout"] == "20000"


def test_a_session_without_answers_is_cut_off_and_the_next_one_works(hub_database: str) -> None:
    """The proxy takes every question, so nothing tells the client that no answer will come."""
    place = urlsplit(hub_database)
    proxy = HubProxy("127.0.0.1", (place.hostname or "", place.port or 0))
    hub = HubConnection(hub_database.replace(f":{place.port}", f":{proxy.port}"), "parcahyd me", 1.5)

    def ask() -> object:
        with hub.transaction():
            return hub.value(text("SELECT 1"))

    try:
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(ask).result() == 1
            proxy.cut("answers")
            asked = thread.submit(ask)
            assert wait_until(asked.running)
            hub.cut_off()
            with pytest.raises(StoreFailure):
                asked.result()
            proxy.heal()
            assert thread.submit(ask).result() == 1
        hub.close()
        hub.cut_off()
    finally:
        proxy.close()
