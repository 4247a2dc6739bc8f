"""Real crawls of difficult sites on loopback: which requests the servers see, and what PARCAHYD stores.

    python bench/politeness.py [robots] [wait] [urls] [traps] [browser]

Without a name, all of them. Each part prints Markdown; figures come from the servers' logs and from the commands that any
user has. See bench/README.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

from bench.polite import browser, robots, traps, urls, wait

__all__ = ["PARTS"]

PARTS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "robots": ("robots.txt: the standard's cases, real files, and servers that fail", robots.lines),
    "wait": ("a server that asks to be left alone", wait.lines),
    "urls": ("canonical URLs against two collections of cases", urls.lines),
    "traps": ("a hostile site", traps.lines),
    "browser": ("titles and links against Chromium", browser.lines),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    for part in parser.parse_args().parts or PARTS:
        title, lines = PARTS[part]
        print(f"## {part}: {title}\n", flush=True)
        for line in lines():
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
