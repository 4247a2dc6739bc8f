"""`parcahyd run` with LocalInstance = false: Ray places agents on the machines of ListIP, and the crawl of all is shown.

Tested in tests/cli/test_run_on_cluster.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import msgspec

from parcahyd.cli.cluster_beginning import agreed_settings, begin_run, canonical_seeds, make_hub, seed_mistakes
from parcahyd.cli.cluster_connection import connected
from parcahyd.cli.cluster_run import steer
from parcahyd.cli.cluster_status import BETWEEN_LOOKS, draw, status_object
from parcahyd.cli.exit_codes import print_error
from parcahyd.cli.options import open_reports
from parcahyd.cli.seed_list import GivenSeed, print_seed_errors
from parcahyd.cli.wording import outcome_words
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import boot_time
from parcahyd.cluster.identity import ClusterFacts, ClusterIdentity
from parcahyd.cluster.overview import ClusterNow, Overview
from parcahyd.cluster.runs import STOPPED
from parcahyd.config.database_url import hub_address, shown_database_url, sqlite_file
from parcahyd.config.explaining import declared
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import StoreFailure, UserError
from parcahyd.processes.agent_keeper import AgentPlace
from parcahyd.processes.ray_placement import AgentNews, RayPlacement, require_ray

__all__ = ["AgentsWatch", "RunOptions", "crawl_on_cluster", "require_cluster"]

_PATIENCE = 15.0
"""Seconds in which agents end by themselves after the run."""
_DONE, _INTERRUPTED, _USER_ERROR = 0, 130, 2
_PREFIX = "parcahyd: "


class RunOptions(msgspec.Struct, frozen=True):
    """The options of `parcahyd run` that a cluster knows."""

    forever: bool
    as_configured: bool
    quiet: bool
    interval: float
    attached: bool | None
    """None: as suits where it runs."""


def require_cluster(configuration: Configuration) -> None:
    """Raises UserError for what keeps this configuration from being a cluster's."""
    if sqlite_file(shown_database_url(configuration)):
        raise UserError(
            "LocalInstance = false: several machines cannot share a file as their database",
            'write DbUrl = "postgresql://USER@HOST/NAME", or LocalInstance = true',
        )
    if not configuration.has_folder:
        raise UserError(
            "LocalInstance = false: each machine reads its own configuration folder, and this one has none",
            "name a folder that every machine has, with --conf DIR",
        )
    if only_here := _only_here(configuration):
        raise UserError(
            f"{', '.join(only_here)}: --set reaches no other machine",
            "write it into the configuration folder of every machine",
        )
    require_ray()


def _only_here(configuration: Configuration) -> list[str]:
    """Settings of `--set` that neither the run's record nor Ray brings to other machines."""
    return [
        f"{which}.{setting.key}"
        for which in ("Map", "Work")
        for setting in declared(which).values()
        if setting.belongs_to not in ("crawl", "apart") and configuration.sources.get(f"{which}.{setting.key}") == "--set"
    ]


def crawl_on_cluster(configuration: Configuration, seeds: Sequence[GivenSeed], options: RunOptions) -> int:
    """Crawls until the run is over; returns the exit code."""
    require_cluster(configuration)
    if errors := seed_mistakes(configuration, seeds):
        return print_seed_errors(errors)
    say: Callable[[str], None] = _say_nothing if options.quiet else _say
    facts = _hub(configuration, say)
    machines = configuration.machines or ("",)
    places = [AgentPlace(one, hub_address(configuration), configuration.folder, options.forever) for one in machines]
    with ExitStack() as stack:
        placement = RayPlacement.begin(facts.id, places)
        stack.callback(placement.close)
        is_attached = _is_attached(options, placement)
        say(_placed(placement))
        hub = stack.enter_context(connected(configuration))
        texts = [seed.text for seed in seeds]
        try:
            begun, lines = begin_run(hub, facts, configuration, texts, as_configured=options.as_configured, tell=say)
        except BaseException:
            placement.remove(only_new=True)
            raise
        for line in lines:
            say(line)
        watch = AgentsWatch(placement, say)
        looks = _until_over(hub, begun.run.id, watch)
        try:
            last = _show(looks, shown_database_url(configuration), options)
        except KeyboardInterrupt:
            if not is_attached:
                say("detached: the crawl goes on (parcahyd cluster status --watch shows it, parcahyd cluster stop ends it)")
                return _INTERRUPTED
            code = steer(hub, lambda runs: runs.change(STOPPED), "is stopped")
            placement.remove(patience=_PATIENCE)
            return code or _INTERRUPTED
        except UserError:
            placement.remove()
            raise
        placement.remove(patience=_PATIENCE)
    return _finish(configuration, last, texts, options)


def _hub(configuration: Configuration, say: Callable[[str], None]) -> ClusterFacts:
    """The cluster of the database, which is made where there is none."""
    with connected(configuration) as hub:
        if ClusterIdentity(hub).is_made():
            return ClusterIdentity(hub).read()
    facts, sentence = make_hub(configuration)
    say(f"The database had no cluster. {sentence}")
    return facts


def _is_attached(options: RunOptions, placement: RayPlacement) -> bool:
    if options.attached is None:
        return placement.is_own or sys.stdout.isatty()
    if placement.is_own and not options.attached:
        placement.remove()
        raise UserError(
            "--detached: no Ray cluster is running here, and one that this command starts ends with it",
            "start Ray first (docs/cluster-ray.md), or leave --detached out",
        )
    return options.attached


def _placed(placement: RayPlacement) -> str:
    ray = "a Ray of its own on this machine" if placement.is_own else f"the Ray cluster at {placement.placed.ray}"
    return f"Agents at {', '.join(placement.placed.addresses)}, by {ray}."


# --- while it runs ------------------------------------------------------------------------------------------------------


class AgentsWatch:
    """Tells what becomes of agents, and ends the command where none of them can work."""

    def __init__(self, placement: RayPlacement, say: Callable[[str], None]) -> None:
        self._placement = placement
        self._say = say
        self._last: dict[str, AgentNews] = {}
        self._has_told_loss = False

    def look(self, now: ClusterNow | None) -> None:
        """Raises UserError where every agent ends with a mistake of the user's, and nobody holds a partition."""
        for news in self._placement.news():
            before = self._last.get(news.address)
            self._last[news.address] = news
            for line in _news_lines(before, news):
                self._say(line)
        if self._placement.is_lost and not self._has_told_loss:
            self._has_told_loss = True
            self._say(
                "Ray does not answer any more. Agents work on as long as Ray lets them; when it is started again, the same "
                "command goes on."
            )
        is_held = now is None or any(one.node is not None for one in now.partitions)
        known = [self._last.get(address) for address in self._placement.placed.addresses]
        if not is_held and all(news is not None and news.code == _USER_ERROR for news in known):
            first = next(news for news in known if news is not None)
            raise UserError(f"the agent at {first.address} cannot work: {first.said.removeprefix(_PREFIX)}", "")


def _news_lines(before: AgentNews | None, news: AgentNews) -> Iterator[str]:
    was_there = before is None or before.is_there
    if was_there and not news.is_there:
        yield f"Ray's actor at {news.address} does not answer; Ray starts it again when its machine is there."
    elif not was_there and news.is_there:
        yield f"Ray's actor at {news.address} is there again."
    if news.is_there and news.code is not None and (before is None or before.starts < news.starts or before.code is None):
        why = f": {news.said.removeprefix(_PREFIX)}" if news.said else ""
        if news.code != _DONE:
            yield f"the agent at {news.address} has ended with exit code {news.code} and is started again{why}"


def _until_over(hub: HubConnection, run: int, watch: AgentsWatch) -> Iterator[ClusterNow]:
    """Looks at the cluster until the run is over."""
    overview = Overview(hub, boot_time)
    was_away = False
    while True:
        now = None
        try:
            now = overview.look()
        except StoreFailure as error:
            if not was_away:
                _say(f"the hub does not answer: {error}")
            was_away = True
        if now is not None:
            was_away = False
            yield now
            if now.run is None or now.run.id != run or now.run.outcome is not None:
                return
        watch.look(now)
        time.sleep(BETWEEN_LOOKS)


def _show(looks: Iterator[ClusterNow], place: str, options: RunOptions) -> ClusterNow:
    """Shows each look as `run` does on one machine; returns the last one."""
    kept: list[ClusterNow] = []

    def keep() -> Iterator[ClusterNow]:
        for now in looks:
            kept[:] = [now]
            yield now

    if options.quiet:
        for _ in keep():
            continue
    elif sys.stdout.isatty():
        draw(keep(), place)
    else:
        _write_lines(keep(), place, options.interval)
    return kept[0]


def _write_lines(looks: Iterator[ClusterNow], place: str, interval: float) -> None:
    """One JSON object per line: progress in each interval, and a summary at the end."""
    due = time.monotonic() + interval
    for now in looks:
        is_over = now.run is not None and now.run.outcome is not None
        if is_over or time.monotonic() >= due:
            due = time.monotonic() + interval
            line = {"event": "summary" if is_over else "progress", "time": round(time.time(), 3), **status_object(now, place)}
            sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
            sys.stdout.buffer.flush()


def _finish(configuration: Configuration, last: ClusterNow, seeds: Sequence[str], options: RunOptions) -> int:
    """The exit code, as on one machine: a run that stored nothing says why."""
    run = last.run
    if run is None or run.outcome is None:
        raise UserError("another run has begun", "see parcahyd cluster status")
    if not options.quiet:
        _say(f"Run {run.id} is over: {outcome_words(run.outcome)}.")
    if run.outcome == STOPPED:
        return _INTERRUPTED
    if run.pages:
        return _DONE
    from parcahyd.cli.run_outcome import print_outcome

    with connected(configuration) as hub:
        agreed = agreed_settings(hub, configuration, as_configured=True).configuration
    did_nothing = not any(one.report.get("requests") for one in last.partitions)
    with open_reports(configuration) as reports:
        stored = canonical_seeds(agreed, seeds)
        return print_outcome(reports, stored, time.time(), did_nothing=did_nothing, quiet=options.quiet)


def _say(sentence: str) -> None:
    print_error(sentence, 0)


def _say_nothing(sentence: str) -> None:
    """--quiet."""
