from __future__ import annotations

import pycurl
import pytest

from parcahyd.core.ports import DownloadFault
from parcahyd.net.curl_errors import CurlError, detail_of, fault_of, ftp_status_of


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (7, DownloadFault.CONNECT),
        (35, DownloadFault.TLS),
        (60, DownloadFault.TLS),
        (28, DownloadFault.TIMEOUT),
        (52, DownloadFault.RESET),
        (56, DownloadFault.RESET),
        (92, DownloadFault.RESET),
        (18, DownloadFault.TRUNCATED),
        (61, DownloadFault.CONTENT_CODING),
        (63, DownloadFault.SIZE),
        (1, DownloadFault.PROTOCOL),
        (8, DownloadFault.PROTOCOL),
        (100, DownloadFault.PROTOCOL),
        (9999, DownloadFault.PROTOCOL),
    ],
)
def test_errors_become_faults(number: int, fault: DownloadFault) -> None:
    assert fault_of(number) is fault


@pytest.mark.parametrize("text", ["chunk hex-length longer than 17", "Too large response headers: 360037 > 307200"])
def test_what_cannot_be_read_is_no_reset(text: str) -> None:
    assert fault_of(56, text) is DownloadFault.PROTOCOL
    assert fault_of(56, "Recv failure: Connection reset by peer") is DownloadFault.RESET


@pytest.mark.parametrize("number", [1, 23, 100])
def test_a_detail_is_never_empty(number: int) -> None:
    assert detail_of(number, "")
    assert detail_of(number, "what libcurl says") == "what libcurl says"


def test_the_numbers_are_libcurls() -> None:
    known = {error: getattr(pycurl, f"E_{error.name}", None) for error in CurlError}
    assert {error: number for error, number in known.items() if number not in (None, error)} == {}
    assert sum(number is not None for number in known.values()) > 15


@pytest.mark.parametrize(
    ("number", "reply", "status"),
    [(0, 226, 200), (78, 550, 404), (9, 550, 404), (19, 550, 404), (67, 530, 403), (19, 450, 503), (67, 421, 503), (28, 0, 0)],
)
def test_ftp_outcomes_in_the_words_of_http(number: int, reply: int, status: int) -> None:
    assert ftp_status_of(number, reply) == status
