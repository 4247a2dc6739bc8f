"""How a cluster and its runs begin, for `parcahyd cluster` and for `parcahyd run` with LocalInstance = false.

Tested in tests/cli/test_cluster.py and tests/cli/test_run_on_cluster.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from parcahyd.cli.cluster_connection import connected
from parcahyd.cli.options import print_hint
from parcahyd.cli.seed_list import GivenSeed, seed_errors
from parcahyd.cli.seed_schemes import scheme_errors
from parcahyd.cli.wording import plural, span
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterFacts, ClusterIdentity
from parcahyd.cluster.planning import name_strategy, read_routing
from parcahyd.cluster.quotas import MAX_PAGES
from parcahyd.cluster.runs import PAUSED, Runs
from parcahyd.cluster.server_checks import check_server
from parcahyd.cluster.starting import Begun, SeedSower
from parcahyd.config.database_url import database_url
from parcahyd.config.remembered import GIVEN, AgreedSettings, given, read_record, recorded, take_over
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import Observed, Partitioner, Routing
from parcahyd.plugin_manager import PluginManager
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.cross_links import ALWAYS_LOCAL
from parcahyd.rules.urls.parameters import Canon

__all__ = [
    "LEASE",
    "PER_MACHINE",
    "agreed_settings",
    "begin_run",
    "canonical_seeds",
    "check_probes",
    "make_hub",
    "seed_mistakes",
    "sower",
]

PER_MACHINE = 4
LEASE = 20.0
"""Seconds."""


def make_hub(configuration: Configuration, partitions: int | None = None, lease: float = LEASE) -> tuple[ClusterFacts, str]:
    """Makes the hub, after the server was checked; returns what it is, also as a sentence.

    `partitions` is None for as many as suit the machines of ListIP.
    """
    machines = max(len(configuration.machines), 1)
    count = partitions or PER_MACHINE * machines
    check_server(database_url(configuration), count, machines, print_hint)
    with connected(configuration) as hub:
        facts = ClusterIdentity(hub).init(count, lease)
    return facts, f"Cluster {facts.id} has {plural(facts.partitions, 'partition')} and a lease of {span(facts.lease)}."


def seed_mistakes(configuration: Configuration, seeds: Sequence[GivenSeed]) -> list[UserError]:
    """What is wrong with seeds: as on one machine, and that they lead to documents of one machine."""
    texts = [seed.text for seed in seeds]
    if errors := seed_errors(seeds) or scheme_errors(configuration, texts):
        return errors
    local = PluginManager.load(configuration).local_schemes | ALWAYS_LOCAL
    return [
        UserError(f'seed "{text}": it is a document of one machine', "crawl it there, with parcahyd run")
        for text in texts
        if (canonical(text) or "").partition(":")[0] in local
    ]


def begin_run(
    hub: HubConnection,
    facts: ClusterFacts,
    configuration: Configuration,
    seeds: Iterable[str],
    *,
    as_configured: bool,
    tell: Callable[[str], None],
) -> tuple[Begun, list[str]]:
    """Begins a run with these settings and seeds, or joins the one under way; returns also what to say of it.

    `tell` gets a line for each setting that is taken over from the last run or differs from it.
    """
    is_joined = Runs(hub).current() is not None
    agreed = agreed_settings(hub, configuration, as_configured=as_configured or is_joined)
    for line in () if is_joined else agreed.told:
        tell(line)
    work = agreed.configuration.work
    if not is_joined:
        routing = Routing(facts.partitions, secret=facts.secret)
        check_probes(PluginManager.load(agreed.configuration).partitioner(routing), work.Partition)
        _check_strategy(hub, work.Partition)
    settings = {**recorded(agreed.configuration), GIVEN: given(agreed.configuration)}
    begun = sower(hub, facts, agreed.configuration).begin(
        msgspec.json.encode(settings).decode(),
        {MAX_PAGES: work.MaxPages} if work.MaxPages else {},
        canonical_seeds(agreed.configuration, seeds),
    )
    return begun, list(_lines(begun, agreed))


def check_probes(partitioner: Partitioner, name: str) -> None:
    """UserError for a strategy that wants to be told how near addresses are: no pipeline measures that."""
    if Observed.PROBE in partitioner.observes:
        raise UserError(
            f'"{name}" goes by measurements that the machines of a cluster do not make yet',
            "choose another Partition; parcahyd lab locate shows what it would do",
        )


def _check_strategy(hub: HubConnection, name: str) -> None:
    """Sites live where the strategy put them. With another one, each of them would have to move first."""
    present = name_strategy(hub, name)
    if present != name:
        raise UserError(
            f'this crawl is divided by "{present}", and Partition is "{name}"',
            f"have its sites moved: parcahyd cluster partition {name}; or give --set 'Work.Partition=\"{present}\"'",
        )


def _lines(begun: Begun, agreed: AgreedSettings) -> Iterable[str]:
    run, seeds = begun.run, plural(begun.new_seeds, "new seed")
    if begun.is_new:
        yield f"Run {run.id} begins with {plural(begun.new_seeds, 'seed')}."
        return
    yield f"Run {run.id} is under way; it is given {seeds}."
    if agreed.told:
        yield "It keeps the settings that it began with; those of the next run are read when that is started."
    if run.wanted == PAUSED:
        yield "It is paused: parcahyd cluster resume lets it go on."


def agreed_settings(hub: HubConnection, configuration: Configuration, *, as_configured: bool) -> AgreedSettings:
    """The settings with what they take over from the last run, or from the one under way."""
    last = Runs(hub).last_settings()
    return take_over(configuration, None if last is None else read_record(last), as_configured=as_configured)


def sower(hub: HubConnection, facts: ClusterFacts, configuration: Configuration) -> SeedSower:
    """Who gives seeds to the partitions in which they live, by the newest routing."""
    version, _, state = read_routing(hub)
    routing = Routing(facts.partitions, version, state, facts.secret)
    return SeedSower(hub, facts, PluginManager.load(configuration).partitioner(routing))


def canonical_seeds(configuration: Configuration, seeds: Iterable[str]) -> list[str]:
    """The spelling by which the crawl knows these URLs, which were checked before."""
    canon = Canon.of(configuration.work)
    found = (url for url in map(canonical, seeds) if url is not None)
    return list(dict.fromkeys(url if canon is None else canon.apply(url) for url in found))
