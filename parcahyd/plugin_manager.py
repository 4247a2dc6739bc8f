"""Registers every plugin with pluggy, collects what the plugins offer, and makes what the configuration names.

Built-in plugins (`parcahyd.builtin_plugins`) and third-party ones (`parcahyd.third_party`) are registered in the same way and
implement the same hooks (`parcahyd.hookspecs`). Of resolvers, downloaders, orders and partition strategies the configuration
chooses one each; downloaders by scheme, recognizers, summarizers and expanders are all in use.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pluggy

from parcahyd import builtin_plugins
from parcahyd.config.checking import nearest
from parcahyd.config.schema import Configuration
from parcahyd.core.documents import Expander, Recognizer, Summarizer
from parcahyd.core.errors import PluginError, PluginNotFound, UserError, error_line
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.core.ports import Downloader, Order, Resolver
from parcahyd.hookspecs import PROJECT, HookSpecs
from parcahyd.net.plugin_guards import GuardedDownloader, GuardedResolver
from parcahyd.net.scheme_downloader import SchemeDownloader
from parcahyd.third_party import FoundPlugin, plugins_in_folder, plugins_of_packages, target_of

__all__ = ["PluginManager", "PluginReport"]

_BUILT_IN = "built-in"
_RESOLVERS = "parcahyd_resolvers"
_DOWNLOADERS = "parcahyd_downloaders"
_NETWORK_SCHEMES = "parcahyd_network_schemes"
_LOCAL_SCHEMES = "parcahyd_local_schemes"
_ORDERS = "parcahyd_orders"
_PARTITIONERS = "parcahyd_partitioners"
_RECOGNIZERS = "parcahyd_recognizers"
_SUMMARIZERS = "parcahyd_summarizers"
_EXPANDERS = "parcahyd_expanders"
_KINDS = {
    _RESOLVERS: "resolver",
    _DOWNLOADERS: "downloader",
    _NETWORK_SCHEMES: "downloader of a scheme",
    _LOCAL_SCHEMES: "downloader of a local scheme",
    _ORDERS: "order",
    _PARTITIONERS: "partitioner",
    _RECOGNIZERS: "recognizer",
    _SUMMARIZERS: "summarizer",
    _EXPANDERS: "expander",
}
_BY_SCHEME = (_NETWORK_SCHEMES, _LOCAL_SCHEMES)
_IS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*").fullmatch
_OF_THE_WEB = frozenset(("http", "https"))
_SETTINGS = {
    _RESOLVERS: "DnsResolverClass",
    _DOWNLOADERS: "DownloaderClass",
    _ORDERS: "Order",
    _PARTITIONERS: "Partition",
}


class PluginReport(msgspec.Struct, frozen=True):
    """One thing that a plugin offers."""

    hook: str
    name: str
    """What the configuration calls it."""
    plugin: str
    found: str
    """"built-in", "entry point of DISTRIBUTION VERSION", "file PATH" or "dotted path in SETTING"."""


class _Offer(msgspec.Struct, frozen=True):
    factory: Callable[..., Any]
    plugin: str
    found: str

    @property
    def is_built_in(self) -> bool:
        return self.found == _BUILT_IN


class PluginManager:
    """The plugins of one configuration. Use `load` to make one; every PluginError names the plugin."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(HookSpecs)
        self._offers: dict[str, dict[str, _Offer]] = {hook: {} for hook in _KINDS}

    @classmethod
    def load(cls, configuration: Configuration, *, check: bool = True) -> PluginManager:
        """Find every plugin; with `check`, make sure that the plugins which the configuration names are there."""
        manager = cls(configuration)
        manager._register(FoundPlugin(builtin_plugins, builtin_plugins.__name__, _BUILT_IN))
        for found in plugins_of_packages():
            manager._register(found)
        if configuration.map.PluginDir:
            for found in plugins_in_folder(os.path.join(configuration.folder, configuration.map.PluginDir)):
                manager._register(found)
        for hook in _SETTINGS:
            try:
                manager._add_dotted_path(hook)
                manager._chosen(hook)
            except PluginNotFound:
                if check:
                    raise
        return manager

    def reconfigured(self, configuration: Configuration) -> PluginManager:
        """The same plugins for another configuration, which names the same classes and folder.

        Order and partition strategy may be others, and are checked.
        """
        manager = PluginManager(configuration)
        manager._hooks, manager._offers = self._hooks, self._offers
        manager._chosen(_ORDERS)
        manager._chosen(_PARTITIONERS)
        return manager

    def resolver(self) -> Resolver:
        """The resolver that DnsResolverClass names, newly made."""
        name, offer = self._chosen(_RESOLVERS)
        resolver = self._made(_RESOLVERS, Resolver, name, offer, self._configuration.map)
        return GuardedResolver(name, resolver, self._configuration.map.MaxTtl)

    def downloader(self, loop: asyncio.AbstractEventLoop) -> Downloader:
        """The downloader that DownloaderClass names, newly made for this loop; with it, those of the schemes that it lacks."""
        name, offer = self._chosen(_DOWNLOADERS)
        chosen = self._guarded(_DOWNLOADERS, name, offer, loop)
        by_scheme = {
            scheme: partial(self._guarded, hook, scheme, offer, loop)
            for hook in (_NETWORK_SCHEMES, _LOCAL_SCHEMES)
            for scheme, offer in self._offers[hook].items()
        }
        return SchemeDownloader(chosen, by_scheme, loop)

    def _guarded(self, hook: str, name: str, offer: _Offer, loop: asyncio.AbstractEventLoop) -> GuardedDownloader:
        return GuardedDownloader(name, self._made(hook, Downloader, name, offer, self._configuration.work, loop), loop)

    @property
    def served_schemes(self) -> frozenset[str]:
        """The schemes that are known to be served, without making a downloader: one of a plugin may serve more."""
        chosen: frozenset[str] = getattr(self._chosen(_DOWNLOADERS)[1].factory, "schemes", frozenset())
        return _OF_THE_WEB.union(chosen, *(self._offers[hook] for hook in _BY_SCHEME))

    @property
    def local_schemes(self) -> frozenset[str]:
        """The schemes whose documents are of this machine."""
        return frozenset(self._offers[_LOCAL_SCHEMES])

    def order(self) -> Order:
        """The order of visiting that Order names, newly made."""
        name, offer = self._chosen(_ORDERS)
        order: Order = self._made(_ORDERS, Order, name, offer, self._configuration.work)
        return order

    def partitioner(self, routing: Routing) -> Partitioner:
        """The partition strategy that Partition names, newly made for this routing."""
        name, offer = self._chosen(_PARTITIONERS)
        partitioner: Partitioner = self._made(_PARTITIONERS, Partitioner, name, offer, self._configuration.work, routing)
        return partitioner

    def recognizers(self) -> list[tuple[str, Recognizer]]:
        """All recognizers with their names, newly made, third-party ones first."""
        return self._all(_RECOGNIZERS, Recognizer)

    def summarizers(self) -> list[tuple[str, Summarizer]]:
        """The same of summarizers."""
        return self._all(_SUMMARIZERS, Summarizer)

    def expanders(self) -> list[tuple[str, Expander]]:
        """The same of expanders."""
        return self._all(_EXPANDERS, Expander)

    def listing(self) -> list[PluginReport]:
        """Everything on offer, the built-in first."""
        return [
            PluginReport(hook, name, offer.plugin, offer.found)
            for hook, offers in self._offers.items()
            for name, offer in sorted(offers.items(), key=lambda item: (not item[1].is_built_in, item[0]))
        ]

    # --- registering -------------------------------------------------------------------------------------------------

    def _register(self, found: FoundPlugin) -> None:
        """Register one plugin with pluggy and collect what its hooks offer."""
        plugin = found.plugin() if inspect.isclass(found.plugin) else found.plugin
        if self._hooks.is_registered(plugin):  # Two entry points of a package may name the same module.
            return
        try:
            self._hooks.register(plugin, name=f"{found.where} {found.name}")
            self._hooks.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            hooks = ", ".join(_KINDS)
            raise PluginError(
                f'plugin "{found.name}" ({found.where}): {error_line(error)}', f"the hooks are {hooks}"
            ) from error
        callers = self._hooks.get_hookcallers(plugin)
        if not callers:
            raise PluginError(
                f'plugin "{found.name}" ({found.where}) implements no hook',
                "put @hookimpl on its functions, or let a file that is no plugin start with _",
            )
        for caller in callers:
            implementation = next(one.function for one in caller.get_hookimpls() if one.plugin is plugin)
            for name, factory in _offered(implementation, caller.name, found.name, found.where).items():
                self._add(caller.name, name, _Offer(factory, found.name, found.where))

    def _add(self, hook: str, name: str, offer: _Offer) -> None:
        if hook in _BY_SCHEME and (not _IS_SCHEME(name) or name in _OF_THE_WEB):
            raise PluginError(
                f'plugin "{offer.plugin}" ({offer.found}) cannot serve the scheme "{name}"',
                "a scheme is in lower case, as in gopher; what serves http is offered by parcahyd_downloaders",
            )
        # A scheme is served by one plugin, local or not.
        hooks = _BY_SCHEME if hook in _BY_SCHEME else (hook,)
        other = next((self._offers[one][name] for one in hooks if name in self._offers[one]), offer)
        self._offers[hook].setdefault(name, offer)
        if other is not offer:
            raise PluginError(
                f'two plugins offer a {_KINDS[hook]} called "{name}": '
                f'"{other.plugin}" ({other.found}) and "{offer.plugin}" ({offer.found})',
                "rename one of them",
            )

    def _add_dotted_path(self, hook: str) -> None:
        path = self._named(hook)
        if path in self._offers[hook] or not ("." in path or ":" in path):
            return
        found = f"dotted path in {_SETTINGS[hook]}"
        target = target_of(path, _SETTINGS[hook])
        if not self._is_plugin(target):
            if not callable(target):
                raise PluginError(
                    f'{_SETTINGS[hook]} = "{path}" is neither a class, nor a factory, nor a plugin',
                    f"name something that makes a {_KINDS[hook]}",
                )
            self._add(hook, path, _Offer(target, path, found))
            return
        plugin = target() if inspect.isclass(target) else target
        implementation = getattr(plugin, hook, None)
        offers = _offered(implementation, hook, path, found) if implementation is not None else {}
        if len(offers) != 1:
            names = ", ".join(offers) or f"no {_KINDS[hook]}"
            raise PluginError(
                f'{_SETTINGS[hook]} = "{path}" is a plugin that offers {names}', f"name one {_KINDS[hook]} class in it"
            )
        self._add(hook, path, _Offer(next(iter(offers.values())), path, found))

    def _is_plugin(self, target: object) -> bool:
        """Whether it implements hooks; if not, it makes what a plugin would offer."""
        return any(self._hooks.parse_hookimpl_opts(target, hook) is not None for hook in _KINDS if hasattr(target, hook))

    # --- choosing and making -----------------------------------------------------------------------------------------

    def _named(self, hook: str) -> str:
        conf = self._configuration
        named = {
            _RESOLVERS: conf.map.DnsResolverClass,
            _DOWNLOADERS: conf.work.DownloaderClass,
            _ORDERS: conf.work.Order,
            _PARTITIONERS: conf.work.Partition,
        }
        return named[hook]

    def _chosen(self, hook: str) -> tuple[str, _Offer]:
        name, offers = self._named(hook), self._offers[hook]
        if name in offers:
            return name, offers[name]
        near = nearest(name, offers)
        suggestion = f'did you mean "{near}"? ' if near else ""
        raise PluginNotFound(
            f'{_SETTINGS[hook]}: no {_KINDS[hook]} is called "{name}"', f"{suggestion}there are {', '.join(sorted(offers))}"
        )

    def _all(self, hook: str, protocol: type) -> list[tuple[str, Any]]:
        """Everything that is offered for a hook, newly made, third-party ones first."""
        offers = sorted(self._offers[hook].items(), key=lambda item: (item[1].is_built_in, item[0]))
        return [(name, self._made(hook, protocol, name, offer, self._configuration.work)) for name, offer in offers]

    def _made(self, hook: str, protocol: type, name: str, offer: _Offer, *arguments: object) -> Any:
        try:
            made = offer.factory(*arguments)
        except UserError:
            raise
        except Exception as error:
            # A built-in plugin that fails is a bug of this program, which is reported with its traceback.
            if offer.is_built_in:
                raise
            raise PluginError(
                f'{_KINDS[hook]} "{name}" ({offer.found}) could not be made: {error_line(error)}',
                f"repair it, or choose another {_SETTINGS[hook]}" if hook in _SETTINGS else "repair or remove it",
            ) from error
        if not isinstance(made, protocol):
            wanted = {*vars(protocol), *protocol.__annotations__}
            missing = ", ".join(sorted(part for part in wanted if not part.startswith("_") and not hasattr(made, part)))
            raise PluginError(
                f'{_KINDS[hook]} "{name}" ({offer.found}) lacks {missing}',
                f"parcahyd.plugins.{protocol.__name__} says what it needs",
            )
        return made


def _offered(implementation: Callable[[], object], hook: str, plugin: str, found: str) -> dict[str, Callable[..., Any]]:
    """What one implementation of a hook returns, checked."""
    try:
        offers = implementation()
    except Exception as error:
        raise PluginError(f'plugin "{plugin}" ({found}) failed in {hook}: {error_line(error)}', "repair it") from error
    if not isinstance(offers, dict) or not all(isinstance(name, str) and callable(make) for name, make in offers.items()):
        raise PluginError(
            f'plugin "{plugin}" ({found}) gave {hook} something else than names with factories',
            f'return {{"NAME": {_KINDS[hook].capitalize()}Class}}',
        )
    return offers
