"""What a refresh of real pages costs, with tables of variable information and with learned places.

    python bench/versions.py ARCHIVE [--level 6] [--crawl] [--report docs/augmented.md]

The archive holds pairs of folders `old` and `new`, each pair with an INFO.txt that dates it; the pairs follow each other.
First, what differs is marked on copies, `augment build` writes the tables, and nginx serves both: bytes of HTTP for a refresh
by table, by conditional GET and by full download. Then nothing is marked: volatile places are learned from the first pair and
tried on the second, and the other way round in time. The truth is what a reader sees: words, and where links lead.
"""

from __future__ import annotations

import argparse
import os
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.crawled_versions import refresh_by_crawl
from bench.marking import mark_both
from bench.plot import Bar, draw
from bench.report_page import write_section
from bench.similarity import cost
from bench.wire import Compressing, Exchange, Wire
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.skeleton import apply_tvi, is_smaller, part, rebuild, share_skeleton, write_regions
from parcahyd.augment.volatile_places import (
    LEAST_CHANGES,
    NOTHING_LEARNED,
    Learned,
    learn,
    skeleton_hash,
    visited,
    write_learned,
)
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.config.schema import WorkConf
from parcahyd.storage.packing import Compress, compressor

__all__ = ["Pair", "main", "read_pairs", "really_changed", "stored_bytes", "verdicts"]

_HOST = "www.example.org"
_OLD, _NEW = 1_700_000_000, 1_700_100_000
"""When the files of either version were written, as nginx reports it."""


class Pair(NamedTuple):
    """Two versions of the same pages, by path."""

    dated: str
    old: dict[str, bytes]
    new: dict[str, bytes]


def read_pairs(archive: Path) -> list[Pair]:
    """The pairs of an archive, the earliest first."""
    pairs: dict[str, Pair] = {}
    with tarfile.open(archive) as files:
        for file in files:
            name, _, path = file.name.removeprefix("./").partition("/")
            if not file.isfile() or (content := files.extractfile(file)) is None:
                continue
            pair = pairs.setdefault(name, Pair("", {}, {}))
            side, _, page = path.partition("/")
            if path == "INFO.txt":
                line = next(line for line in content.read().decode().splitlines() if line.startswith("old "))
                pairs[name] = pair._replace(dated=line.split()[2])
            elif side in ("old", "new"):
                getattr(pair, side)[page] = content.read()
    return sorted(pairs.values())


class _Seen(HTMLParser):
    """The words of a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        if tag == "a":
            self.links += [(value or "").partition("#")[0] for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def really_changed(old: bytes, new: bytes) -> bool:
    """Whether a reader would see a difference; by the standard library's parser and none of our code."""
    seen = []
    for page in (old, new):
        parser = _Seen()
        parser.feed(page.decode("utf-8", "replace"))
        parser.close()
        seen.append((parser.words, parser.links))
    return seen[0] != seen[1]


def _write(folder: Path, pages: dict[str, bytes], written_at: int) -> None:
    for path, page in pages.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page)
    for file in folder.rglob("*"):
        if file.is_file():
            os.utime(file, (written_at, written_at))


class _Refresh(NamedTuple):
    """All pages refreshed once, in every way."""

    full: list[Exchange]
    conditional: list[Exchange]
    unchanged: list[Exchange]
    table: list[Exchange]
    """Asked for with the entity tag of the table before, as by a crawl: a date beside it is ignored (RFC 9110, 13.1.3)."""
    dated_table: list[Exchange]
    """Asked for with both validators."""
    plain_table: list[Exchange]
    """Asked for without validators: who expects a change need not send them."""
    unchanged_table: list[Exchange]
    refused: int
    regions: int


def _refresh(pair: Pair, scratch: Path, level: int) -> _Refresh:
    both = {path: mark_both(page, pair.new[path]) for path, page in pair.old.items()}
    plain, marked = scratch / "plain", scratch / "marked"
    plan = make_plan(marked, f"http://{_HOST}/")
    agent = WorkConf().UserAgent
    _write(plain, pair.old, _OLD)
    _write(marked, {path: old for path, (old, _) in both.items()}, _OLD)
    build(plan)
    _write(marked, {}, _OLD)
    with (
        Compressing(plain, scratch / "nginx-plain", level) as pages,
        Compressing(marked, scratch / "nginx-marked", level) as tables,
        Wire(pages.port, _HOST, agent) as page_wire,
        Wire(tables.port, _HOST, agent) as table_wire,
    ):
        held = {path: page_wire.get(f"/{path}") for path in both}
        held_tables = {path: table_wire.get(_table(path)) for path in both}
        unchanged = [page_wire.get(f"/{path}", held[path]) for path in both]
        unchanged_table = [table_wire.get(_table(path), held_tables[path], with_date=False) for path in both]
        _write(plain, pair.new, _NEW)
        _write(marked, {path: new for path, (_, new) in both.items()}, _NEW)
        build(plan)
        _write(marked, {}, _NEW)
        full = [page_wire.get(f"/{path}") for path in both]
        conditional = [page_wire.get(f"/{path}", held[path]) for path in both]
        table = [table_wire.get(_table(path), held_tables[path], with_date=False) for path in both]
        dated_table = [table_wire.get(_table(path), held_tables[path]) for path in both]
        plain_table = [table_wire.get(_table(path)) for path in both]
    refused = regions = 0
    for (old, new), answer in zip(both.values(), table, strict=True):
        parted = part(old)
        made = apply_tvi(answer.content, parted.skeleton, parted.places)
        refused += isinstance(made, Refusal) or made[1] != new
        regions += len(parted.regions)
    return _Refresh(full, conditional, unchanged, table, dated_table, plain_table, unchanged_table, refused, regions)


def _table(path: str) -> str:
    return f"/{path.rpartition('.')[0]}.TVI"


def _wire_table(refresh: _Refresh) -> Iterator[str]:
    count = len(refresh.full)
    whole, body = (sum(map(of, refresh.full)) for of in (_total, _body))
    whole_conditional = sum(map(_total, refresh.conditional))
    yield "| bytes per page | request | headers | body | all | % of full download | % of conditional GET | body, % |"
    yield "|---|---|---|---|---|---|---|---|"
    rows: tuple[tuple[str, list[Exchange]], ...] = (
        ("full download, gzip", refresh.full),
        ("conditional GET, page changed", refresh.conditional),
        ("table, by its entity tag", refresh.table),
        ("table, both validators", refresh.dated_table),
        ("table, unconditional", refresh.plain_table),
        ("conditional GET, nothing changed", refresh.unchanged),
        ("table, nothing changed", refresh.unchanged_table),
    )
    for name, answers in rows:
        parts = [sum(map(of, answers)) for of in (_request, _headers, _body, _total)]
        statuses = ", ".join(f"{number} x {status}" for status, number in Counter(answer.status for answer in answers).items())
        figures = " | ".join(f"{value / count:,.0f}" for value in parts)
        shares = " | ".join(f"{100 * of:.1f}" for of in (parts[3] / whole, parts[3] / whole_conditional, parts[2] / body))
        yield f"| {name} ({statuses}) | {figures} | {shares} |"
    yield ""
    yield f"{count} pages, {refresh.regions} regions; documents that came out otherwise: {refresh.refused}. {_by_page(refresh)}"


def _by_page(refresh: _Refresh) -> str:
    both = list(zip(refresh.table, refresh.full, strict=True))
    shares = sorted(100 * table.total / full.total for table, full in both)
    within = sum(share <= 10 for share in shares)
    large = sum(table.body_bytes * 2 > full.body_bytes for table, full in both)
    return (
        f"Tables against full download, page by page: median {shares[len(shares) // 2]:.1f} %, worst"
        f" {shares[-1]:.1f} %, at most 10 % on {within} pages; larger than half of the compressed document: {large}."
    )


def _request(answer: Exchange) -> int:
    return answer.request_bytes


def _headers(answer: Exchange) -> int:
    return answer.header_bytes


def _body(answer: Exchange) -> int:
    return answer.body_bytes


def _total(answer: Exchange) -> int:
    return answer.total


Versions = Sequence[tuple[bytes, bytes, bytes]]
"""Of each page: learned from the first and the second, tried on the third."""


def _learned(first: bytes, second: bytes) -> Learned:
    return learn(NOTHING_LEARNED, first, second)


def _is_same(first: bytes, second: bytes, third: bytes, least: int) -> bool:
    learned = _learned(first, second)
    return visited(learned, skeleton_hash(second, learned, least), third, least) is not None


def verdicts(versions: Versions, least: int) -> Counter[tuple[bool, bool]]:
    """How many pages, by whether a reader sees a change from the second version to the third, and whether we say so.

    With `least` of 0 nothing is learned, and every other byte is a change.
    """
    return Counter(
        (really_changed(page[1], page[2]), not _is_same(*page, least) if least else page[1] != page[2]) for page in versions
    )


def _verdict_rows(name: str, versions: Versions) -> Iterator[str]:
    for least, how in ((0, "nothing learned"), (1, "one change is enough"), (2, "two changes are needed")):
        found = verdicts(versions, least)
        mark = " (default)" if least == LEAST_CHANGES else ""
        figures = " | ".join(str(found[kind]) for kind in ((False, False), (True, True), (False, True), (True, False)))
        yield f"| {name}, {how}{mark} | {figures} |"


def stored_bytes(versions: Versions, compress: Compress) -> dict[str, int]:
    """What the three versions need, compressed as they are stored; whatever is stored must come out as it was."""
    sums = Counter[str]()
    for page in versions:
        whole = [len(compress(version)) for version in page]
        kept = _shared(page[0], page[1], whole[0] + whole[1], compress)
        is_same = _is_same(*page, LEAST_CHANGES)
        sums["each version whole"] += sum(whole)
        sums["two as skeleton and regions where that is smaller, the third whole"] += kept + whole[2]
        sums["the third only where the page has changed"] += kept + (0 if is_same else whole[2])
        sums["what was learned"] += len(write_learned(_learned(page[0], page[1])))
    return dict(sums)


def _shared(old: bytes, new: bytes, whole: int, compress: Compress) -> int:
    shared = share_skeleton(old, new)
    if shared is None:
        return whole
    skeleton = shared[0].skeleton
    regions = [write_regions(parted.regions) for parted in shared]
    if [rebuild(skeleton, fields) for fields in regions] != [old, new]:
        sys.exit("a version did not come out as it was")
    packed, lengths = len(compress(skeleton)), [len(compress(fields)) for fields in regions]
    return packed + sum(lengths) if is_smaller(packed, lengths, (whole // 2, whole - whole // 2)) else whole


def _learned_tables(versions: Versions, compress: Compress) -> Iterator[str]:
    yield "| pages judged | same, rightly | changed, rightly | changed, wrongly | same, wrongly |"
    yield "|---|---|---|---|---|"
    yield from _verdict_rows("learned from the first pair, tried on the second", versions)
    yield from _verdict_rows("the same backwards in time", [(third, second, first) for first, second, third in versions])
    yield ""
    yield "| bytes stored of three versions | all pages | % |"
    yield "|---|---|---|"
    sums = stored_bytes(versions, compress)
    for name, value in sums.items():
        yield f"| {name} | {value:,} | {100 * value / sums['each version whole']:.1f} |"
    yield ""
    yield "Refreshing by learned places downloads the page: it saves storage and revisits, not bytes on the wire."
    yield ""
    yield from _cost_line(versions)


def _cost_line(versions: Versions) -> Iterator[str]:
    known = {page[1]: _learned(page[0], page[1]) for page in versions}
    before = {page[1]: page[0] for page in versions}
    hashes = {page: skeleton_hash(page, learned) for page, learned in known.items()}
    ways: list[Callable[[bytes], object]] = [
        lambda page: learn(NOTHING_LEARNED, before[page], page),
        lambda page: visited(known[page], hashes[page], page),
    ]
    learning, visiting = cost([page[1] for page in versions], ways)
    yield f"Microseconds per page: {learning:.0f} to learn from a changed version, {visiting:.0f} to judge one, with SHA-256."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("archive", type=Path, metavar="ARCHIVE")
    parser.add_argument("--level", type=int, default=1, help="gzip_comp_level of nginx; 1 is its own")
    parser.add_argument("--crawl", action="store_true", help="refresh by whole crawls, too")
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `refresh` of a page")
    chosen = parser.parse_args()
    panels: list[tuple[str, list[Bar]]] = []
    text = "\n".join(_report(read_pairs(chosen.archive), chosen.level, panels, with_crawls=chosen.crawl)).strip()
    if chosen.report:
        picture = chosen.report.with_name(f"{chosen.report.stem}-refresh.svg")
        title = "Bytes of HTTP for the refresh of a page"
        picture.write_text(
            draw(panels, title=title, measure="bytes per page, mean, with headers", ours="table"), encoding="utf-8"
        )
        text += f"\n\n![{title}]({picture.name})"
        heading = "## Refreshing real pages\n\n    python bench/versions.py ARCHIVE" + (" --crawl" if chosen.crawl else "")
        write_section(chosen.report, "refresh", f"{heading}\n\n{text}", "What augmented hypertext wins and costs")
    else:
        print(text)


def _bars(refresh: _Refresh) -> list[Bar]:
    kinds = {
        "full download": refresh.full,
        "conditional GET": refresh.conditional,
        "table": refresh.table,
        "304 for the page": refresh.unchanged,
        "304 for the table": refresh.unchanged_table,
    }
    means = {name: sum(map(_total, answers)) / len(answers) for name, answers in kinds.items()}
    return [Bar(name, mean, mean, mean, 1) for name, mean in means.items()]


def _report(pairs: list[Pair], level: int, panels: list[tuple[str, list[Bar]]], *, with_crawls: bool) -> Iterator[str]:
    for number, pair in enumerate(pairs, 1):
        yield f"\n### Marked, pair {number} ({pair.dated}), gzip level {level}\n"
        with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
            refresh = _refresh(pair, Path(scratch), level)
        panels.append((f"pair {number}, {len(refresh.full)} pages", _bars(refresh)))
        yield from _wire_table(refresh)
    if with_crawls:
        yield "\n### Marked, by whole crawls\n"
        yield from refresh_by_crawl(pairs[0].old, pairs[0].new, level)
    if len(pairs) != 2 or pairs[0].new != pairs[1].old:
        sys.exit("learning needs two pairs that follow each other")
    yield "\n### Learned\n"
    versions = [(old, pairs[0].new[path], pairs[1].new[path]) for path, old in sorted(pairs[0].old.items())]
    yield from _learned_tables(versions, compressor(WorkConf()))


if __name__ == "__main__":
    main()
