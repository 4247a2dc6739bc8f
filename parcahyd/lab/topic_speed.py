"""How fast pages are classified, and how often their language is right.

Tested in tests/lab/test_topic.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.topics.model import OTHER_LANGUAGE, UNCLASSIFIABLE, TopicModel
from parcahyd.topics.training import LabelledPage
from parcahyd.topics.words import MOST_WORDS, html_words

__all__ = ["folder_digest", "html_of_words", "language_table", "read_pages", "speed_table"]

_SMALLEST, _LARGEST = 5_000, 50_000
_MOST_PAGES = 1_000
_ROUNDS = 5
_EVERYTHING = 10**6
_PAPER_PAGES, _PAPER_BYTES = 19.50, 7738


def read_pages(folder: Path, most: int = _MOST_PAGES) -> list[bytes]:
    """HTML files of 5 to 50 kB below a folder, chosen by a checksum of their paths. UserError: there are none."""
    found = [path for path in folder.rglob("*.htm*") if path.is_file() and _SMALLEST <= path.stat().st_size <= _LARGEST]
    found.sort(key=lambda path: (crc32(path.relative_to(folder).as_posix().encode()), path))
    if not found:
        raise UserError(f"{folder} has no HTML files of 5 to 50 kB", "name a folder of pages with --pages")
    return [path.read_bytes() for path in found[:most]]


def folder_digest(folder: Path) -> DataFile:
    """The HTML files of a folder as one, for the line below a table."""
    digest = sha256()
    for path in sorted(folder.rglob("*.htm*")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return DataFile(folder.resolve(), digest.hexdigest())


def html_of_words(pages: Iterable[LabelledPage], most: int = _MOST_PAGES) -> list[bytes]:
    """Pages of 5 to 50 kB made of word counts: about as much markup as text."""
    found = []
    for page in pages:
        words = sorted(
            (crc32(b"%d %b" % (number, word)), word) for word, count in page.words.items() for number in range(count)
        )
        parts = [
            b'<p class="text %d"><a href="/page/%d.html">%b</a> ' % (at, at, word)
            for at, (_, word) in enumerate(words)
            if at % 8 == 0
        ]
        body = b"".join(part + b" ".join(word for _, word in words[8 * at : 8 * at + 8]) for at, part in enumerate(parts))
        html = b"<!DOCTYPE html><html><head><title>.</title><style>p { margin: 0 }</style></head><body>%b</body></html>" % body
        if _SMALLEST <= len(html) <= _LARGEST:
            found.append(html)
            if len(found) == most:
                break
    return found


def speed_table(model: TopicModel, pages: Sequence[bytes], files: tuple[DataFile, ...], command: str) -> LabTable:
    """Each way in CPU time, the best and the worst of several rounds."""
    size = sum(map(len, pages))
    rows = [
        _speed(
            "all words of the page", lambda page: model.topic_of(html_words(page, "", _EVERYTHING), "/a/b.html"), pages, size
        ),
        _speed(
            f"the first {MOST_WORDS} words, as a crawl does",
            lambda page: model.topic_of(html_words(page), "/a/b.html"),
            pages,
            size,
        ),
        LabRow("goal", "goal", ("30", "", ""), {"MB a second": 30.0}),
        LabRow("quick prototypes, without language", "rival", ("31 to 47", "", ""), {"MB a second": 47.0}),
    ]
    paper = _PAPER_PAGES * _PAPER_BYTES / 1e6
    rows.append(LabRow("Naive Bayes", "paper", (f"{paper:.2f}", f"{1e6 / _PAPER_PAGES:,.0f}", ""), {"MB a second": paper}))
    notes = (
        (
            f"{len(pages):,} pages of {size / max(len(pages), 1) / 1000:.1f} kB on average. From its bytes to "
            "its topic, language included, on one core. The best round counts, since others used the machine; then the range."
        ),
    )
    return LabTable(
        "speed", "Speed", ("MB of HTML a CPU second", "µs a page", "range"), tuple(rows), command, None, _ROUNDS, files, notes
    )


def _speed(name: str, classify: Callable[[bytes], str], pages: Sequence[bytes], size: int) -> LabRow:
    for page in pages:
        classify(page)
    rates = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        for page in pages:
            classify(page)
        rates.append(size / 1e6 / (time.process_time() - begin))
    over = spread(rates)
    micros = size / over.high / len(pages)
    cells = (f"{over.high:.0f}", f"{micros:.0f}", f"{over.low:.0f} to {over.high:.0f}")
    return LabRow(name, "ours", cells, {"MB a second": over.high, "µs a page": micros})


def language_table(model: TopicModel, folder: Path, command: str) -> LabTable:
    """Of a folder with one folder of HTML pages for each language, named by its tag. UserError: there are none."""
    own = model.head.language
    kept: dict[bool, list[bool]] = {True: [], False: []}
    for language in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        is_own = language.name.partition("-")[0].lower() == own
        for path in sorted(language.rglob("*.htm*")):
            said = model.topic_of(html_words(path.read_bytes()))
            if said != UNCLASSIFIABLE:
                kept[is_own].append((said != OTHER_LANGUAGE) == is_own)
    if not kept[True] or not kept[False]:
        raise UserError(
            f"{folder} needs pages in {own} and in other languages", f"name its folders by language tags, such as {own}"
        )
    shares = {is_own: sum(right) / len(right) for is_own, right in kept.items()}
    paper = {True: 0.961, False: 0.902}
    rows = [
        LabRow(name, "ours", (f"{shares[is_own]:.3f}", f"{len(kept[is_own]):,}"), {"right": shares[is_own]})
        for name, is_own in ((f"pages in {own}", True), ("pages in other languages", False))
    ]
    rows += [
        LabRow(name, "paper", (f"{paper[is_own]:.3f}", ""), {"right": paper[is_own]})
        for name, is_own in (("English", True), ("not English", False))
    ]
    return LabTable(
        "language",
        "Language",
        ("right", "pages"),
        tuple(rows),
        command,
        None,
        1,
        (folder_digest(folder),),
        ("By the folder that a page is in.",),
    )
