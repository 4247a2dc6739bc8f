"""With Eager = "auto", tables of links are requested only where that saves time."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadRequest
from parcahyd.core.records import PageRecord
from tests.pipeline.crawl_worker.linked_pages import chain, eager, robots, table, text
from tests.pipeline.crawl_worker.world import Answer, World, page


class Timed(World):
    """A world in which every answer takes its own time."""

    def __init__(self, site: dict[str, Answer], work: WorkConf, times: object) -> None:
        super().__init__(site, work)
        self._times = times

    def start(self, request: DownloadRequest, done: object) -> None:
        assert callable(self._times)
        self.duration = self._times(request)
        super().start(request, done)  # type: ignore[arg-type]


def test_auto_asks_for_a_bundle_where_pages_come_one_by_one() -> None:
    world = World(chain(11), eager(Eager="auto"))
    world.visit("/0.html")
    assert world.paths()[:6] == ["/robots.txt", "/0.html", "/1.html", "/2.html", "/site.TOL", "/3.html"]
    assert world.time - 1000.0 == pytest.approx(5 * 0.5)


@pytest.mark.parametrize("settings", [{"HostDelay": 0.1}, {"HostConnections": 1}, {"Connections": 1}])
def test_auto_asks_for_nothing_where_a_page_would_have_to_wait(settings: dict[str, object]) -> None:
    world = World(chain(12), eager(Eager="auto", **settings))
    world.visit("/0.html")
    assert "/site.TOL" not in world.paths()


def test_auto_asks_for_nothing_where_there_is_always_something_to_do() -> None:
    names = [f"{number}.html" for number in range(100)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page(*names) for name in names}}
    site |= {"/robots.txt": robots("Augment: 1; tol={stem}.TOL; bundle=/site.TOL")}
    world = World(site, eager(Eager="auto"))
    world.visit("/")
    assert [path for path in world.paths() if path.endswith(".TOL")] == []


def test_auto_asks_for_a_bundle_for_the_sake_of_others_where_it_is_one_request_in_a_hundred() -> None:
    names = [f"{number}.html" for number in range(120)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page(f"http://far.example/{name}") for name in names}}
    site |= {"/robots.txt": robots("Augment: 1; bundle=/site.TOL"), "/site.TOL": text(table(page("z.html"), "0.html"))}
    asked = {}
    for scope in ("any", "site"):
        world = World(site, eager(Eager="auto", HostDelay=1.0, HostConnections=1, Scope=scope))
        world.visit("/")
        asked[scope] = (
            world.paths().count("/site.TOL"),
            [request.max_bytes for request in world.requests if "site.TOL" in request.url],
        )
    assert asked["site"] == (0, [])
    assert asked["any"][0] == 1
    assert asked["any"][1][0] < 2 * len(page(*names).body)


def test_auto_spends_one_request_in_a_hundred_for_others_however_many_bundles_there_are() -> None:
    names = [f"{number}.html" for number in range(250)]
    bundles = [f"/{number}.TOL" for number in range(50)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page() for name in names}}
    site["/robots.txt"] = robots(*(f"Augment: 1; scope=/{name}; bundle={name}" for name in bundles))
    site |= dict.fromkeys(bundles, text(table(page("z.html"), "0.html")))
    world = World(site, eager(Eager="auto", HostDelay=1.0, HostConnections=1, Scope="any"))
    world.visit("/")
    assert [path for path in world.paths() if path.endswith(".TOL")] == bundles[:1]
    assert len(world.of(PageRecord)) == 251


def test_auto_asks_for_tables_of_pages_while_a_slow_server_thinks() -> None:
    site = chain(10)
    site["/robots.txt"] = robots("Augment: 1; tol={stem}.TOL")
    site |= {f"/{number}.TOL": text(table(site[f"/{number}.html"], f"{number}.html")) for number in range(10)}  # type: ignore[arg-type]

    def times(request: DownloadRequest) -> float:
        return 2.0 if request.url.endswith(".html") else 0.1

    plain, auto = Timed(site, eager(Eager="never"), times), Timed(site, eager(Eager="auto"), times)
    plain.visit("/0.html")
    auto.visit("/0.html")
    assert plain.time - 1000.0 == pytest.approx(0.1 + 10 * 2.0)
    assert auto.time - 1000.0 < 10.0
    # Tables that take as long as pages bring nothing, and are soon left alone.
    same = Timed(site, eager(Eager="auto"), lambda request: 0.1 if "robots" in request.url else 2.0)
    same.visit("/0.html")
    assert same.time - 1000.0 <= plain.time - 1000.0
