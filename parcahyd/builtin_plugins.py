"""The plugins that come with PARCAHYD, one module that answers every hook. It is registered with pluggy as any other plugin is.

A factory imports the library of its plugin, so that a crawl loads only what its configuration names: `requests` alone takes
0.1 s. There is no built-in recognizer. The rule that recognizes formats (`rules.media_types`) is part of every page's path;
recognizers add to it.

Tested in tests/test_plugin_manager.py.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.documents import Expander, Summarizer
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.core.ports import Downloader, Resolver
from parcahyd.hookspecs import (
    DownloaderFactory,
    ExpanderFactory,
    OrderFactory,
    PartitionerFactory,
    ResolverFactory,
    SummarizerFactory,
    hookimpl,
)
from parcahyd.rules.urls.orders import BREADTH_FIRST, PAGE_RANK, ByDepth, ByInLinks, ByPageRank, Fair

if TYPE_CHECKING:
    from parcahyd.partition.locations.hierarchy import Hierarchy

__all__ = [
    "parcahyd_downloaders",
    "parcahyd_expanders",
    "parcahyd_local_schemes",
    "parcahyd_network_schemes",
    "parcahyd_orders",
    "parcahyd_partitioners",
    "parcahyd_resolvers",
    "parcahyd_summarizers",
]


@hookimpl
def parcahyd_resolvers() -> dict[str, ResolverFactory]:
    return {"dnspython": _dnspython, "system": _system, "hosts-file": _hosts_file}


@hookimpl
def parcahyd_downloaders() -> dict[str, DownloaderFactory]:
    return {"curl": _curl, "requests": _requests}


@hookimpl
def parcahyd_network_schemes() -> dict[str, DownloaderFactory]:
    return {"ftp": _curl, "gopher": _curl}


@hookimpl
def parcahyd_local_schemes() -> dict[str, DownloaderFactory]:
    return {"file": _file}


@hookimpl
def parcahyd_orders() -> dict[str, OrderFactory]:
    return {BREADTH_FIRST: ByDepth, "in-links": ByInLinks, PAGE_RANK: ByPageRank, "fair": Fair}


@hookimpl
def parcahyd_partitioners() -> dict[str, PartitionerFactory]:
    return {"hash": _hash, "dynamic_size": _dynamic_size, "superpage": _superpage, "location": _location}


@hookimpl
def parcahyd_summarizers() -> dict[str, SummarizerFactory]:
    return {"html": _html, "xml": _xml, "text": _text, "pdf": _pdf, "office": _office}


@hookimpl
def parcahyd_expanders() -> dict[str, ExpanderFactory]:
    return {"archives": _archives}


def _dnspython(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_dnspython import DnspythonResolver

    return DnspythonResolver(conf)


def _system(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_system import SystemResolver

    return SystemResolver(conf)


def _hosts_file(conf: MapConf) -> Resolver:
    from parcahyd.net.resolver_hosts_file import HostsFileResolver

    return HostsFileResolver(conf)


def _curl(conf: WorkConf, loop: asyncio.AbstractEventLoop) -> Downloader:
    from parcahyd.net.downloader_curl import CurlDownloader

    return CurlDownloader(conf, loop)


def _requests(conf: WorkConf, loop: asyncio.AbstractEventLoop) -> Downloader:
    from parcahyd.net.downloader_requests import RequestsDownloader

    return RequestsDownloader(conf, loop)


def _file(conf: WorkConf, loop: asyncio.AbstractEventLoop) -> Downloader:
    from parcahyd.net.downloader_file import FileDownloader

    return FileDownloader(conf, loop)


def _hash(conf: WorkConf, routing: Routing) -> Partitioner:
    from parcahyd.partition.by_hash import ByHash

    return ByHash(conf, routing)


def _dynamic_size(conf: WorkConf, routing: Routing) -> Partitioner:
    from parcahyd.partition.by_dynamic_size import ByDynamicSize

    return ByDynamicSize(conf, routing)


def _superpage(conf: WorkConf, routing: Routing) -> Partitioner:
    from parcahyd.partition.by_superpage import BySuperpage

    return BySuperpage(conf, routing)


def _location(conf: WorkConf, routing: Routing) -> Partitioner:
    from parcahyd.partition.by_location import ByLocation

    return ByLocation(conf, routing, _registries(conf.Registries) if conf.Registries else None)


@lru_cache(maxsize=1)
def _registries(path: str) -> Hierarchy:
    """The file is read once in a process: a strategy is made anew with every routing."""
    from parcahyd.partition.locations.hierarchy_file import decode_hierarchy

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"Registries: {path} cannot be read: {error.strerror}", "make it with parcahyd lab rir") from error
    return decode_hierarchy(content, path)


def _html(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.html_summary import HtmlSummarizer

    return HtmlSummarizer()


def _xml(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.xml_summary import XmlSummarizer

    return XmlSummarizer()


def _text(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.summaries import TextSummarizer

    return TextSummarizer()


def _pdf(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.pdf_summary import PdfSummarizer

    return PdfSummarizer()


def _office(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.office_summary import OfficeSummarizer

    return OfficeSummarizer()


def _archives(conf: WorkConf) -> Expander:
    from parcahyd.formats.archives import ArchiveExpander

    return ArchiveExpander(conf)
