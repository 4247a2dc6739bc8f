from __future__ import annotations

from parcahyd.core.ports import GENERAL, DownloadRequest, RequestOptions


def test_a_request_is_general_unless_it_says_otherwise() -> None:
    assert DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1).options is GENERAL


def test_differences_name_the_fields() -> None:
    assert GENERAL.differences() == RequestOptions().differences() == frozenset()
    assert RequestOptions(proxy="http://p:1", http2=False).differences() == {"proxy", "http2"}


def test_secrets_are_not_printed() -> None:
    options = RequestOptions(credentials="u:s3cret", proxy="http://u:s3cret@p:1")
    assert repr(options) == f"{options}" == "RequestOptions(credentials, proxy)"
    assert "s3cret" not in repr(DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1, options))
