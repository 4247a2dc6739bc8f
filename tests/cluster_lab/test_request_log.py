"""What the log of a web says of a crawl."""

from __future__ import annotations

import pytest

from bench.synthetic_server import Request
from bench.synthetic_web import ROBOTS, Shape, Web
from tests.cluster_lab.request_log import judge_log

_WEB = Web(Shape(pages=4, hosts=2, addresses=1, exponent=0.0), 80)


def _asked(began: float, host: int, page: int, asker: int = 1, seconds: float = 0.1) -> Request:
    return Request(began, began + seconds, host, page, 200, asker)


def test_pages_nobody_asked_for_and_pages_that_were_asked_for_again() -> None:
    requests = [_asked(0, 0, ROBOTS), _asked(1, 0, 0), _asked(2, 0, 1), _asked(3, 0, 1), _asked(4, 0, 1)]
    found = judge_log(_WEB, requests, 0.2, 0.1)
    assert (found.asked, found.again) == (2, 2)
    assert found.missing == (_WEB.url(1, 0), _WEB.url(1, 1))


def test_robots_txt_and_what_is_no_page_are_no_pages() -> None:
    found = judge_log(_WEB, [_asked(0, 0, ROBOTS), _asked(1, 0, ROBOTS), _asked(2, -1, -2)], 0.2, 0.1)
    assert (found.asked, found.again, len(found.missing)) == (0, 0, 4)


@pytest.mark.parametrize(("asker", "short"), [(1, "1 / 0"), (2, "0 / 1")])
def test_a_host_rests_from_the_end_of_an_answer(asker: int, short: str) -> None:
    """Its delay is 0.2: 0.1 for the answer and 0.15 afterwards are too short."""
    found = judge_log(_WEB, [_asked(0, 0, 0), _asked(0.25, 0, 1, asker)], 0.2, 0.05)
    assert str(found.hosts) == short
    assert found.hosts.shortest == pytest.approx(0.15)


def test_a_request_during_the_answer_to_another_is_too_early() -> None:
    """The answer to the first ends after that to the second; the third comes too early after the first."""
    requests = [_asked(0, 0, 0, seconds=1.0), _asked(0.3, 0, 1), _asked(0.9, 0, 0)]
    found = judge_log(_WEB, requests, 0.2, 0.0)
    assert str(found.hosts) == "2 / 0"
    assert found.hosts.shortest == pytest.approx(-0.7)


def test_an_address_rests_between_hosts() -> None:
    """Within one pipeline from request to request, and from the end of the answer on where another follows."""
    within = judge_log(_WEB, [_asked(0, 0, 0), _asked(0.15, 1, 0)], 0.2, 0.1)
    assert (str(within.hosts), str(within.addresses)) == ("0 / 0", "0 / 0")
    between = judge_log(_WEB, [_asked(0, 0, 0), _asked(0.15, 1, 0, asker=2)], 0.2, 0.1)
    assert (str(between.hosts), str(between.addresses)) == ("0 / 0", "0 / 1")
    assert judge_log(_WEB, [_asked(0, 0, 0), _asked(0.05, 1, 0)], 0.2, 0.1).addresses.within == 1


def test_the_last_answer_of_another_pipeline_counts_also_when_its_last_request_was_answered_before() -> None:
    requests = [_asked(0, 0, 0, seconds=0.5), _asked(0.2, 1, 0), _asked(0.55, 1, 1, asker=2)]
    assert judge_log(_WEB, requests, 0.0, 0.1).addresses.between == 1


def test_clocks_may_differ_by_a_hundredth_of_a_second() -> None:
    assert judge_log(_WEB, [_asked(0, 0, 0), _asked(0.295, 0, 1)], 0.2, 0.0).hosts.within == 0


def test_who_is_a_pipeline_can_be_told() -> None:
    """One node has both partitions: to it, these are two pipelines."""
    requests = [_asked(0, 0, 0), _asked(0.05, 1, 0)]
    assert judge_log(_WEB, requests, 0.2, 0.1, lambda request: request.host).addresses.between == 1
