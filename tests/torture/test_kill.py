"""Kill any process at any moment, while another may stand still, start again: nothing is lost, nothing is stored twice, and the
end is the same.

PARCAHYD_KILLS sets the number of kills (8), PARCAHYD_KILL_SEED the chance that chooses victims and moments.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

import psutil
import pytest

from tests.support.crawl import Crawl, CrawlFactory, Running
from tests.support.generated_site import generated_site
from tests.support.processes import KINDS, TEST_TIMEOUT, Kind, marked_processes, process_of_kind, wait_until
from tests.support.site_server import SiteServer, can_bind
from tests.support.sites import Answer, html, redirect, robots
from tests.torture.outcomes import KILLED, STOPPED, WENT_ON, Tried, write

_OUTCOMES = {0: WENT_ON, 1: STOPPED, -9: KILLED}
_PAGES = 110
_SIZE = 4000
_HOST_CONNECTIONS = 4
_BUFFER_BYTES = 65536
_WORKERS = 2
_SETTINGS = {
    "Work.MaxInstances": _WORKERS,
    "Work.HostConnections": _HOST_CONNECTIONS,
    "Work.BufferBytes": _BUFFER_BYTES,
    "Work.MaxSize": 10,
    # A run waits for sites that are left alone because several workers in a row died there before they brought anything.
    "Work.RetryDelay": 0.5,
    "Work.WaitForRetries": 60,
}


def _sites(server: SiteServer) -> list[str]:
    """Three sites on as many addresses as the machine has, so that both workers have visits; the seeds of a crawl."""
    listeners = [
        server.listen(address if can_bind(address) else "127.0.0.1") for address in ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    ]
    for number, listener in enumerate(listeners):
        abroad = [other.url(f"/part{part}/page{part}2.html") for other in listeners for part in (1, 3, 6)]
        site = generated_site(_PAGES, seed=number, size=_SIZE, latency=0.08, abroad=abroad)
        front = site.bodies()["/"].decode()
        lures = ["/moved", "/nothing", "/private/x", "/copy"]
        site.pages |= {
            "/": Answer((front + html("More", lures).body.decode()).encode()),
            "/moved": redirect("/copy"),
            "/copy": html("The same on every site"),
            "/robots.txt": robots("User-agent: *\nDisallow: /private/\n"),
        }
        server.put(listener.authority, site)
    return [listener.url() for listener in listeners]


@dataclass
class _Torture:
    """Chooses victims and moments, and remembers where in the server's log each kill fell."""

    server: SiteServer
    crawl: Crawl
    chance: random.Random
    kills: list[tuple[Kind, int, int]] = field(default_factory=list)
    """Each with the length of the server's log before it and after the victim was gone."""
    outcomes: list[str] = field(default_factory=list)
    """What each did to its run."""

    def disturb(self, running: Running, kill_number: int, kills: int) -> None:
        """Kills one process of the run at a moment of chance, and waits until what has to end has ended."""
        kind = self.chance.choice(KINDS)
        self._await_moment(running, kill_number, kills)
        victim = None

        def found() -> bool:
            nonlocal victim
            victim = process_of_kind(running.mark, kind)
            return victim is not None or running.process.poll() is not None

        assert wait_until(found), f"no {kind} process:\n{running.said()}"
        if victim is None:
            return
        with self._another_held(running, victim):
            before = len(self.server.log)
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        code = 0
        if kind == "worker":
            victim.wait(TEST_TIMEOUT)
        else:
            code = running.wait()
            assert code in (-9 if kind == "coordinator" else 1, 0), running.said()  # 0 when it was just about to end.
            assert wait_until(lambda: not marked_processes(running.mark)), f"orphans: {marked_processes(running.mark)}"
        assert "Traceback" not in running.said(), running.said()
        self.kills.append((kind, before, len(self.server.log)))
        self.outcomes.append(_OUTCOMES[code])

    @contextlib.contextmanager
    def _another_held(self, running: Running, victim: psutil.Process) -> Iterator[None]:
        """Half of the time, another process of the run stands still for a while before the death and after it."""
        held = process_of_kind(running.mark, self.chance.choice(KINDS)) if self.chance.random() < 0.5 else None
        if held is None or held.pid == victim.pid:
            yield
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            held.suspend()
            time.sleep(self.chance.random() * 0.3)
        try:
            yield
        finally:
            time.sleep(self.chance.random() * 0.1)
            with contextlib.suppress(psutil.NoSuchProcess):
                held.resume()

    def _await_moment(self, running: Running, kill_number: int, kills: int) -> None:
        """Some kills fall while a run starts, the others when a share of the pages has been asked for."""
        if self.chance.random() < 0.25:
            time.sleep(self.chance.random() * 0.8)
            return
        share = (kill_number + self.chance.random()) / kills
        enough = int(share * 3 * _PAGES)
        wait_until(lambda: len(set(self._asked())) >= enough or running.process.poll() is not None, pause=0.001)
        time.sleep(self.chance.random() * 0.05)

    def _asked(self) -> list[str]:
        return [entry.url for entry in self.server.requests()]

    def refetched(self) -> list[int]:
        """For each kill, how many URLs were asked for again after it that had been asked for before.

        What is asked for while a victim dies may be its last request, or another worker's that goes on for it already. A busy
        server comes to the victim's last requests later, at most as many as were on the wire.
        """
        late = 3 * _HOST_CONNECTIONS
        again = [0] * len(self.kills)
        seen: dict[str, int] = {}
        for position, entry in enumerate(self.server.log):
            if entry.target == "/robots.txt":
                continue
            begun = sum(before <= position for _, before, _ in self.kills)
            if entry.url in seen:
                assert seen[entry.url] < begun, f"{entry.url} was asked for twice without a kill in between"
                again[begun - 1] += 1
            seen[entry.url] = sum(after + late <= position for _, _, after in self.kills)
        return again


def test_killed_crawls_end_like_undisturbed_ones(server: SiteServer, crawl_on: CrawlFactory, crawl_apart: CrawlFactory) -> None:
    kills = int(os.environ.get("PARCAHYD_KILLS", "8"))
    seed = int(os.environ.get("PARCAHYD_KILL_SEED", str(random.randrange(10**6))))
    print(f"PARCAHYD_KILLS={kills} PARCAHYD_KILL_SEED={seed}")
    seeds = _sites(server)

    calm = crawl_apart(_SETTINGS)
    calm.run(*seeds)
    server.forget()

    crawl = crawl_on(_SETTINGS)
    torture = _Torture(server, crawl, random.Random(seed))
    number = 0
    while number < kills:
        with crawl.start(*seeds) as running:
            while number < kills and running.process.poll() is None:
                torture.disturb(running, number, kills)
                number += 1
            running.wait()
    crawl.run(*seeds)

    assert crawl.states() == calm.states(), crawl.status()
    assert crawl.digests() == calm.digests()
    crawl.verify()
    again = torture.refetched()
    print(f"kills: {Counter(kind for kind, _, _ in torture.kills)}; asked for again after each: {again}, {sum(again)} in all")
    # What a kill can cost: the requests on the wire, and what was fetched but not committed, for which each worker has its
    # share of BufferBytes as credit. A page's record is larger than its text, and the last one may overdraw the credit.
    assert max(again, default=0) <= 3 * _HOST_CONNECTIONS + _WORKERS * ceil(_BUFFER_BYTES / _WORKERS / _SIZE)
    for number, ((kind, _, _), outcome) in enumerate(zip(torture.kills, torture.outcomes, strict=True), 1):
        write(Tried("crash", f"any moment in {kind}", "kill", number, outcome))


@pytest.mark.parametrize("kind", KINDS)
def test_the_death_of_each_kind(server: SiteServer, crawl: CrawlFactory, kind: Kind) -> None:
    """A worker is replaced and the run goes on; without Update Database or coordinator every process ends by itself."""
    seeds = _sites(server)
    running_crawl = crawl(_SETTINGS)
    with server.holding(lambda _: len(server.targets()) > 30) as release, running_crawl.start(*seeds) as running:
        assert wait_until(lambda: len(server.targets()) > 30), running.said()
        victim = process_of_kind(running.mark, kind)
        assert victim is not None
        victim.kill()
        release()
        code = running.wait()
        assert code == {"worker": 0, "coordinator": -9, "update database": 1}[kind], running.said()
        assert wait_until(lambda: not marked_processes(running.mark)), marked_processes(running.mark)
    if kind != "worker":
        running_crawl.run()
    assert len(running_crawl.stored()) == 3 * (_PAGES + 1)
    running_crawl.verify()
