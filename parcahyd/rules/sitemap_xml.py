"""Reads a sitemap or feed that is XML, with expat, without namespaces and without document type declarations.

A document type declaration ends the reading before anything is declared, so entities cannot grow and nothing outside the
document is named. A token that does not end within a megabyte ends it too: expat looks at an unfinished token again with every
piece.
"""

from __future__ import annotations

from typing import NoReturn
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from parcahyd.rules.sitemap_harvest import ForeignRoot, Harvest

__all__ = ["read_strictly"]

_PIECE = 1 << 18
_LONGEST_TOKEN = 1 << 20


class _DocumentType(Exception):
    """A document type declaration began."""


def read_strictly(data: bytes, harvest: Harvest, *, is_whole: bool) -> str:
    """Feeds the harvest; gives a sentence about what ended the reading early, or nothing. Raises HarvestFull.

    `data` is UTF-8 whatever its XML declaration says. If it is not whole, its sudden end is no fault.
    """
    parser = ParserCreate("utf-8")
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.StartElementHandler = harvest.open
    parser.EndElementHandler = harvest.close
    parser.CharacterDataHandler = harvest.parts.append
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for start in range(0, len(data), _PIECE):
            parser.Parse(data[start : start + _PIECE], False)
            if start + _PIECE - parser.CurrentByteIndex > _LONGEST_TOKEN:
                return f"a tag or comment in line {parser.CurrentLineNumber} is larger than a megabyte"
        if is_whole:
            parser.Parse(b"", True)
    except ExpatError as error:
        return f"it is not well-formed in line {error.lineno}: {ErrorString(error.code)}"
    except _DocumentType:
        return "it has a document type declaration, which is not read"
    except ForeignRoot:
        return "its first element is none of a sitemap or feed"
    return ""


def _refuse(*_: object) -> NoReturn:
    raise _DocumentType
