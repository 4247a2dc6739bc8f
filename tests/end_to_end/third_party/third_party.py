"""Third-party plugins: a resolver and three downloaders, of which one is careless and one raises.

The tests install this file as a package with an entry point, and drop it into `plugins/`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Downloader, DownloadFailure, DownloadRequest, DownloadResult, Resolution, Resolver
from parcahyd.core.states import Reason
from parcahyd.hookspecs import hookimpl

__all__ = ["CarelessDownloader", "PlainDownloader", "RaisingDownloader", "TableResolver"]


class TableResolver:
    """Knows every name under `third-party.test`."""

    def resolve(self, host: str) -> Resolution:
        if host.endswith("third-party.test"):
            return Resolution(("127.0.0.1",), 60)
        raise ResolutionFailure(Reason.DNS_NO_NAME)

    def close(self) -> None:
        pass


class PlainDownloader:
    """HTTP/1.0 over asyncio streams, signed with a header that the test server can see."""

    schemes = frozenset({"http"})

    def __init__(self, conf: WorkConf, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timeout = conf.TimeoutTotal
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        task = self._loop.create_task(self._fetch(request, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel_all(self) -> None:
        for task in self._tasks:
            task.cancel()

    def close(self) -> None:
        self.cancel_all()

    def server_of(self, request: DownloadRequest) -> str:
        return request.address

    async def _fetch(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                result = await self._exchange(request)
        except OSError as error:
            result = DownloadResult(failure=DownloadFailure.CONNECT, detail=str(error))
        except asyncio.CancelledError:
            result = DownloadResult(failure=DownloadFailure.CANCELLED)
        done(result)

    async def _exchange(self, request: DownloadRequest) -> DownloadResult:
        reader, writer = await asyncio.open_connection(self.server_of(request), request.port)
        authority, _, target = request.url.partition("://")[2].partition("/")
        lines = [f"GET /{target} HTTP/1.0", f"Host: {authority}", "Connection: close", "X-Plugin: plain"]
        lines += [f"{name}: {value}" for name, value in request.headers]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        peer: str = writer.get_extra_info("peername")[0]
        writer.close()
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = [(name, value.strip()) for name, _, value in (field.partition(":") for field in fields)]
        return DownloadResult(status=int(first.split(" ")[1]), headers=headers, body=body, peer=peer)


class CarelessDownloader(PlainDownloader):
    """Connects to another address than the pinned one."""

    def server_of(self, request: DownloadRequest) -> str:
        return request.address.replace("127.0.0.2", "127.0.0.1")


class RaisingDownloader(PlainDownloader):
    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        raise ValueError(f"{request.url} is more than this plugin can do for {done}")


def _table(conf: MapConf) -> Resolver:
    return TableResolver()


@hookimpl
def parcahyd_resolvers() -> dict[str, Callable[[MapConf], Resolver]]:
    return {"table": _table}


@hookimpl
def parcahyd_downloaders() -> dict[str, Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]]:
    return {"plain": PlainDownloader, "careless": CarelessDownloader, "raising": RaisingDownloader}
