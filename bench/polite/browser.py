"""A site in sixteen charsets, with right, wrong and missing declarations: titles and links of a crawl beside Chromium's.

The crawls are real ones, and titles are those in their databases. Links are those that the rules read in the stored bytes.
Equal bytes are one document in a database, with one title, whatever the headers said: so pages with equal bytes are crawled in
different rounds.
Needed: playwright (`pip install playwright`) and a Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.conformance.charset_site.pages import PAGES, Page
from tests.conformance.charset_site.record import observe
from tests.conformance.test_charsets import CONTROLS, DIFFERENCES, ours, theirs
from tests.support.crawl import Crawl
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Site, html
from tests.support.sites import Page as Served

__all__ = ["lines"]

_OTHER_KINDS = frozenset(("marks", "labels", "structures", "xhtml"))


def lines() -> Iterator[str]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or find_spec("playwright") is None:
        yield "Needs playwright and a Chromium."
        return
    version, seen = observe(chromium)
    titles: dict[str, str] = {}
    bodies: dict[str, bytes] = {}
    for paths in _rounds():
        _crawl(paths, titles, bodies)
    charsets = Counter(path.split("/")[1] for path in PAGES)
    kinds = [part for part in charsets if part in _OTHER_KINDS]
    known = f"{len(charsets) - len(kinds)} charsets and {len(kinds)} other kinds"
    yield f"{len(PAGES)} pages in {known}; Chromium {version}, asked live."
    yield ""
    yield "| part of the site | pages | titles equal | links equal | charset, title and links equal |"
    yield "|---|---|---|---|---|"
    counts: dict[str, Counter[str]] = {part: Counter() for part in charsets}
    different = []
    for path, page in PAGES.items():
        its, mine = theirs(path, seen[path]), ours(path, Page(page.content_type, bodies[path]))
        mine["title"] = CONTROLS.sub(" ", titles[path]).strip()
        count = counts[path.split("/")[1]]
        count["title"] += mine["title"] == its["title"]
        count["links"] += mine["links"] == its["links"]
        count["all"] += mine == its
        if mine != its:
            different.append(path)
    for part, number in charsets.items():
        count = counts[part]
        yield f"| {part} | {number} | {count['title']} | {count['links']} | {count['all']} |"
    total = sum(counts.values(), Counter())
    yield f"| together | {len(PAGES)} | {total['title']} | {total['links']} | {total['all']} |"
    yield ""
    yield "Where they differ, and why:"
    yield ""
    for path in different:
        yield f"- `{path}`: {DIFFERENCES.get(path, 'NOT EXPECTED')}"


def _rounds() -> list[list[str]]:
    """The paths, in parts in which no two pages have equal bytes."""
    rounds: list[dict[bytes, str]] = []
    for path, page in PAGES.items():
        free = next((one for one in rounds if page.body not in one), None)
        if free is None:
            rounds.append(free := {})
        free[page.body] = path
    return [list(one.values()) for one in rounds]


def _crawl(paths: list[str], titles: dict[str, str], bodies: dict[str, bytes]) -> None:
    """Crawls these pages; their titles and bytes, as the database has them, are added to those in hand."""
    with SiteServer() as server, tempfile.TemporaryDirectory(prefix="parcahyd-browser-") as folder:
        listener = server.listen()
        pages: dict[str, Served] = {path: Answer(PAGES[path].body, media_type=PAGES[path].content_type) for path in paths}
        server.put("", Site({"/": html("All", pages), **pages}))
        crawl = Crawl(Path(folder), f"sqlite:///{folder}/crawl.db")
        crawl.run(listener.url(), timeout=120)
        crawl.verify()
        title_of = {line["url"].removeprefix(listener.url("")): line["title"] or "" for line in crawl.urls("--state", "stored")}
        titles.update((path, title_of[path]) for path in paths)
        bodies.update((path, crawl.show(listener.url(path))) for path in paths)
