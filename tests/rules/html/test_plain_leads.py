"""Machine code makes the same URLs of plain references as `plain_way`, and leaves the others alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder, NewLinks
from parcahyd.rules.html import links
from parcahyd.rules.html.known_tags import IS_COMPILED
from parcahyd.rules.urls.canonical_url import Joiner, Prefixes, plain_way
from tests.conformance.test_link_readers import real_pages

if not IS_COMPILED:
    pytest.skip("needs the tag reader, which was not compiled: a C compiler was missing", allow_module_level=True)

from parcahyd.rules.html._tag_reader import plain_leads

BASE = "http://site.example/a/b/page.html"


def prefixes() -> Prefixes:
    found = Joiner(BASE).prefixes
    assert found is not None
    return found


def key(href: str) -> bytes:
    return f"a\t{href}\n".encode()


def leads_of(*hrefs: str) -> list[str | bytes]:
    return plain_leads(map(key, hrefs), set(), prefixes(), set())


def expected(href: str) -> list[str | bytes]:
    way = plain_way(href)
    return [key(href)] if way is None else [prefixes()[way[0]] + way[1]]


PLAIN = (
    *(
        "x",
        "x/",
        "x/y.html",
        "a.b.c",
        "-",
        "~u/",
        "x?",
        "x?y",
        "?",
        "?x",
        "",
        "/",
        "/x",
        "//",
        "//x",
        "/?x",
        "/x//y",
        "x//",
        ".",
    ),
    *(
        "..",
        "../",
        "../x",
        "../../",
        "../../../../x",
        "../.x",
        "./x",
        "x/.",
        "x/../y",
        "x/..",
        "x.",
        "x:y",
        "x?a:b/c?d",
        "x%20",
    ),
    *(
        "http://",
        "http:///",
        "http://a/",
        "http://a.b",
        "http://a.bc",
        "http://a.bc/",
        "https://a.bc/x?y",
        "http://a.b/",
        "http://",
    ),
    *(
        "http://1.23/",
        "http://a.1b/",
        "http://A.bc/",
        "http://xn--a.bc/",
        "http://a.xn--b/",
        "http://ax.n--b.cd/",
        "HTTP://a.bc/",
    ),
    *("http://a..bc/", "http://.bc/", "http://a.bc:80/", "http://a@b.cd/", "httpss://a.bc/", "http://a-.bc/", "https://a.b-c/"),
    *(
        "ftp://a.bc/",
        "http:/x",
        "http",
        "https",
        "http/x",
        "https:",
        "x\ty",
        "x y",
        "é",
        "x&amp;y",
        "x?é",
        "x#y",
        "x?#",
        "[",
        "|",
    ),
)


@pytest.mark.parametrize("href", PLAIN)
def test_a_reference_leads_where_its_plain_way_leads(href: str) -> None:
    assert leads_of(href) == expected(href)


@settings(max_examples=3000, deadline=None)
@given(
    st.lists(
        st.sampled_from((*"/.?:abz09-_~!$&()*+,;=@#% AZ\t", "../", "//", "http://", "https://", "a.bc", "xn--", ".html", "é")),
        max_size=12,
    )
)
def test_any_reference(pieces: list[str]) -> None:
    href = "".join(pieces)
    assert leads_of(href) == expected(href)


def test_what_was_seen_is_passed_over_and_urls_that_were_met_are_not_given_again() -> None:
    seen, targets = {key("old")}, {"http://site.example/a/b/met"}
    keys = [key("old"), key("new"), b"img\tx\n", key("met"), key("../b/new"), key("new"), key("?q"), b"img\tx\n"]
    assert plain_leads(keys, seen, prefixes(), targets) == ["http://site.example/a/b/new", b"img\tx\n", key("?q")]
    assert seen == {*keys}
    assert targets == {"http://site.example/a/b/met", "http://site.example/a/b/new"}
    assert plain_leads(keys, seen, prefixes(), targets) == []


@pytest.mark.parametrize("raw", [b"", b"a", b"a\t", b"a\t\n", b"b\tx\n", b"area\tx\n", b"a\tx\trel=nofollow\n", b"\0a href=x"])
def test_other_keys_are_given_as_they_are(raw: bytes) -> None:
    assert plain_leads([raw], set(), prefixes(), set()) == [raw]


def test_the_longest_urls_are_left_to_others() -> None:
    directory = "http://site.example/a/b/"
    fits = "x" * (4096 - len(directory))
    assert leads_of(fits, fits + "x") == [directory + fits, key(fits + "x")]


def test_what_making_a_prefix_raises_is_raised() -> None:
    with pytest.raises(KeyError):
        plain_leads([key("x")], set(), {}, set())  # type: ignore[arg-type] # a mapping without prefixes


@pytest.mark.parametrize(
    "arguments",
    [
        (None, set(), {}, set()),
        (["x"], set(), {}, set()),
        ([None], set(), {}, set()),
        ([b"a\tx\n"], set(), {0: b"x"}, set()),
        ([b"a\tx\n"], set(), None, set()),
        ([b"a\tx\n"], set(), {}),
    ],
)
def test_arguments_of_other_kinds_are_refused(arguments: Any) -> None:
    with pytest.raises(TypeError):
        plain_leads(*arguments)


@pytest.mark.parametrize(("seen", "targets"), [([], set()), (set(), []), (frozenset(), set()), (None, set())])
def test_what_was_met_is_kept_in_sets(seen: Any, targets: Any) -> None:
    with pytest.raises((TypeError, SystemError)):
        plain_leads([b"a\tx\n"], seen, {0: "y"}, targets)  # type: ignore[arg-type] # a plain mapping will do


def test_with_and_without_machine_code_the_links_of_a_visit_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def visit() -> list[NewLinks]:
        room = Room(0, 10**6, 10**6)
        reader = NewLinkFinder("http://site.example", KnownUrls(b"", True, room), room, 2000)
        pages = [
            (f"http://site.example/{number % 7}/{number}", links.read_links(page, "")) for number, page in enumerate(bodies)
        ]
        return [reader.find(url, page, number % 2 == 0) for number, (url, page) in enumerate(pages)]

    bodies = real_pages()
    with_it = visit()
    monkeypatch.setattr(links, "plain_leads", None)
    assert visit() == with_it
    assert sum(len(new.internal) for new in with_it) > 500
