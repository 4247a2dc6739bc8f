"""The cases of a web archive's canonicaliser (urlcanon): what we agree on, and every case where we do not, with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parcahyd.rules.urls.address_policy import literal_address
from parcahyd.rules.urls.canonical_url import canonical, split

FOLDER = Path(__file__).parent / "urlcanon"


def _load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


# Our canonical form of every case that urlcanon spells differently.
DIFFERENT: dict[str, dict[str, str | None]] = {
    "a URL has a scheme": {"%20leadingspace.com/": None, "www.google.com": None, "www.google.com/": None},
    "a host that the URL standard forbids": {
        "http:%/": None,
        "http:/%/": None,
        "http://%/": None,
        "http:// leadingspace.com/": None,
        "http://%20leadingspace.com/": None,
        "http://09/": None,
        "http://\x01\x80.com/": None,
        "http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B": None,
        "sc://\x1f!\"$&'()*+,-.;<=>^_`{|}~/": None,
    },
    "a host of nothing but dots is no address": dict.fromkeys(
        f"http:{slashes}{dots}/a/b" for slashes in ("", "/", "//", "///") for dots in ("%2e", "%2e%2e", "%2e%2e%2e")
    )
    | {f"nonspecial://{dots}/a/b": f"nonspecial://{dots}/a/b" for dots in ("%2e", "%2e%2e", "%2e%2e%2e")},
    "a host of an unknown scheme is lower case and otherwise left alone": {
        "foo://%": "foo://%/",
        "foo://%///": "foo://%///",
        "sc://%/": "sc://%/",
        "non-special://%E2%80%A0/": "non-special://%e2%80%a0/",
        "non-special://H%4fSt/path": "non-special://h%4fst/path",
        "sc://Ã±": "sc://%c3%b1/",
        "sc://Ã±#x": "sc://%c3%b1/",
        "sc://Ã±.test/": "sc://%c3%b1.test/",
        "sc://Ã±?x": "sc://%c3%b1/?x",
        "sc://faÃ\x9f.ExAmPlE/": "sc://fa%c3%9f.example/",
    },
    "gopher is not special in the URL standard": {
        "gopher:/example.com/": None,
        "gopher:example.com/": None,
    },
    "an escaped reserved character may mean another resource": {
        "file:///C%3A/": "file:///C%3A/",
        "file:///C%7C/": "file:///C%7C/",
        "http://example.com/%3A%3a%3C%3c": "http://example.com/%3A%3A%3C%3C",
        "http://example.com/%7Ffp3%3Eju%3Dduvgw%3Dd": "http://example.com/%7Ffp3%3Eju%3Dduvgw%3Dd",
        "http://example.com/(%28:%3A%29)": "http://example.com/(%28:%3A%29)",
        "http://example.com/@asdf%40": "http://example.com/@asdf%40",
        "http://facebook.com/?foo=%7B%22abc%22": "http://facebook.com/?foo=%7B%22abc%22",
    },
    "an escape is decoded once, not until nothing changes": {
        "http://host/%25%2536%2531": "http://host/%25%2536%2531",
        "http://host/%25%25361": "http://host/%25%25361",
        "http://host/%25%32%35": "http://host/%2525",
        "http://host/%25%32%35%25%32%35": "http://host/%2525%2525",
        "http://host/%2525252525252525": "http://host/%2525252525252525",
        "http://host/%2561": "http://host/%2561",
        "http://host/?%25%2536%2531": "http://host/?%25%2536%2531",
        "http://host/?%25%25361": "http://host/?%25%25361",
        "http://host/?%2561": "http://host/?%2561",
        "http://host/asdf%25%32%35asd": "http://host/asdf%2525asd",
    },
    "a path with a stray percent sign is left alone": {
        "file:%": "file:///%",
        "file:%/a/b": "file:///%/a/b",
        "file:/%": "file:///%",
        "file:/%/a/b": "file:///%/a/b",
        "file:///%": "file:///%",
        "http://example.com/foo%": "http://example.com/foo%",
        "http://example.com/foo%2": "http://example.com/foo%2",
        "http://example.com/foo%2Â©zbar": "http://example.com/foo%2%C2%A9zbar",
        "http://example.com/foo%2zbar": "http://example.com/foo%2zbar",
        "http://example.com/foo/%2e%2": "http://example.com/foo/%2e%2",
        "http://host/%%%25%32%35asd%%": "http://host/%%%25%32%35asd%%",
        "http://host/%%300": "http://host/%%300",
        "http://host/%%36%31": "http://host/%%36%31",
        "http://host/?%%300": "http://host/?%%300",
        "http://host/?%%36%31": "http://host/?%%36%31",
    },
    "an empty segment may mean another resource": {
        "http://example.com////../..": "http://example.com//",
        "http://example.com\\\\foo\\\\bar": "http://example.com//foo//bar",
        "http://host.com//twoslashes?more//slashes": "http://host.com//twoslashes?more//slashes",
    },
    "the order of a query may matter": {
        "http://example.com/?%26=%26&%26": "http://example.com/?%26=%26&%26",
        "http://example.com/?%3d=%3d&%3d": "http://example.com/?%3D=%3D&%3D",
        "http://example.com/?c=d&a=b": "http://example.com/?c=d&a=b",
    },
    "a file has no query": {"file:?q=v": "file:///"},
    "an empty query is none": {"http://www.google.com/q?": "http://www.google.com/q"},
    "a URL is text, in which a lone byte cannot stand": {"http://example.com/foo\t\x91%91": "http://example.com/foo%C2%91%91"},
}
DIFFERENCES = {url: form for forms in DIFFERENT.values() for url, form in forms.items()}


def _text(url: str) -> str:
    """The cases are bytes, written as one character each."""
    try:
        return url.encode("latin-1").decode()
    except UnicodeError:
        return url


def _names_no_server(url: str) -> bool:
    scheme, _, rest = url.partition(":")
    if scheme == "file":
        return not rest.startswith("///")
    return not rest.startswith("//") or rest[2:3] in ("", "/", "?")


def compared() -> tuple[int, dict[str, str | None], int]:
    """How many cases agree, our form of those that do not, and how many there are."""
    cases: dict[str, str] = _load("semantic_precise.json")
    agreed = 0
    differences = {}
    for url, spelling in cases.items():
        without_fragment = spelling.partition("#")[0]
        ours = canonical(_text(url))
        if ours == (None if _names_no_server(without_fragment) else without_fragment):
            agreed += 1
        else:
            differences[url] = ours
    return agreed, differences, len(cases)


def test_the_table_of_differences_is_complete() -> None:
    agreed, differences, every = compared()
    assert differences == DIFFERENCES
    assert (agreed, len(differences), every) == (200, 80, 280)


def test_canonical_is_idempotent_on_odd_input() -> None:
    for url in _load("idempotence.json"):
        once = canonical(url)
        assert once is None or canonical(once) == once


@pytest.mark.parametrize(("host", "address"), _load("funky_ipv4.json").items())
def test_funny_ipv4_addresses_are_seen_through(host: str, address: str | None) -> None:
    url = canonical(f"http://{host}/")
    assert (literal_address(split(url)[1]) if url else None) == address


def test_dot_segments_are_resolved() -> None:
    cases: dict[str, str] = {path: end for path, end in _load("path_dots.json")["special"].items() if "\\" not in path}
    assert len(cases) > 100
    for path, resolved in cases.items():
        assert canonical(f"http://example.com{path}") == f"http://example.com{resolved}"
