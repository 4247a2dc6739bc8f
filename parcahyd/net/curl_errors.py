"""The DownloadFailure that stands for each of libcurl's error numbers.

The numbers are part of libcurl's ABI; pycurl names only some of them.
"""

from __future__ import annotations

from enum import IntEnum

from parcahyd.core.ports import DownloadFailure

__all__ = ["CurlError", "detail_of", "failure_of", "ftp_status_of"]


class CurlError(IntEnum):
    """The error numbers that matter here, under libcurl's names."""

    COULDNT_RESOLVE_PROXY = 5
    COULDNT_RESOLVE_HOST = 6
    COULDNT_CONNECT = 7
    REMOTE_ACCESS_DENIED = 9
    PARTIAL_FILE = 18
    FTP_COULDNT_RETR_FILE = 19
    WRITE_ERROR = 23
    OPERATION_TIMEDOUT = 28
    SSL_CONNECT_ERROR = 35
    INTERFACE_FAILED = 45
    GOT_NOTHING = 52
    SEND_ERROR = 55
    RECV_ERROR = 56
    SSL_CERTPROBLEM = 58
    SSL_CIPHER = 59
    PEER_FAILED_VERIFICATION = 60
    BAD_CONTENT_ENCODING = 61
    FILESIZE_EXCEEDED = 63
    LOGIN_DENIED = 67
    SSL_CACERT_BADFILE = 77
    REMOTE_FILE_NOT_FOUND = 78
    SSL_ISSUER_ERROR = 83
    SSL_INVALIDCERTSTATUS = 91
    HTTP2_STREAM = 92
    PROXY = 97
    TOO_LARGE = 100


_FAILURES: dict[int, DownloadFailure] = {
    CurlError.COULDNT_RESOLVE_PROXY: DownloadFailure.CONNECT,
    CurlError.COULDNT_RESOLVE_HOST: DownloadFailure.CONNECT,
    CurlError.COULDNT_CONNECT: DownloadFailure.CONNECT,
    CurlError.INTERFACE_FAILED: DownloadFailure.CONNECT,
    CurlError.PROXY: DownloadFailure.CONNECT,
    CurlError.SSL_CONNECT_ERROR: DownloadFailure.TLS,
    CurlError.SSL_CERTPROBLEM: DownloadFailure.TLS,
    CurlError.SSL_CIPHER: DownloadFailure.TLS,
    CurlError.PEER_FAILED_VERIFICATION: DownloadFailure.TLS,
    CurlError.SSL_CACERT_BADFILE: DownloadFailure.TLS,
    CurlError.SSL_ISSUER_ERROR: DownloadFailure.TLS,
    CurlError.SSL_INVALIDCERTSTATUS: DownloadFailure.TLS,
    CurlError.OPERATION_TIMEDOUT: DownloadFailure.TIMEOUT,
    CurlError.GOT_NOTHING: DownloadFailure.RESET,
    CurlError.SEND_ERROR: DownloadFailure.RESET,
    CurlError.RECV_ERROR: DownloadFailure.RESET,
    # One stream of a connection that was reset is what a reset connection is to HTTP/1.1 (RFC 9113, section 5.4.2).
    CurlError.HTTP2_STREAM: DownloadFailure.RESET,
    CurlError.PARTIAL_FILE: DownloadFailure.TRUNCATED,
    CurlError.BAD_CONTENT_ENCODING: DownloadFailure.CONTENT_CODING,
    # The write callback refused. Transfer's callback does so for size only, and Transfer handles that case. What is left are
    # bytes after the end of a compressed stream: libcurl itself undoes a coding of the transfer, which nothing asked for.
    CurlError.WRITE_ERROR: DownloadFailure.CONTENT_CODING,
    CurlError.FILESIZE_EXCEEDED: DownloadFailure.SIZE,
}

# The HTTP status that stands for each refusal of an ftp server: the rest of the crawl knows HTTP only.
_FTP_REFUSALS: dict[int, int] = {
    CurlError.REMOTE_FILE_NOT_FOUND: 404,
    CurlError.FTP_COULDNT_RETR_FILE: 404,
    CurlError.REMOTE_ACCESS_DENIED: 404,
    CurlError.LOGIN_DENIED: 403,
}


# libcurl has one number for a connection that broke and for an answer that cannot be parsed; only its text differs.
_UNREADABLE = ("chunk ", "Too large response headers", "Too many response headers")

# For errors to which libcurl gives no text.
_DETAILS: dict[int, str] = {
    CurlError.WRITE_ERROR: "bytes follow the end of the compressed body",
    CurlError.TOO_LARGE: "a header is longer than libcurl takes",
}


def failure_of(number: int, text: str = "") -> DownloadFailure:
    """The failure that a libcurl error stands for; one that is not listed is PROTOCOL."""
    if number == CurlError.RECV_ERROR and text.startswith(_UNREADABLE):
        return DownloadFailure.PROTOCOL
    return _FAILURES.get(number, DownloadFailure.PROTOCOL)


def detail_of(number: int, text: str) -> str:
    """The error as a text for people; never empty."""
    return text or _DETAILS.get(number) or f"libcurl error {number}"


def ftp_status_of(number: int, reply: int) -> int:
    """The HTTP status that stands for an ftp outcome, or 0 where it is a failure.

    A reply of the 400s means "not now" (RFC 959, section 4.2.1), so it becomes 503 whatever was asked.
    """
    if number == 0:
        return 200
    if number not in _FTP_REFUSALS:
        return 0
    return 503 if 400 <= reply < 500 else _FTP_REFUSALS[number]
