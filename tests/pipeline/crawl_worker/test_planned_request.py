"""What requests send and what their answers name: validators that can be sent, and the target of a redirect."""

from __future__ import annotations

import pytest

from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import BadRecord, DueUrl, PageRecord, UnchangedRecord
from parcahyd.pipeline.crawl_worker.planned_request import redirect_target
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import World

UNSENDABLE = ['"caf\u00e9\x01"', '"caf\u00e9"', '"a\x01"', '"a\r\nCookie: b"', '"' + "x" * 1000 + '"']


@pytest.mark.parametrize("validator", UNSENDABLE)
def test_a_validator_that_cannot_be_sent_back_is_none(validator: str) -> None:
    html = DownloadResult(200, (("Content-Type", "text/html"), ("ETag", validator), ("Last-Modified", validator)), b"<p>")
    world = World({"/": html})
    world.visit("/")
    (record,) = world.of(PageRecord)
    assert (record.etag, record.modified) == ("", "")


@pytest.mark.parametrize("validator", UNSENDABLE)
def test_one_that_is_stored_all_the_same_is_not_sent(validator: str) -> None:
    world = World({"/": DownloadResult(304)})
    world.visit(urls=(DueUrl(key_of("/"), "/", state=1, etag=validator, modified="Sat, 01 Jan 2000 00:00:00 GMT"),))
    headers = dict(world.requests[-1].headers)
    assert "If-None-Match" not in headers
    assert headers["If-Modified-Since"] == "Sat, 01 Jan 2000 00:00:00 GMT"
    assert [record.path for record in world.of(UnchangedRecord)] == ["/"]


def test_a_redirect_leads_where_its_location_says() -> None:
    assert redirect_target(DownloadResult(301, (("Location", "../b#x"),)), "http://site.example/a/") == "http://site.example/b"
    assert redirect_target(DownloadResult(301), "http://site.example/a/") == ""


def test_a_304_to_a_request_without_validators_is_a_failure() -> None:
    world = World({"/": DownloadResult(304)})
    world.visit(urls=(DueUrl(key_of("/"), "/", state=1, etag=UNSENDABLE[0]),))
    assert world.of(UnchangedRecord) == []
    assert [record.reason for record in world.of(BadRecord)] == ["protocol"]
