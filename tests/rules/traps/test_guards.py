"""The guards together: what they refuse, what they leave alone, and what outlives a visit."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import SETTINGS_OF, Reason
from parcahyd.rules.traps.budgets import MemoryBudget
from parcahyd.rules.traps.guards import Guards, mark_of_bytes

NOW = 1_780_000_000.0  # in May 2026
OFF: dict[str, Any] = {
    "MaxPathSegments": 0,
    "MaxRepeats": 0,
    "MaxParameters": 0,
    "MaxQueryShapes": 0,
    "MaxYearsAhead": 0,
    "MaxYearsBack": 0,
    "OneSession": False,
    "TemplateBudget": 0,
}


def guards(stored: bytes = b"", **work: Any) -> Guards:
    return Guards(WorkConf(**work), NOW, stored)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "/".join(f"s{number}" for number in range(32)), None),
        ("/" + "/".join(f"s{number}" for number in range(33)), Reason.PATH_DEPTH),
        ("/x?u=" + "/".join(f"s{number}" for number in range(50)), None),
        ("/a/b/a/b/a/b", Reason.REPEATS),
        ("/a/b/a/b/a", None),
        ("/a/a/a/a/", None),
        ("/a/a/a/a/a", Reason.REPEATS),
        ("/news/shop/news/about/shop/news/about", Reason.REPEATS),
        ("/images/1/1/1/1/1/1/1.png", None),
        ("/2011/11/11/11/11", None),
        ("/a//b//c//d//e//f", Reason.REPEATS),
        ("/p?" + "&".join(f"p{number}=1" for number in range(30)), None),
        ("/p?" + "&".join(f"p{number}=1" for number in range(31)), Reason.PARAMETERS),
        ("/p?a=1&a=1&a=1&a=1&a=1", Reason.REPEATS),
        ("/p?f=1&f=2&f=3&f=4&f=5", None),
        ("/", None),
        ("/?", None),
        ("/p?&&&&&&", Reason.REPEATS),
    ],
)
def test_a_path_by_itself(path: str, reason: Reason | None) -> None:
    assert guards().judge(path) is reason


def test_every_limit_can_be_lifted() -> None:
    free = guards(**OFF)
    for path in (
        "/" + "/".join("ab" * 500),
        "/p?" + "&".join("a=1" for _ in range(500)),
        "/c/2026/01",
        "/c/2999/01",
        "/p;jsessionid=1234567890",
        "/p;jsessionid=0987654321",
    ):
        assert free.judge(path) is None
    for number in range(2000):
        free.observe(f"/p/{number}", 7, 200)
    assert free.judge_ask("/p/1") is None
    assert free.encode() == b""


# --- queries -----------------------------------------------------------------------------------------------------------


def test_a_path_with_ever_new_choices_of_parameters_explodes() -> None:
    one = guards(MaxQueryShapes=100)
    filters = [f"f{number}" for number in range(6)]
    choices = ["&".join(f"{name}=1" for name in chosen) for size in range(1, 7) for chosen in permutations(filters, size)]
    verdicts = [one.judge(f"/shop?{choice}") for choice in choices]
    assert verdicts.count(None) == 100 + 6  # a single parameter is always followed
    assert set(verdicts) == {None, Reason.QUERIES}
    assert one.judge("/other?f1=1&f2=1") is None
    assert one.judge("/shop?f0=another") is None
    # It is still known to have exploded in the next visit, as long as the setting is the same.
    assert guards(one.encode(), MaxQueryShapes=100).judge("/shop?f0=1&f1=1") is Reason.QUERIES
    assert guards(one.encode(), MaxQueryShapes=101).judge("/shop?f0=1&f1=1") is None


def test_many_values_of_the_same_parameters_are_no_explosion() -> None:
    one = guards()
    assert not any(one.judge(f"/index.php?id={number}&page={number % 7}") for number in range(5000))


# --- calendars ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "/calendar/{year}/{month:02}",
        "/calendar/{year}/{month}/",
        "/events/{year}-{month:02}-01.html",
        "/events/{year}{month:02}01",
        "/cal?date={year}-{month:02}-15&view=day",
        "/cal?view=month&month={month}&year={year}",
        "/cal?Year={year}",
    ],
)
def test_a_calendar_ends(form: str) -> None:
    for step in (1, -1):
        one = guards()
        year, month, pages = 2026, 5, 0
        while one.judge(form.format(year=year, month=month)) is None:
            year, month = (year + (month + step - 1) // 12, (month + step - 1) % 12 + 1)
            pages += 1
            assert pages < 5000
        assert year == (2032 if step > 0 else 1725)


def test_a_calendar_of_seconds_ends() -> None:
    one = guards()
    paths = [f"/calendar/view.php?view=month&time={int(NOW) + month * 2_629_746}" for month in range(120)]
    verdicts = [one.judge(path) for path in paths]
    assert verdicts[:60] == [None] * 60
    assert verdicts[-40:] == [Reason.CALENDAR] * 40


def test_numbers_that_look_like_far_dates_are_no_calendar() -> None:
    one = guards()
    for path in (
        "/parts/2100-12",
        "/rfc/rfc2100-10.txt",
        "/releases/2050/1/",
        "/fiction/1602/12/letter",
        "/p?year=2999",
        "/spec/20991231",
        "/blog/2026/05/the-year-2100/",
        "/2026/05/2100x12",
    ):
        assert one.judge(path) is None, path


def test_numbers_among_which_some_look_like_dates_are_no_calendar() -> None:
    one = guards()
    numbers = range(150_000, 260_000, 7)
    refused = [number for number in numbers if one.judge(f"/story/{number}?ref=20") is not None]
    assert refused == []
    assert one.judge("/story/20991231") is None
    assert one.encode() == b""


@pytest.mark.parametrize(
    "paths",
    [
        [f"/t/{number}/{number % 4}" for number in range(1500, 3053)],
        [f"/t/{number}/{number % 12 + 1}" for number in range(3053)],
        [f"/p/{number}-{number % 7}.html" for number in range(1500, 3053)],
        [f"/a/t/{number}/{page}" for number in range(990, 2500) for page in (1, 2)],
    ],
)
def test_numbered_pages_with_a_second_number_are_no_calendar(paths: list[str]) -> None:
    one = guards()
    assert [path for path in paths if one.judge(path) is not None] == []


def test_a_calendar_beside_numbered_pages_ends() -> None:
    one = guards()
    for path in ("/t/17/3", "/t/2026/5", "/weeks/2026/45", "/calendar/2026/05", "/day/2026-12-31"):
        assert one.judge(path) is None
    for path in ("/calendar/2032/01", "/weeks/2032/45", "/day/2032-12-31"):
        assert one.judge(path) is (None if "weeks" in path else Reason.CALENDAR), path
    assert one.judge("/t/2032/5") is None


def test_a_run_that_turns_out_to_be_numbers_goes_on() -> None:
    one = guards()
    assert one.judge("/story/202605") is None
    assert one.judge("/story/215106") is Reason.CALENDAR
    assert one.judge("/story/202613") is None
    assert one.judge("/story/215107") is None
    assert one.judge("/events/2026-05") is None
    assert one.judge("/events/2151-05") is Reason.CALENDAR


def test_a_calendar_that_was_stopped_stays_stopped() -> None:
    one = guards()
    assert [one.judge(f"/c/{year}/01") for year in (2026, 2031, 2032)] == [None, None, Reason.CALENDAR]
    assert guards(one.encode()).judge("/c/2032/02") is Reason.CALENDAR
    assert guards().judge("/c/2032/02") is None


# --- sessions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "/p;jsessionid={}",
        "/p;JSESSIONID={}?a=1",
        "/p?PHPSESSID={}",
        "/p?a=1&sid={}&b=2",
        "/p?osCsid={}",
        "/p?CFID=12&CFTOKEN={}",
        "/(S({}))/p.aspx",
        "/(X(1)S({}))/p.aspx",
    ],
)
def test_of_one_page_one_session_is_followed(form: str) -> None:
    one = guards()
    ids = ["9f86d081884c7d659a2feaa0", "c55ad015a3bf4f1b2b0b822c", "d15d6c15b0f00a0859f86d08"]
    assert [one.judge(form.format(token)) for token in ids] == [None, Reason.SESSION, Reason.SESSION]
    assert one.judge(form.replace("/p", "/q").format(ids[0])) is None


@pytest.mark.parametrize("form", ["/p?sid={}", "/p?s={}", "/p?token={}", "/p?session={}", "/p?page={}", "/p({})"])
def test_short_values_of_ambiguous_names_are_no_sessions(form: str) -> None:
    one = guards()
    assert not any(one.judge(form.format(value)) for value in ("1", "2", "boots", "shoes", "a-long-word-without-a-figure"))


# --- budgets -----------------------------------------------------------------------------------------------------------


def other(number: int) -> int:
    return mark_of_bytes(b"%d" % number)


def test_a_template_whose_documents_are_the_same_is_closed() -> None:
    one = guards(TemplateBudget=50)
    asked = 0
    for number in range(200):
        if one.judge_ask(f"/item/{number}.html") is None:
            asked += 1
            one.observe(f"/item/{number}.html", 0b1011 ^ 1 << number % 3, 200)  # nearly the same
    assert asked == 51
    assert one.judge("/item/777.html") is Reason.DUPLICATES
    assert one.judge("/item/777.htm") is None
    assert one.judge("/items/777.html") is None


def test_documents_of_their_own_keep_a_template_open() -> None:
    one = guards(TemplateBudget=50)
    for number in range(5000):
        one.observe(f"/item/{number}", 1 if number % 3 else other(number), 200)
    assert one.judge_ask("/item/9999") is None
    for number in range(5000):
        one.observe(f"/page/{number}", other(number), 200)
    assert one.encode() == b"" or guards(one.encode(), TemplateBudget=50).judge("/page/1") is None


def test_a_page_for_missing_documents_is_known_by_its_status_elsewhere() -> None:
    one = guards(TemplateBudget=20)
    one.observe("/gone", 99, 404)
    for number in range(20):
        assert one.judge_ask(f"/p/{number}") is None
        one.observe(f"/p/{number}", 99, 200)
    assert one.judge_ask("/p/21") is Reason.SOFT_404


def test_words_without_numbers_are_counted_by_directory_and_site() -> None:
    one = guards(TemplateBudget=5)
    words = [f"{first}{second}" for first in "abcdefghijklmnopqrstuvwxyz" for second in "abcdefghijklmnopqrstuvwxyz"]
    for word in words[:51]:
        assert one.judge(f"/trap/{word}") is None
        one.observe(f"/trap/{word}", 5, 200)
    assert one.judge("/trap/zz") is Reason.DUPLICATES
    assert one.judge("/elsewhere/zz") is None
    for word in words:
        one.observe(f"/{word}/x", 5, 200)
    assert one.judge("/anything") is Reason.DUPLICATES


def test_paths_of_a_broken_relative_link_are_one_template() -> None:
    one = guards(TemplateBudget=10)
    paths = ["/" + "/".join(words) + "/a" for words in permutations(["a", "b", "c"])]
    for _ in range(2):
        for path in paths:
            one.observe(path, 5, 200)
    assert one.judge("/b/c/a/a") is Reason.DUPLICATES


def test_a_closed_template_gets_a_few_requests_every_day_and_opens_when_they_bring_something() -> None:
    one = guards(TemplateBudget=40)
    for number in range(41):
        one.observe(f"/p/{number}", 5, 200)
    assert one.judge_ask("/p/50") is Reason.DUPLICATES
    same_day = guards(one.encode(), TemplateBudget=40)
    assert same_day.judge("/p/50") is Reason.DUPLICATES
    two = Guards(WorkConf(TemplateBudget=40), NOW + 86_400, one.encode())
    assert two.judge("/p/50") is None
    assert [two.judge_ask(f"/p/{number}") for number in range(50, 53)] == [None, None, Reason.DUPLICATES]
    two.observe("/p/50", 5, 200)
    assert two.judge("/p/54") is Reason.DUPLICATES
    two.observe("/p/51", other(1), 200)
    assert two.judge("/p/54") is Reason.DUPLICATES  # One that is different may be chance.
    for number in range(2, 6):
        two.observe(f"/p/{number}", other(number), 200)
    assert two.judge("/p/54") is None
    assert two.judge_ask("/p/54") is None


# --- bounds ------------------------------------------------------------------------------------------------------------


def test_what_is_remembered_is_bounded_and_given_back() -> None:
    memory = MemoryBudget(1000)
    both = [Guards(WorkConf(), NOW, b"", memory) for _ in range(2)]
    for one in both:
        for number in range(3000):
            one.judge(f"/p{number}?a=1&b=2")
            one.judge(f"/s{number};jsessionid=ABCDEF{number}")
            one.judge(f"/c{number}x/2026/05")
            one.observe(f"/d{number}x/{number}", 5, 200)
        assert memory.left == 0
    for one in both:
        one.forget()
    assert memory.left == 1000


def test_what_is_stored_is_small() -> None:
    one = guards(MaxQueryShapes=1, TemplateBudget=2)
    assert one.encode() == b""
    for number in range(4000):
        letters = "".join(chr(97 + int(figure)) for figure in str(number))
        for shape in ("a&b", "c&d"):
            one.judge(f"/{letters}?{shape}")
        for year in (2026, 2999):
            one.judge(f"/{letters}/{year}-05")
        for page in range(9):
            one.observe(f"/{letters}/{page}", 5 if number % 2 else other(number), 200)
    assert 100 < len(one.encode()) < 8000


@given(st.binary(max_size=60))
def test_anything_may_be_stored(stored: bytes) -> None:
    assert guards(stored).judge("/p") is None


@given(st.lists(st.text(alphabet="/?&=;ab0129(S).-", max_size=60), max_size=30))
def test_no_path_is_too_odd(paths: list[str]) -> None:
    one = guards(TemplateBudget=2, MaxQueryShapes=2)
    for path in paths:
        assert one.judge(f"/{path}") is None or one.refused
        one.observe(f"/{path}", len(path), 200)
        one.judge_ask(f"/{path}")
    guards(one.encode(), TemplateBudget=2, MaxQueryShapes=2)


@pytest.mark.parametrize("unit", ["/a", "a", "1", "20", "2026-05/", "?a&", ";sid=", "(S(", "%", "&sid=1", "s=0a"])
def test_long_paths_take_linear_time(unit: str) -> None:
    """No assertion on time: a quadratic guard would not come to an end here."""
    path = "/" + unit * (200_000 // len(unit))
    one = guards(**{**OFF, "MaxRepeats": 10**6, "MaxYearsAhead": 1, "OneSession": True, "TemplateBudget": 1})
    one.judge(path)
    one.judge(f"/?{path}")
    one.observe(path, 1, 200)


def test_every_guard_has_its_settings() -> None:
    refusing = (Reason.PATH_DEPTH, Reason.REPEATS, Reason.PARAMETERS, Reason.QUERIES, Reason.CALENDAR, Reason.SESSION)
    for reason in (*refusing, Reason.DUPLICATES, Reason.SOFT_404):
        for name in SETTINGS_OF[reason]:
            assert name.removeprefix("Work.") in OFF
