"""A visit that follows the links of some topics first, or only: the worker labels, LocalQ orders."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, PageRecord
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, LaterUrls, Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.topics.linear import train_linear
from tests.pipeline.crawl_worker.world import Answer, World, page
from tests.topics.small_corpus import COMMON, OWN, corpus

MODEL = train_linear(corpus(), "en")
PAGES = {
    "/": (None, ("/v1", "/t1")),
    "/v1": ("violins", ("/v2", "/t2", "/both")),
    "/t1": ("trains", ("/t3", "/both")),
    "/v2": ("violins", ()),
    "/t2": ("trains", ()),
    "/t3": ("trains", ()),
    "/both": ("trains", ()),
}


def site() -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    for path, (topic, links) in PAGES.items():
        words = b" ".join([*COMMON, *(OWN[topic] if topic else COMMON)] * 2)
        answer = page(*links)
        answers[path] = DownloadResult(200, answer.headers, b"%b<p>%b</p>" % (answer.body, words))
    return answers


def crawled(other: str) -> World:
    work = WorkConf(HostDelay=0.0, HostConnections=1, Topics="model", FollowTopics=("trains",), OtherTopics=other)  # type: ignore[arg-type]
    world = World(site(), work, topics=MODEL)
    world.visit(urls=(DueUrl(key_of("/"), "/", seed=True),))
    return world


def paths(world: World) -> list[str]:
    return [path for path in world.paths() if path != "/robots.txt"]


def test_links_of_other_topics_are_followed_after_all_others() -> None:
    world = crawled("later")
    # While the only page of a chosen topic is on the wire, what waits for the others has its turn.
    assert paths(world) == ["/", "/v1", "/t1", "/v2", "/both", "/t3", "/t2"]
    topics = {page.path: (page.topic, page.is_later) for page in world.of(PageRecord)}
    assert topics["/v1"] == ("violins", True)
    assert topics["/t1"] == ("trains", False)
    assert not topics["/"][1]


def test_a_link_that_waits_comes_forward_with_a_page_of_a_chosen_topic() -> None:
    world = crawled("later")
    found = {page.path: page.internal for page in world.of(PageRecord)}
    assert found["/v1"] == ("/v2", "/t2", "/both")
    assert found["/t1"] == ("/t3", "/both"), "the database is told, so that a later visit knows, too"
    assert paths(world).count("/both") == 1


def test_links_of_other_topics_are_refused_until_another_page_has_them() -> None:
    world = crawled("never")
    assert paths(world) == ["/", "/v1", "/t1", "/t3", "/both"]
    refused = {page.path: page.refused for page in world.of(PageRecord)}
    assert refused["/v1"] == (("topic", "/v2"), ("topic", "/t2"), ("topic", "/both"))


def test_without_a_model_nothing_is_labelled() -> None:
    world = World(site(), WorkConf(HostDelay=0.0))
    world.visit(urls=(DueUrl(key_of("/"), "/", seed=True),))
    assert {page.topic for page in world.of(PageRecord)} == {""}


def test_an_order_by_rank_is_told_all_links_of_a_page() -> None:
    world = World(site(), WorkConf(HostDelay=0.0, HostConnections=1, Order="pagerank"))
    world.visit(urls=tuple(DueUrl(key_of(path), path, depth) for depth, path in enumerate(("/v1", "/t1", "/"), 1)))
    assert paths(world) == ["/v1", "/t1", "/"], "those of the lease in its order, and none that they lead to"
    told = {page.path: (page.internal, page.linked, page.links_found) for page in world.of(PageRecord)}
    assert told["/t1"] == (("/t3",), ("/both",), 2)
    assert told["/"] == ((), ("/v1", "/t1"), 2)


def test_later_urls_wait_behind_the_others_of_a_lease() -> None:
    taken: list[int] = []
    room = Room(10, 10, 10)
    queue = LocalQ([DueUrl(1, "/late", is_later=True), DueUrl(2, "/a"), DueUrl(3, "/later", is_later=True)], room)
    queue.later_taken = taken.append
    assert queue.extend([(3, "/later"), (4, "/new")], 1, 10) == 1
    assert queue.extend([(1, "/late"), (5, "/latest")], 1, 10, is_later=True) == 1
    assert [queue.pop().path for _ in range(len(queue))] == ["/a", "/later", "/new", "/late", "/latest"]
    assert taken == [1, 5]
    assert room.urls == 10


def test_later_urls_take_no_place_that_others_need() -> None:
    room = Room(3, 10, 10)
    queue = LocalQ([DueUrl(1, "/a", is_later=True), DueUrl(2, "/b", is_later=True)], room)
    assert queue.extend([(3, "/c"), (4, "/d")], 1, 10) == 2
    assert [url.path for url in queue] == ["/c", "/d", "/a"]
    assert (queue.in_order, room.urls) == (2, 0)
    assert queue.extend([(5, "/e")], 1, 10, is_later=True) == 0


def test_a_visit_of_few_pages_spends_them_on_chosen_topics() -> None:
    work = WorkConf(HostDelay=0.0, HostConnections=1, Topics="model", FollowTopics=("trains",))
    world = World(site(), work, topics=MODEL)
    world.visit(urls=(DueUrl(key_of("/"), "/", seed=True),), pages=6)
    assert paths(world) == ["/", "/v1", "/t1", "/v2", "/both", "/t3"]


def test_what_waits_is_not_known_to_other_pages() -> None:
    room = Room(10, 10, 10)
    known = KnownUrls(b"", True, room)
    later = LaterUrls(known, room)
    assert later.add(1)
    assert not later.add(1)
    assert 1 not in known
    assert known.add(1)
    assert known.add(2)
    assert not later.add(2)
