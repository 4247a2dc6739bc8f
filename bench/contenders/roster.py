"""Which crawlers can take part, and which do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from bench.contenders import other_crawlers, parcahyd
from bench.contenders.contender import Absent, Contender, Peers

__all__ = ["OPTIONAL", "USUAL", "choose_contenders"]

Maker = Callable[[Peers], Contender]

USUAL: dict[str, Maker] = {
    "parcahyd": parcahyd.plain,
    "wget2": other_crawlers.wget2,
    "spider-rs": other_crawlers.spider_rs,
    "spider-rs-storing": other_crawlers.spider_rs_storing,
    "scrapy-tuned": other_crawlers.scrapy_tuned,
    "scrapy-documented": other_crawlers.scrapy_documented,
    "limit": other_crawlers.limit,
}
OPTIONAL: dict[str, Maker] = {
    **{name: maker for name, maker in parcahyd.makers().items() if name not in USUAL},
    "puf": other_crawlers.puf,
    "wget": other_crawlers.wget,
    "httrack": other_crawlers.httrack,
    "crawlee": other_crawlers.crawlee,
}


def choose_contenders(names: Sequence[str], peers: Peers) -> tuple[list[Contender], dict[str, str]]:
    """Those of the given names that are there, and why the others are left out."""
    present: list[Contender] = []
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            present.append((USUAL | OPTIONAL)[name](peers))
        except Absent as absence:
            left_out[name] = str(absence)
            print(f"!!! {name} is left out: {absence}", file=sys.stderr)
    return present, left_out
