"""The synthetic web is repeatable and whole, and its servers say what it computes."""

from __future__ import annotations

import re
import socket
from collections import Counter, deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import pytest

from bench.broad import gaps_by_address, gaps_by_host
from bench.report_page import chart, publish
from bench.scale import tenths
from bench.synthetic_run import ROLES, Sample, ServedWeb
from bench.synthetic_server import Request
from bench.synthetic_web import NO_HOST, NO_PAGE, ROBOTS, Answer, Shape, Web
from tests.support.processes import wait_until

SMALL = Shape(pages=3000, hosts=40, addresses=7)
PORT = 8080


def _links(answer: Answer, url: str) -> list[str]:
    found = [answer.location] if answer.location else re.findall(rb'href="([^"]*)"', answer.body)
    return [urljoin(url, link.decode()) for link in found]


def _place(web: Web, url: str) -> tuple[int, int]:
    parts = urlsplit(url)
    host = web.host_of(parts.netloc.encode())
    return host, web.page_of(host, parts.path.encode())


@cache
def _walk(shape: Shape) -> dict[tuple[int, int], tuple[Answer, list[tuple[int, int]]]]:
    """Every page that is reachable from the first home page, with its answer and its links."""
    web = Web(shape, PORT)
    seen: dict[tuple[int, int], tuple[Answer, list[tuple[int, int]]]] = {}
    waiting = deque([(0, 0)])
    while waiting:
        place = waiting.popleft()
        if place not in seen:
            answer = web.answer(*place)
            links = [_place(web, link) for link in _links(answer, web.url(*place))]
            seen[place] = answer, links
            waiting.extend(links)
    return seen


def test_the_same_shape_gives_the_same_web() -> None:
    one, two = Web(SMALL, PORT), Web(SMALL, PORT)
    places = [(host, page) for host in range(SMALL.hosts) for page in range(one.sizes[host])][::7]
    assert [one.answer(*place) for place in places] == [two.answer(*place) for place in reversed(places)][::-1]


def test_another_seed_gives_another_web() -> None:
    other = Web(Shape(SMALL.pages, SMALL.hosts, SMALL.addresses, seed=2), PORT)
    assert other.answer(3, 0) != Web(SMALL, PORT).answer(3, 0)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("pages", "hosts"), [(3000, 40), (40, 40), (1, 1), (100_003, 997)])
def test_the_pages_of_all_hosts_are_as_many_as_were_asked_for(pages: int, hosts: int, exponent: float) -> None:
    sizes = Shape(pages, hosts, 1, exponent=exponent).sizes()
    assert (len(sizes), sum(sizes)) == (hosts, pages)
    assert min(sizes) >= 1


def test_more_hosts_than_pages_is_an_error() -> None:
    with pytest.raises(ValueError, match="41 hosts need at least as many pages"):
        Shape(40, 41, 1).sizes()


def test_every_page_is_reachable_and_no_link_leads_nowhere() -> None:
    web = Web(SMALL, PORT)
    assert set(_walk(SMALL)) == {(host, page) for host in range(SMALL.hosts) for page in range(web.sizes[host])}


def test_every_page_can_be_found_from_the_home_page_of_its_own_host() -> None:
    assert len(_walk(Shape(200, 1, 1))) == 200


def test_there_are_redirects_dead_links_and_copies_but_few() -> None:
    answers = [answer for answer, _ in _walk(SMALL).values()]
    statuses = Counter(answer.status for answer in answers)
    copies = Counter(answer.body for answer in answers if answer.status == 200)
    assert set(statuses) == {200, 301, 404}
    assert statuses[200] > 0.95 * len(answers)
    assert sum(count for count in copies.values() if count > 1) > 10
    assert len(copies) > 0.9 * len(answers)


def test_links_have_heavy_tails() -> None:
    pages = _walk(SMALL)
    out = sorted(len(links) for _, links in pages.values())
    into = Counter(link for _, links in pages.values() for link in links)
    hosts = Counter(link[0] for place, (_, links) in pages.items() for link in links if link[0] != place[0])
    assert out[-1] > 3 * out[len(out) // 2]
    most = [count for _, count in into.most_common()]
    assert sum(most[: len(most) // 10]) > 0.5 * sum(most)
    assert sum(count for _, count in hosts.most_common(4)) > 0.4 * sum(hosts.values())
    sizes = SMALL.sizes()
    assert sizes[0] > 10 * sizes[-1]


def test_pages_are_as_long_as_pages_are() -> None:
    lengths = [len(answer.body) for answer, _ in _walk(SMALL).values() if answer.status == 200]
    assert 4000 < sum(lengths) / len(lengths) < 10_000


def test_what_is_no_page_is_not_taken_for_one() -> None:
    web = Web(SMALL, PORT)
    assert [web.page_of(0, path) for path in (b"/", b"/robots.txt", web.path(30).encode())] == [0, ROBOTS, 30]
    wrong = [b"", b"/s0/p0.html", b"/s1/p30.html", b"/s6/p30.htm", b"/s6/p-30.html", b"/s6/p3000000.html", b"/p30.html"]
    assert [web.page_of(0, path) for path in wrong] == [NO_PAGE] * len(wrong)
    assert web.host_of(b"h39.web.test:80") == 39
    assert [web.host_of(name) for name in (b"h40.web.test", b"h.web.test", b"web.test", b"", b"h3.else.test")] == [NO_HOST] * 5


# --- the servers -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    with ServedWeb(SMALL, tmp_path_factory.mktemp("served"), dns_latency=0.05) as running:
        yield running


def _converse(served: ServedWeb, address: int, *requests: bytes) -> list[tuple[int, bytes]]:
    """Send requests on one connection, all at once, and read as many answers: status and body."""
    answers = []
    with socket.create_connection((SMALL.address(address), served.web.port), 5) as connection:
        connection.sendall(b"".join(requests))
        stream = connection.makefile("rb")
        for _ in requests:
            status = int(stream.readline().split()[1])
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            answers.append((status, stream.read(length)))
    return answers


def _get(path: str, host: int, *, header: str = "Host") -> bytes:
    return f"GET {path} HTTP/1.1\r\n{header}: h{host}.web.test:80\r\nAccept: */*\r\n\r\n".encode()


def test_the_server_answers_what_the_web_computes(served: ServedWeb) -> None:
    places = [(8, 0), (1, 30), (15, 3), (1, 201), (8, 5)]
    requests = [_get(served.web.path(page), host, header="host" if page == 3 else "Host") for host, page in places]
    expected = [served.web.answer(*place) for place in places]
    assert _converse(served, 1, *requests) == [(answer.status, answer.body) for answer in expected]


def test_the_server_knows_no_robots_txt_and_no_other_path(served: ServedWeb) -> None:
    assert [status for status, _ in _converse(served, 1, _get("/robots.txt", 1), _get("/nothing", 1))] == [404, 404]


def test_a_host_answers_on_its_own_address_only(served: ServedWeb) -> None:
    assert [status for status, _ in _converse(served, 2, _get("/", 1), _get("/", 2), _get("/", 400))] == [421, 200, 421]


def test_the_log_has_every_request(tmp_path: Path) -> None:
    with ServedWeb(Shape(100, 2, 1), tmp_path, robots=True) as served:
        for path in ("/robots.txt", served.web.path(7)):
            assert [status for status, _ in _converse(served, 0, _get(path, 1))] == [200]
    first, second = served.requests()
    assert [request[2:5] for request in (first, second)] == [(1, ROBOTS, 200), (1, 7, 200)]
    assert first.began <= first.ended <= second.began <= second.ended


def test_the_server_logs_who_asked(tmp_path: Path) -> None:
    named = _get("/", 0).replace(b"\r\n\r\n", b"\r\nX-Asker: 3\r\n\r\n")
    with ServedWeb(Shape(100, 2, 1), tmp_path, None) as served:
        _converse(served, 0, named, named)
        _converse(served, 0, _get("/", 0))
    assert [request.asker for request in served.requests()] == [3, 3, 0]
    assert {request.source >> 24 for request in served.requests()} == {127}


def test_answers_wait_as_long_as_was_asked_for(tmp_path: Path) -> None:
    """Those to clients at an address of their own wait longer, and the order of the answers on a connection stays."""
    with ServedWeb(Shape(100, 2, 1), tmp_path, None, latency=0.1, latency_from={"127.0.0.7": 0.3}) as served:
        place = (served.web.shape.address(0), served.web.port)
        with socket.create_connection(place, 60, source_address=("127.0.0.7", 0)) as far:
            far.sendall(_get("/", 0))
            first, second = _converse(served, 0, _get(served.web.path(1), 0), _get(served.web.path(2), 0))
            assert far.recv(12) == b"HTTP/1.1 200"
        assert [first[1], second[1]] == [served.web.answer(0, 1).body, served.web.answer(0, 2).body]
    waited = {request.page: request.ended - request.began for request in served.requests()}
    assert waited[0] >= 0.3
    assert min(waited[1], waited[2]) >= 0.1
    assert [request.source & 0xFF for request in served.requests() if request.page == 0] == [7]


def test_what_was_asked_for_by_a_client_that_is_gone_is_logged(tmp_path: Path) -> None:
    """Its request ends when it is gone."""
    with ServedWeb(Shape(100, 2, 1), tmp_path, None, latency=0.5) as served:
        with socket.create_connection((served.web.shape.address(0), served.web.port), 60) as client:
            client.sendall(_get("/", 1))
        assert wait_until(lambda: served.requests_so_far() == 1)
    (request,) = served.requests()
    assert (request.host, request.page, request.status) == (1, 0, 200)
    assert request.ended - request.began < 0.5


def _ask(served: ServedWeb, name: str, kind: str) -> dns.message.Message:
    address, _, port = served.nameserver.partition(":")
    return dns.query.udp(dns.message.make_query(name, kind), address, timeout=60, port=int(port))


def test_the_name_server_knows_the_hosts(served: ServedWeb) -> None:
    answer = _ask(served, "H12.Web.test", "A")
    assert [record.address for record in answer.answer[0]] == [SMALL.address(12 % 7)]
    without = _ask(served, "h12.web.test", "AAAA")
    assert (without.rcode(), without.answer) == (dns.rcode.NOERROR, [])
    for name in ("h40.web.test", "web.test", "h1.else.test", "."):
        assert _ask(served, name, "A").rcode() == dns.rcode.NXDOMAIN, name
    asked = [question for question in served.questions() if question.host == 12]
    assert [question.kind for question in asked] == [dns.rdatatype.A, dns.rdatatype.AAAA]
    assert all(question.answered - question.asked >= 0.05 for question in asked)


# --- what the benchmarks make of it ------------------------------------------------------------------------------------


def test_gaps_of_hosts_run_from_end_to_beginning_and_those_of_addresses_from_beginning_to_beginning() -> None:
    requests = [Request(0.0, 1.0, 0, 0, 200), Request(1.5, 1.6, 2, 0, 200), Request(4.9, 5.0, 0, 1, 200)]
    hosts = gaps_by_host(requests, 4.0)
    assert (hosts.count, round(hosts.smallest, 6), hosts.too_short) == (1, 3.9, 1)
    addresses = gaps_by_address(requests, 2, 1.505)
    assert (addresses.count, addresses.smallest, addresses.too_short, addresses.much_too_short) == (2, 1.5, 1, 0)


def test_tenths_have_equal_numbers_of_pages_and_share_the_growth_of_the_database() -> None:
    requests = [Request(float(number), number + 0.5, 0, number, 200) for number in range(100)]
    memory = dict.fromkeys(ROLES, 5)
    samples = [Sample(float(at), at, memory, 1000 * at, 0) for at in range(0, 101, 2)]
    found = tenths(requests, samples)
    assert [tenth.pages for tenth in found] == [10] * 10
    assert [round(tenth.rate, 6) for tenth in found[1:]] == [1.0] * 9
    assert [round(tenth.database) for tenth in found[1:]] == [10_000] * 9
    assert found[3].peak == 15


def test_a_report_is_written_anew_and_leaves_the_rest_of_the_page_alone(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Performance\n\n<!-- scale begin -->\nold\n<!-- scale end -->\n\nthe rest\n")
    drawn = chart("pages", [("pages/s", [(0.0, 1.0), (10.0, 3.0)])], [("MiB", [(0.0, 0.0), (10.0, 0.0)])])
    for line in ("first", "second"):
        publish("scale", "Scale", [line], drawn, page)
    text = page.read_text()
    assert text.startswith("# Performance\n\n<!-- scale begin -->")
    assert text.endswith("<!-- scale end -->\n\nthe rest\n")
    assert ("old" in text, "first" in text, "second" in text) == (False, False, True)
    assert (tmp_path / "performance-scale.svg").read_text().count("<polyline ") == 2
