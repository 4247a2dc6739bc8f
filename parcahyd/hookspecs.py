"""Every hook of PARCAHYD, in one file. Built-in plugins and third-party plugins implement the same hooks.

A plugin is a module or class whose functions carry `@hookimpl` and a name below. It is found by its entry point
(group `parcahyd`), as a Python file in `PluginDir`, or by a dotted path in `DnsResolverClass`, `DownloaderClass`, `Order` or
`Partition`.

Tested in tests/test_plugin_manager.py and tests/plugins/test_plugins_page.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pluggy

from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.core.documents import Expander, Recognizer, Summarizer
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.core.ports import Downloader, Order, Resolver

__all__ = [
    "PROJECT",
    "DownloaderFactory",
    "ExpanderFactory",
    "HookSpecs",
    "OrderFactory",
    "PartitionerFactory",
    "RecognizerFactory",
    "ResolverFactory",
    "SummarizerFactory",
    "hookimpl",
    "hookspec",
]

PROJECT = "parcahyd"
"""The name of the hooks in pluggy, and the group of entry points."""

ResolverFactory: TypeAlias = Callable[[MapConf], Resolver]
DownloaderFactory: TypeAlias = Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]
OrderFactory: TypeAlias = Callable[[WorkConf], Order]
PartitionerFactory: TypeAlias = Callable[[WorkConf, Routing], Partitioner]
RecognizerFactory: TypeAlias = Callable[[WorkConf], Recognizer]
SummarizerFactory: TypeAlias = Callable[[WorkConf], Summarizer]
ExpanderFactory: TypeAlias = Callable[[WorkConf], Expander]

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class HookSpecs:
    """The hooks: each returns what the plugin offers, by name."""

    @hookspec
    def parcahyd_resolvers(self) -> dict[str, ResolverFactory]:
        """DNS resolvers by the name that `DnsResolverClass` may give; a factory takes the mapping configuration.

        The factory runs once, in the coordinator; `resolve` is called from every URL Mapper thread.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_downloaders(self) -> dict[str, DownloaderFactory]:
        """Downloaders by the name that `DownloaderClass` may give; a factory takes the work configuration and asyncio's loop.

        The factory runs once in each Crawl Worker process, before its loop runs.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_network_schemes(self) -> dict[str, DownloaderFactory]:
        """Downloaders by the scheme that they serve, such as `gopher`; a factory is one of a downloader.

        The hosts of such URLs are resolved, and the address policy decides about them, as for http. The factory runs in a
        Crawl Worker process when the first URL of the scheme is requested. What `DownloaderClass` serves itself stays with it.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_local_schemes(self) -> dict[str, DownloaderFactory]:
        """The same for documents of this machine, such as `file`: no host is resolved, and requests have no delay.

        `DownloadRequest.address` is a word without meaning, which goes back as `peer`. Only seeds and documents of the same
        scheme lead to such URLs.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_orders(self) -> dict[str, OrderFactory]:
        """Orders of visiting by the name that `Order` may give; a factory takes the work configuration.

        The factory runs once in the coordinator, which reads `visit_pages`, and once in Update Database, which calls
        `first` and `again` for every new link.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_partitioners(self) -> dict[str, PartitionerFactory]:
        """Strategies that divide a crawl among the machines of a cluster, by the name that `Partition` may give.

        The factory takes the work configuration and the cluster's routing. It runs once for each pipeline and version of the
        routing.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_recognizers(self) -> dict[str, RecognizerFactory]:
        """Recognizers by name, which recognize formats by content. All of them are in use, in the order of their names.

        The factory runs once in each Crawl Worker process and takes the work configuration.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_summarizers(self) -> dict[str, SummarizerFactory]:
        """Summarizers by name, each for the formats that it names. All of them are in use; third-party ones are asked first.

        The factory runs once in each Crawl Worker process and takes the work configuration.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_expanders(self) -> dict[str, ExpanderFactory]:
        """Expanders by name, each for the archives that it names. All of them are in use; third-party ones are asked first.

        The factory runs once in each Crawl Worker process and takes the work configuration.
        """
        raise NotImplementedError
