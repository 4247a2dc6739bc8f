"""robots.txt by RFC 9309, and what hostile files cannot do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.rules.politeness.backoff import LONGEST_WAIT
from parcahyd.rules.robots.robots_file import (
    ALLOW_ALL,
    MAX_ROBOTS,
    MAX_WILDCARDS,
    Robots,
    product_token,
    redirect_again_at,
    stale_robots,
)

AGENT = "parcahyd/1.0 (+https://example.com/bot)"
SITE = "https://example.com"


def _robots(*lines: str) -> Robots:
    return Robots.parse("\n".join(lines).encode(), AGENT)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("parcahyd/1.0", "parcahyd"),
        ("Parca-hyd_x 1", "Parca-hyd_x"),
        ("bot2000/1.0", "bot"),
        ("Mozilla/5.0 (compatible; Parcahyd/2.1; +https://example.com/)", "Parcahyd"),
        ("Mozilla/5.0 (X11; Linux)", "Mozilla"),
        ("007", ""),
        ("", ""),
    ],
)
def test_the_product_token_is_the_name_in_robots_txt(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


def test_our_group_wins_over_everybodys() -> None:
    robots = _robots("User-agent: *", "Disallow: /", "User-agent: ParcaHyd", "Disallow: /private")
    assert robots.allows(f"{SITE}/public")
    assert not robots.allows(f"{SITE}/private/x")


def test_a_group_for_a_part_of_our_name_is_not_ours() -> None:
    for name in ("parca", "hyd", "parcahyd-images", "parcahydra"):
        assert _robots(f"User-agent: {name}", "Disallow: /").allows(f"{SITE}/x"), name
    for name in ("parcahyd", "PARCAHYD/2.0", "parcahyd images"):
        assert not _robots(f"User-agent: {name}", "Disallow: /").allows(f"{SITE}/x"), name


def test_groups_of_one_agent_are_one() -> None:
    robots = _robots(
        "User-agent: parcahyd", "Disallow: /a", "User-agent: x", "Disallow: /", "User-agent: parcahyd", "Disallow: /b"
    )
    assert [robots.allows(f"{SITE}{path}") for path in ("/a", "/b", "/c")] == [False, False, True]


def test_our_group_without_rules_frees_us_from_everybodys() -> None:
    assert _robots("User-agent: *", "Disallow: /", "User-agent: parcahyd", "Disallow:").allows(f"{SITE}/x")
    assert _robots("User-agent: *", "Disallow: /", "", "User-agent: parcahyd").allows(f"{SITE}/x")


def test_other_records_do_not_part_a_group() -> None:
    robots = _robots("User-agent: parcahyd", "Sitemap: /s.xml", "Crawl-delay: 3", "Odd: x", "User-agent: x", "Disallow: /")
    assert not robots.allows(f"{SITE}/x")
    assert robots.crawl_delay == 3.0


def test_rules_before_the_first_agent_are_nobodys() -> None:
    assert _robots("Disallow: /", "User-agent: *", "Disallow: /x").allows(f"{SITE}/y")


def test_the_longest_rule_wins_and_allow_wins_a_tie() -> None:
    robots = _robots("User-agent: *", "Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c", "Allow: /d", "Disallow: /d")
    verdicts = [robots.allows(f"{SITE}{path}") for path in ("/a", "/a/b", "/a/b/c", "/d")]
    assert verdicts == [False, True, False, True]


def test_wildcards_and_escapes() -> None:
    robots = _robots("User-agent: *", "Disallow: /*.pdf$", "Disallow: /caf\u00e9", "Disallow: /*?sort=", "Disallow: /%7Ejoe/")
    assert not robots.allows(f"{SITE}/x/y.pdf")
    assert robots.allows(f"{SITE}/x/y.pdf?z")
    assert not robots.allows(f"{SITE}/caf%C3%A9/x")
    assert not robots.allows(f"{SITE}/?sort=1")
    assert not robots.allows(f"{SITE}/~joe/x")


def test_bytes_of_another_encoding_are_a_path_too() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /caf\xe9\n", AGENT)
    assert not robots.allows(f"{SITE}/caf%E9/x")
    assert robots.allows(f"{SITE}/cafe")


def test_robots_txt_itself_is_always_allowed() -> None:
    assert _robots("User-agent: *", "Disallow: /").allows(f"{SITE}/robots.txt")
    assert not _robots("User-agent: *", "Disallow: /").allows(f"{SITE}/a/robots.txt")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_byte_order_mark_whole_or_in_part_is_skipped(mark: bytes) -> None:
    assert not Robots.parse(mark + b"User-agent: *\nDisallow: /", AGENT).allows(f"{SITE}/x")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_end_with_cr_lf_or_both(end: str) -> None:
    robots = Robots.parse(end.join(["User-agent: *", "# x", "Disallow: /a # y", "Disallow: /b", ""]).encode(), AGENT)
    assert [robots.allows(f"{SITE}{path}") for path in ("/a", "/b", "/c")] == [False, False, True]
    assert robots.line_for(f"{SITE}/b") == "Disallow: /b (line 4)"


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\x00"])
def test_no_other_character_ends_a_line(character: str) -> None:
    assert not _robots("User-agent: *", "Disallow: /", f"# x{character}Allow: /").allows(f"{SITE}/x")
    assert not _robots("User-agent: *", f"Allow: /a{character}Allow: /", "Disallow: /").allows(f"{SITE}/x")


def test_usual_slips_are_understood() -> None:
    for disallow in ("disallow", "Dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
        for agent in ("User-agent:", "useragent:", "user agent :", "USER-AGENT"):
            assert not _robots(f"{agent} *", f"{disallow}: /").allows(f"{SITE}/x"), (agent, disallow)


@pytest.mark.parametrize(
    ("value", "delay"),
    [("10", 10.0), ("0.5", 0.5), ("0", 0.0), ("-1", None), ("nan", None), ("inf", None), ("x", None), ("", None)],
)
def test_crawl_delay(value: str, delay: float | None) -> None:
    assert _robots("User-agent: *", f"Crawl-delay: {value}", "Disallow: /x").crawl_delay == delay
    assert _robots("User-agent: other", f"Crawl-delay: {value}").crawl_delay is None


def test_sitemaps_are_everybodys() -> None:
    robots = _robots(
        "Sitemap: https://example.com/1.xml", "User-agent: other", "Sitemap: /2.xml # x", "sitemap:", "Sitemap: /2.xml"
    )
    assert robots.sitemaps == ("https://example.com/1.xml", "/2.xml")


def test_the_deciding_line_is_told() -> None:
    robots = _robots("User-agent: *", "Disallow: /a", "Allow: /a/b", "Disallow: /*.pdf$")
    assert robots.line_for(f"{SITE}/a/x") == "Disallow: /a (line 2)"
    assert robots.line_for(f"{SITE}/a/b/x") == "Allow: /a/b (line 3)"
    assert robots.line_for(f"{SITE}/x.pdf") == "Disallow: /*.pdf$ (line 4)"
    assert robots.line_for(f"{SITE}/x") == ""


def test_nothing_forbids_nothing() -> None:
    for robots in (ALLOW_ALL, Robots.parse(b"", AGENT), _robots("User-agent: *", "Allow: /a")):
        assert robots.allows(f"{SITE}/x")
        assert robots.crawl_delay is None
        assert robots.sitemaps == ()


def test_a_long_file_is_cut_at_a_lines_end() -> None:
    start = b"User-agent: *\n"
    rule = b"Disallow: /x\n"
    filling = b"#" * (MAX_ROBOTS - len(start) - len(rule) - 1) + b"\n"
    assert not Robots.parse(start + filling + rule + b"Disallow: /y\n", AGENT).allows(f"{SITE}/x")
    assert Robots.parse(start + filling + rule + b"Disallow: /y\n", AGENT).allows(f"{SITE}/y")
    assert Robots.parse(start + filling + b"#" + rule, AGENT).allows(f"{SITE}/x")
    # `Allow: /private` must not become `Allow: /`.
    filling = b"#" * (MAX_ROBOTS - len(start) - len(b"Disallow: /\nAllow: /") - 1) + b"\n"
    assert not Robots.parse(start + b"Disallow: /\n" + filling + b"Allow: /private\n", AGENT).allows(f"{SITE}/x")
    assert Robots.parse(b"Disallow: /" * MAX_ROBOTS, AGENT).allows(f"{SITE}/x")


def test_more_wildcards_than_anyone_means_forbid_everything() -> None:
    few = ["Disallow: /*x"] + [f"Disallow: /{number}*" for number in range(MAX_WILDCARDS - 1)]
    assert _robots("User-agent: *", *few).allows(f"{SITE}/y")
    many = _robots("User-agent: *", *few, "Allow: /*")
    assert not many.allows(f"{SITE}/y")
    assert many.line_for(f"{SITE}/y") == "Disallow: / (more wildcards than are read)"


def test_many_agents_with_many_rules_cost_no_more_than_their_bytes() -> None:
    agents = [f"user-agent: a{number}" for number in range(15_000)]
    rules = [f"disallow: /{number}" for number in range(10_000)]
    robots = _robots(*agents, "user-agent: parcahyd", *rules)
    assert not robots.allows(f"{SITE}/9999")
    assert robots.allows(f"{SITE}/x")


def test_a_question_mark_counts_as_one_octet() -> None:
    robots = _robots("User-agent: *", "Disallow: /search/", "Allow: /*?utm*")
    assert not robots.allows(f"{SITE}/search/?utm=1")
    assert robots.line_for(f"{SITE}/search/?utm=1") == "Disallow: /search/ (line 2)"
    assert robots.line_for(f"{SITE}/x?utm=1") == "Allow: /*?utm* (line 3)"


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)), st.text(max_size=20))
def test_no_file_raises(text: bytes, user_agent: str) -> None:
    for file in (text, b"User-agent: *\nDisallow: " + text):
        robots = Robots.parse(file, user_agent)
        assert robots.allows(f"{SITE}/robots.txt")
        assert robots.allows(f"{SITE}/x") or robots.line_for(f"{SITE}/x").startswith("Disallow: ")


WORK = WorkConf(RobotsPatience=1000.0, RobotsTtl=50.0, RetryDelay=10.0)
ERROR = RobotsFact(RobotsStatus.ERROR, b"", 5000.0, 5000.0, "HTTP 500")


def test_the_first_failure_notes_since_when() -> None:
    fact = stale_robots(ERROR, None, WORK)
    assert (fact.status, fact.failing_since) == (RobotsStatus.ERROR, 5000.0)
    read_before = RobotsFact(RobotsStatus.FOUND, b"User-agent: *", 10.0, 20.0)
    assert stale_robots(ERROR, read_before, WORK).failing_since == 5000.0


def test_until_patience_is_over_nothing_is_allowed() -> None:
    before = RobotsFact(RobotsStatus.ERROR, b"User-agent: *\nDisallow: /x", failing_since=4000.1)
    fact = stale_robots(ERROR, before, WORK)
    assert (fact.status, fact.failing_since) == (RobotsStatus.ERROR, 4000.1)


def test_after_it_the_last_copy_counts_for_a_while() -> None:
    before = RobotsFact(RobotsStatus.ERROR, b"User-agent: *\nDisallow: /x", failing_since=4000.0, delay=2.0)
    fact = stale_robots(ERROR, before, WORK)
    assert (fact.status, fact.text, fact.delay) == (RobotsStatus.STALE, before.text, 2.0)
    assert (fact.failing_since, fact.expires_at) == (4000.0, 5050.0)


def test_where_there_never_was_one_everything_is_allowed_then() -> None:
    fact = stale_robots(ERROR, RobotsFact(RobotsStatus.UNREACHABLE, failing_since=1.0), WORK)
    assert (fact.status, fact.text) == (RobotsStatus.STALE, b"")


def test_an_errand_waits_as_long_again_as_it_has_waited() -> None:
    def wait(since: float) -> float:
        return redirect_again_at(RobotsFact(RobotsStatus.ERROR, b"", 5000.0, 5000.0, "", since), 7, WORK) - 5000.0

    assert 10.0 <= wait(5000.0) <= 12.5
    assert 400.0 <= wait(4600.0) <= 500.0
    assert LONGEST_WAIT <= wait(-1e9) <= 1.25 * LONGEST_WAIT
