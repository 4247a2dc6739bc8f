"""A crawl with a model: documents are labelled, and links of other topics are not followed."""

from __future__ import annotations

import gzip
from pathlib import Path

from parcahyd.topics.linear import train_linear
from tests.support.crawl import CrawlFactory, assert_user_error
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html, text
from tests.topics.small_corpus import COMMON, OWN, corpus


def _page(topic: str, *links: str) -> Answer:
    words = b" ".join([*COMMON, *OWN[topic]] * 3).decode()
    return html(topic, links, extra=f"<p>{words}</p>")


def _site() -> Site:
    pages: dict[str, Page] = {
        "/": html("Start", ("/t1", "/v1", "/notes.txt")),
        "/t1": _page("trains", "/t2"),
        "/t2": _page("trains"),
        "/v1": _page("violins", "/v2"),
        "/v2": _page("violins"),
        "/notes.txt": text("no page"),
    }
    return Site(pages)


def test_documents_are_labelled_and_links_of_other_topics_refused(
    server: SiteServer, crawl: CrawlFactory, tmp_path: Path
) -> None:
    listener = server.listen()
    server.put("", _site())
    model = tmp_path / "m.model"
    model.write_bytes(train_linear(corpus(), "en").encode())
    focused = crawl({"Work.Topics": str(model), "Work.FollowTopics": ["trains"], "Work.OtherTopics": "never"})
    focused.run(listener.url("/"))
    topics = {line["url"].rpartition("/")[2]: line["topic"] for line in focused.urls("--state", "stored")}
    assert topics == {"": "unclassifiable", "t1": "trains", "t2": "trains", "v1": "violins", "notes.txt": ""}
    assert focused.states()[listener.url("/v2")] == ("refused", "topic")
    assert [line["url"] for line in focused.urls("--topic", "violins")] == [listener.url("/v1")]
    assert focused.status()["topics"] == {"trains": 2, "unclassifiable": 1, "violins": 1}
    assert "trains" in focused.explain(listener.url("/t1"))
    focused.verify()
    assert focused.command("export", "warc", str(tmp_path / "out")).code == 0
    (file,) = (tmp_path / "out").rglob("*.warc.gz")
    assert gzip.decompress(file.read_bytes()).count(b"\r\ntopic: trains\r\n") == 2
    # Without the restriction the same crawl goes on.
    focused.run(sets={"Work.OtherTopics": "later"})
    assert focused.states()[listener.url("/v2")] == ("stored", "")


def test_a_model_that_cannot_be_used_is_one_line(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    crawled = crawl()
    finished = crawled.run(listener.url("/"), sets={"Work.Topics": "nothing.model"}, code=2)
    assert_user_error(finished, "nothing.model", "cannot be read")
    finished = crawled.run(listener.url("/"), sets={"Work.FollowTopics": ["trains"]}, code=2)
    assert_user_error(finished, "needs a model")
