"""Reads one PDF from standard input and writes what it found as JSON: title, language, keywords, text and links.

It is a program of its own, because a document can make a PDF reader loop or use up memory, and only the limits of a process
are certain to stop that. It imports nothing of the crawler.

Tested in tests/formats/test_pdf_summary.py.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["main", "read"]

_MEMORY = 1024 * 1024 * 1024
_PAGES = 100
_STEPS = 300_000
_LINKS = 5000
_LONGEST = 10_000
"""Characters of a title and the like, at most: unpacked text can be very long."""


class _Enough(Exception):
    """The budget of steps is spent."""


def main() -> int:
    seconds, most_text = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # When the crawl ends, the pipe is closed.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)
    found = read(sys.stdin.buffer.read(), most_text)
    sys.stdout.write(json.dumps(found))
    return 0


def read(body: bytes, most_text: int) -> dict[str, Any]:
    """What the document contains. A page that cannot be read is left out; the text ends when the budget of steps is spent."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(body), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        return {}
    found = _about(reader)
    parts: list[str] = []
    links: list[str] = []
    size, steps = 0, _STEPS

    def count(*_operation: object) -> None:
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise _Enough

    for page in _pages(reader):
        with contextlib.suppress(Exception):
            links += _links(page)
        try:
            part = page.extract_text(visitor_operand_before=count)
        except _Enough:
            break
        except Exception:  # noqa: S112  a page that fails does not affect the others
            continue
        parts.append(part)
        size += len(part)
        if size >= most_text or len(links) >= _LINKS:
            break
    return {**found, "text": "\n".join(parts)[:most_text], "links": links[:_LINKS]}


def _about(reader: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    with contextlib.suppress(Exception):
        information = reader.metadata or {}
        for name, key in (("title", "/Title"), ("keywords", "/Keywords")):
            found[name] = str(information.get(key) or "")[:_LONGEST]
    with contextlib.suppress(Exception):
        found["language"] = str(reader.root_object.get("/Lang") or "")[:_LONGEST]
    return found


def _pages(reader: Any) -> Iterator[Any]:
    for number in range(_PAGES):
        try:
            yield reader.pages[number]
        except Exception:  # After the last page, or at a page that the library cannot read: the pages before it are kept.
            return


def _links(page: Any) -> list[str]:
    """The URIs of the page's link annotations (ISO 32000-1, section 12.6.4.7)."""
    found: list[str] = []
    for reference in list(page.get("/Annots") or ())[:_LINKS]:
        action = reference.get_object().get("/A")
        uri = action.get_object().get("/URI") if action is not None else None
        if uri is not None:
            found.append(str(uri)[:4000])
    return found


if __name__ == "__main__":
    sys.exit(main())
