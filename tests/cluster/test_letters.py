"""What letters say comes back as it was, in letters that are never long."""

from __future__ import annotations

import pytest

from parcahyd.cluster.letters import ROBOTS_ANSWER, ROBOTS_QUESTION, URLS, answer, halves, question, read_letters, url_bodies
from parcahyd.cluster.mail import ReceivedLetter
from parcahyd.cluster.seeds import SEED
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.storage.other_partitions import FoundUrl


def _url(number: int, length: int = 20) -> FoundUrl:
    return (f"http://b.example/{number}".ljust(length, "x"), number, 1, number % 2 == 0, "nofollow", 2**41 + number, -number)


def _letter(kind: str, body: bytes) -> ReceivedLetter:
    return ReceivedLetter(1, kind, 0, body)


def test_what_letters_say_comes_back() -> None:
    urls = [_url(1), _url(2), ("http://b.example/", 0, 0, False, "", 0, None)]
    fact = RobotsFact(RobotsStatus.FOUND, b"User-agent: *", 1.5, 2.5, "detail")
    mail, unreadable = read_letters(
        [
            *(_letter(URLS, body) for body in url_bodies(urls)),
            _letter(ROBOTS_QUESTION, question(7, "http://b.example/robots.txt", 3)),
            _letter(ROBOTS_ANSWER, answer(8, fact)),
            _letter(SEED, b"http://b.example/seed"),
        ]
    )
    assert (mail.urls, unreadable) == (urls, 0)
    assert mail.robots_questions == [(7, "http://b.example/robots.txt", 3)]
    assert mail.robots_answers == [(8, fact)]
    assert mail.seeds == ["http://b.example/seed"]


def test_half_a_million_links_are_many_letters() -> None:
    urls = (_url(number, 40) for number in range(500_000))
    sizes = [len(body) for body in url_bodies(urls)]
    assert max(sizes) < 40_000
    assert len(sizes) > 500


def test_a_long_url_is_a_letter_of_its_own() -> None:
    bodies = list(url_bodies([_url(1), _url(2, 100_000), _url(3)]))
    assert [len(read_letters([_letter(URLS, body)])[0].urls) for body in bodies] == [1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (URLS, b"\xff\xff"),
        (URLS, b"\x91\x01"),
        (ROBOTS_QUESTION, b""),
        (ROBOTS_ANSWER, b"\x92\x01\x02"),
        (SEED, b"\xff"),
        (SEED, b"no URL"),
        ("probe", b""),
    ],
)
def test_what_cannot_be_read_is_counted_and_harms_no_other(kind: str, body: bytes) -> None:
    mail, unreadable = read_letters([_letter(kind, body), _letter(SEED, b"http://b.example/")])
    assert (mail.seeds, unreadable) == (["http://b.example/"], 1)


def test_a_letter_with_many_urls_can_be_halved() -> None:
    (body,) = url_bodies([_url(number) for number in range(5)])
    parts = halves(_letter(URLS, body))
    assert [[url[1] for url in read_letters([_letter(URLS, part)])[0].urls] for part in parts] == [[0, 1], [2, 3, 4]]
    (body,) = url_bodies([_url(1)])
    assert halves(_letter(URLS, body)) == ()
    assert halves(_letter(SEED, b"http://b.example/")) == ()
