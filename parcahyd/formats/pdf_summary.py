"""The summary of a PDF, read by pypdf (extra `pdf`) in a process of its own with bounds on time and memory.

Without pypdf a PDF is stored without a summary.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import msgspec

from parcahyd.core.documents import MAX_TEXT, Summary
from parcahyd.formats.summaries import first_line, joined, summary

__all__ = ["PdfSummarizer"]

_SECONDS = 10
_PROGRAM = Path(__file__).with_name("pdf_process.py")


class _Read(msgspec.Struct):
    title: str = ""
    language: str = ""
    keywords: str = ""
    text: str = ""
    links: tuple[str, ...] = ()


class PdfSummarizer:
    """PDF. Blocks for as long as the process takes, ten seconds at most."""

    media_types = frozenset(("application/pdf",))

    def __init__(self, seconds: int = _SECONDS) -> None:
        self._seconds = seconds
        self._can_read = find_spec("pypdf") is not None

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        if not self._can_read:
            return None
        command = [sys.executable, "-P", str(_PROGRAM), str(self._seconds), str(2 * MAX_TEXT)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            done = subprocess.run(
                command,
                input=body,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._seconds,
                env=environment,
                check=True,
            )
            read = msgspec.json.decode(done.stdout, type=_Read)
        except (subprocess.SubprocessError, OSError, msgspec.DecodeError):
            return None
        title = read.title.strip() or first_line(read.text)
        found = summary(read.text, title, read.language, keywords=read.keywords, links=joined(read.links, url))
        return found if found.title or found.text or found.links else None
