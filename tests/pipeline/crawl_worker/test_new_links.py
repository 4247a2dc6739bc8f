"""Links of documents in hand: each URL once, resolved by its own page's place, split into internal and external."""

from __future__ import annotations

from collections import Counter

from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder
from parcahyd.rules.html.links import read_links
from parcahyd.rules.urls.parameters import Canon

ORIGIN = "http://site.example"


def reader(max_url_length: int = 200, room: Room | None = None) -> NewLinkFinder:
    room = room or Room(0, 10**6, 10**6)
    return NewLinkFinder(ORIGIN, KnownUrls(b"", True, room), room, max_url_length)


def read(one: NewLinkFinder, path: str, html: str, embedded: bool = False) -> tuple[list[str], list[str]]:
    new = one.find(ORIGIN + path, read_links(html.encode(), "utf-8"), embedded)
    return [found for _, found in new.internal], new.external


def test_the_same_href_in_another_directory_is_another_url() -> None:
    one = reader()
    assert read(one, "/a/x", '<a href="p">')[0] == ["/a/p"]
    assert read(one, "/a/y", '<a href="p"><a href="q">')[0] == ["/a/q"]
    assert read(one, "/b/x", '<a href="p">')[0] == ["/b/p"]


def test_a_query_of_its_own_depends_on_the_page_not_on_the_directory() -> None:
    one = reader()
    assert read(one, "/a/x", '<a href="?p=1">')[0] == ["/a/x?p=1"]
    assert read(one, "/a/y", '<a href="?p=1">')[0] == ["/a/y?p=1"]


def test_a_base_element_moves_every_link() -> None:
    one = reader()
    assert read(one, "/a/x", '<base href="/lib/"><a href="p">')[0] == ["/lib/p"]
    assert read(one, "/a/x", '<a href="p">')[0] == ["/a/p"]
    assert read(one, "/a/x", '<base href="http://other.example/d/"><a href="p">')[1] == ["http://other.example/d/p"]


def test_another_port_or_scheme_is_another_site() -> None:
    html = '<a href="http://site.example:8080/"><a href="https://site.example/"><a href="http://site.example:80/in">'
    internal, external = read(reader(), "/", html)
    assert internal == ["/in"]
    assert external == ["http://site.example:8080/", "https://site.example/"]


def test_a_host_that_begins_like_ours_is_not_ours() -> None:
    internal, external = read(
        reader(), "/", '<a href="http://site.example.evil.example/x"><a href="http://site.example@evil.example/">'
    )
    assert internal == []
    assert external == ["http://site.example.evil.example/x", "http://evil.example/"]


def test_fragments_and_unusable_links_are_no_urls() -> None:
    internal, external = read(reader(), "/", '<a href="#top"><a href="mailto:a@b"><a href="javascript:x()"><a href="">')
    assert (internal, external) == ([], [])


def refused(one: NewLinkFinder, html: str) -> list[tuple[str, str]]:
    return one.find(f"{ORIGIN}/", read_links(html.encode(), "utf-8"), False).refused


def test_of_urls_beyond_the_limit_the_beginning_is_recorded() -> None:
    html = f'<a href="{"x" * 200}"><a href="ok"><a href="http://other.example/{"y" * 200}"><a href="//{"z" * 400}/">'
    assert read(reader(40), "/", html) == (["/ok"], [])
    (first, inside), (second, outside) = refused(reader(40), html)
    assert (first, second) == ("length", "length")
    assert inside.startswith(f"/{'x' * 99}#220-characters-")
    assert outside.startswith(f"http://other.example/{'y' * 99}#221-characters-")


def test_what_is_refused_is_given_with_its_reason_and_takes_no_room() -> None:
    room = Room(0, 10, 10**6)
    one = NewLinkFinder(ORIGIN, KnownUrls(b"", True, room), room, 200, lambda path: Reason.REPEATS if "bad" in path else None)
    new = one.find(f"{ORIGIN}/", read_links(b'<a href="bad1"><a href="good"><a href="bad2"><a href="bad1#x">', "utf-8"), False)
    assert [path for _, path in new.internal] == ["/good"]
    assert new.refused == [("repeats", "/bad1"), ("repeats", "/bad2")]
    assert room.keys == 9


def test_of_each_page_and_reason_a_bounded_number_is_given() -> None:
    room = Room(0, 10**6, 10**6)
    one = NewLinkFinder(
        ORIGIN, KnownUrls(b"", True, room), room, 200, lambda path: Reason.SESSION if path[1] == "s" else Reason.REPEATS
    )
    found = refused(one, "".join(f'<a href="{letter}{number}">' for number in range(300) for letter in "sr"))
    assert Counter(word for word, _ in found) == {"session": 100, "repeats": 100}
    assert found[:2] == [("session", "/s0"), ("repeats", "/r0")]


def test_options_of_the_canonical_form_hold_for_links() -> None:
    room = Room(0, 10**6, 10**6)
    one = NewLinkFinder(ORIGIN, KnownUrls(b"", True, room), room, 200, canon=Canon(("sid",), sort=True))
    html = '<a href="p?sid=1&b=1&a=2"><a href="p?a=2&b=1&sid=2"><a href="http://far.example/?sid=3">'
    assert read(one, "/", html) == (["/p?a=2&b=1"], ["http://far.example/"])


def test_what_is_remembered_is_bounded_by_the_room_and_given_back() -> None:
    room = Room(0, 10**6, 18)
    one, other = reader(room=room), reader(room=room)
    links = [f'<a href="p{number}">' for number in range(8)]
    assert read(one, "/a", "".join(links))[0] == [f"/p{number}" for number in range(8)]
    assert room.links == 2
    assert read(other, "/a", "".join(links[:5]) + '<a href="http://far.example/">')[1] == ["http://far.example/"]
    assert room.links == 2  # More than the room holds: the second reader has given up what it remembered.
    assert read(one, "/b", "".join(links)) == ([], [])
    assert read(other, "/b", "".join(links))[0] == ["/p5", "/p6", "/p7"]
    for reading in (one, other):
        reading.forget()
    assert room.links == 18


def test_a_reference_of_a_tree_is_never_taken_for_one_that_was_scanned() -> None:
    """`&amp;amp;` in an odd page means what `&amp;` looks like in an ordinary one."""
    one = reader()
    odd = "<math></math><a href='p?x&amp;amp;y'>"
    assert read(one, "/a", odd)[0] == ["/p?x&amp;y"]
    assert read(one, "/b", '<a href="p?x&amp;y">')[0] == ["/p?x&y"]
    assert read(one, "/c", odd) == ([], [])
