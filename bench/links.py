"""Compares the two readers of links on real pages: are the links the same, and what does each cost?

    python bench/links.py FOLDER...

Every HTML file below the folders is read by the compiled tag reader and by way of its tree, in turn. Times are CPU time of
this process.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from parcahyd.rules.html.known_tags import IS_COMPILED
from parcahyd.rules.html.links import PageLinks, read_compiled, read_tree

__all__ = ["compare", "main"]

_SUFFIXES = {".html", ".htm", ".xhtml"}
_COMPILED, _TREE = "compiled", "tree"


def compare(pages: Iterable[bytes]) -> tuple[Counter[str], dict[str, float]]:
    """How many pages came out of the tag reader `equal` to their tree, in another `order`, `different`, or were `left` to the
    tree; and the seconds of each reader."""
    outcomes: Counter[str] = Counter()
    seconds = {_COMPILED: 0.0, _TREE: 0.0}
    for body in pages:
        quick = _timed(seconds, _COMPILED, read_compiled, body)
        tree = _timed(seconds, _TREE, _read_tree, body)
        outcomes["left" if quick is None or tree is None else _verdict(quick, tree)] += 1
    return outcomes, seconds


def _timed(seconds: dict[str, float], reader: str, read: Callable[[bytes], PageLinks | None], body: bytes) -> PageLinks | None:
    start = time.process_time()
    links = read(body)
    seconds[reader] += time.process_time() - start
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
    if not IS_COMPILED:
        parser.error("the tag reader was not compiled")
    outcomes, seconds = compare(_pages(folders))
    pages = outcomes.total()
    if not pages:
        parser.error(f"there is no page below {', '.join(map(str, folders))}")
    print("| reader | pages | equal to the tree | other order | different | left to the tree | µs/page | tree / it |")
    print("|---|---|---|---|---|---|---|---|")
    cells = " | ".join(f"{outcomes[verdict]:,}" for verdict in ("equal", "order", "different", "left"))
    each = 1e6 * seconds[_COMPILED] / pages
    print(f"| {_COMPILED} | {pages:,} | {cells} | {each:.0f} | {seconds[_TREE] / seconds[_COMPILED]:.1f} |")
    print(f"| {_TREE} | {pages:,} | | | | | {1e6 * seconds[_TREE] / pages:.0f} | 1.0 |")


if __name__ == "__main__":
    main()
