"""Every hook of PARCAHYD, in one file. Built-ins answer the same hooks as strangers.

A plugin is a module or class whose functions carry `@hookimpl` and a name below. It is found by its entry point
(group `parcahyd`), as a Python file in `PluginDir`, or by a dotted path in `DnsResolverClass` or `DownloaderClass`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from parcahyd.config.schema import MapConf, WorkConf
    from parcahyd.core.documents import Expander, Recognizer, Summarizer
    from parcahyd.core.ports import Downloader, Order, Resolver

    OrderFactory = Callable[[WorkConf], Order]
    ResolverFactory = Callable[[MapConf], Resolver]
    DownloaderFactory = Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]
    RecognizerFactory = Callable[[WorkConf], Recognizer]
    SummarizerFactory = Callable[[WorkConf], Summarizer]
    ExpanderFactory = Callable[[WorkConf], Expander]

__all__ = ["PROJECT", "HookSpecs", "hookimpl", "hookspec"]

PROJECT = "parcahyd"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class HookSpecs:
    """The questions that the crawl asks its plugins."""

    @hookspec
    def parcahyd_resolvers(self) -> dict[str, ResolverFactory]:
        """DNS resolvers by the name that `DnsResolverClass` may give; a factory takes the mapping configuration.

        The factory runs once, in the coordinator; `resolve` is called from every URL Mapper thread.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_downloaders(self) -> dict[str, DownloaderFactory]:
        """Downloaders by the name that `DownloaderClass` may give; a factory takes the work configuration and the loop.

        The factory runs once in each Crawl Worker process. Its loop is one of asyncio; only shipped downloaders get another.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_orders(self) -> dict[str, OrderFactory]:
        """Orders of visiting by the name that `Order` may give; a factory takes the work configuration.

        The factory runs once in the coordinator, which asks for `visit_pages`, and once in Update Database, which asks
        `first` and `again` for every link that is new.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_recognizers(self) -> dict[str, RecognizerFactory]:
        """Recognizers by name, which tell formats by content; all of them are in use, in the order of their names.

        The factory runs once in each Crawl Worker process, and takes the work configuration.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_summarizers(self) -> dict[str, SummarizerFactory]:
        """Summarizers by name, each for the formats that it says; all of them are in use, those of strangers are asked first.

        The factory runs once in each Crawl Worker process, and takes the work configuration.
        """
        raise NotImplementedError

    @hookspec
    def parcahyd_expanders(self) -> dict[str, ExpanderFactory]:
        """Expanders by name, each for the archives that it says; all of them are in use, those of strangers are asked first.

        The factory runs once in each Crawl Worker process, and takes the work configuration.
        """
        raise NotImplementedError
