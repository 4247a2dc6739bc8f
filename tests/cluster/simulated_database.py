"""The database of a simulated cluster: the hub's tables, and those in which the pages of the simulated web are stored.

It can be set back to an earlier state, as a fail-over that lost transactions does it, and its clock is simulated.
"""

from __future__ import annotations

from typing import Any

import psycopg

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.tables import metadata

__all__ = ["SimulatedDatabase"]

_WEB = """
    CREATE SCHEMA web;
    CREATE TABLE web.known (partition int, url int, stored bool NOT NULL DEFAULT false, PRIMARY KEY (partition, url));
    CREATE TABLE web.stored (url int, partition int, epoch bigint, token bigint);
    CREATE TABLE web.posted (letter bigint);
    CREATE TABLE web.taken (letter bigint);
    CREATE FUNCTION web.check_fence() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NOT EXISTS (SELECT FROM parcahyd_hub.partitions p
                       WHERE p.id = NEW.partition AND p.epoch = NEW.epoch AND p.token = NEW.token)
        THEN RAISE EXCEPTION 'a tree that lost its partition commits'; END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON web.stored DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION web.check_fence();
    CREATE SCHEMA fake;
    CREATE TABLE fake.clock (at double precision);
    INSERT INTO fake.clock VALUES (0);
    CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT to_timestamp(at) FROM fake.clock';
"""
_WEB_TABLES = ("web.known", "web.stored", "web.posted", "web.taken")
_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


class SimulatedDatabase:
    """Made once for many worlds."""

    def __init__(self, url: str, partitions: int, lease: float) -> None:
        self.url = url
        hub = HubConnection(url, "parcahyd init", 1.0)
        ClusterIdentity(hub).init(partitions, lease)
        hub.close()
        self._admin = psycopg.connect(url, autocommit=True)
        self._admin.execute(_WEB.encode())
        # What the hub's statements call `clock_timestamp` is found in the first schema of this path.
        self._admin.execute(f"ALTER DATABASE {self._admin.info.dbname} SET search_path = fake, pg_catalog, public".encode())
        self._tables = [*(table.fullname for table in metadata.sorted_tables), *_WEB_TABLES]
        self._copy("made")
        self._copy("kept")
        self._restore = {kept: self._replacing("{table}", kept + ".{copy}") for kept in ("made", "kept")}
        self._keep = self._replacing("kept.{copy}", "{table}")

    def _copy(self, schema: str) -> None:
        copies = "".join(f"CREATE TABLE {schema}.{_flat(table)} AS TABLE {table};" for table in self._tables)
        self._admin.execute(f"CREATE SCHEMA {schema}; {copies}".encode())

    def _replacing(self, target: str, source: str) -> str:
        """Statements that fill each table, or its copy, with the rows of the other."""
        each = f"DELETE FROM {target}; INSERT INTO {target} SELECT * FROM {source};"  # noqa: S608 (names of tables)
        return " ".join(each.format(table=table, copy=_flat(table)) for table in self._tables)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        return self._admin.execute(text.encode()).fetchall()

    def change(self, text: str, *values: object) -> None:
        self._admin.execute(text.encode(), values)

    def set_clock(self, now: float) -> None:
        self.change("UPDATE fake.clock SET at = %s", now)

    def reset(self) -> None:
        """As it was made."""
        self.end_sessions()
        self._replace("made")
        self.keep()

    def keep(self) -> None:
        """Remembers the state of now, for a fail-over that goes back to it."""
        self._admin.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {self._keep} COMMIT".encode())

    def fail_over(self) -> None:
        """Goes back to what was kept: every session ends, and the hub has another identity."""
        self.end_sessions()
        self._replace("kept")
        self.change("UPDATE parcahyd_hub.cluster SET incarnation = (random() * 1e18)::bigint")

    def _replace(self, kept: str) -> None:
        """Without triggers: what is put back was committed by whoever had the partition then."""
        quiet = "SET session_replication_role = replica; BEGIN; {} COMMIT; RESET session_replication_role"
        self._admin.execute(quiet.format(self._restore[kept]).encode())

    def end_sessions(self) -> None:
        while self.rows(_SESSIONS):
            pass

    def close(self) -> None:
        self._admin.close()


def _flat(table: str) -> str:
    return table.replace(".", "_")
