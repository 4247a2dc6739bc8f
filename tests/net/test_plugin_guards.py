"""What the guards keep from plugins, and what they answer for: options that are not honoured, answers that are none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult, RequestOptions, Resolution
from parcahyd.net.plugin_guards import GuardedDownloader
from parcahyd.plugin_manager import PluginManager
from parcahyd.testing import FakeDownloader
from tests.support.third_party import DOWNLOADER, RESOLVER, configured, download, plugin_folder


def test_options_that_are_not_honoured_are_refused_by_name() -> None:
    loop = asyncio.new_event_loop()
    inner = FakeDownloader({"http://a.test/": b"x"}, loop.call_soon)
    inner.options = frozenset({"cookies"})
    guarded = GuardedDownloader("mine", inner, loop)
    results: list[DownloadResult] = []
    for options in (RequestOptions(proxy="http://p:1", credentials="u:s3cret"), RequestOptions(cookies=True), RequestOptions()):
        guarded.start(DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1000, options), results.append)
    assert results == []
    loop.call_later(0.02, loop.stop)
    loop.run_forever()
    loop.close()
    refused = next(result for result in results if result.failure)
    assert refused.failure is DownloadFailure.PLUGIN
    assert refused.detail == 'downloader "mine" cannot do what the settings ask for this host: credentials, proxy'
    assert [result.status for result in results if result.failure is None] == [200, 200]
    assert len(inner.requests) == 2


def test_a_downloader_that_says_nothing_honours_nothing() -> None:
    loop = asyncio.new_event_loop()
    inner = FakeDownloader({}, loop.call_soon)
    del inner.options
    assert GuardedDownloader("mine", inner, loop).options == frozenset()
    loop.close()


def test_a_downloader_is_asked_to_make_room_only_if_it_can() -> None:
    class Roomy(FakeDownloader):
        wanted: int = 0

        def make_room(self, wanted: int) -> None:
            self.wanted = wanted
            raise OSError("none left")

    loop = asyncio.new_event_loop()
    errors: list[str] = []
    loop.set_exception_handler(lambda _loop, context: errors.append(context["message"]))
    inner = Roomy({}, loop.call_soon)
    GuardedDownloader("mine", inner, loop).make_room(3)
    GuardedDownloader("other", FakeDownloader({}, loop.call_soon), loop).make_room(3)
    loop.close()
    assert inner.wanted == 3
    assert errors == ['downloader "mine" raised OSError: none left in make_room']


# --- plugins that break their contract ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return plugin_folder(tmp_path)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("raise ValueError('odd host')", "raised ValueError: odd host"),
        ("return '192.0.2.1'", "returned str, not a Resolution"),
        ("return Resolution(('192.0.2.1',), '60')", "returned a ttl that is str, not a number"),
    ],
)
def test_a_resolver_that_breaks_its_contract_is_named(folder: Path, answer: str, text: str) -> None:
    code = RESOLVER.replace('return Resolution(("192.0.2.1",), self.ttl)', answer)
    (folder / "plugins" / "odd.py").write_text(code)
    with pytest.raises(ResolutionFailure) as failure:
        PluginManager.load(configured(folder, resolver="NAME")).resolver().resolve("a.test")
    assert failure.value.reason.word == "dns-failure"
    assert failure.value.detail == f'resolver "NAME" {text}'


@pytest.mark.parametrize(("given", "held"), [("1e9", 60.0), ("inf", 60.0), ("nan", 60.0), ("60", 60.0), ("5", 5.0), ("0", 0.0)])
def test_no_address_holds_longer_than_max_ttl(folder: Path, given: str, held: float) -> None:
    (folder / "plugins" / "long.py").write_text(RESOLVER.replace("self.ttl)", f"float('{given}'))"))
    conf = replace(configured(folder), map=MapConf(DnsResolverClass="NAME", MaxTtl=60.0))
    assert PluginManager.load(conf).resolver().resolve("a.test") == Resolution(("192.0.2.1",), held)


@pytest.mark.parametrize("name", ["dnspython", "system", "hosts-file"])
def test_no_address_of_a_built_in_resolver_does_either(folder: Path, name: str) -> None:
    (folder / "hosts").write_text("127.0.0.1 localhost\n")
    settings = MapConf(
        DnsResolverClass=name, Nameservers=("127.0.0.1",), HostsFile=str(folder / "hosts"), MinTtl=60.0, MaxTtl=7.0
    )
    resolver = PluginManager.load(replace(configured(folder), map=settings)).resolver()
    assert [resolver.resolve("localhost").ttl <= 7.0 for _ in range(2)] == [True, True]


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ("raise ValueError('odd url')", "raised ValueError: odd url"),
        ("self.loop.call_soon(done, 'page')", "gave str, not a DownloadResult"),
        ("done('page'); raise ValueError", "gave str, not a DownloadResult"),
        ("done(DownloadResult(200, body='cGFnZQ=='))", "gave a body of str, not of bytes"),
        ("done(DownloadResult('200'))", "gave a DownloadResult of other types: Expected `int`, got `str` - at `$.status`"),
        (
            "done(DownloadResult(200, ((b'Server', b'x'),)))",
            "gave a DownloadResult of other types: Expected `str`, got `bytes` - at `$.headers[0][0]`",
        ),
    ],
)
def test_a_downloader_that_breaks_its_contract_is_named(folder: Path, start: str, text: str) -> None:
    whole = "self.loop.call_soon(done, DownloadResult(200, body=request.url.encode(), peer=request.address))"
    (folder / "plugins" / "odd.py").write_text(DOWNLOADER.replace(whole, start))
    (result,) = download(PluginManager.load(configured(folder, downloader="NAME")))
    assert (result.failure, result.detail) == (DownloadFailure.PLUGIN, f'downloader "NAME" {text}')


@pytest.mark.parametrize("body", ["bytearray(b'page')", "memoryview(b'page')"])
def test_what_comes_as_lists_and_buffers_is_handed_on_as_declared(folder: Path, body: str) -> None:
    whole = "self.loop.call_soon(done, DownloadResult(200, body=request.url.encode(), peer=request.address))"
    start = f"done(DownloadResult(200, [['Server', 'x']], {body}, elapsed=1))"
    (folder / "plugins" / "odd.py").write_text(DOWNLOADER.replace(whole, start))
    (result,) = download(PluginManager.load(configured(folder, downloader="NAME")))
    assert (result.failure, [*result.headers], result.body) == (None, [("Server", "x")], b"page")
    assert type(result.body) is bytes


@pytest.mark.parametrize(
    "start",
    [
        "done(DownloadResult(200))",
        "self.loop.call_soon(done, DownloadResult(200)); self.loop.call_soon(done, DownloadResult(200))",
        "__import__('threading').Thread(target=done, args=(DownloadResult(200),)).start()",
    ],
)
def test_done_is_called_once_and_later_whatever_the_plugin_does(folder: Path, start: str) -> None:
    whole = "self.loop.call_soon(done, DownloadResult(200, body=request.url.encode(), peer=request.address))"
    (folder / "plugins" / "odd.py").write_text(DOWNLOADER.replace(whole, start))
    assert [result.status for result in download(PluginManager.load(configured(folder, downloader="NAME")))] == [200]


def test_a_plugin_that_raises_at_the_end_holds_nothing_up(folder: Path) -> None:
    end = "def close(self):\n        pass"
    (folder / "plugins" / "one.py").write_text(RESOLVER.replace(end, "def close(self):\n        raise OSError('one')"))
    (folder / "plugins" / "two.py").write_text(DOWNLOADER.replace(end, "def close(self):\n        raise OSError('two')"))
    manager = PluginManager.load(configured(folder, resolver="NAME", downloader="NAME"))
    manager.resolver().close()
    loop = asyncio.new_event_loop()
    errors: list[str] = []
    loop.set_exception_handler(lambda _loop, context: errors.append(context["message"]))
    manager.downloader(loop).close()
    loop.close()
    assert errors == ['downloader "NAME" raised OSError: two in close']
