from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from parcahyd.augment.site_offer import Declaration, SiteOffer, write_offer
from parcahyd.cli.application import COMMANDS
from parcahyd.cli.url_report import REMEDIES, remedy, table_lines, url_report_lines
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.records import RobotsFact, RobotsStatus, TableFact
from parcahyd.core.states import SETTINGS_OF, Reason
from parcahyd.storage.reports.records import DocumentReport, FetchReport, SparedSite, UrlDetails

NOW = 1_700_000_000.0
CONFIGURATION = Configuration(MapConf(), WorkConf())
DETAILS = UrlDetails(
    url="http://host.example/page",
    site="http://host.example",
    in_scope=True,
    addresses=(),
    addresses_expire=0.0,
    robots=None,
    visiting=False,
    not_before=0.0,
    site_reason=None,
    site_failures=0,
    state="known",
    reason=None,
    sentence="",
    detail="",
    depth=1,
    hops=0,
    seed=False,
    via=None,
    first_seen=NOW - 60,
    checked_at=None,
    tries=0,
    status=None,
    etag="",
    modified="",
    checks=0,
    changes=0,
    changed_at=None,
    changes_every=None,
    next_visit=NOW - 60,
    redirect=None,
    document=None,
    fetches=(),
    twins=(),
    similar=(),
)


def _lines(configuration: Configuration = CONFIGURATION, **changes: object) -> list[str]:
    details = msgspec.structs.replace(DETAILS, **changes)
    return list(url_report_lines(details.url, details.url, details, details, configuration, NOW))


def test_a_url_that_waits() -> None:
    assert _lines() == [
        "url        http://host.example/page",
        "state      known",
        'scope      inside (Scope = "site")',
        "guards     no trap guard refuses it",
        "robots     robots.txt of this site was not read yet",
        "address    not known; the host is resolved when it is visited next",
        "found      2023-11-14 22:12:20Z, 1 link away from a seed",
        "checked    never",
        "next       now (since 2023-11-14 22:12:20Z)",
    ]
    assert _lines(visiting=True)[-1] == "next       its site is being visited"


def test_an_address_that_is_refused_comes_with_the_setting_that_allows_it() -> None:
    refused: dict[str, Any] = {"state": "refused", "reason": "address", "sentence": "Not public.", "next_visit": None}
    lines = _lines(url="http://192.168.7.9/", detail="192.168.7.9 leads to 192.168.7.9", **refused)
    assert "remedy     If that network is yours to crawl, allow it: --set 'Map.AllowAddresses=[\"192.168.7.9/32\"]'" in lines
    assert "address    192.168.7.9: not public, and not in AllowAddresses" in lines
    lines = _lines(url="http://[fe80::1]/", **refused)
    assert "remedy     If that network is yours to crawl, allow it: --set 'Map.AllowAddresses=[\"fe80::1/128\"]'" in lines
    assert any('"NETWORK"' in line for line in _lines(**refused))


def test_addresses_with_their_verdicts() -> None:
    configuration = Configuration(MapConf(AllowAddresses=("10.0.0.0/8",)), WorkConf())
    lines = _lines(configuration, addresses=("8.8.8.8", "10.1.2.3"), addresses_expire=NOW + 60)
    assert "address    8.8.8.8: public" in lines
    assert "address    10.1.2.3: not public, allowed by AllowAddresses" in lines
    assert "           hold until 2023-11-14 22:14:20Z" in lines
    assert "group      hosts on one address share AddressDelay 0.1 s and AddressConnections 8" in lines


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (RobotsStatus.ABSENT, "allowed: the site has no robots.txt"),
        (RobotsStatus.ERROR, "nothing may be fetched for now: the server answered robots.txt with an error (HTTP 503)"),
        (RobotsStatus.UNREACHABLE, "nothing may be fetched for now: robots.txt could not be fetched"),
        (RobotsStatus.AWAITED, "nothing may be fetched for now: robots.txt lies on another site and is awaited"),
    ],
)
def test_robots_that_could_not_be_read(status: RobotsStatus, words: str) -> None:
    fact = RobotsFact(status, fetched_at=NOW - 10, expires_at=NOW - 1, detail="HTTP 503" if "503" in words else "")
    assert f"robots     {words}; read 2023-11-14 22:13:10Z, to be read again" in _lines(robots=fact)


def test_a_rule_of_a_stranger_cannot_steer_the_terminal() -> None:
    fact = RobotsFact(RobotsStatus.FOUND, b"User-agent: *\nDisallow: /page\x1b]0;owned\x07\nDisallow: /p\n", NOW, NOW + 1)
    (line,) = (line for line in _lines(robots=fact, detail="\x1b[2J") if line.startswith("robots"))
    assert line.isprintable()
    assert "forbidden for parcahyd by Disallow: /p (line 3)" in line


def test_failures_and_a_site_that_is_spared() -> None:
    lines = _lines(
        state="failed",
        reason="connect",
        sentence="No connection.",
        checked_at=NOW - 5,
        tries=2,
        site_reason="unreachable-site",
        site_failures=3,
        not_before=NOW + 60,
        next_visit=NOW + 60,
    )
    assert "checked    2023-11-14 22:13:15Z, 2 failures in a row" in lines
    assert "site       spared until 2023-11-14 22:14:20Z: unreachable-site, 3 visits in a row failed" in lines
    assert lines[-1] == "next       2023-11-14 22:14:20Z (in 1 min)"


def test_the_bytes_a_second_of_its_host_are_told() -> None:
    assert not any(line.startswith("rate") for line in _lines(addresses=("8.8.8.8",)))
    limited = Configuration(MapConf(), WorkConf(MaxHostRate=16_000))
    assert "rate       16.0 kB per second from host.example, as a mean over several answers" in _lines(
        limited, addresses=("8.8.8.8",)
    )


def test_what_was_changed_is_told() -> None:
    lines = list(url_report_lines("HTTP://host.example:80/page#x", DETAILS.url, DETAILS, DETAILS, CONFIGURATION, NOW))
    assert lines[1:3] == [
        "given as   HTTP://host.example:80/page#x",
        "           scheme in lower case; default port dropped; fragment dropped",
    ]


def test_what_trap_guards_say() -> None:
    deep = "http://host.example" + "/a/b" * 6
    assert any(line.startswith("guards     refused: repeats. The path or the query repeats") for line in _lines(url=deep))
    assert "guards     what the user asked for passes every trap guard" in _lines(url=deep, seed=True)


def test_robots_are_read_for_the_user_agent_of_the_host() -> None:
    rules = (HostRule(Pattern="host.example", UserAgent="otherbot/2.0"),)
    fact = RobotsFact(RobotsStatus.FOUND, b"User-agent: otherbot\nDisallow: /page\n", NOW, NOW + 1)
    (line,) = (line for line in _lines(Configuration(MapConf(), WorkConf(Host=rules)), robots=fact) if "robots" in line)
    assert "forbidden for otherbot by Disallow: /page (line 2)" in line


def test_who_shares_the_address_and_who_wants_to_be_left_alone() -> None:
    pauses = tuple(
        SparedSite(site=subject, until=NOW + wait, reason="asked-to-wait", sentence="It asked.", failures=0)
        for subject, wait in (("host host.example", 60), ("address 8.8.8.8", -60))
    )
    lines = _lines(addresses=("8.8.8.8",), neighbours=("a.example", "b.example"), pauses=pauses)
    assert "           known there: a.example, b.example" in lines
    assert [line for line in lines if line.startswith("pause")] == [
        "pause      host host.example is left alone until 2023-11-14 22:14:20Z: It asked."
    ]


def test_where_a_seed_led() -> None:
    lines = _lines(seed=True, via="http://old.example/", hops=1)
    assert "found      2023-11-14 22:12:20Z, where the seed http://old.example/ redirected to, 1 redirect led to it" in lines


def test_a_document_with_regions_and_a_clock() -> None:
    document = DocumentReport(
        document=1,
        df=1,
        sha256="ab",
        length=7,
        media_type="text/html",
        charset="",
        title="",
        language="",
        similarity=0,
    )
    newer = FetchReport(
        at=NOW, status=200, address="192.0.2.1", redirect=None, sha256="cd", length=12, regions=1, only_regions=True
    )
    older = msgspec.structs.replace(newer, at=NOW - 60, length=11, only_regions=False)
    stored: dict[str, Any] = {
        "state": "stored",
        "checked_at": NOW,
        "status": 200,
        "document": document,
        "fetches": (newer, older),
    }
    lines = _lines(table=TableFact(merges=1), volatile_places=2, **stored)
    start = lines.index("document   12 bytes, text/html")
    assert lines[start : start + 7] == [
        "document   12 bytes, text/html",
        "           SHA-256 cd, DF 0000000000000001",
        "regions    1 volatile region, marked by its author",
        "table      refreshed by its table of variable information, 1 time in a row",
        "volatile   2 places change on most visits; a visit that finds nothing else changed stores no version",
        "fetched    2023-11-14 22:13:20Z  200  192.0.2.1  12 bytes  only volatile regions changed",
        "fetched    2023-11-14 22:12:20Z  200  192.0.2.1  11 bytes",
    ]
    assert any(line.startswith("volatile   1 place changes on most") for line in _lines(volatile_places=1, **stored))
    assert not any(line.startswith("volatile") for line in _lines(**stored))


def test_every_refusal_that_a_setting_decides_has_a_remedy_that_names_it() -> None:
    for reason, settings in SETTINGS_OF.items():
        if reason is not Reason.ROBOTS:  # robots.txt is obeyed; a user agent that poses as another is no remedy
            assert any(setting in REMEDIES[reason] for setting in settings), reason


def test_remedies_name_settings_and_commands_that_exist() -> None:
    keys = {f"Map.{key}" for key in MapConf.__struct_fields__} | {f"Work.{key}" for key in WorkConf.__struct_fields__}
    for text in REMEDIES.values():
        assert set(re.findall(r"\b(?:Map|Work)\.\w+", text)) <= keys
        assert set(re.findall(r"`parcahyd (\w+)", text)) <= set(COMMANDS)


def test_nothing_can_be_done_about_a_missing_page() -> None:
    assert remedy(Reason.MISSING, "host.example") == ""


@pytest.mark.parametrize(("mark", "is_told"), [(None, True), (0, False), (7, False)])
def test_it_is_said_that_near_duplicates_are_not_known(mark: int | None, is_told: bool) -> None:
    facts = {"sha256": "ab", "length": 7, "media_type": "text/html", "charset": "", "title": "", "language": ""}
    document = DocumentReport(document=1, df=1, similarity=mark, **facts)  # type: ignore[arg-type]  # fields by name
    fetch = FetchReport(
        at=NOW, status=200, address="192.0.2.1", redirect=None, sha256="cd", length=7, regions=0, only_regions=False
    )
    lines = _lines(state="stored", checked_at=NOW, status=200, document=document, fetches=(fetch,))
    assert ("nearly as  not known: Similarity was off when it was stored" in lines) is is_told


URL = "http://host.example/docs/a.html"
ROBOTS = b"User-agent: *\n# Augment: 1; tol={stem}.TOL; tvi={stem}.TVI; bundle=/site.TOL\n"


def lines(url: str = URL, robots: bytes = ROBOTS, offer: SiteOffer | None = None) -> list[str]:
    return [*table_lines(url, robots, write_offer(offer) if offer else b"", "auto", NOW)]


def test_a_site_without_tables() -> None:
    assert lines(robots=b"User-agent: *\n") == ["the site declares none"]


def test_where_they_are_and_who_says_so() -> None:
    assert lines() == [
        "links at http://host.example/docs/a.TOL, what changes at http://host.example/docs/a.TVI, declared by robots.txt for /",
        'a bundle of links at http://host.example/site.TOL; Eager = "auto"',
    ]
    assert lines(f"{URL}?q=1")[0] == "none for this URL, declared by robots.txt for /"
    learned = SiteOffer((Declaration("/docs/", "{path}.TOL", within="/docs/"),))
    assert lines(robots=b"", offer=learned) == [
        "links at http://host.example/docs/a.html.TOL, declared by a page or a file of declarations for /docs/"
    ]
    assert lines("http://host.example/b", b"", learned) == ["the site declares some, but none for this URL"]


def test_what_is_ignored_and_what_is_missing() -> None:
    absent = (
        ("/docs/", NOW + 60),
        ("/old/", NOW + 60),
        ("/site.TOL", NOW + 60),
        ("*", NOW + 60),
        ("*.TVI", NOW + 60),
        ("/past.TOL", NOW - 1),
    )
    offer = SiteOffer(absent=absent, links_barred_until=NOW + 120, fragments_barred_until=NOW + 180)
    assert lines(offer=offer)[2:] == [
        "no tables are asked for in /docs/ before 2023-11-14 22:14:20Z: three were missing",
        "/site.TOL is not asked for before 2023-11-14 22:14:20Z",
        "no tables are asked for on this site before 2023-11-14 22:14:20Z: three were missing",
        "no tables of what changes are asked for on this site before 2023-11-14 22:14:20Z: three were missing",
        "its tables of links are ignored until 2023-11-14 22:15:20Z: its documents lack too many of them",
        "its tables of what changes are ignored until 2023-11-14 22:16:20Z: too many were wrong",
    ]
