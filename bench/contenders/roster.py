"""Who can take part, and who does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from bench.contenders import limit, mirrors, node, parcahyd, scrapy
from bench.contenders.contender import Absent, Contender, Peers

__all__ = ["OPTIONAL", "USUAL", "choose_contenders"]

USUAL: dict[str, Callable[[Peers], Contender]] = {
    "parcahyd": parcahyd.plain,
    "wget2": mirrors.wget2,
    "spider-rs": node.spider_rs,
    "spider-rs-storing": node.spider_rs_storing,
    "scrapy-tuned": scrapy.tuned,
    "scrapy-documented": scrapy.documented,
    "limit": limit.limit,
}
OPTIONAL: dict[str, Callable[[Peers], Contender]] = {
    "parcahyd-embedded": parcahyd.embedding,
    "parcahyd-before": parcahyd.before,
    "parcahyd-elsewhere": parcahyd.elsewhere,
    "puf": mirrors.puf,
    "wget": mirrors.wget,
    "httrack": mirrors.httrack,
    "crawlee": node.crawlee,
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
