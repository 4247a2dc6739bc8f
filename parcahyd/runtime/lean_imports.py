"""Libraries loaded without the parts of them that a crawl never uses. For our own processes, not for programs that import us.

All of them are there again afterwards for whoever asks for them, a plugin for instance.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["import_msgspec", "import_pycurl"]


def import_msgspec() -> None:
    """msgspec without three modules that a crawl has no use for.

    Into `typing_extensions` it only looks for older versions of Python. That is always installed (SQLAlchemy wants it), and
    loads `inspect`, `ast`, `dis` and `tokenize`: six milliseconds. `platform` is asked by `uuid` for the system's name, and
    `textwrap` when a schema is to be described; both compile patterns when they are loaded: two milliseconds and one.
    """
    if "msgspec" in sys.modules:
        return
    stand_ins: dict[str, Any] = {
        "typing_extensions": None,  # So the import system is told that there is no such module.
        "platform": _stand_in("platform", system=lambda: os.uname().sysname),
        "textwrap": _stand_in("textwrap", dedent=lambda text: import_module("textwrap").dedent(text)),
    }
    stand_ins = {name: stand_in for name, stand_in in stand_ins.items() if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        import_module("msgspec")
    finally:
        for name in stand_ins:
            del sys.modules[name]


def _stand_in(name: str, **functions: Callable[..., Any]) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(functions)
    return module


def import_pycurl() -> None:
    """pycurl with its `AsyncCurlMulti` loaded when it is first asked for, because that loads `dataclasses` and so `inspect`."""
    name, part = "pycurl.async_multi", "AsyncCurlMulti"
    if "pycurl" in sys.modules:
        return
    stand_in = _stand_in(name)
    setattr(stand_in, part, stand_in)
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
