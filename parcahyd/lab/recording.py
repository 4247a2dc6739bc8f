"""Writes what the lab reads from any crawl: its pages with their links, and the pages of its sites.

It reads one document after the other, in the order of the URLs. All URLs of stored documents are held in memory meanwhile.

Tested in tests/lab/test_recording.py and tests/cli/test_lab_record.py.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.formats.html_summary import HtmlSummarizer
from parcahyd.rules.html.links import read_links
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.rules.urls.canonical_url import archive_of, split
from parcahyd.rules.urls.parameters import Canon, joining
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import StoredDocument

__all__ = ["Recording", "record_graph", "record_sites", "recorded_pages"]

_GRAPH_HEAD = "#url\tbytes\twords\tlinks\tlinks_to_uncrawled\n"
_DAY = "%Y-%m-%d"


class Recording(msgspec.Struct, frozen=True):
    """The stored pages of a crawl: all URLs that have a document."""

    bytes_of: dict[str, int]
    """By URL, in the order of the URLs."""
    day: str
    """On which the last of them was fetched or checked, in UTC; empty where there are none."""

    @property
    def sites(self) -> dict[str, int]:
        """Pages by host, in the order of the hosts."""
        return dict(sorted(Counter(split(url)[1] for url in self.bytes_of).items()))


def recorded_pages(reports: Reports) -> Recording:
    """All pages, whatever their scheme and format; redirects and pages that asked not to be kept are none."""
    found = [
        (url.url, url.length or 0, url.checked_at or 0.0) for url in reports.urls("stored") if url.sha256 and not url.reason
    ]
    last = max((checked for *_, checked in found), default=None)
    day = "" if last is None else datetime.fromtimestamp(last, UTC).strftime(_DAY)
    return Recording({url: length for url, length, _ in sorted(found)}, day)


def record_graph(reports: Reports, recording: Recording, work: WorkConf, folder: Path) -> int:
    """Writes `pages.tsv` and `links.txt` into the folder; returns how many links lead from page to page."""
    rows = {url: number for number, url in enumerate(recording.bytes_of)}
    canon = Canon.of(work)
    total = 0
    with _opened(folder / "pages.tsv") as pages, _opened(folder / "links.txt") as links:
        pages.write(_GRAPH_HEAD)
        for url, length in recording.bytes_of.items():
            document = reports.document(url)
            # It may have been forgotten since its URL was read.
            page = document if document is not None and is_html(document.media_type) else None
            targets = [] if page is None else _targets(page, canon)
            words = 0 if page is None else _words(page)
            known = [rows[target] for target in targets if target in rows]
            pages.write(f"{url}\t{length}\t{words}\t{len(targets)}\t{len(targets) - len(known)}\n")
            others = [row for row in known if row != rows[url]]
            links.write(" ".join(map(str, others)) + "\n")
            total += len(others)
    return total


def _targets(document: StoredDocument, canon: Canon | None) -> list[str]:
    """Where the links lead that a crawl may follow; two links to one URL are two. Those of an archive's member are not
    followed."""
    if archive_of(document.url) is not None:
        return []
    found = read_links(document.body, document.charset)
    base = joining(document.url, None)(found.base) if found.base else None
    join = joining(base or document.url, canon)
    return [target for href in [*found.follow, *found.nofollow] if (target := join(href)) is not None]


def _words(document: StoredDocument) -> int:
    summary = HtmlSummarizer().summarize(document.body, document.media_type, document.charset, document.url)
    return 0 if summary is None else len(summary.text.split())


def record_sites(recording: Recording, folder: Path) -> None:
    """Writes `pages.tsv` with the pages of each site, or adds them to the one that is there as a further month.

    A column of the same day is replaced: to record twice is to record once.
    """
    path = folder / "pages.tsv"
    heading, rows = _months_before(path)
    if heading[-1:] == [recording.day]:
        heading, rows = heading[:-1], {site: months[:-1] for site, months in rows.items()}
    sites = recording.sites
    with _opened(path) as stream:
        stream.write("\t".join(["#site", *heading, recording.day]) + "\n")
        for site in sorted({*rows, *sites}):
            months = rows.get(site, [""] * len(heading))
            if site in sites or any(months):
                stream.write("\t".join([site, *months, str(sites.get(site, ""))]) + "\n")


def _months_before(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    if not path.exists():
        return [], {}
    try:
        first, *others = path.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", _REMEDY) from error
    heading = first.split("\t")
    rows = {site: months for site, *months in (line.split("\t") for line in others)}
    if heading[0] != "#site" or any(len(months) != len(heading) - 1 for months in rows.values()):
        raise UserError(f"{path} is not a list of pages by site", _REMEDY)
    return heading[1:], rows


_REMEDY = "name another folder, or take the file away"


def _opened(path: Path) -> TextIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}", "name another folder") from error
