from __future__ import annotations

import pycurl
import pytest

from parcahyd.core.ports import DownloadFailure
from parcahyd.net.curl_errors import CurlError, detail_of, failure_of, ftp_status_of


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (7, DownloadFailure.CONNECT),
        (35, DownloadFailure.TLS),
        (60, DownloadFailure.TLS),
        (28, DownloadFailure.TIMEOUT),
        (52, DownloadFailure.RESET),
        (56, DownloadFailure.RESET),
        (92, DownloadFailure.RESET),
        (18, DownloadFailure.TRUNCATED),
        (61, DownloadFailure.CONTENT_CODING),
        (63, DownloadFailure.SIZE),
        (1, DownloadFailure.PROTOCOL),
        (8, DownloadFailure.PROTOCOL),
        (100, DownloadFailure.PROTOCOL),
        (9999, DownloadFailure.PROTOCOL),
    ],
)
def test_errors_become_faults(number: int, fault: DownloadFailure) -> None:
    assert failure_of(number) is fault


@pytest.mark.parametrize("text", ["chunk hex-length longer than 17", "Too large response headers: 360037 > 307200"])
def test_what_cannot_be_read_is_no_reset(text: str) -> None:
    assert failure_of(56, text) is DownloadFailure.PROTOCOL
    assert failure_of(56, "Recv failure: Connection reset by peer") is DownloadFailure.RESET


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
