"""Reads XML as a stream of elements and text, with bounds: expat, one call, nothing kept but what is asked for.

Entities that a document declares itself are not resolved: a document that declares any ends there, so none can grow. Nor is
anything outside of the document looked up. What was read before an error counts: half a document has half a text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from xml.parsers import expat

from parcahyd.rules.decoding import decode

__all__ = ["Handler", "read_xml"]

_PARSED = 4 * 1024 * 1024
_ELEMENTS = 200_000
_DECLARED = re.compile(rb"[^<]{0,8}<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})").match

Handler = Callable[[str, dict[str, str]], None]


class _Enough(Exception):
    """Raised from within a handler to stop expat."""


def read_xml(
    body: bytes, charset: str, start: Handler, text: Callable[[str], None], end: Callable[[str], None] = lambda _name: None
) -> None:
    """Calls `start(name, attributes)`, `text(data)` and `end(name)` as they come.

    Names are local names, without prefix; so are those of attributes, but `xml:lang`.
    """
    declared = _DECLARED(body[:400])
    source = decode(body[:_PARSED], charset or (declared[1].decode("ascii") if declared is not None else "utf-8"))
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    left = _ELEMENTS

    def on_start(name: str, attributes: dict[str, str]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Enough
        start(_local(name), {key if key == "xml:lang" else _local(key): value for key, value in attributes.items()})

    def refuse(*_entity: object) -> None:
        raise _Enough

    parser.StartElementHandler = on_start
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = refuse
    with contextlib.suppress(_Enough, expat.ExpatError, ValueError):
        parser.Parse(source, True)


def _local(name: str) -> str:
    return name.rpartition(":")[2]
