"""A hub is made once, knows when it went back, and lets nobody take anything until a lease has passed since."""

from __future__ import annotations

from hashlib import sha256

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import TABLES, ClusterIdentity, Settling
from parcahyd.cluster.tables import metadata
from parcahyd.core.errors import DatabaseUnusable, UserError
from tests.cluster.hub_desk import LEASE, HubDesk


def test_a_new_hub_is_settled(desk: HubDesk) -> None:
    facts = desk.identity.read()
    assert (facts.is_settled, facts.life, facts.lease) == (True, 0, LEASE)
    assert Settling(desk.clock).see(facts, desk.identity)


def test_every_table_is_made(desk: HubDesk) -> None:
    found = {name for (name,) in desk.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'parcahyd_hub'")}
    assert found == {table.name for table in metadata.tables.values()}


def test_other_tables_are_another_version(desk: HubDesk) -> None:
    """A node of another version has to be told in a sentence, and not by a column that is missing."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # it has no types
    made: list[CreateTable | CreateIndex] = [CreateTable(one) for one in metadata.sorted_tables]
    made += [
        CreateIndex(one) for table in metadata.sorted_tables for one in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    text = "\n".join(str(statement.compile(dialect=dialect)) for statement in made)
    digest = sha256(" ".join(text.split()).encode()).hexdigest()[:16]
    assert (TABLES, digest) == (2, "08d4166bceaef177"), "raise TABLES, and write down what the tables are now"
    desk.change("UPDATE parcahyd_hub.cluster SET tables = tables - 1")
    with pytest.raises(DatabaseUnusable, match="with other tables"):
        desk.identity.read()


def test_a_database_has_one_cluster(desk: HubDesk) -> None:
    with pytest.raises(UserError, match="has a cluster already"):
        desk.identity.init(2, LEASE)


@pytest.mark.parametrize("schema", ["parcahyd_p1", "parcahyd_all"])
def test_a_schema_that_is_there_is_never_taken(hub_database: str, schema: str) -> None:
    hub = HubConnection(hub_database, "parcahyd test", 1.0)
    with hub.transaction() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    with pytest.raises(UserError, match=rf"has the schema {schema} already .*drop it"):
        ClusterIdentity(hub).init(2, LEASE)
    with pytest.raises(DatabaseUnusable, match="has no cluster"):
        ClusterIdentity(hub).read()
    hub.close()


def test_a_database_without_a_cluster_is_told(hub_database: str) -> None:
    hub = HubConnection(hub_database, "parcahyd test", 1.0)
    with pytest.raises(DatabaseUnusable, match="has no cluster"):
        ClusterIdentity(hub).read()
    hub.close()


def test_a_cluster_with_other_tables_is_told(desk: HubDesk) -> None:
    desk.change("UPDATE parcahyd_hub.cluster SET tables = 99, program = '9.9'")
    with pytest.raises(DatabaseUnusable, match=r"version 9\.9.*same version on every machine"):
        desk.identity.read()


def test_a_restored_hub_settles_one_lease_after_it_was_first_seen(desk: HubDesk) -> None:
    settling = Settling(desk.clock)
    settling.see(desk.identity.read(), desk.identity)
    desk.now += LEASE
    desk.identity.restored()
    assert not settling.see(desk.identity.read(), desk.identity)
    desk.now += LEASE - 0.1
    assert not settling.see(desk.identity.read(), desk.identity)
    desk.now += 0.1
    settling.see(desk.identity.read(), desk.identity)
    facts = desk.identity.read()
    assert (facts.is_settled, facts.life) == (True, 1)
    assert settling.see(facts, desk.identity)


def test_an_agent_that_has_just_started_waits_as_well(desk: HubDesk) -> None:
    desk.identity.restored()
    assert not Settling(desk.clock).see(desk.identity.read(), desk.identity)


def test_what_was_settled_under_another_identity_does_not_count(desk: HubDesk) -> None:
    old = desk.identity.read().identity
    desk.identity.restored()
    desk.identity.settle(old)
    assert not desk.identity.read().is_settled


def test_two_agents_that_settle_make_one_life(desk: HubDesk) -> None:
    desk.identity.restored()
    identity = desk.identity.read().identity
    desk.identity.settle(identity)
    desk.identity.settle(identity)
    assert desk.identity.read().life == 1


def test_the_lease_is_changed_only_while_nothing_is_held(desk: HubDesk) -> None:
    desk.identity.set_lease(30.0)
    assert desk.identity.read().lease == 30.0
    desk.take(0)
    with pytest.raises(UserError, match="stop the cluster first"):
        desk.identity.set_lease(40.0)


def test_another_version_of_the_program_is_told(desk: HubDesk) -> None:
    desk.change("UPDATE parcahyd_hub.cluster SET program = '9.9'")
    with pytest.raises(DatabaseUnusable, match=r"of version 9\.9, .*parcahyd cluster migrate"):
        desk.identity.read()
    assert desk.identity.read(any_program=True).id == desk.facts.id
    desk.identity.note_program()
    assert desk.identity.read().id == desk.facts.id
