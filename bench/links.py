"""Holds the link scanner against the tree on real pages: are the links the same, and what does each cost?

    python bench/links.py FOLDER...

Every HTML file below the folders is read both ways, in turn. Times are CPU time of this process.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from parcahyd.rules.link_scanner import scan
from parcahyd.rules.links import PageLinks, read_tags, read_tree

__all__ = ["compare", "main"]

_SUFFIXES = {".html", ".htm", ".xhtml"}


def compare(pages: Iterable[bytes]) -> tuple[Counter[str], dict[str, float]]:
    """How many pages came out `equal`, in another `order`, `different` or `left to the tree`; and seconds for each way."""
    outcomes: Counter[str] = Counter()
    seconds = {"scan": 0.0, "tree": 0.0}
    for body in pages:
        start = time.process_time()
        tags = scan(body)
        scanned = None if tags is None else read_tags(tags)
        middle = time.process_time()
        tree = read_tree(body, "utf-8")
        end = time.process_time()
        if scanned is None:
            outcomes["left to the tree"] += 1
            continue
        outcomes[_verdict(scanned, tree)] += 1
        seconds["scan"] += middle - start
        seconds["tree"] += end - middle
    return outcomes, seconds


def _verdict(scanned: PageLinks, tree: PageLinks) -> str:
    ours, theirs = ((links.base, links.follow, links.embedded, links.lines) for links in (scanned, tree))
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
    if not outcomes:
        parser.error(f"there is no page below {', '.join(map(str, folders))}")
    scanned = sum(outcomes.values()) - outcomes["left to the tree"]
    print("| pages | scanned | equal | other order | different | left to the tree | scan µs/page | tree µs/page | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    each = {way: 1e6 * total / max(scanned, 1) for way, total in seconds.items()}
    counts = " | ".join(f"{outcomes[verdict]:,}" for verdict in ("equal", "order", "different", "left to the tree"))
    ratio = each["tree"] / each["scan"] if each["scan"] else 0.0
    print(f"| {sum(outcomes.values()):,} | {scanned:,} | {counts} | {each['scan']:.0f} | {each['tree']:.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
