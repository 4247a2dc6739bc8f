"""What servers see of PARCAHYD, and what PARCAHYD makes of them: real crawls of difficult sites on loopback.

    python bench/politeness.py [robots] [wait] [urls] [traps] [browser]

Without a name, all of them. Each part prints Markdown; figures come from the servers' logs and from the commands that any
user has. See bench/README.md.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

__all__ = ["PARTS", "lines_of"]

PARTS = {
    "robots": "robots.txt: the standard's cases, real files, and servers in trouble",
    "wait": "a server that asks to be left alone",
    "urls": "canonical URLs against two collections of cases",
    "traps": "a hostile site",
    "browser": "titles and links against Chromium",
}


def lines_of(part: str) -> Iterator[str]:
    """What a part prints, line by line."""
    lines: Iterator[str] = importlib.import_module(f"bench.polite.{part}").lines()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    for part in parser.parse_args().parts or PARTS:
        print(f"## {part}: {PARTS[part]}\n", flush=True)
        for line in lines_of(part):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
