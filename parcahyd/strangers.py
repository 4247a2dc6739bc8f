"""Plugins that do not come with the program: they are found, and pluggy says which hooks they answer.

Most crawls have none, and then nothing here is loaded: `parcahyd.plugin_manager` looks first whether there may be any.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType

import pluggy

from parcahyd.core.errors import PluginNotFound, UserMistake
from parcahyd.hookspecs import PROJECT, HookSpecs
from parcahyd.net.plugin_guards import in_a_line
from parcahyd.runtime.entry_point_groups import ENTRY_POINTS

__all__ = ["Answer", "Strangers", "answers_hooks", "nearest", "target_of"]

Answer = tuple[str, Callable[[], object], str, str]
"""A hook, the function that answers it, the plugin's name, and where it was found."""


class Strangers:
    """Every plugin of installed packages and in files."""

    def __init__(self) -> None:
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(HookSpecs)
        self._found: dict[int, tuple[str, str]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._found

    def answers(self, files: Sequence[str]) -> Iterator[Answer]:
        """What they answer, hook by hook; `files` are plugins besides those that packages offer."""
        for plugin, name, found in (*_entry_points(), *_files(files)):
            self._register(plugin, name, found)
        for hook in _hook_names():
            for answer in getattr(self._hooks.hook, hook).get_hookimpls():
                yield hook, answer.function, *self._found[id(answer.plugin)]

    def _register(self, plugin: object, name: str, found: str) -> None:
        if inspect.isclass(plugin):
            plugin = plugin()
        if self._hooks.is_registered(plugin):
            return
        try:
            self._hooks.register(plugin, name=f"{found} {name}")
            self._hooks.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            hooks = ", ".join(_hook_names())
            raise UserMistake(f'plugin "{name}" ({found}): {in_a_line(error)}', f"the hooks are {hooks}") from error
        if not self._hooks.get_hookcallers(plugin):
            raise UserMistake(
                f'plugin "{name}" ({found}) answers no hook',
                "put @hookimpl on its functions, or let a file that is no plugin start with _",
            )
        self._found[id(plugin)] = (name, found)


def _hook_names() -> list[str]:
    return [name for name in vars(HookSpecs) if name.startswith(PROJECT)]


def answers_hooks(target: object) -> bool:
    """Whether it is a plugin, not something that makes what a plugin would offer."""
    hooks = pluggy.PluginManager(PROJECT)
    return any(hooks.parse_hookimpl_opts(target, name) is not None for name in _hook_names() if hasattr(target, name))


def _entry_points() -> Iterator[tuple[object, str, str]]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        distribution = entry.dist
        found = "entry point" if distribution is None else f"entry point of {distribution.name} {distribution.version}"
        try:
            plugin = entry.load()
        except Exception as error:
            raise UserMistake(
                f'plugin "{entry.name}" ({found}) cannot be imported: {in_a_line(error)}', "repair or uninstall that package"
            ) from error
        yield plugin, entry.name, found


def _files(paths: Sequence[str]) -> Iterator[tuple[object, str, str]]:
    for path in paths:
        yield _module_in(path), os.path.basename(path).removesuffix(".py"), f"file {path}"


def _module_in(path: str) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"{PROJECT}_plugin_{os.path.basename(path).removesuffix('.py')}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserMistake(f"plugin file {path} cannot be read", "see whether it is a Python file")
    module = module_from_spec(spec)
    # Classes look their module up by name, for instance to resolve annotations.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UserMistake(
            f"plugin file {path} cannot be loaded: {in_a_line(error)}", "repair it, or move it out of PluginDir"
        ) from error
    return module


def target_of(path: str, setting: str) -> object:
    """What `package.module:Name`, `package.module.Name` or `package.module` leads to."""
    module_path, separator, attribute = path.partition(":")
    module = _imported(module_path, path, setting)
    if module is None and not separator:
        module_path, _, attribute = path.rpartition(".")
        module = _imported(module_path, path, setting) if module_path else None
    if module is None:
        raise PluginNotFound(
            f'{setting} = "{path}": there is no module "{module_path}"',
            "install its package, or name a plugin from `parcahyd plugins`",
        )
    if attribute and not hasattr(module, attribute):
        near = nearest(attribute, dir(module))
        suggestion = f'did you mean "{near}"?' if near else f"see what {module_path} defines"
        raise PluginNotFound(f'{setting} = "{path}": {module_path} has no "{attribute}"', suggestion)
    return getattr(module, attribute) if attribute else module


def _imported(module: str, path: str, setting: str) -> ModuleType | None:
    """The module, or None where there is none of that name; one that fails while it is imported is a mistake."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            return None
        failure: Exception = error
    except Exception as error:
        failure = error
    raise UserMistake(f'{setting} = "{path}" cannot be imported: {in_a_line(failure)}', "repair that module") from failure


def nearest(name: str, offered: Iterable[str]) -> str:
    """The one that was probably meant, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(offered), 1)), "")
