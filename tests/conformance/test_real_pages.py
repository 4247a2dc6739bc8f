"""Links of real pages against a second, independent reader: the standard library's tokenizer, with no tree at all."""

from __future__ import annotations

import tarfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from parcahyd.rules.html.links import read_links

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "versions" / "flink-pages-two-commit-pairs.tar.xz"

FOLLOWED = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
EMBEDDED = {"img": "src", "script": "src", "audio": "src", "video": "src", "source": "src", "track": "src", "embed": "src"}
FOLLOWED_RELATIONS = {"canonical", "alternate", "next", "prev", "previous"}
EMBEDDED_RELATIONS = {"stylesheet", "icon", "apple-touch-icon", "mask-icon", "manifest", "preload", "modulepreload"}


class _SecondReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.follow: list[str] = []
        self.embedded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(reversed(attrs))
        if tag in FOLLOWED:
            self._add(self.follow, values.get(FOLLOWED[tag]))
        elif tag in EMBEDDED:
            self._add(self.embedded, values.get(EMBEDDED[tag]))
        elif tag == "link":
            relations = set((values.get("rel") or "").lower().split())
            if relations & EMBEDDED_RELATIONS:
                self._add(self.embedded, values.get("href"))
            elif relations & FOLLOWED_RELATIONS:
                self._add(self.follow, values.get("href"))
        elif tag == "meta" and (values.get("http-equiv") or "").lower() == "refresh":
            self._add(self.follow, (values.get("content") or "").partition("=")[2])

    @staticmethod
    def _add(where: list[str], value: str | None) -> None:
        href = (value or "").strip().partition("#")[0]
        if href and not href.startswith("data:") and href not in where:
            where.append(href)


def _pages() -> list[tuple[str, bytes]]:
    if not ARCHIVE.exists():
        pytest.skip(f"needs real pages that are not part of the project: {ARCHIVE.name} in ../shared/data/versions")
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.name.endswith(".html")][::3]
        return [(member.name, file.read()) for member in members if (file := archive.extractfile(member))]


def test_two_readers_agree_on_real_pages() -> None:
    pages = _pages()
    assert len(pages) > 400
    found = 0
    for name, body in pages:
        second = _SecondReader()
        second.feed(body.decode("utf-8"))
        second.close()
        first = read_links(body, "utf-8")
        assert first.follow == second.follow, name
        assert first.embedded == second.embedded, name
        found += len(first.follow)
    assert found > 10_000
