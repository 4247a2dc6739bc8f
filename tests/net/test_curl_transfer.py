from __future__ import annotations

from collections.abc import Iterator

import pycurl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.curl_transfer import Pace, StallTimeout, Transfer
from parcahyd.net.wire_budget import WireBudget
from tests.net.downloader_harness import AUTHORITY


@pytest.fixture
def transfer() -> Iterator[Transfer]:
    made = Transfer(WorkConf(), str(AUTHORITY), WireBudget(10**6))
    made.begin(DownloadRequest("http://pages.test/", "192.0.2.1", 80, (), 1000), _ignore)
    yield made
    made.close()


def _ignore(_result: DownloadResult) -> None:
    pass


def test_a_socket_to_another_address_is_never_opened(transfer: Transfer) -> None:
    assert transfer._open_socket(0, (2, 1, 6, ("192.0.2.9", 80))) == pycurl.SOCKET_BAD
    result = transfer.finish(7, "could not connect")
    assert (result.failure, result.peer) == (DownloadFailure.CONNECT, "192.0.2.9")
    assert "192.0.2.1" in result.detail


def test_a_request_never_leaves_over_a_connection_to_another_address(transfer: Transfer) -> None:
    assert transfer._approve_peer("192.0.2.1", "", 80, 0) == pycurl.PREREQFUNC_OK
    assert transfer._approve_peer("192.0.2.9", "", 80, 0) == pycurl.PREREQFUNC_ABORT
    result = transfer.finish(42, "aborted")
    assert (result.failure, result.peer) == (DownloadFailure.CONNECT, "192.0.2.9")


def test_a_handle_forgets_the_request_before(transfer: Transfer) -> None:
    transfer._take(b"x" * 1001)
    assert transfer.finish(23, "").failure is DownloadFailure.SIZE
    transfer.begin(DownloadRequest("http://pages.test/", "192.0.2.1", 80, (), 1000), _ignore)
    transfer._take(b"x" * 1000)
    result = transfer.finish(18, "cut")
    assert (result.failure, result.peer, result.body) == (DownloadFailure.TRUNCATED, "", b"")


def test_only_encrypted_requests_wait_for_a_connection_to_share(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[bool] = []

    class Curl:
        """A handle that notes whether it is to wait."""

        def setopt(self, option: int, value: bool) -> None:
            if option == pycurl.PIPEWAIT:
                waits.append(value)

    monkeypatch.setattr(pycurl, "Curl", Curl)
    made = Transfer(WorkConf(HostConnections=2), str(AUTHORITY), WireBudget(10**6))
    set_by_each = []
    for scheme in ("http", "https", "https", "http", "https"):
        made.begin(DownloadRequest(f"{scheme}://pages.test/", "192.0.2.1", 80, (), 1000), _ignore)
        set_by_each.append(waits[-1])
    assert set_by_each == [False, True, True, False, True]


@pytest.mark.parametrize("address", ["pages.test", "", "1.2.3", "::1%lo", "127.0.0.1:80"])
def test_only_an_address_can_be_pinned(transfer: Transfer, address: str) -> None:
    with pytest.raises(OSError, match="illegal IP address"):
        transfer.begin(DownloadRequest("http://pages.test/", address, 80, (), 1000), _ignore)


def stalls(timeout: StallTimeout, looks: list[tuple[float, int]]) -> tuple[float, str]:
    """When and why the transfer with these bytes at these times is given up."""
    pace: Pace | None = None
    for at, received in looks:
        pace, said = timeout.check(pace, received, at)
        if said:
            return at, said
    return -1.0, ""


@pytest.mark.parametrize(
    ("timeout", "looks", "expected"),
    [
        (StallTimeout(None, 4, 0), [(0, 0), (3, 0), (4, 0)], (4, "no answer within 4 s")),
        (StallTimeout(9, 4, 0), [(0, 0), (8, 0), (9, 0)], (9, "no answer within 9 s")),
        (StallTimeout(0, 4, 0), [(0, 0), (1000, 0)], (-1, "")),
        (StallTimeout(9, 4, 0), [(0, 0), (8, 5), (11, 5), (12, 5)], (12, "no byte for 4 s")),
        (StallTimeout(None, 0, 0), [(0, 0), (1000, 5), (9000, 5)], (-1, "")),
        (StallTimeout(None, 10, 100), [(0, 1), (5, 400), (9, 900), (10, 1000)], (10, "100 bytes a second, fewer than 100")),
        (
            StallTimeout(None, 10, 100),
            [(0, 1), (9, 2), (10, 1001), (19, 1002), (20, 1003)],
            (20, "0 bytes a second, fewer than 100"),
        ),
        (StallTimeout(None, 0, 100), [(0, 0), (50, 0), (60, 1), (89, 2), (90, 3)], (90, "0 bytes a second, fewer than 100")),
        (StallTimeout(None, 10, 0), [(0, 1), (9, 2), (18, 3), (27, 4)], (-1, "")),
    ],
)
def test_which_limit_is_passed_and_when(
    timeout: StallTimeout, looks: list[tuple[float, int]], expected: tuple[float, str]
) -> None:
    assert stalls(timeout, looks) == expected


def test_the_looks_are_frequent_enough_for_the_shortest_limit() -> None:
    assert StallTimeout(None, 30, 100).interval == 7.5
    assert StallTimeout(2, 30, 100).interval == 0.5
    assert StallTimeout(0, 0, 1).interval == 7.5
    assert StallTimeout(None, 0, 0).interval == 0.0


@given(st.lists(st.tuples(st.floats(0.1, 3), st.integers(300, 5000)), max_size=40))
def test_a_brisk_transfer_is_never_given_up(steps: list[tuple[float, int]]) -> None:
    timeout = StallTimeout(5, 5, 99)
    at, received, looks = 0.0, 1, [(0.0, 1)]
    for seconds, size in steps:
        at, received = at + seconds, received + size
        looks.append((at, received))
    assert stalls(timeout, looks) == (-1.0, "")
