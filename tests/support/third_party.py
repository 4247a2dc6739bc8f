"""Third-party plugins as texts, and functions that load and use them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.plugin_manager import PluginManager
from tests.support.processes import TEST_TIMEOUT

__all__ = ["DOWNLOADER", "RESOLVER", "configured", "download", "plugin_folder"]

RESOLVER = """
from parcahyd.plugins import Resolution, hookimpl

class Fixed:
    def __init__(self, conf):
        self.ttl = conf.MinTtl
    def resolve(self, host):
        return Resolution(("192.0.2.1",), self.ttl)
    def close(self):
        pass

@hookimpl
def parcahyd_resolvers():
    return {"NAME": Fixed}
"""

DOWNLOADER = """
from parcahyd.plugins import DownloadResult, hookimpl

class Fixed:
    schemes = frozenset({"http"})
    def __init__(self, conf, loop):
        self.loop = loop
    def start(self, request, done):
        self.loop.call_soon(done, DownloadResult(200, body=request.url.encode(), peer=request.address))
    def cancel_all(self):
        pass
    def close(self):
        pass

@hookimpl
def parcahyd_downloaders():
    return {"NAME": Fixed}
"""

REQUEST = DownloadRequest("http://pages.test/", "192.0.2.1", 80, (), 1000)


def plugin_folder(folder: Path) -> Path:
    """The folder, with one for a configuration and an empty one for plugins in it."""
    (folder / "conf").mkdir()
    (folder / "plugins").mkdir()
    return folder


def configured(folder: Path, resolver: str = "dnspython", downloader: str = "curl") -> Configuration:
    """A configuration that names these plugins."""
    return Configuration(MapConf(DnsResolverClass=resolver), WorkConf(DownloaderClass=downloader), str(folder / "conf"))


def download(manager: PluginManager) -> list[DownloadResult]:
    """What `done` was given, on an event loop of its own: a first result, and whatever else comes soon after it."""
    loop = asyncio.new_event_loop()
    errors: list[object] = []
    loop.set_exception_handler(lambda _loop, context: errors.append(context["message"]))
    results: list[DownloadResult] = []
    downloader = manager.downloader(loop)
    downloader.start(REQUEST, results.append)
    assert results == [], "done was called from inside start"
    began = loop.time()

    def look() -> None:
        if results or loop.time() - began > TEST_TIMEOUT:
            loop.call_later(0.05, loop.stop)
        else:
            loop.call_later(0.005, look)

    look()
    loop.run_forever()
    downloader.close()
    loop.close()
    return results
