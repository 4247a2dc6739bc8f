"""A web that is computed: every page is a function of its shape, its host and its number, so it is endless and repeatable.

A page of a host links to eight fresh pages of its own, which makes a tree that reaches every page from the home page; the home
pages of the hosts form a tree of the same kind, so the whole web is reachable from the home page of host 0. On top of that come
links with heavy tails: few pages have many, and few pages and hosts get most of them. Some leaves of the trees are redirects,
dead links and copies.

Served by `bench/synthetic_server.py`; its names are answered by `bench/synthetic_dns.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

__all__ = ["DOMAIN", "NO_HOST", "NO_PAGE", "ROBOTS", "Answer", "Shape", "Web", "add_shape_options"]

DOMAIN = "web.test"

NO_HOST = -1
ROBOTS, NO_PAGE = -1, -2
"""What stands for a page's number where a path leads to robots.txt, or to nothing."""

_FAN_OUT = 8
_SECTIONS = 24
_NAV_LINKS = 12
_MOST_POPULAR_LINKS = 48
_COPIES = 16
_EXTERNAL = 2
"""Of 16 popular links, how many lead to other hosts."""

# Of 65,536 leaves.
_REDIRECTS, _DEAD, _COPIED = 655, 655, 1310

_KEY = struct.Struct("<QII")
_DIGITS = struct.Struct("<64H")


@dataclass(frozen=True)
class Shape:
    """What a web is computed from."""

    pages: int
    """URLs in all, redirects, dead links and copies among them; robots.txt is none of them."""
    hosts: int
    addresses: int
    seed: int = 1
    exponent: float = 1.0
    """Host number n has a share of the pages proportional to (n + 1) ** -exponent; 0: all have the same."""
    network: str = "127.20"
    """The first half of every address."""

    def sizes(self) -> list[int]:
        """How many pages each host has; every host has its home page."""
        if self.hosts > self.pages:
            raise ValueError(f"{self.hosts} hosts need at least as many pages, not {self.pages}")
        weights = [(number + 1) ** -self.exponent for number in range(self.hosts)]
        whole, spread = sum(weights), self.pages - self.hosts
        shares = [int(spread * part / whole) for part in accumulate(weights)]
        shares[-1] = spread
        return [1 + share - before for share, before in zip(shares, [0, *shares], strict=False)]

    def address(self, number: int) -> str:
        """The address with this number."""
        return f"{self.network}.{number // 250}.{1 + number % 250}"

    def hosts_file(self) -> str:
        """Every host's name and address, in the form of hosts(5)."""
        return "".join(f"{self.address(host % self.addresses)} h{host}.{DOMAIN}\n" for host in range(self.hosts))

    def options(self) -> list[str]:
        """The command line options that `add_shape_options` reads this shape from."""
        given = {name: getattr(self, name) for name in ("pages", "hosts", "addresses", "seed", "exponent", "network")}
        return [word for name, value in given.items() for word in (f"--{name}", str(value))]


def add_shape_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--addresses", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exponent", type=float, default=1.0)
    parser.add_argument("--network", default=Shape.network, help="the first half of every address")


class Answer(NamedTuple):
    """What a server says: a document, or where else to ask."""

    status: int
    body: bytes = b""
    location: bytes = b""


class Web:
    """The pages. Hosts and pages are numbers here; page 0 of a host is its home page."""

    def __init__(self, shape: Shape, port: int, *, robots: bool = False) -> None:
        self.shape = shape
        self.port = port
        self.sizes = shape.sizes()
        self._robots = Answer(200, b"User-agent: *\nDisallow: /private/\n") if robots else Answer(404, b"no robots.txt\n")
        chance = random.Random(shape.seed)
        words = _words(chance)
        self._paragraphs = [_paragraph(chance, words) for _ in range(1024)]
        self._anchors = [" ".join(chance.choices(words, k=chance.randint(1, 4))).encode() for _ in range(256)]
        # Chance by table: 16 bits of a hash are looked up, instead of a power being taken for every link.
        self._ranks = [((number + 0.5) / 4096) ** 4 for number in range(4096)]
        self._degrees = [_degree((number + 0.5) / 4096) for number in range(4096)]
        self._heads: dict[int, bytes] = {}
        self._copies = [self._copy(number) for number in range(_COPIES)]

    # --- names ----------------------------------------------------------------------------------------------------------

    def origin(self, host: int) -> str:
        return f"http://h{host}.{DOMAIN}:{self.port}"

    def url(self, host: int, page: int) -> str:
        return self.origin(host) + self.path(page)

    @staticmethod
    def path(page: int) -> str:
        return f"/s{page % _SECTIONS}/p{page}.html" if page else "/"

    def host_of(self, name: bytes) -> int:
        """The number of the host that a Host header names, or NO_HOST."""
        label, _, rest = name.partition(b".")
        number = label[1:]
        if label[:1] != b"h" or not number.isdigit() or not rest.startswith(b"web.test"):
            return NO_HOST
        host = int(number)
        return host if host < self.shape.hosts else NO_HOST

    def page_of(self, host: int, path: bytes) -> int:
        """The number of the page that a path leads to, ROBOTS, or NO_PAGE."""
        if path == b"/":
            return 0
        if path == b"/robots.txt":
            return ROBOTS
        section, _, file = path.partition(b"/p")
        number = file[:-5]
        if not number.isdigit() or file[-5:] != b".html":
            return NO_PAGE
        page = int(number)
        return page if 0 < page < self.sizes[host] and section == b"/s%d" % (page % _SECTIONS) else NO_PAGE

    # --- pages ----------------------------------------------------------------------------------------------------------

    def answer(self, host: int, page: int) -> Answer:
        """What the host says of a page."""
        if page == ROBOTS:
            return self._robots
        if page == NO_PAGE:
            return Answer(404, b"no such page\n")
        digits = _DIGITS.unpack(hashlib.shake_128(_KEY.pack(self.shape.seed, host, page)).digest(128))
        if page and page * _FAN_OUT + 1 >= self.sizes[host]:
            special = self._special(page, digits[63])
            if special is not None:
                return special
        return Answer(200, self._document(host, page, digits))

    def _special(self, page: int, chance: int) -> Answer | None:
        """What some leaves are instead of a document of their own."""
        if chance < _REDIRECTS:
            return Answer(301, b"", self.path((page - 1) // _FAN_OUT).encode())
        if chance < _REDIRECTS + _DEAD:
            return Answer(404, b"<!DOCTYPE html><title>Not found</title><p>This page is gone.</p>\n")
        if chance < _REDIRECTS + _DEAD + _COPIED:
            return self._copies[page % _COPIES]
        return None

    def _document(self, host: int, page: int, digits: Sequence[int]) -> bytes:
        paragraphs, count = self._paragraphs, 5 + digits[0] % 7
        text = b"".join([paragraphs[digit & 1023] for digit in digits[1 : 1 + count]])
        return b"%s<title>Page %d of host %d</title>\n%s<h1>Page %d of host %d</h1>\n%s%s</body>\n</html>\n" % (
            b'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">',
            *(page, host, self._heads.get(host) or self._head(host), page, host, text),
            self._links(host, page, digits),
        )

    def _links(self, host: int, page: int, digits: Sequence[int]) -> bytes:
        """Fresh pages first, then popular ones."""
        anchors, ranks, size, first = self._anchors, self._ranks, self.sizes[host], page * _FAN_OUT + 1
        links = [
            b'<li><a href="/s%d/p%d.html">%s</a></li>\n' % (child % _SECTIONS, child, anchors[child & 255])
            for child in range(first, min(first + _FAN_OUT, size))
        ]
        if not page:
            hosts = range(host * _FAN_OUT + 1, min((host + 1) * _FAN_OUT + 1, self.shape.hosts))
            links += [self._external(child, 0, anchors[child & 255]) for child in hosts]
        for digit in digits[13 : 13 + self._degrees[digits[12] & 4095]]:
            rank = ranks[digit >> 4]
            if digit & 15 < _EXTERNAL:
                other = int(self.shape.hosts * rank)
                target = int(self.sizes[other] * ranks[digit * 40503 >> 4 & 4095])
                links.append(self._external(other, target, anchors[digit >> 8]))
            elif target := int(size * rank):
                links.append(b'<li><a href="/s%d/p%d.html">%s</a></li>\n' % (target % _SECTIONS, target, anchors[digit >> 8]))
        return b"<ul>\n%s</ul>\n" % b"".join(links)

    def _external(self, host: int, page: int, anchor: bytes) -> bytes:
        if not page:
            return b'<li><a href="http://h%d.web.test:%d/">%s</a></li>\n' % (host, self.port, anchor)
        place = host, self.port, page % _SECTIONS, page
        return b'<li><a href="http://h%d.web.test:%d/s%d/p%d.html">%s</a></li>\n' % (*place, anchor)

    def _head(self, host: int) -> bytes:
        """What all pages of a host begin with."""
        entries = "".join(
            f'<li><a href="{self.path(page)}">Section {page}</a></li>\n' for page in range(min(_NAV_LINKS, self.sizes[host]))
        )
        head = f'</head>\n<body class="page">\n<nav><p>Host {host}</p>\n<ul class="menu">\n{entries}</ul></nav>\n'.encode()
        return self._heads.setdefault(host, head)

    def _copy(self, number: int) -> Answer:
        """A document that many pages of many hosts have in common: it says nothing of where it is."""
        text = b"".join(self._paragraphs[number * 8 : number * 8 + 6])
        top = b'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Licence</title></head>\n<body>\n'
        return Answer(200, top + text + b'<p><a href="/">home</a></p>\n</body>\n</html>\n')


def _degree(chance: float) -> int:
    """How many popular links a page has: at least 2, mostly few, as many as x with a probability like x ** -1.3."""
    return min(_MOST_POPULAR_LINKS, int(2.5 * chance ** (-1 / 1.3)))


def _words(chance: random.Random) -> list[str]:
    syllables = [first + vowel for first in "bdfghklmnprstvwz" for vowel in "aeiou"]
    return ["".join(chance.choices(syllables, k=chance.choice((1, 2, 2, 3, 3, 4)))) for _ in range(3000)]


def _paragraph(chance: random.Random, words: list[str]) -> bytes:
    """Some sentences; words are as unevenly frequent as they are in a language, so that it compresses like one."""
    picked = [words[int(len(words) * chance.random() ** 3)] for _ in range(chance.randint(60, 160))]
    heading = " ".join(picked[:3]).capitalize()
    return f"<h2>{heading}</h2>\n<p>{' '.join(picked).capitalize()}.</p>\n".encode()
