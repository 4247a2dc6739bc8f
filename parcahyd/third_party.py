"""Finds the plugins that do not come with PARCAHYD: in installed packages, in files, and by dotted path.

Tested in tests/test_plugin_manager.py.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_loader
from types import CodeType, ModuleType

import msgspec

from parcahyd.config.checking import nearest
from parcahyd.core.errors import PluginError, PluginNotFound, error_line
from parcahyd.hookspecs import PROJECT
from parcahyd.runtime.trusted_files import distrust

__all__ = ["FoundPlugin", "plugins_in_folder", "plugins_of_packages", "target_of"]


class FoundPlugin(msgspec.Struct, frozen=True):
    """A plugin that is not registered yet."""

    plugin: object
    """A module, an object or a class whose functions carry `@hookimpl`."""
    name: str
    where: str
    """"entry point of DISTRIBUTION VERSION" or "file PATH"."""


def plugins_of_packages() -> Iterator[FoundPlugin]:
    """The plugins that installed packages offer as entry points of the group `parcahyd`."""
    for entry in entry_points(group=PROJECT):
        distribution = entry.dist
        where = "entry point" if distribution is None else f"entry point of {distribution.name} {distribution.version}"
        try:
            plugin = entry.load()
        except Exception as error:
            raise PluginError(
                f'plugin "{entry.name}" ({where}) cannot be imported: {error_line(error)}', "repair or uninstall that package"
            ) from error
        yield FoundPlugin(plugin, entry.name, where)


def plugins_in_folder(folder: str) -> Iterator[FoundPlugin]:
    """Every `*.py` of the folder whose name does not start with `_`. A missing folder counts as an empty one.

    A folder or file that other users can write to, or that belongs to one, is a PluginError before anything in it is run.
    """
    folder = os.path.normpath(folder)
    if not os.path.isdir(folder):
        return
    files = [file for file in sorted(os.listdir(folder)) if file.endswith(".py") and not file.startswith("_")]
    if files:
        _require_trust("plugin folder", folder)
    for file in files:
        path = os.path.join(folder, file)
        yield FoundPlugin(_module_in(path), file.removesuffix(".py"), f"file {path}")


def target_of(path: str, setting: str) -> object:
    """The object that `package.module:Name`, `package.module.Name` or `package.module` names."""
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
    """The module, or None where there is none of that name; one that fails while it is imported is a PluginError."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            return None
        failure: Exception = error
    except Exception as error:
        failure = error
    raise PluginError(f'{setting} = "{path}" cannot be imported: {error_line(failure)}', "repair that module") from failure


def _require_trust(what: str, path: str) -> None:
    try:
        why_not = distrust(path)
    except OSError as error:
        raise PluginError(
            f"{what} {path} cannot be read: {error.strerror}", "repair it, or move it out of PluginDir"
        ) from error
    if why_not is not None:
        reason, remedy = why_not
        raise PluginError(f"{what} {path} {reason}, so what it holds is not run", remedy)


class _SourceLoader(SourceFileLoader):
    """Compiles the file itself: byte code beside it could come from another user."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _module_in(path: str) -> ModuleType:
    _require_trust("plugin file", path)
    name = f"{PROJECT}_plugin_{os.path.basename(path).removesuffix('.py')}"
    loader = _SourceLoader(name, path)
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise PluginError(f"plugin file {path} cannot be read", "see whether it is a Python file")
    module = module_from_spec(spec)
    # Classes look their module up by name, for instance to resolve annotations.
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(
            f"plugin file {path} cannot be loaded: {error_line(error)}", "repair it, or move it out of PluginDir"
        ) from error
    return module
