"""The plugins that come with the program, answering the same hooks as everyone's. A library is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop as EventLoop

    from parcahyd.config.schema import MapConf, WorkConf
    from parcahyd.core.ports import Downloader, Resolver
    from parcahyd.hookspecs import DownloaderFactory, ResolverFactory

__all__ = ["parcahyd_downloaders", "parcahyd_resolvers"]


def parcahyd_resolvers() -> dict[str, ResolverFactory]:
    return {"dnspython": _dnspython, "system": _system, "hosts-file": _hosts_file}


def parcahyd_downloaders() -> dict[str, DownloaderFactory]:
    return {"curl": _curl, "requests": _requests}


def _dnspython(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_dnspython import DnspythonResolver

    return DnspythonResolver(conf)


def _system(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_system import SystemResolver

    return SystemResolver(conf)


def _hosts_file(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_hosts_file import HostsFileResolver

    return HostsFileResolver(conf)


def _curl(conf: WorkConf, loop: EventLoop) -> Downloader:
    from parcahyd.net.downloader_curl import CurlDownloader

    return CurlDownloader(conf, loop)


def _requests(conf: WorkConf, loop: EventLoop) -> Downloader:
    from parcahyd.net.downloader_requests import RequestsDownloader

    return RequestsDownloader(conf, loop)
