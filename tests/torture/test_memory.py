"""Memory is bounded by the configuration, not by what is crawled."""

from __future__ import annotations

import random
import threading

import psutil

from tests.support.crawl import CrawlFactory
from tests.support.processes import kind_of, marked_processes
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Request, Site, html

_DOCUMENTS = 80
_SIZE = 2_000_000
_BUFFER_BYTES = 4_000_000
_CONNECTIONS = 2


class _Sampler(threading.Thread):
    """The largest resident size that each kind of process was seen with."""

    def __init__(self, mark: str) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, int] = {}
        self._mark = mark
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.1):
            for process in marked_processes(self._mark):
                kind = kind_of(process)
                try:
                    size = process.memory_info().rss
                except psutil.Error:
                    continue
                if kind is not None:
                    self.peaks[kind] = max(self.peaks.get(kind, 0), size)

    def stop(self) -> dict[str, int]:
        self._over.set()
        self.join()
        return self.peaks


def _large(request: Request) -> Answer:
    """A document that hardly compresses, made when it is asked for and different for every URL."""
    return Answer(random.Random(request.target).randbytes(_SIZE), media_type="application/octet-stream")


def test_many_large_documents_need_no_more_than_the_buffer(server: SiteServer, crawl: CrawlFactory) -> None:
    """160 MB through a buffer of 4 MB: no process may hold more than a small multiple of what the settings allow."""
    listener = server.listen()
    targets = [f"/large/{number}" for number in range(_DOCUMENTS)]
    server.put("", Site({"/": html("Large documents", targets)}, otherwise=_large))
    server.site().pages["/robots.txt"] = Answer(status=404)
    running = crawl({"Work.BufferBytes": _BUFFER_BYTES, "Work.HostConnections": _CONNECTIONS, "Work.MaxInstances": 1})
    sampler = _Sampler(running.mark)
    sampler.start()
    running.run(listener.url(), timeout=600)
    peaks = sampler.stop()
    print({kind: f"{size / 1e6:.0f} MB" for kind, size in peaks.items()})
    assert len(running.stored()) == _DOCUMENTS + 1
    interpreter = 100_000_000
    assert max(peaks.values()) <= interpreter + 8 * (_BUFFER_BYTES + _CONNECTIONS * _SIZE)
    running.verify()
