"""Small webs of made-up pages, and the tables that their authors offer: what the experiments on augmented hypertext crawl.

A web is its hosts, a host is its documents by path. The same shape and size give the same bytes every time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache

from parcahyd.augment.bundle import write_bundle
from parcahyd.augment.document_tables import tol_of

__all__ = [
    "HOME",
    "MAIN",
    "OFFERS",
    "SHAPES",
    "Host",
    "Sizes",
    "Web",
    "chain_of",
    "offer",
    "tables_of",
    "tree_of",
    "web_of",
    "with_outside",
]

Host = dict[str, bytes]
"""Documents by path."""
Web = dict[str, Host]
"""Hosts by name; `MAIN` is the one where crawls start."""
Sizes = Callable[[int], int]
"""The bytes of the page with this number."""

HOME = "/index.html"
MAIN = "h0.web.test"
OFFERS = ("nothing", "tables", "bundle", "both")
"""What every host of a web offers: a table of links beside each page, one bundle of them, or both."""
_BUNDLE = "/site.TOL"
_GOLDEN = 0.618034
_TEXT = 2_000
_COMMENT = b"<!--%b-->"
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def _path(number: int) -> str:
    return f"/page{number:03}.html" if number else HOME


def _name(host: int) -> str:
    return f"h{host}.web.test"


@lru_cache(maxsize=1)
def _words() -> bytes:
    """Text enough to cut pages from."""
    chance = random.Random(1)
    lines = [" ".join("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(14)) for _ in range(3_000)]
    return "\n".join(lines).encode()


def _page(title: str, links: Sequence[str], size: int) -> bytes:
    """A page of about this size; its links come after its text, as most do. Most of it is a comment: bytes that cost no CPU."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>\n' for link in links)
    head = f'<!DOCTYPE html>\n<html lang="la"><head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n<p>'
    foot = f"</p>\n<ul>\n{anchors}</ul></body></html>\n"
    room = max(0, size - len(head) - len(foot) - len(_COMMENT % b""))
    begin = random.Random(title).randrange(100_000)
    text = _words()[begin : begin + min(room, _TEXT)]
    return head.encode() + text + _COMMENT % (b"." * (room - len(text))) + foot.encode()


def _host(name: str, links: Sequence[Sequence[str]], sizes: Sizes) -> Host:
    return {_path(number): _page(f"{name} {number}", targets, sizes(number)) for number, targets in enumerate(links)}


# --- shapes --------------------------------------------------------------------------------------------------------------


def _chain(length: int) -> list[list[str]]:
    """Each page leads to the next one and home."""
    return [[HOME, *([_path(number + 1)] if number + 1 < length else [])] for number in range(length)]


def tree_of(branches: int, depth: int) -> list[list[str]]:
    """The links of each page of a tree."""
    pages = sum(branches**level for level in range(depth + 1))
    below = [range(number * branches + 1, number * branches + branches + 1) for number in range(pages)]
    return [[HOME, *(_path(child) for child in children if child < pages)] for children in below]


def _wide(leaves: int) -> list[list[str]]:
    return [[_path(number) for number in range(1, leaves + 1)], *[[HOME]] * leaves]


def chain_of(length: int, sizes: Sizes) -> Web:
    """One host, whose pages lead from one to the next."""
    return {MAIN: _host(MAIN, _chain(length), sizes)}


def _chain_web(sizes: Sizes) -> Web:
    return chain_of(60, sizes)


def _tree_web(sizes: Sizes) -> Web:
    return {MAIN: _host(MAIN, tree_of(4, 3), sizes)}


def _deep_tree_web(sizes: Sizes) -> Web:
    return {MAIN: _host(MAIN, tree_of(2, 6), sizes)}


def _wide_web(sizes: Sizes) -> Web:
    return {MAIN: _host(MAIN, _wide(100), sizes)}


def _outside_web(sizes: Sizes) -> Web:
    """A tree of 21 pages, each of which leads to another host of five pages: home, and a chain of two twice."""
    return with_outside(tree_of(4, 2), [[_path(1), _path(2)], [_path(3)], [_path(4)], [HOME], [HOME]], sizes)


def with_outside(inside: list[list[str]], outside: list[list[str]], sizes: Sizes, port: int = 80) -> Web:
    """A main host each of whose pages leads to another host, too."""
    end = f":{port}{HOME}" if port != 80 else HOME
    main = [[*links, f"http://{_name(number)}{end}"] for number, links in enumerate(inside, 1)]
    others = {_name(number): _host(_name(number), outside, sizes) for number in range(1, len(inside) + 1)}
    return {MAIN: _host(MAIN, main, sizes), **others}


SHAPES: dict[str, Callable[[Sizes], Web]] = {
    "chain": _chain_web,
    "deep tree": _deep_tree_web,
    "tree": _tree_web,
    "wide": _wide_web,
    "outside": _outside_web,
}
"""chain: 60 pages, each known from the one before; deep tree: 127 pages, six links deep; tree: 85 pages, three links deep;
wide: 101 pages, one link deep; outside: 21 pages that lead to 21 other hosts of five pages each."""


# --- offers --------------------------------------------------------------------------------------------------------------


def tables_of(host: Host, *, in_bundle: bool = False) -> dict[str, bytes]:
    """The table of links of each page of a host, by the page's path: as it stands beside it, or in a bundle at the root."""
    made = {}
    for path, document in host.items():
        table = tol_of(document, path[1:] if in_bundle else path.rpartition("/")[2])
        assert isinstance(table, bytes), f"{path}: {table}"
        made[path] = table
    return made


def _offered(host: Host, what: str) -> Host:
    if what == "nothing":
        return {**host, "/robots.txt": b"User-agent: *\nDisallow: /private/\n"}
    fields, files = ["1", "scope=/"], dict(host)
    if what in ("tables", "both"):
        fields.append("tol={stem}.TOL")
        files |= {f"{path.removesuffix('.html')}.TOL": table for path, table in tables_of(host).items()}
    if what in ("bundle", "both"):
        fields.append(f"bundle={_BUNDLE}")
        bundle = write_bundle(tables_of(host, in_bundle=True).values())
        assert isinstance(bundle, bytes), bundle
        files[_BUNDLE] = bundle
    files["/robots.txt"] = f"User-agent: *\nDisallow: /private/\n# Augment: {'; '.join(fields)}\n".encode()
    return files


def offer(web: Web, what: str) -> Web:
    """The web with a robots.txt on each host, and with the tables that it declares."""
    return {name: _offered(host, what) for name, host in web.items()}


def web_of(shape: str, size: int, what: str) -> Web:
    """A web of one of the shapes, of pages from half to one and a half times this size.

    Pages that are all alike would make connections march in step, which no real site does.
    """
    return offer(SHAPES[shape](lambda number: int(size * (0.5 + (number + 1) * _GOLDEN % 1))), what)
