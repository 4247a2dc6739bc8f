"""The URL standard's own cases (web-platform-tests): joining is the standard's, canonical forms differ only on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from ada_url import join_url, normalize_url

from parcahyd.rules.urls.canonical_url import Joiner, canonical


class Case(TypedDict, total=False):
    input: str
    base: str | None
    failure: bool
    href: str
    protocol: str
    host: str
    pathname: str
    search: str


DATA = Path(__file__).parent / "url" / "urltestdata.json"
CASES: list[Case] = [case for case in json.loads(DATA.read_text(encoding="utf-8")) if not isinstance(case, str)]
VALID = [case for case in CASES if not case.get("failure")]
NO_SERVER = {"about:", "blob:", "data:", "file:", "javascript:", "mailto:", "urn:"}

# Where the canonical form is not the standard's text without credentials and fragment: what it is instead, by reason.
DIFFERENT: dict[str, dict[str, str | None]] = {
    "escapes are spelt in one way": {
        "http://example.org/a%2fc": "http://example.org/a%2Fc",
        "http://example.org/a/%2f/c": "http://example.org/a/%2F/c",
        "http://example.com/%2e.bar": "http://example.com/..bar",
        "http://example.com/foo%41%7a": "http://example.com/fooAz",
        "http://example.com/foo%00%51": "http://example.com/foo%00Q",
        "http://example.com/%3A%3a%3C%3c": "http://example.com/%3A%3A%3C%3C",
        "http://www/foo%2Ehtml": "http://www/foo.html",
    },
    "hosts are lower case whatever the scheme": {
        "sc://fa%C3%9F.ExAmPlE/": "sc://fa%c3%9f.example/",
        "sc://%C3%B1.test/": "sc://%c3%b1.test/",
        "sc://%C3%B1/x": "sc://%c3%b1/x",
        "sc://%C3%B1": "sc://%c3%b1/",
        "sc://%C3%B1?x": "sc://%c3%b1/?x",
        "sc://%C3%B1#x": "sc://%c3%b1/",
        "asdf://%43%7C/": "asdf://%43%7c/",
        "non-special://%E2%80%A0/": "non-special://%e2%80%a0/",
        "non-special://H%4fSt/path": "non-special://h%4fst/path",
        "sc://%01%02%03%04%05%06%07%08%0B%0C%0E%0F%10%11%12%13%14%15%16%17%18%19%1A%1B%1C%1D%1E%1F%7F!\"$%&'()*+,-.;=_`{}~/": (
            "sc://%01%02%03%04%05%06%07%08%0b%0c%0e%0f%10%11%12%13%14%15%16%17%18%19%1a%1b%1c%1d%1e%1f%7f!\"$%&'()*+,-.;=_`{}~/"
        ),
    },
    "without the dots after it, the host is none": {
        "http://./": None,
        "http://../": None,
        "h://.": None,
        "http://foo.09../": None,
    },
    "gopher has a port of its own": {"gopher://foo:70/": "gopher://foo/"},
    "port 0 is no server": {
        "http://f:0/c": None,
        "w://x:0": None,
        "west://x:0": None,
        "android://x:0/a": None,
        "drivefs://x:0/a": None,
        "chromeos-steam://x:0/a": None,
        "steam://x:0/a": None,
        "materialized-view://x:0/a": None,
        "android-app://x:0": None,
        "chrome-distiller://x:0": None,
        "chrome-extension://x:0": None,
        "chrome-native://x:0": None,
        "chrome-resource://x:0": None,
        "chrome-search://x:0": None,
        "fuchsia-dir://x:0": None,
        "isolated-app://x:0": None,
    },
}
DIFFERENCES = {href: form for forms in DIFFERENT.values() for href, form in forms.items()}


def test_all_cases_are_here() -> None:
    assert (len(CASES), len(VALID)) == (891, 624)


def standard(case: Case) -> str | None:
    base = case.get("base")
    try:
        return join_url(base, case["input"]) if base else normalize_url(case["input"])
    except ValueError:
        return None


def test_the_parser_is_the_standards() -> None:
    wrong = [case for case in CASES if standard(case) != (None if case.get("failure") else case["href"])]
    assert wrong == []


def test_what_the_standard_refuses_is_refused() -> None:
    for case in CASES:
        if case.get("failure"):
            assert canonical(case["input"]) is None or case.get("base") is not None
            base = canonical(case.get("base") or "")
            assert base is None or Joiner(base).join(case["input"]) is None


def test_canonical_forms_differ_only_on_purpose() -> None:
    differences = {}
    for case in VALID:
        form = canonical(case["href"])
        if case["protocol"] == "file:":
            # A file of this machine; it has no query.
            assert form == (None if case["host"] else f"file://{case['pathname']}"), case
        elif not case["host"] or case["protocol"] in NO_SERVER:
            assert form is None, case
        elif form != f"{case['protocol']}//{case['host']}{case['pathname'] or '/'}{case['search']}":
            differences[case["href"]] = form
    assert differences == DIFFERENCES


def test_joining_to_a_canonical_base_gives_the_canonical_form() -> None:
    joined = [case for case in VALID if case.get("base") and canonical(case["base"] or "") == case["base"]]
    assert len(joined) > 150
    for case in joined:
        assert Joiner(case["base"] or "").join(case["input"]) == canonical(case["href"]), case
