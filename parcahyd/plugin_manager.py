"""Asks plugins what they offer, and builds those that the configuration names or that are always in use.

A plugin is found in three ways: as an entry point of the group `parcahyd`, as a Python file in `PluginDir`, or by a dotted
path in `DnsResolverClass` or `DownloaderClass` (`parcahyd.strangers`). The shipped ones answer the same hooks
(`parcahyd.hookspecs`). Of resolvers and downloaders one is chosen; recognizers, summarizers and expanders are all in use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from parcahyd.config.schema import Configuration, WorkConf
from parcahyd.core.documents import Expander, Recognizer, Summarizer
from parcahyd.core.errors import PluginNotFound, UserMistake
from parcahyd.core.ports import Downloader, Order, Resolver
from parcahyd.formats import shipped_formats
from parcahyd.net import shipped_plugins
from parcahyd.net.plugin_guards import GuardedDownloader, GuardedResolver, StrictDownloader, in_a_line
from parcahyd.runtime.entry_point_groups import ENTRY_POINTS, may_be_offered
from parcahyd.storage import shipped_orders

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop
    from parcahyd.formats.expanders import Expanders
    from parcahyd.formats.recognizer import Recognise
    from parcahyd.formats.summarizers import Summarizers

__all__ = ["PluginManager", "PluginReport", "Tools"]

_BUILT_IN = "built-in"
_RESOLVERS = "parcahyd_resolvers"
_DOWNLOADERS = "parcahyd_downloaders"
_ORDERS = "parcahyd_orders"
_RECOGNIZERS = "parcahyd_recognizers"
_SUMMARIZERS = "parcahyd_summarizers"
_EXPANDERS = "parcahyd_expanders"
_KINDS = {
    _RESOLVERS: "resolver",
    _DOWNLOADERS: "downloader",
    _ORDERS: "order",
    _RECOGNIZERS: "recognizer",
    _SUMMARIZERS: "summarizer",
    _EXPANDERS: "expander",
}
_SETTINGS = {_RESOLVERS: "DnsResolverClass", _DOWNLOADERS: "DownloaderClass", _ORDERS: "Order"}


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


class Tools:
    """Recognizer, summarizers and expanders of a configuration; the latter two are made when they are first asked for, or at
    once where one may be a stranger's: what cannot be made is told before anything is fetched."""

    def __init__(self, plugins: PluginManager, work: WorkConf, report: Callable[[str], None]) -> None:
        self.recognise: Recognise = plugins.recognizer(report)
        self._plugins = plugins
        self._report = report
        if plugins.has_strangers and work.Summaries == "full":
            self.summarizers = plugins.summarizers(report)
        if plugins.has_strangers and work.Expand:
            self.expanders = plugins.expanders(report)

    @cached_property
    def summarizers(self) -> Summarizers:
        return self._plugins.summarizers(self._report)

    @cached_property
    def expanders(self) -> Expanders:
        return self._plugins.expanders(self._report)


class PluginManager:
    """The plugins of one configuration. `load` is the way in; every complaint is a UserMistake that names the plugin."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._has_strangers = False
        self._offers: dict[str, dict[str, _Offer]] = {hook: {} for hook in _KINDS}

    @classmethod
    def load(cls, configuration: Configuration, *, check: bool = True) -> PluginManager:
        """Find every plugin; with `check`, make sure that both plugins which the configuration names are there."""
        manager = cls(configuration)
        manager._add_built_in()
        manager._add_strangers()
        for hook in _SETTINGS:
            try:
                manager._add_dotted_path(hook)
                manager._chosen(hook)
            except PluginNotFound:
                if check:
                    raise
        return manager

    @classmethod
    def load_for_worker(cls, configuration: Configuration, strangers: bool = True) -> PluginManager:
        """The same for a Crawl Worker's process, which makes no resolver. The coordinator has looked at every plugin before it
        starts a worker, so where it found no strangers and the downloader is a shipped one, nothing need be found again."""
        if strangers:
            return cls.load(configuration)
        manager = cls(configuration)
        manager._add_built_in()
        return manager if configuration.work.DownloaderClass in manager._offers[_DOWNLOADERS] else cls.load(configuration)

    @property
    def has_strangers(self) -> bool:
        """Whether there are plugins beside the shipped ones."""
        return self._has_strangers

    def resolver(self) -> Resolver:
        """The resolver that DnsResolverClass names, newly made."""
        name, offer = self._chosen(_RESOLVERS)
        resolver = self._made(_RESOLVERS, name, offer, self._configuration.map)
        _require(resolver, Resolver, _RESOLVERS, name, offer)
        return GuardedResolver(name, resolver, self._configuration.map.MaxTtl)

    @property
    def wants_asyncio(self) -> bool:
        """Whether the downloader is a stranger's, who was promised a loop of asyncio."""
        return self._chosen(_DOWNLOADERS)[1].found != _BUILT_IN

    def downloader(self, loop: EventLoop) -> Downloader:
        """The downloader that DownloaderClass names, newly made for this loop; see `wants_asyncio`."""
        name, offer = self._chosen(_DOWNLOADERS)
        downloader = self._made(_DOWNLOADERS, name, offer, self._configuration.work, loop)
        _require(downloader, Downloader, _DOWNLOADERS, name, offer)
        guard = GuardedDownloader if offer.found == _BUILT_IN else StrictDownloader
        return guard(name, downloader, loop)

    def order(self) -> Order:
        """The order of visiting that Order names, newly made."""
        name, offer = self._chosen(_ORDERS)
        order: Order = self._made(_ORDERS, name, offer, self._configuration.work)
        _require(order, Order, _ORDERS, name, offer)
        return order

    def tools(self, report: Callable[[str], None]) -> Tools:
        """What reads documents, together; `report` gets a sentence for each mistake of a plugin."""
        return Tools(self, self._configuration.work, report)

    def recognizer(self, report: Callable[[str], None]) -> Recognise:
        """What tells formats; `report` gets a sentence for each mistake of a plugin."""
        from parcahyd.formats.recognizer import recognizer_of

        return recognizer_of(dict(self._all(_RECOGNIZERS, Recognizer)), report)

    def summarizers(self, report: Callable[[str], None]) -> Summarizers:
        """All summarizers as one."""
        from parcahyd.formats.summarizers import Summarizers

        return Summarizers(self._all(_SUMMARIZERS, Summarizer), report)

    def expanders(self, report: Callable[[str], None]) -> Expanders:
        """All expanders as one."""
        from parcahyd.formats.expanders import Expanders

        return Expanders(self._all(_EXPANDERS, Expander), self._configuration.work, report)

    def listing(self) -> list[PluginReport]:
        """Everything on offer, the built-in first."""
        return [
            PluginReport(hook, name, offer.plugin, offer.found)
            for hook, offers in self._offers.items()
            for name, offer in sorted(offers.items(), key=lambda item: (item[1].found != _BUILT_IN, item[0]))
        ]

    # --- finding -----------------------------------------------------------------------------------------------------

    def _add_built_in(self) -> None:
        """What comes with the program answers the same hooks, and is asked without pluggy: most crawls can do without it."""
        for module in (shipped_plugins, shipped_formats, shipped_orders):
            for hook in _KINDS:
                answer = getattr(module, hook, None)
                if answer is not None:
                    self._add_offers(hook, answer, module.__name__.rpartition(".")[0], _BUILT_IN)

    def _add_strangers(self) -> None:
        folder = os.path.normpath(os.path.join(self._configuration.folder, self._configuration.map.PluginDir))
        files = _plugin_files(folder)
        if not files and not may_be_offered(ENTRY_POINTS):
            return
        from parcahyd.strangers import Strangers

        strangers = Strangers()
        for answer in strangers.answers(files):
            self._add_offers(*answer)
        self._has_strangers = not strangers.is_empty

    def _add_offers(self, hook: str, answer: Callable[[], object], plugin: str, found: str) -> None:
        for name, factory in _answered(answer, hook, plugin, found).items():
            self._add(hook, name, _Offer(factory, plugin, found))

    def _add(self, hook: str, name: str, offer: _Offer) -> None:
        other = self._offers[hook].setdefault(name, offer)
        if other is not offer:
            raise UserMistake(
                f'two plugins offer a {_KINDS[hook]} called "{name}": '
                f'"{other.plugin}" ({other.found}) and "{offer.plugin}" ({offer.found})',
                "rename one of them",
            )

    def _add_dotted_path(self, hook: str) -> None:
        path = self._named(hook)
        if path in self._offers[hook] or not ("." in path or ":" in path):
            return
        from parcahyd.strangers import answers_hooks, target_of

        found = f"dotted path in {_SETTINGS[hook]}"
        target = target_of(path, _SETTINGS[hook])
        if not answers_hooks(target):
            if not callable(target):
                raise UserMistake(
                    f'{_SETTINGS[hook]} = "{path}" is neither a class, nor a factory, nor a plugin',
                    f"name something that makes a {_KINDS[hook]}",
                )
            self._add(hook, path, _Offer(target, path, found))
            return
        plugin = target() if isinstance(target, type) else target
        answer = getattr(plugin, hook, None)
        offers = _answered(answer, hook, path, found) if answer is not None else {}
        if len(offers) != 1:
            names = ", ".join(offers) or f"no {_KINDS[hook]}"
            raise UserMistake(
                f'{_SETTINGS[hook]} = "{path}" is a plugin that offers {names}', f"name one {_KINDS[hook]} class in it"
            )
        self._add(hook, path, _Offer(next(iter(offers.values())), path, found))

    # --- choosing and making -----------------------------------------------------------------------------------------

    def _named(self, hook: str) -> str:
        conf = self._configuration
        named = {_RESOLVERS: conf.map.DnsResolverClass, _DOWNLOADERS: conf.work.DownloaderClass, _ORDERS: conf.work.Order}
        return named[hook]

    def _chosen(self, hook: str) -> tuple[str, _Offer]:
        name, offers = self._named(hook), self._offers[hook]
        if name in offers:
            return name, offers[name]
        from parcahyd.strangers import nearest

        near = nearest(name, offers) or nearest(name.lower(), offers)
        suggestion = f'did you mean "{near}"? ' if near else ""
        raise PluginNotFound(
            f'{_SETTINGS[hook]}: no {_KINDS[hook]} is called "{name}"', f"{suggestion}there are {', '.join(sorted(offers))}"
        )

    def _all(self, hook: str, protocol: type) -> list[tuple[str, Any]]:
        """Everything that is offered for a hook, newly made, strangers first."""
        made = []
        for name, offer in sorted(self._offers[hook].items(), key=lambda item: (item[1].found == _BUILT_IN, item[0])):
            one = self._made(hook, name, offer, self._configuration.work)
            _require(one, protocol, hook, name, offer)
            made.append((name, one))
        return made

    def _made(self, hook: str, name: str, offer: _Offer, *arguments: object) -> Any:
        try:
            return offer.factory(*arguments)
        except UserMistake:
            raise
        except Exception as error:
            # A bug of ours deserves its traceback; a stranger's is the user's to take up with its author.
            if offer.found == _BUILT_IN:
                raise
            raise UserMistake(
                f'{_KINDS[hook]} "{name}" ({offer.found}) could not be made: {in_a_line(error)}',
                f"repair it, or choose another {_SETTINGS[hook]}" if hook in _SETTINGS else "repair or remove it",
            ) from error


def _plugin_files(folder: str) -> list[str]:
    """A missing folder has no plugins in it."""
    if not os.path.isdir(folder):
        return []
    files = sorted(file for file in os.listdir(folder) if file.endswith(".py") and not file.startswith("_"))
    return [os.path.join(folder, file) for file in files]


def _answered(answer: Callable[[], object], hook: str, plugin: str, found: str) -> dict[str, Callable[..., Any]]:
    try:
        offers = answer()
    except Exception as error:
        raise UserMistake(f'plugin "{plugin}" ({found}) failed in {hook}: {in_a_line(error)}', "repair it") from error
    if not isinstance(offers, dict) or not all(isinstance(name, str) and callable(make) for name, make in offers.items()):
        raise UserMistake(
            f'plugin "{plugin}" ({found}) gave {hook} something else than names with factories',
            f'return {{"NAME": {_KINDS[hook].capitalize()}Class}}',
        )
    return offers


def _require(made: object, protocol: type, hook: str, name: str, offer: _Offer) -> None:
    if isinstance(made, protocol):
        return
    wanted = {*vars(protocol), *protocol.__annotations__}
    missing = ", ".join(sorted(part for part in wanted if not part.startswith("_") and not hasattr(made, part)))
    raise UserMistake(
        f'{_KINDS[hook]} "{name}" ({offer.found}) lacks {missing}',
        f"{protocol.__module__}.{protocol.__name__} says what it needs",
    )
