"""Another way of dividing the crawl, or the same one planned anew: which sites would move, what that costs, and doing it.

What a strategy may observe of a crawl is in the partitions' tables: how many URLs each host has, and which hosts link to which.
So it is read from there when a plan is made, and pipelines report nothing. A plan is carried out while no partition is held:
then no pipeline routes by the old one and finds a host for which the new one knows another home.

Tested in tests/cluster/test_replanning.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, delete, exists, false, func, select, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.all_partitions import in_each_partition
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.planning import placed_now, routing_now, usable_nodes
from parcahyd.cluster.runs import hold_last_run
from parcahyd.cluster.tables import homes, moves, partitions, routing, runs
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import ClusterView, Observation, Observed, Partitioner, Routing, Seen
from parcahyd.storage.expressions import bound, inserting, same
from parcahyd.storage.schema import sites, urls

__all__ = ["HostMove", "Replan", "carry_out", "plan_anew", "want_move"]

_HELD = select(partitions.c.id).where(partitions.c.id >= 0, partitions.c.token.is_not(None)).limit(1)
_ON_RECORD = select(homes.c.site, homes.c.partition, homes.c.waits)
_UNDER_WAY = select(exists(select(moves.c.site)), exists(select(homes.c.site).where(homes.c.moving.is_not(None))))
_pin = insert(homes).values(**bound("site", "partition", "size", "rule"))
# A host that waited to be given to a partition waits no longer.
_PIN = _pin.on_conflict_do_update(index_elements=["site"], set_={"size": _pin.excluded.size, "waits": false()})
_MOVE = inserting(moves, "site", "source", "target", "rule")
_PUBLISH = inserting(routing, "version", "strategy", "content")
_LAST_RUN = select(runs.c.id, runs.c.settings).order_by(runs.c.id.desc()).limit(1)
_SET_SETTINGS = update(runs).where(*same(runs, "id")).values(settings=bindparam("text"))
_SETTING = "Work.Partition"
_ROUNDS = 8
"""A strategy that divides the URL tree looks one step deeper with each plan. Here all is known at once, so it may go on."""
_HOME = select(homes.c.partition, homes.c.moving.is_not(None)).where(*same(homes, "site")).with_for_update()
_UNWANT = delete(moves).where(*same(moves, "site"))


class HostMove(msgspec.Struct, frozen=True):
    """A host that would live elsewhere."""

    host: str
    source: int
    target: int
    urls: int
    pages: int
    bytes: int
    """That came from it on the wire."""


class Replan(msgspec.Struct, frozen=True):
    """What would change."""

    strategy: str
    version: int
    """Of the routing that it was planned on."""
    state: bytes
    """Of the next routing."""
    hosts: int
    before: tuple[int, ...]
    """Pages, or URLs where nothing is stored yet, by partition."""
    after: tuple[int, ...]
    moves: tuple[HostMove, ...]
    pins: tuple[tuple[str, int, int], ...]
    """Every host that does not wait from now on, with its partition of now and its pages: its home does not follow from its
    name any more."""
    waited: frozenset[str]
    """Hosts that were to be given to a partition, and for which the strategy knows a home."""


class _Host(msgspec.Struct, frozen=True):
    partition: int
    urls: int
    pages: int
    bytes: int
    waits: bool = False
    """It is to be given to a partition; this one keeps it until then."""

    @property
    def weight(self) -> int:
        return self.pages or self.urls


def plan_anew(
    hub: HubConnection, strategy: str, make_partitioner: Callable[[Routing], Partitioner], facts: Routing, alive: Sequence[str]
) -> Replan:
    """What the strategy would do with the crawl as it is; changes nothing.

    `facts` has the number of partitions and the secret of the cluster, and `alive` are the nodes that work.
    """
    with hub.transaction():
        version, before, state = routing_now(hub)
        found = _hosts(hub, facts.partitions)
        links = list(_links(hub, facts.partitions)) if Observed.LINKS in make_partitioner(facts).observes else []
        nodes = usable_nodes(hub, alive)
        placed = placed_now(hub)
    sizes = Counter[int]()
    for host in found.values():
        sizes[host.partition] += host.weight
    observations = list(_observations(found, links))
    state = state if before == strategy else b""
    for _ in range(_ROUNDS):
        now = Routing(facts.partitions, version, state, facts.secret)
        planner = make_partitioner(now)
        planner.observe(observations)
        planned = planner.plan(ClusterView(now, nodes, placed, (planner.share(),), sizes))
        if planned.state is None or planned.state == state:
            break
        state = planned.state
    partitioner = make_partitioner(Routing(facts.partitions, version + 1, state, facts.secret))
    answers = {name: _answer(partitioner, name, host) for name, host in found.items()}
    # A host stays where the strategy knows nothing better, and one that waits goes on waiting.
    targets = {name: host.partition if (home := answers[name]) is None else home for name, host in found.items()}
    waiting = {name for name, host in found.items() if host.waits and answers[name] is None}
    targets |= {move.site: move.partition for move in planned.moves if move.site in found}
    going = tuple(
        HostMove(name, host.partition, targets[name], host.urls, host.pages, host.bytes)
        for name, host in found.items()
        if targets[name] != host.partition
    )
    after = Counter[int]()
    for name, host in found.items():
        after[targets[name]] += host.weight
    numbers = range(facts.partitions)
    return Replan(
        strategy,
        version,
        state,
        len(found),
        tuple(sizes[number] for number in numbers),
        tuple(after[number] for number in numbers),
        going,
        tuple((name, host.partition, host.pages) for name, host in found.items() if name not in waiting),
        frozenset(name for name, host in found.items() if host.waits and name not in waiting),
    )


def _answer(partitioner: Partitioner, name: str, host: _Host) -> int | None:
    """Where a host is to live; None: the strategy does not know."""
    home = partitioner.home(Seen(name, finder=host.partition, size=host.pages or None))
    return home if isinstance(home, int) else None


def _hosts(hub: HubConnection, count: int) -> dict[str, _Host]:
    """Every host with its home of now: the row of `homes`, or else where its rows are."""
    of_sites = in_each_partition(sites, count, "host", "urls", "pages", "bytes").subquery()
    sums = (func.sum(of_sites.c[name]) for name in ("urls", "pages", "bytes"))
    statement = (
        select(of_sites.c.host, func.min(of_sites.c.partition), *sums).group_by(of_sites.c.host).order_by(of_sites.c.host)
    )
    found = {
        name: _Host(partition, int(urls), int(pages), int(size)) for name, partition, urls, pages, size in hub.rows(statement)
    }
    for name, partition, waits in hub.rows(_ON_RECORD):
        if name in found:
            found[name] = msgspec.structs.replace(found[name], partition=partition, waits=waits)
    return found


def _links(hub: HubConnection, count: int) -> Iterator[tuple[str, str, int]]:
    """How many URLs of one host were first found on pages of another."""
    of_urls = in_each_partition(urls, count, "site_id", "via_site").subquery()
    of_sites = in_each_partition(sites, count, "id", "host").subquery()
    page, target = of_sites.alias("page"), of_sites.alias("target")
    statement: Select[Any] = (
        select(page.c.host, target.c.host, func.count())
        .select_from(of_urls)
        .join(page, page.c.id == of_urls.c.via_site)
        .join(target, target.c.id == of_urls.c.site_id)
        .where(of_urls.c.via_site != 0)
        .group_by(page.c.host, target.c.host)
    )
    yield from hub.rows(statement)


def _observations(found: Mapping[str, _Host], links: Sequence[tuple[str, str, int]]) -> Iterator[Observation]:
    for name, host in found.items():
        yield Observation(Observed.VISITS, f"{name}/", host.urls)
        if host.pages:
            yield Observation(Observed.FETCHED, f"{name}/", host.pages)
            yield Observation(Observed.SIZE, name, host.pages)
    for page, target, number in links:
        yield Observation(Observed.LINKS, f"{page}/", number, f"{target}/")


def carry_out(hub: HubConnection, replan: Replan, *, writes_homes: bool) -> None:
    """Publishes the routing, and says which hosts are to move; the pipelines do it. A partition that is held is a UserError.

    With `writes_homes` every host gets a row, since its home does not follow from its name by the new routing.
    """
    with hub.transaction():
        hold_last_run(hub)
        if hub.rows(_HELD):
            raise UserError("partitions are at work", "pause the run first: parcahyd cluster pause")
        if routing_now(hub)[0] != replan.version:
            raise UserError("somebody else has changed the routing meanwhile", "give the command again")
        ((is_wanted, is_moving),) = hub.rows(_UNDER_WAY)
        if is_wanted or is_moving:
            raise UserError(
                "sites are still on their way by the last plan", "try again when parcahyd cluster status shows none"
            )
        rule = f"{replan.strategy}: planned"
        going = {move.host for move in replan.moves}
        pins = [pin for pin in replan.pins if writes_homes or pin[0] in going or pin[0] in replan.waited]
        hub.many(_PIN, [{"site": name, "partition": home, "size": size or None, "rule": rule} for name, home, size in pins])
        hub.many(
            _MOVE,
            [{"site": one.host, "source": one.source, "target": one.target, "rule": rule} for one in replan.moves],
        )
        hub.run(_PUBLISH, version=replan.version + 1, strategy=replan.strategy, content=replan.state)
        for number, text in hub.rows(_LAST_RUN):
            settings = {**msgspec.json.decode(text), _SETTING: replan.strategy}
            hub.run(_SET_SETTINGS, id=number, text=msgspec.json.encode(settings).decode())


def want_move(hub: HubConnection, host: str, target: int, count: int) -> int:
    """Says that a host is to live elsewhere; returns where it lives now. A host that nobody knows is a UserError."""
    with hub.transaction():
        hold_last_run(hub)
        rows = hub.rows(_HOME, site=host)
        of_sites = in_each_partition(sites, count, "host").subquery()
        found = [(row[0], False) for row in hub.rows(select(of_sites.c.partition).where(of_sites.c.host == host).limit(1))]
        if not rows and not found:
            raise UserError(f"the crawl has no URL of {host}", "it is put somewhere when it is first found")
        source, is_moving = (rows or found)[0]
        if is_moving:
            raise UserError(f"{host} is on its way already", "try again when it has arrived: parcahyd explain shows it")
        hub.run(_UNWANT, site=host)
        if source != target:
            hub.run(_MOVE, site=host, source=source, target=target, rule="placed by hand")
    return int(source)
