"""Libraries loaded without the parts of them that a crawl never uses. For our own processes, not for programs that import us.

Both parts are there again afterwards for whoever asks for them, a plugin for instance.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["import_msgspec", "import_pycurl"]


def import_msgspec() -> None:
    """msgspec as it is where `typing_extensions` is not installed, which it only looks into for older versions of Python.

    That is always installed (SQLAlchemy wants it), and loads `inspect`, `ast`, `dis` and `tokenize`: six milliseconds.
    """
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # So the import system is told that there is no such module.
    try:
        import_module("msgspec")
    finally:
        del sys.modules[name]


def import_pycurl() -> None:
    """pycurl with its `AsyncCurlMulti` loaded when it is first asked for, because that loads `dataclasses` and so `inspect`."""
    name, part = "pycurl.async_multi", "AsyncCurlMulti"
    if "pycurl" in sys.modules:
        return
    stand_in: Any = ModuleType(name)
    stand_in.AsyncCurlMulti = stand_in
    sys.modules[name] = stand_in
    try:
        pycurl = import_module("pycurl")
    finally:
        del sys.modules[name]
    if getattr(pycurl, part, None) is not stand_in:  # An older or newer pycurl that has it elsewhere.
        return
    delattr(pycurl, part)

    def asked_for(attribute: str) -> Any:
        if attribute != part:
            raise AttributeError(f"module 'pycurl' has no attribute '{attribute}'", name=attribute, obj=pycurl)
        found = getattr(import_module(name), part)
        setattr(pycurl, part, found)
        return found

    vars(pycurl)["__getattr__"] = asked_for
