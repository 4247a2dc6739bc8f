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
    from parcahyd.core.ports import Downloader, Resolver

    ResolverFactory = Callable[[MapConf], Resolver]
    DownloaderFactory = Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]

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

        The factory runs once in each Crawl Worker process.
        """
        raise NotImplementedError
