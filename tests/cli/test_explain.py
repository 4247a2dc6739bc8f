from __future__ import annotations

import pytest

from parcahyd.cli import main
from parcahyd.sample.server import site_files

from .conftest import Crawl


def _story(crawl: Crawl, url: str, capsys: pytest.CaptureFixture[str], *others: str) -> dict[str, str]:
    """The lines by label; lines without one belong to the label above."""
    assert main(crawl.arguments("explain", url, *others)) == 0
    story: dict[str, str] = {}
    label = ""
    for line in capsys.readouterr().out.splitlines():
        label = line[:10].strip() or label
        story[label] = f"{story[label]}\n{line[11:]}" if label in story else line[11:]
    return story


def test_a_stored_document(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    story = _story(crawl, f"{crawl.site}x/../kettles/copper.html#whistle", capsys)
    assert story["url"] == f"{crawl.site}kettles/copper.html"
    assert story["given as"] == f"{crawl.site}x/../kettles/copper.html#whistle\ndot segments resolved; fragment dropped"
    assert story["guards"] == "no trap guard refuses it"
    assert story["state"] == "stored"
    assert story["scope"] == 'inside (Scope = "site")'
    assert story["robots"].startswith("allowed for parcahyd by Allow: / (line 4); read ")
    assert story["address"] == "127.0.0.1: not public, allowed by AllowAddresses"
    assert story["document"].startswith(
        f"{len(site_files()['/kettles/copper.html'])} bytes, text/html; charset=utf-8\nSHA-256 "
    )
    assert story["same as"] == f"{crawl.site}archive/copper.html"
    assert "  200  127.0.0.1  " in story["fetched"]
    assert "(in 2" in story["next"]  # up to a tenth earlier than RevisitAfter


def test_what_robots_forbid(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    story = _story(crawl, f"{crawl.site}private/ledger.html", capsys)
    assert story["state"] == "refused: robots\nrobots.txt forbids this URL."
    assert story["robots"].startswith("forbidden for parcahyd by Disallow: /private/ (line 3); ")


def test_a_redirect_says_where_it_leads(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert _story(crawl, f"{crawl.site}opening-times", capsys)["leads to"] == f"{crawl.site}visit/hours.html"


def test_what_is_out_of_scope_has_a_remedy(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    story = _story(crawl, "https://www.example.org/tea.html", capsys)
    assert story["state"].startswith("refused: scope\n")
    assert "--set Work.Scope=domain" in story["remedy"]
    assert story["next"] == "not before the settings concerned change"


def test_a_url_that_was_never_seen_on_a_site_that_was(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    story = _story(crawl, f"{crawl.site}private/new.html", capsys)
    assert story["state"] == "not in this crawl"
    assert story["scope"] == 'inside (Scope = "site")'
    assert story["robots"].startswith("forbidden for parcahyd by Disallow: /private/ (line 3); ")
    assert story["to add it"] == f"parcahyd run {crawl.site}private/new.html"
    story = _story(crawl, f"{crawl.site}new?a=1&b=2", capsys)
    assert story["to add it"] == f"parcahyd run '{crawl.site}new?a=1&b=2'"


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("site", 'the crawl has not met this site; inside if a seed is on this site (Scope = "site")'),
        ("domain", 'the crawl has not met this site; inside if a seed has the same registrable domain (Scope = "domain")'),
        ("any", 'inside (Scope = "any")'),
    ],
)
def test_a_site_that_was_never_met(crawl: Crawl, scope: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    story = _story(crawl, "https://elsewhere.example/", capsys, "--set", f"Work.Scope={scope}")
    assert story["scope"] == words
    assert story["robots"] == "robots.txt of this site was not read yet"
    assert story["address"].startswith("not known")


def test_no_url_at_all(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("explain", "kettles/copper.html")) == 2
    assert "(write it in full, such as https://example.org/)" in capsys.readouterr().err
