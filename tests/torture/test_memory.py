"""Memory is bounded by the configuration, not by what is crawled."""

from __future__ import annotations

import gzip
import random
import threading

import psutil

from tests.support.crawl import CrawlFactory, Setting
from tests.support.processes import kind_of, marked_processes, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Request, Site, html

_DOCUMENTS = 80
_SIZE = 2_000_000
_BUFFER_BYTES = 4_000_000
_CONNECTIONS = 2
_BOMBS = 40
_BOMB_SIZE = 8_000_000
_BOMB = gzip.compress(bytes(_BOMB_SIZE))
_BOMB_BUFFER = 1_000_000
_INTERPRETER = 100_000_000


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


def _bomb(request: Request) -> Answer:
    """A page that is small on its way and large when it is unpacked; no two are equal."""
    body = gzip.compress(request.target.encode()) + _BOMB  # A gzip body may have several members.
    return Answer(body, media_type="application/octet-stream", headers=(("Content-Encoding", "gzip"),))


def test_bombs_from_many_connections_are_unpacked_one_at_a_time(server: SiteServer, crawl: CrawlFactory) -> None:
    """40 answers arrive together and unpack to 320 MB, with a buffer of 1 MB. The bound is the one that README.md states."""
    listener = server.listen()
    targets = [f"/bomb/{number}" for number in range(_BOMBS)]
    server.put("", Site({"/": html("Bombs", targets), "/robots.txt": Answer(status=404)}, otherwise=_bomb))
    settings: dict[str, Setting] = {"Work.BufferBytes": _BOMB_BUFFER, "Work.HostConnections": _BOMBS, "Work.MaxInstances": 1}
    running = crawl({**settings, "Work.MaxBytes": _BOMB_SIZE + 100})
    sampler = _Sampler(running.mark)
    sampler.start()
    with server.holding(lambda entry: "bomb" in entry.target) as release, running.start(listener.url()) as run:
        assert wait_until(lambda: len(server.targets()) == _BOMBS + 1), run.said()
        release()
        assert run.wait() == 0, run.said()
    peaks = sampler.stop()
    print({kind: f"{size / 1e6:.0f} MB" for kind, size in peaks.items()})
    assert len(running.stored()) == _BOMBS + 1
    bound = _INTERPRETER + 2 * _BOMB_BUFFER + 6 * _BOMB_SIZE
    assert max(peaks.values()) <= bound, peaks
    running.verify()


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
    assert max(peaks.values()) <= _INTERPRETER + 8 * (_BUFFER_BYTES + _CONNECTIONS * _SIZE)
    running.verify()
