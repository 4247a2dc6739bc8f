"""Holds the ways to the links of a document against each other on real pages: are the links the same, and what does each cost?

    python bench/links.py FOLDER...

Every HTML file below the folders is read by machine code, by the patterns and by way of its tree, in turn. Times are CPU time
of this process.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from parcahyd.rules.link_scanner import scan
from parcahyd.rules.links import PageLinks, read_at_once, read_tags, read_tree

__all__ = ["compare", "main"]

_SUFFIXES = {".html", ".htm", ".xhtml"}
_Way = Callable[[bytes], PageLinks | None]

WAYS: Mapping[str, _Way] = {
    "machine code": read_at_once,
    "patterns": lambda body: read_tags(scan(body)),
}
_TREE = "tree"


def compare(pages: Iterable[bytes]) -> tuple[dict[str, Counter[str]], dict[str, float]]:
    """For each way, how many pages came out `equal` to their tree, in another `order`, `different` or `left` to the next way;
    and seconds for each way and for the tree."""
    outcomes: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    seconds = dict.fromkeys((*WAYS, _TREE), 0.0)
    for body in pages:
        found = {way: _timed(seconds, way, partly, body) for way, partly in WAYS.items()}
        tree = _timed(seconds, _TREE, _read_tree, body)
        for way, links in found.items():
            outcomes[way]["left" if links is None or tree is None else _verdict(links, tree)] += 1
    return outcomes, seconds


def _timed(seconds: dict[str, float], way: str, read: _Way, body: bytes) -> PageLinks | None:
    start = time.process_time()
    links = read(body)
    seconds[way] += time.process_time() - start
    return links


def _read_tree(body: bytes) -> PageLinks:
    return read_tree(body, "utf-8")


def _verdict(found: PageLinks, tree: PageLinks) -> str:
    ours, theirs = ((links.base, links.follow, links.embedded, links.lines) for links in (found, tree))
    if ours == theirs:
        return "equal"
    return "order" if list(map(sorted, ours)) == list(map(sorted, theirs)) else "different"


def _pages(folders: Sequence[Path]) -> Iterator[bytes]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in _SUFFIXES and path.is_file():
                yield path.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    outcomes, seconds = compare(_pages(folders))
    pages = max(counter.total() for counter in outcomes.values())
    if not pages:
        parser.error(f"there is no page below {', '.join(map(str, folders))}")
    print("| way | pages | equal to the tree | other order | different | left to the next way | µs/page | tree / it |")
    print("|---|---|---|---|---|---|---|---|")
    for way, counts in outcomes.items():
        cells = " | ".join(f"{counts[verdict]:,}" for verdict in ("equal", "order", "different", "left"))
        each = 1e6 * seconds[way] / pages
        print(f"| {way} | {pages:,} | {cells} | {each:.0f} | {seconds[_TREE] / seconds[way]:.1f} |")
    print(f"| {_TREE} | {pages:,} | | | | | {1e6 * seconds[_TREE] / pages:.0f} | 1.0 |")


if __name__ == "__main__":
    main()
