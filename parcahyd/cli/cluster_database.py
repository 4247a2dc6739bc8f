"""What `explain` and `verify` say besides where the database is a cluster's."""

from __future__ import annotations

from collections.abc import Iterator

from parcahyd.cli.url_report import labelled
from parcahyd.cli.wording import utc_time
from parcahyd.cluster.ownership import SubjectOwner, UrlHome, read_home, read_owners, routing_of
from parcahyd.cluster.verification import cluster_findings, finished_run, partitions_of_moves
from parcahyd.config.remembered import take_over
from parcahyd.config.schema import Configuration
from parcahyd.core.partitions import Partitioner
from parcahyd.plugin_manager import PluginManager
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import Finding, UrlDetails

__all__ = ["findings_of_cluster", "ownership_lines"]


def findings_of_cluster(reports: Reports, of_partitions: Iterator[Finding], configuration: Configuration) -> Iterator[Finding]:
    """The findings of the partitions, then those about several of them and the hub."""
    finished = finished_run(reports.reader)
    moving = partitions_of_moves(reports.reader)
    for finding in of_partitions:
        # What refers to each other is in two partitions until a site has wholly come.
        if finding.partition in moving:
            continue
        # Nothing keeps a run from beginning meanwhile, and its visits are open.
        if finding.kind != "visit" or finished_run(reports.reader) == finished:
            yield finding
    for number in sorted(moving):
        sentence = "Sites are on their way from it or to it, so it was not checked; check again when the run has moved them."
        yield Finding(kind="moving", subject="sites", sentence=sentence, partition=number)
    partitioner, _ = _strategy(reports, configuration)
    yield from cluster_findings(reports.reader, one_home=partitioner.one_home)


def ownership_lines(reports: Reports, url: str, site: UrlDetails | None, configuration: Configuration) -> Iterator[str]:
    """Whose a URL is, and who has its host and addresses; `site` holds the details of any URL of the same site."""
    partitioner, name = _strategy(reports, configuration)
    home = read_home(reports.reader, url, partitioner)
    yield labelled("home", _home(home, split(url)[1], name))
    if home.moving_from is not None:
        yield labelled("", f"it moves there from partition {home.moving_from}, whose rows of it have not all come")
    elsewhere = [str(number) for number in home.found_in if number != home.partition]
    if elsewhere:
        yield labelled("", f"rows of its site are in partition {' and '.join(elsewhere)}")
    if home.partition is not None:
        wanted = f"; it is wanted on {home.wanted_on}" if home.wanted_on not in (None, home.node) else ""
        yield labelled("node", (f"{home.node} runs that partition" if home.node else "nobody runs that partition now") + wanted)
    owners = read_owners(reports.reader, split(url)[1], site.addresses if site is not None else ())
    if not owners:
        yield labelled("requests", "no partition has claimed its host or an address of it")
    for number, owner in enumerate(owners):
        yield labelled("" if number else "requests", f"{owner.subject}: {_owner(owner)}")
        for waiting in owner.waiting:
            yield labelled("", f"{owner.subject}: partition {waiting.partition} waits with ticket {waiting.ticket}")


def _strategy(reports: Reports, configuration: Configuration) -> tuple[Partitioner, str]:
    """The partition strategy as the last run has it, and its name."""
    agreed = take_over(configuration, reports.last_settings(), as_configured=True).configuration
    return PluginManager.load(agreed).partitioner(routing_of(reports.reader)), agreed.work.Partition


def _home(home: UrlHome, host: str, strategy: str) -> str:
    if home.partition is None:
        return f'none yet: the strategy "{strategy}" has not decided'
    if home.is_on_record:
        why = f" ({home.rule})" if home.rule else ""
        when = f" since {utc_time(home.since)}" if home.since else ""
        return f"partition {home.partition}: {host} was given to it, which is on record{when}{why}"
    return f'partition {home.partition}: the strategy "{strategy}" says so'


def _owner(owner: SubjectOwner) -> str:
    if owner.partition is None:
        return "free"
    if owner.is_stale:
        return f"free once it has rested: the tree of partition {owner.partition} that had it is gone"
    return f"partition {owner.partition} has it, on {owner.node}"
