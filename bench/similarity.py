"""Similarity fingerprints on real pages: what they cost, how near near-duplicates are, and how far everything else.

    python bench/similarity.py FOLDER... [--versions ARCHIVE]

Each FOLDER is one site. The truth that fingerprints are held against is the share of runs of three words that two pages have in
common (Jaccard), of their text without tags, comments, scripts and style sheets.
"""

from __future__ import annotations

import argparse
import random
import re
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from bench.changes import changes
from parcahyd.rules.html.fingerprints import NO_SIMILARITY, WITHIN, distance, similarity
from parcahyd.rules.html.near_duplicates import groups

__all__ = ["cost", "main", "text_of", "words_in_common"]

_ROUNDS = 7
_CUTS = (0, 1, 2, 3, 4, 5, 6, 8, 10)
_FEW_WORDS = 20
_INVISIBLE = re.compile(rb"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>")

Site = tuple[str, list[bytes]]
Way = Callable[[bytes], object]


def text_of(page: bytes) -> list[bytes]:
    """The words of what a page shows."""
    return _INVISIBLE.sub(b" ", page).split()


def _runs(page: bytes) -> frozenset[tuple[bytes, ...]]:
    words = text_of(page)
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def words_in_common(one: frozenset[tuple[bytes, ...]], other: frozenset[tuple[bytes, ...]]) -> float:
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def cost(pages: Sequence[bytes], ways: Sequence[Way]) -> list[float]:
    """Microseconds per page of each way: they take turns on every page, and the best of some rounds counts for it."""
    best = [[float("inf")] * len(pages) for _ in ways]
    for _ in range(_ROUNDS):
        for index, page in enumerate(pages):
            for times, way in zip(best, ways, strict=True):
                began = time.perf_counter_ns()
                way(page)
                times[index] = min(times[index], time.perf_counter_ns() - began)
    return [sum(times) / 1000 / max(len(pages), 1) for times in best]


def _digest(page: bytes) -> bytes:
    return sha256(page).digest()


def _cost_table(sites: Sequence[Site]) -> Iterator[str]:
    yield "| site | pages | bytes | similarity µs | SHA-256 µs | without a fingerprint |"
    yield "|---|---|---|---|---|---|"
    for name, pages in sites:
        # The hash comes first, as in a crawl: it brings the page into the processor's cache.
        yardstick, ours = cost(pages, (_digest, similarity))
        without = sum(similarity(page) == NO_SIMILARITY for page in pages)
        size = sum(map(len, pages)) / len(pages)
        yield f"| {name} | {len(pages):,} | {size:,.0f} | {ours:.1f} | {yardstick:.1f} | {without} |"


def _shares(name: str, distances: Sequence[int]) -> str:
    shares = " | ".join(f"{100 * sum(bits <= cut for bits in distances) / len(distances):.2f}" for cut in _CUTS)
    return f"| {name} | {len(distances):,} | {shares} |"


def _header(first: str) -> Iterator[str]:
    yield f"| {first} | pairs | {' | '.join(f'≤ {cut}' for cut in _CUTS)} |"
    yield "|---|---|" + "---|" * len(_CUTS)


def _near_table(sites: Sequence[Site], versions: Sequence[tuple[bytes, bytes]]) -> Iterator[str]:
    yield from _header("the same page, % of pairs within so many bits")
    if versions:
        yield _shares("another version, text changed", [distance(similarity(old), similarity(new)) for old, new in versions])
    chance = random.Random(1)
    found: dict[str, list[int]] = {}
    for name, pages in sites:
        # Advertisements and menus are made of the words of another site.
        strange = next((text_of(b" ".join(others[:20])) for other, others in sites if other != name), text_of(pages[0]))
        for page in pages:
            before = similarity(page)
            for change, changed in changes(page, strange, chance):
                found.setdefault(change, []).append(distance(before, similarity(changed)))
    for change, distances in found.items():
        yield _shares(change, distances)


def _pairs(pages: Sequence[bytes]) -> Iterator[tuple[float, int]]:
    """For any two pages of a site: what their texts have in common, and the distance of their fingerprints."""
    known = [(_runs(page), similarity(page)) for page in pages]
    known = [(runs, value) for runs, value in known if value != NO_SIMILARITY and len(runs) >= _FEW_WORDS]
    for (runs, value), (others, other) in combinations(known, 2):
        yield words_in_common(runs, others), distance(value, other)


def _far_table(pairs: dict[str, list[tuple[float, int]]]) -> Iterator[str]:
    yield from _header("two pages of a site, % of pairs within so many bits")
    everything = [pair for found in pairs.values() for pair in found]
    for low, high in ((0.9, 1.1), (0.8, 0.9), (0.6, 0.8), (0.4, 0.6)):
        distances = [bits for common, bits in everything if low <= common < high]
        if distances:
            yield _shares(f"{low:.1f} to {min(high, 1.0):.1f} in common", distances)
    for name, found in pairs.items():
        distances = [bits for common, bits in found if common < 0.4]
        if distances:
            yield _shares(f"less than 0.4 in common: {name}", distances)


def _verdict_table(pairs: dict[str, list[tuple[float, int]]]) -> Iterator[str]:
    """What is found within `WITHIN` bits, site by site: one site with many copies would hide all others in a sum."""
    yield f"| within {WITHIN} bits | pairs found | 0.8 in common | 0.6 | 0.4 | less | of pairs with 0.8 in common, found |"
    yield "|---|---|---|---|---|---|---|"
    for name, all_pairs in pairs.items():
        found = [common for common, bits in all_pairs if bits <= WITHIN]
        counts = " | ".join(f"{sum(common >= least for common in found):,}" for least in (0.8, 0.6, 0.4))
        near = sum(common >= 0.8 for common, _ in all_pairs)
        less, hits = sum(common < 0.4 for common in found), sum(common >= 0.8 for common in found)
        yield f"| {name} | {len(found):,} | {counts} | {less} | {hits:,} of {near:,} |"


def _group_line(count: int) -> str:
    chance = random.Random(1)
    values = [chance.getrandbits(64) - (1 << 63) for _ in range(count * 9 // 10)]
    values += [value ^ 5 << chance.randrange(60) for value in values[: count - len(values)]]
    began = time.process_time()
    found = groups(enumerate(values))
    seconds = time.process_time() - began
    return f"{count:,} fingerprints, a tenth of them 2 bits from another: {len(found):,} groups in {seconds:.1f} s"


def _changed_versions(archive: Path) -> list[tuple[bytes, bytes]]:
    """Pages of the archive's `old` and `new` folders that are in both, with different text."""
    with tarfile.open(archive) as files:
        pages = {
            file.name: content.read() for file in files if file.name.endswith(".html") and (content := files.extractfile(file))
        }
    both = ((page, pages.get(name.replace("/old/", "/new/"))) for name, page in pages.items() if "/old/" in name)
    return [(old, new) for old, new in both if new is not None and text_of(old) != text_of(new)]


def _site(folder: Path, count: int) -> Site:
    files = sorted(file for file in folder.rglob("*.htm*") if file.is_file())
    random.Random(1).shuffle(files)
    # The last part that says something: manuals lie in folders of the name `html`.
    name = next((part for part in reversed(folder.resolve().parts) if part not in ("html", "en", "api", "doc")), folder.name)
    return name, [file.read_bytes() for file in files[:count]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--versions", type=Path, metavar="ARCHIVE", help="a tar archive of pages in folders `old` and `new`")
    parser.add_argument("--pages", type=int, default=200, help="at most so many of each site, chosen by chance")
    parser.add_argument("--grouped", type=int, default=100_000, help="so many made-up fingerprints are grouped")
    chosen = parser.parse_args()
    sites = [site for site in (_site(folder, chosen.pages) for folder in chosen.folders) if site[1]]
    versions = _changed_versions(chosen.versions) if chosen.versions else []
    print("\n".join(_cost_table(sites)) + "\n")
    print("\n".join(_near_table(sites, versions)) + "\n")
    pairs = {name: list(_pairs(pages)) for name, pages in sites}
    print("\n".join(_far_table(pairs)) + "\n")
    print("\n".join(_verdict_table(pairs)) + "\n")
    print(_group_line(chosen.grouped))


if __name__ == "__main__":
    main()
