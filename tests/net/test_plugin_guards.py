"""Options that a downloader does not honour never reach it; what else the guards do is in tests/test_plugin_manager.py."""

from __future__ import annotations

import asyncio

import pytest

from parcahyd.core.ports import DownloadFault, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.net.plugin_guards import GuardedDownloader, StrictDownloader
from parcahyd.testing import FakeDownloader


@pytest.mark.parametrize("guard", [GuardedDownloader, StrictDownloader])
def test_options_that_are_not_honoured_are_refused_by_name(guard: type[GuardedDownloader]) -> None:
    loop = asyncio.new_event_loop()
    inner = FakeDownloader({"http://a.test/": b"x"}, loop.call_soon)
    inner.options = frozenset({"cookies"})
    guarded = guard("mine", inner, loop)
    results: list[DownloadResult] = []
    for options in (RequestOptions(proxy="http://p:1", credentials="u:s3cret"), RequestOptions(cookies=True), RequestOptions()):
        guarded.start(DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1000, options), results.append)
    assert results == []
    loop.call_later(0.02, loop.stop)
    loop.run_forever()
    loop.close()
    refused = next(result for result in results if result.fault)
    assert refused.fault is DownloadFault.PLUGIN
    assert refused.detail == 'downloader "mine" cannot do what the settings ask for this host: credentials, proxy'
    assert [result.status for result in results if result.fault is None] == [200, 200]
    assert len(inner.requests) == 2


@pytest.mark.parametrize("guard", [GuardedDownloader, StrictDownloader])
def test_a_downloader_that_says_nothing_honours_nothing(guard: type[GuardedDownloader]) -> None:
    loop = asyncio.new_event_loop()
    inner = FakeDownloader({}, loop.call_soon)
    del inner.options
    assert guard("mine", inner, loop).options == frozenset()
    loop.close()
