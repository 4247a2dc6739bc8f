"""URLs of archive members."""

from __future__ import annotations

from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.documents import MAX_NAME
from parcahyd.rules.canonical_url import canonical
from parcahyd.rules.member_url import clean_name, member_url

ARCHIVE = "http://a.test/get?id=3"


def test_the_form() -> None:
    assert member_url(ARCHIVE, "docs/a b#c?.html") == "http://a.test/get?id=3#!/docs/a%20b%23c%3F.html"


def test_no_canonical_url_is_a_members() -> None:
    """So neither a link nor a redirect can lead to one, and the archive's own row is never taken for a member's."""
    url = member_url(ARCHIVE, "a.html")
    assert canonical(url) == ARCHIVE != url
    assert canonical("http://a.test/x!/y") == "http://a.test/x!/y"


@given(st.text(max_size=60))
def test_names_come_back(raw: str) -> None:
    name = clean_name(raw)
    assert clean_name(name) == name
    assert not {"", ".", ".."} & set(name.split("/")) or name == ""
    if name:
        url = member_url(ARCHIVE, name)
        assert url.isascii()
        assert unquote(url.removeprefix(f"{ARCHIVE}#!/")) == name


def test_cleaning() -> None:
    assert clean_name("/../a\\b/./c\n.txt") == "a/b/c.txt"
    assert clean_name("c:/x") == "x"
    assert clean_name("x" * (MAX_NAME + 1)) == ""
    assert clean_name("../..") == ""
