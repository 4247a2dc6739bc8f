"""Compares the verdicts of our matcher of robots.txt rules with those of protego, on real files.

    pip install protego
    python bench/robots_verdicts.py ARCHIVE.tar.xz [--show 20]

For each file, paths are made from its own rules: each rule with its wildcards filled, and each rule followed by what others
look for anywhere in a path. Both matchers get the same rules, those for all agents or for ours. protego measures a rule by its
escaped form, in which `?` counts as three octets; the standard and Google's parser measure it as it is written.
"""

from __future__ import annotations

import argparse
import tarfile
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from protego import Protego

from parcahyd.rules.robots.robots_file import Robots
from parcahyd.rules.robots.rule_matcher import Rule
from parcahyd.rules.urls.canonical_url import canonical

__all__ = ["Difference", "differences", "main", "probes"]

_AGENT = "parcahyd/1.0 (+https://example.com/)"
_SITE = "https://example.com"
_MOST = 60
"""Rules of one file that paths are made from, evenly chosen."""


class Difference(NamedTuple):
    """A URL about which the two do not agree."""

    file: str
    url: str
    allowed: bool
    """What our matcher says."""
    line: str
    """The rule that decides for it."""


def probes(rules: Sequence[Rule]) -> Iterator[str]:
    """Canonical URLs that rules are about, alone and in pairs."""
    paths = [rule.path for rule in rules if rule.path]
    chosen = paths[:: max(1, len(paths) // _MOST)]
    starts = ["/", "/x"] + [path.rstrip("$").replace("*", "x") for path in chosen if path.startswith("/")]
    ends = ["", "x"] + [path.rstrip("$").lstrip("/*").replace("*", "x") for path in chosen if path.startswith(("/*", "*"))]
    for start, end in product(dict.fromkeys(starts), dict.fromkeys(ends)):
        if url := canonical(_SITE + start + end):
            yield url


def differences(name: str, text: bytes) -> tuple[int, list[Difference]]:
    """How many URLs were asked about, and those about which the two do not agree."""
    robots = Robots.parse(text, _AGENT)
    other = Protego.parse("User-agent: *\n" + "\n".join([rule.record for rule in robots.rules]))
    asked, found = 0, []
    for url in dict.fromkeys(probes(robots.rules)):
        asked += 1
        allowed = robots.allows(url)
        if allowed != other.can_fetch(url, "*"):
            found.append(Difference(name, url, allowed, robots.line_for(url)))
    return asked, found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="a tar archive of robots.txt files, one per host")
    parser.add_argument("--show", type=int, default=20, help="files of which a difference is printed")
    options = parser.parse_args(arguments)
    files = asked = urls = stricter = laxer = 0
    shown: list[Difference] = []
    started = time.process_time()
    with tarfile.open(options.archive) as archive:
        for member in archive:
            if not member.isfile() or (file := archive.extractfile(member)) is None:
                continue
            files += 1
            count, found = differences(Path(member.name).name, file.read())
            asked += count
            urls += len(found)
            stricter += any(not difference.allowed for difference in found)
            laxer += any(difference.allowed for difference in found)
            shown += found[:1]
    print(f"{files:,} files, {asked:,} URLs, {urls:,} verdicts differ, {time.process_time() - started:.0f} s")
    print(f"{stricter:,} files forbid a URL that protego allows, {laxer:,} allow one that protego forbids")
    for difference in shown[: options.show]:
        print(f"{difference.file}: {difference.url} is {'allowed' if difference.allowed else 'forbidden'}, {difference.line}")


if __name__ == "__main__":
    main()
