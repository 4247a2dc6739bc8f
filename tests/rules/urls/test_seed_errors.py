"""Each mistake in a seed has a sentence of its own, and a suggestion where one can be made."""

from __future__ import annotations

import pytest

from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.seed_errors import seed_error


@pytest.mark.parametrize(
    ("seed", "sentence", "meant"),
    [
        ("htp://example.org/a", '"htp" is no scheme', "http://example.org/a"),
        ("htps://example.org", '"htps" is no scheme', "https://example.org/"),
        ("HTTPSS://example.org", '"HTTPSS" is no scheme', "https://example.org/"),
        ("http://http://example.org/", "its scheme stands there twice", "http://example.org/"),
        ("http//example.org", '"://" must follow http', "http://example.org/"),
        ("https:://example.org", '"://" must follow https', "https://example.org/"),
        ("example.org", "its scheme is missing", "https://example.org/"),
        ("www.example.org/a?b", "its scheme is missing", "https://www.example.org/a?b"),
        ("//example.org/", "its scheme is missing", "https://example.org/"),
        ("localhost:8000", "its scheme is missing", "http://localhost:8000/"),
        ("192.0.2.7/a", "its scheme is missing", "http://192.0.2.7/a"),
        ("[2001:db8::1]:8080", "its scheme is missing", "http://[2001:db8::1]:8080/"),
        ("http://example.org:99999/a", 'its port "99999" is not a number from 1 to 65535', "http://example.org/a"),
        ("http://example.org:80a/", 'its port "80a" is not a number from 1 to 65535', "http://example.org/"),
        ("http://[::1]:0/", 'its port "0" is not a number from 1 to 65535', "http://[::1]/"),
        ("http://exa mple.org/", "it has a blank in its host", "http://example.org/"),
        ("http://exam\u00a0ple.org/", "it has an invisible character in it", "http://example.org/"),
        ("<http://example.org/>", "quotes or brackets stand around it", "http://example.org/"),
        ("\u201chttp://example.org/\u201d", "quotes or brackets stand around it", "http://example.org/"),
    ],
)
def test_what_was_probably_meant(seed: str, sentence: str, meant: str) -> None:
    assert seed_error(seed) == (sentence, f"did you mean {meant}?")
    assert seed_error(meant) is None


@pytest.mark.parametrize(
    ("seed", "sentence", "remedy"),
    [
        ("", "it is empty", "https://example.org/"),
        (" \t", "it is empty", "https://example.org/"),
        ("http://", "it has no host", "https://example.org/"),
        ("http://:80/", "it has no host", "https://example.org/"),
        ("http://a.example/ http://b.example/", "it is more than one URL", "--seeds FILE"),
        (r"C:\site\index.html", "it is the path of a file on Windows", "file:///srv/docs/"),
        ("c:/site/index.html", "it is the path of a file on Windows", "file:///srv/docs/"),
        (r"\\share\site", "it is the path of a file on Windows", "file:///srv/docs/"),
        ("/srv/docs", "it is the path of a file", "did you mean file:///srv/docs?"),
        ("~/site", "it is the path of a file", "file:///srv/docs/"),
        ("file://server/share", "it is a file of another machine", "file:///srv/docs/"),
        ("mailto:me@example.org", 'what begins with "mailto:" names no server', "https://example.org/"),
        ("javascript:alert(1)", 'what begins with "javascript:" names no server', "https://example.org/"),
        ("http://[::1", 'its host "[::1" is neither a name nor an address', "https://example.org/"),
        ("http://192.0.2.700/", 'its host "192.0.2.700" is neither a name nor an address', "https://example.org/"),
        ("http://*.example.org/", 'its host has a "*" in it', "Work.Scope=domain"),
        ("http://example.org/\udce4", "it has bytes that are not UTF-8", "%E4"),
        ("not a url", "it is not a URL", "https://example.org/"),
    ],
)
def test_what_has_no_suggestion_has_advice(seed: str, sentence: str, remedy: str) -> None:
    error = seed_error(seed)
    assert error is not None
    assert error.sentence.startswith(sentence)
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "seed",
    [
        "http://example.org",
        " https://example.org:8443/a b?c#d ",
        "http:/example.org",
        "http://user:secret@example.org/",
        "http://münchen.example/",
        "gopher://example.org/",
        "ftp://example.org/",
        "http://[2001:db8::1]:8080/",
    ],
)
def test_what_names_a_server_passes(seed: str) -> None:
    assert seed_error(seed) is None
    assert canonical(seed) is not None


def test_a_long_seed_has_a_short_sentence() -> None:
    for seed in ("http://" * 20_000, "http://x:" + "9" * 100_000, "http://[" + "a" * 100_000):
        error = seed_error(seed)
        assert error is not None
        assert len(error.sentence) < 100
