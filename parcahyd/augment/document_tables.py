"""Makes the tables of one document from its bytes, for the author's side."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from parcahyd.augment.refusal import DEFAULT_LIMITS, Limits, Refusal
from parcahyd.augment.skeleton import Parted, part
from parcahyd.augment.tol import EMBEDDED_KINDS, FOLLOWED_KINDS, TolHead, link_line, write_tol
from parcahyd.augment.tvi import Tvi, write_tvi
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.html.links import PageLinks, read_links

__all__ = ["Described", "describe", "tol_of", "tvi_of"]


class Described(NamedTuple):
    """The content of a table of links: its head and its lines."""

    head: TolHead
    body: bytes


def describe(
    document: bytes,
    name: str,
    *,
    parted: Parted | None = None,
    links: PageLinks | None = None,
    header_charset: str = "",
    tvi: str = "",
    robots: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Described:
    """The head and the lines of an HTML document's table of links.

    `name` is the reference from the table to the document. `tvi` is the reference to its table of variable information; it is
    used only where the document has regions. References that are longer than a reader accepts are left out.
    """
    parted = parted or part(document)
    links = links or read_links(document, header_charset)
    mark = fingerprint(parted.skeleton)
    has_regions = bool(parted.regions)
    head = TolHead(
        name,
        sha256(document).digest() if has_regions else mark.sha256,
        len(document),
        mark.df,
        mark.sha256 if has_regions else None,
        tvi if has_regions else "",
        link_line(links.base, "a").partition(b"\t")[0].decode() if links.base else "",
        robots,
    )
    return Described(head, _body(links, _volatile_links(parted, header_charset) if has_regions else {}, limits))


def tol_of(
    document: bytes, name: str, *, header_charset: str = "", tvi: str = "", limits: Limits = DEFAULT_LIMITS
) -> bytes | Refusal:
    """The table of links of an HTML document, as a file's bytes."""
    return write_tol(*describe(document, name, header_charset=header_charset, tvi=tvi, limits=limits), limits)


def tvi_of(
    document: bytes, name: str, parted: Parted | None = None, *, is_xml: bool = False, limits: Limits = DEFAULT_LIMITS
) -> bytes | Refusal | None:
    """The table of variable information of a document; None where it has no regions or its markers have errors."""
    parted = parted or part(document, is_xml=is_xml)
    if not parted.regions:
        return None
    skeleton = parted.skeleton
    hashes = sha256(skeleton).digest(), len(skeleton), sha256(document).digest(), len(document)
    return write_tvi(Tvi(name, *hashes, parted.regions), limits)


def _body(links: PageLinks, volatile: dict[str, str], limits: Limits) -> bytes:
    """Each reference once, at its first place.

    Of several kinds, one that is followed counts before one that is embedded, and that before any other.
    """
    pairs = _PLAIN_LINE.findall(links.table)
    if not volatile and len(pairs) == links.table.count(b"\n") and len({reference for _, reference in pairs}) == len(pairs):
        return b"".join([b"%b\tk=%b\n" % (reference, kind) for kind, reference in pairs])
    chosen: dict[str, tuple[str, bool]] = {}
    for entry in links.lines:
        kind, _, rest = entry.partition("\t")
        reference, tab, _ = rest.partition("\t")
        known = chosen.setdefault(reference, (kind, bool(tab)))
        if known != (kind, bool(tab)) and _weight(kind, bool(tab)) > _weight(*known):
            chosen[reference] = kind, bool(tab)
    lines = [
        f"{reference}\tk={kind}\n"
        if not nofollow and _is_plain(reference) and reference not in volatile
        else _full_line(reference, kind, nofollow, volatile, limits)
        for reference, (kind, nofollow) in chosen.items()
    ]
    return "".join(dict.fromkeys(lines)).encode()


_WEIGHTS = dict.fromkeys(EMBEDDED_KINDS, 2) | dict.fromkeys(FOLLOWED_KINDS, 4)
_is_plain = re.compile(r"[!-\[\]-~]{1,1000}+").fullmatch
_PLAIN_LINE = re.compile(rb"^([a-z]++)\t([!-\[\]-~]{1,1000}+)\n", re.MULTILINE)


def _weight(kind: str, nofollow: bool) -> int:
    return _WEIGHTS.get(kind, 0) - nofollow


def _full_line(reference: str, kind: str, nofollow: bool, volatile: dict[str, str], limits: Limits) -> str:
    attributes = [("rel", "nofollow")] if nofollow else []
    if reference in volatile:
        attributes.append(("vol", volatile[reference]))
    line = link_line(reference, kind, attributes).decode()
    return line if line.index("\t") <= limits.reference else ""


def _volatile_links(parted: Parted, header_charset: str) -> dict[str, str]:
    """The region's ID, by reference that occurs in a region and not in the skeleton."""
    in_skeleton = {line.split("\t", 2)[1] for line in read_links(parted.skeleton, header_charset).lines}
    found: dict[str, str] = {}
    for region in parted.regions:
        if b"<" in region.content:
            for line in read_links(region.content, header_charset or "utf-8").lines:
                reference = line.split("\t", 2)[1]
                if reference not in in_skeleton:
                    found.setdefault(reference, region.id)
    return found
