"""Random documents through the tables and back, and damaged tables that must be refused.

    python bench/augment_formats.py [--documents 10000] [--damages 10000] [--seed 1]

The first count: documents with random regions are parted, written, read and merged; each must come out byte for byte. The
second: tables of variable information are damaged (cut, a bit flipped, bytes inserted, bytes removed, lines exchanged or
doubled, taken from another version or another document), and applied to a stored skeleton as a crawler would; each must be
refused, and the stored document must stay as it was.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.markers import Span
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.sidecars import is_of_document
from parcahyd.augment.skeleton import merge, part, refreshed
from parcahyd.augment.tvi import Tvi, read_tvi

__all__ = ["Made", "apply", "damage", "main", "random_document", "survive_damage", "survive_round_trip"]

_HTML_NOISE = (
    b"<p>text",
    b"</p>",
    b"<br>",
    b"</div></span>",
    b"<div class='x' title=\"a > b\">",
    b"<!-- <span data-vol=no> -->",
    b"<!--vol-->",
    b"<script>if (a < b) document.write('<b data-vol=\"no\">')</script>",
    b"<script><!-- <script> <i data-vol=no></script> --></script>",
    b"<style>a > b { content: '<!--vol no-->' }</style>",
    b"<title><!--vol no--></title>",
    b"<textarea><span class=volatile id=no></textarea>",
    b"<a title='<i data-vol=\"no\">' href=x#y>",
    b"<span class=quiet>",
    b"<![CDATA[<b data-vol=no>]]>",
    b"\xff\x80\xfe",  # A document that began with FF FE would be UTF-16, and have no regions.
    b"a\tb\r\nc\n",
    b"\\x41\\",
    "gr\u00fc\u00df \u2028 \U0001f600".encode(),
    b"& < > \" '",
    b"\x01\x1b\x7f",
)
_XML_NOISE = (
    b"<item>",
    b"</item>",
    b"<empty/>",
    b"<Vol/>",
    b"<Vol1x></Vol1x>",
    b"<!-- <Vol7> -->",
    b"<![CDATA[<Vol8>]]>",
    b"<?pi <Vol9> ?>",
    b"<a b='<Vol6>' c=\"/>\">",
    "\u00e9\u00e8\n".encode(),
    b"text & more\r\n",
)
_CONTENT = (
    b"11.00 EUR",
    b"\xe9\xff",
    b"<b>x</b>",
    b"\\",
    b"\t\n\r",
    b"end 3\n",
    b"# no comment",
    b"\x00",
    b"",
    "\u00e4".encode(),
)
_NAMES = (b"span", b"div", b"b", b"x-price", b"TD")


class Made(NamedTuple):
    """A document, and where its regions are."""

    document: bytes
    spans: tuple[Span, ...]
    is_xml: bool


def random_document(chance: random.Random) -> Made:
    """A document with none to six regions, in every spelling of markers, in whatever else documents hold."""
    is_xml = chance.random() < 0.3
    noise = _XML_NOISE if is_xml else _HTML_NOISE
    pieces: list[bytes] = []
    spans = []
    length = 0
    for number in range(1, chance.randrange(8)):
        between = b"".join(chance.choices(noise, k=chance.randrange(6)))
        before, after, identity = _markers(chance, number, is_xml)
        content = b"".join(chance.choices(_CONTENT, k=chance.randrange(5)))
        start = length + len(between) + len(before)
        spans.append(Span(identity, start, start + len(content)))
        pieces += (between, before, content, after)
        length = start + len(content) + len(after)
    pieces += chance.choices(noise, k=chance.randrange(6))
    return Made(b"".join(pieces), tuple(spans), is_xml)


def _markers(chance: random.Random, number: int, is_xml: bool) -> tuple[bytes, bytes, str]:
    identity = f"{chance.choice(('price', 'n', 'a.b:c-', '7_'))}{number}"
    name = chance.choice(_NAMES)
    forms = [(b"<!--vol %b-->" % identity.encode(), b"<!--/vol %b-->" % identity.encode(), identity)]
    if is_xml:
        forms.append((b"<Vol%d a='b'>" % number, b"</Vol%d >" % number, f"Vol{number}"))
    else:
        forms += [
            (b'<%b data-vol="%b">' % (name, identity.encode()), b"</%b>" % name.lower(), identity),
            (b"<%b title='>' DATA-VOL=%b>" % (name, identity.encode()), b"</%b\n>" % name, identity),
            (b"<span class='new volatile' id=%b>" % identity.encode(), b"</SPAN>", identity),
        ]
    return chance.choice(forms)


def survive_round_trip(made: Made) -> str:
    """What went wrong on the way through a table and back; empty where nothing did."""
    parted = part(made.document, is_xml=made.is_xml)
    if parted.errors or tuple([region.id for region in parted.regions]) != tuple([span.id for span in made.spans]):
        return "regions"
    if [region.content for region in parted.regions] != [made.document[span.start : span.end] for span in made.spans]:
        return "contents"
    written = tvi_of(made.document, "page.html", parted)
    if written is None:
        return "" if not made.spans and parted.skeleton == made.document else "no table"
    tvi = read_tvi(written) if isinstance(written, bytes) else written
    if isinstance(tvi, Refusal):
        return f"refused: {tvi}"
    if merge(parted.skeleton, tvi.regions) != made.document or refreshed(parted.skeleton, tvi, parted.places) != made.document:
        return "merged"
    return ""


def damage(chance: random.Random, table: bytes, others: list[bytes]) -> tuple[str, bytes]:
    """A table that is not what it was, and how that came."""
    while True:
        kind = chance.choice(("cut", "flip", "pad", "drop", "exchange", "double", "tail", "other"))
        at = chance.randrange(len(table))
        damaged = _DAMAGES[kind](chance, table, at, chance.choice(others))
        if damaged != table:
            return kind, damaged


def _flip(chance: random.Random, table: bytes, at: int, _other: bytes) -> bytes:
    return table[:at] + bytes([table[at] ^ (1 << chance.randrange(8))]) + table[at + 1 :]


def _exchange(chance: random.Random, table: bytes, _at: int, _other: bytes) -> bytes:
    head, _, body = table.partition(b"\n\n")
    lines = body.split(b"\n")[:-1]
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return head + b"\n\n" + b"\n".join(lines) + b"\n"


def _double(chance: random.Random, table: bytes, _at: int, _other: bytes) -> bytes:
    lines = table.split(b"\n")[:-1]
    at = chance.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]]) + b"\n"


_DAMAGES: dict[str, Callable[[random.Random, bytes, int, bytes], bytes]] = {
    "cut": lambda _chance, table, at, _other: table[:at],
    "flip": _flip,
    "pad": lambda chance, table, at, _other: table[:at] + chance.randbytes(chance.randrange(1, 9)) + table[at:],
    "drop": lambda chance, table, at, _other: table[:at] + table[at + chance.randrange(1, 40) :],
    "exchange": _exchange,
    "double": _double,
    "tail": lambda _chance, table, at, other: table[:at] + other[at:],
    "other": lambda _chance, _table, _at, other: other,
}


def apply(data: bytes, skeleton: bytes, places: tuple[tuple[str, int], ...]) -> bytes | Refusal | None:
    """What a crawler does with a table that arrived: the document, or why there is none; None for another document's table."""
    tvi: Tvi | Refusal = read_tvi(data)
    if isinstance(tvi, Refusal):
        return tvi
    if not is_of_document("http://site.example/page.TVI", tvi.document, "http://site.example/page.html"):
        return None
    return refreshed(skeleton, tvi, places)


def survive_damage(chance: random.Random) -> tuple[str, str]:
    """The kind of one damage, and the word for how it was refused; an empty word where it was not."""
    made, other = _with_regions(chance), _with_regions(chance)
    parted = part(made.document, is_xml=made.is_xml)
    stored = sha256(parted.skeleton).digest(), merge(parted.skeleton, parted.regions)
    # Other regions in the same skeleton, another document, and a table for a document of another name.
    newer = merge(parted.skeleton, [region._replace(content=region.content + b"!") for region in parted.regions])
    table = tvi_of(newer, "page.html", is_xml=made.is_xml)
    foreign = tvi_of(other.document, "page.html", is_xml=other.is_xml)
    astray = tvi_of(newer, "pages.html", is_xml=made.is_xml)
    if not isinstance(table, bytes) or not isinstance(foreign, bytes) or not isinstance(astray, bytes):
        return "written", ""
    if apply(table, parted.skeleton, parted.places) != newer:
        return "undamaged", ""
    kind, damaged = damage(chance, table, [foreign, astray])
    answer = apply(damaged, parted.skeleton, parted.places)
    untouched = (
        stored == (sha256(parted.skeleton).digest(), merge(parted.skeleton, parted.regions)) and stored[1] == made.document
    )
    if not untouched or isinstance(answer, bytes):
        return kind, ""
    return kind, "another document's" if answer is None else answer.reason.word


def _with_regions(chance: random.Random) -> Made:
    while not (made := random_document(chance)).spans:
        pass
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--damages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)
    documents = [random_document(chance) for _ in range(chosen.documents)]
    wrong = Counter(filter(None, map(survive_round_trip, documents)))
    regions = sum(len(made.spans) for made in documents)
    right = len(documents) - wrong.total()
    print(f"{right:,} of {len(documents):,} documents ({regions:,} regions) byte-identical {dict(wrong) or ''}")
    outcomes = Counter(survive_damage(chance) for _ in range(chosen.damages))
    refused = Counter({outcome: number for outcome, number in outcomes.items() if outcome[1]})
    print(f"{refused.total():,} of {chosen.damages:,} damaged tables refused, the stored document untouched")
    for kind in sorted({kind for kind, _ in outcomes}):
        words = Counter({word or "NOT REFUSED": number for (name, word), number in outcomes.items() if name == kind})
        print(f"  {kind}: " + ", ".join(f"{word} {number:,}" for word, number in words.most_common()))
    sys.exit(bool(wrong) or refused.total() != chosen.damages)


if __name__ == "__main__":
    main()
