r"""Pages whose topics are known, in one of three forms; `docs/topics.md` shows how to make each.

| what | how it looks |
|---|---|
| a folder of folders | `TOPIC/page.html`; files that end in `.txt` are text, all others HTML |
| a table | a file `.tsv`, or `sites.tsv` in a folder: `TOPIC TAB URL TAB word:count word:count ...` |
| counts | `pages.tsv` (`URL TAB TOPIC TAB GROUP`), `counts.txt` (`number:count ...`), `vocabulary.txt`, perhaps `links.txt` |

Every file may be compressed with xz. Tested in tests/lab/test_labelled_pages.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile, data_file, fields, lines, link_rows
from parcahyd.rules.html.encodings import decode
from parcahyd.topics.training import LabelledPage
from parcahyd.topics.words import html_words, text_words

__all__ = ["LabelledData", "chosen", "has_links", "read_labelled", "read_links"]

_LARGEST_FILE = 32 * 1024 * 1024
_REMEDY = "docs/topics.md says which forms there are"


class LabelledData(NamedTuple):
    """Pages in their order, and the files that they are from; a folder of folders has none."""

    pages: list[LabelledPage]
    files: tuple[DataFile, ...]


def read_labelled(path: Path) -> LabelledData:
    """All pages of a folder or a table. UserError: there are none."""
    if not path.exists():
        raise UserError(f"{path} is not there", _REMEDY)
    if not path.is_dir():
        name = path.name.removesuffix(".xz")
        found = _table(data_file(path.parent, name))
    elif _has(path, "pages.tsv"):
        found = _counts(path)
    elif _has(path, "sites.tsv"):
        found = _table(data_file(path, "sites.tsv"))
    else:
        found = LabelledData(list(_folders(path)), ())
    if not found.pages:
        raise UserError(f"{path} holds no pages with a topic", _REMEDY)
    return found


def chosen(pages: Iterable[LabelledPage], groups: Collection[str] = (), without: Collection[str] = ()) -> list[LabelledPage]:
    """The pages of these groups, or of all, without some topics. UserError: there are none."""
    pages = list(pages)
    found = [page for page in pages if (not groups or page.group in groups) and page.topic not in without]
    if found:
        return found
    names = ", ".join(sorted({page.group for page in pages if page.group})) or "none"
    raise UserError("no page is left", f"groups are: {names}; topics are: {', '.join(sorted({page.topic for page in pages}))}")


def read_links(path: Path, pages: int) -> tuple[list[tuple[int, ...]], DataFile]:
    """Of each of so many pages of counts: the rows of the pages that it links to."""
    file = data_file(path, "links.txt")
    return list(link_rows(file, pages)), file


def has_links(path: Path) -> bool:
    """Whether the data say which pages link to which."""
    return path.is_dir() and _has(path, "links.txt")


def _has(folder: Path, name: str) -> bool:
    return any((folder / f"{name}{ending}").is_file() for ending in ("", ".xz"))


def _folders(path: Path) -> Iterator[LabelledPage]:
    for folder in sorted(entry for entry in path.iterdir() if entry.is_dir()):
        for file in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
            with file.open("rb") as stream:
                body = stream.read(_LARGEST_FILE)
            words = text_words(decode(body)) if file.suffix == ".txt" else html_words(body)
            yield LabelledPage(folder.name, Counter(words), f"//{folder.name}/{file.relative_to(folder).as_posix()}")


def _table(file: DataFile) -> LabelledData:
    pages = []
    for number, (topic, url, *words) in enumerate(fields(file, 2), 1):
        counts = _pairs(" ".join(words).split(), file, number)
        pages.append(LabelledPage(topic, {word.encode(): count for word, count in counts}, url))
    return LabelledData(pages, (file,))


def _counts(path: Path) -> LabelledData:
    files = tuple(data_file(path, name) for name in ("pages.tsv", "counts.txt", "vocabulary.txt"))
    vocabulary = [word.encode() for word in lines(files[2])]
    pages = []
    rows, counts = list(fields(files[0], 2)), list(lines(files[1]))
    if len(rows) != len(counts):
        raise UserError(f"{files[0].path} has {len(rows)} rows and {files[1].path} has {len(counts)}", _REMEDY)
    for number, ((url, topic, *more), line) in enumerate(zip(rows, counts, strict=True), 1):
        words = {_word(vocabulary, word, files[1], number): count for word, count in _pairs(line.split(), files[1], number)}
        pages.append(LabelledPage(topic, words, url, more[0] if more else ""))
    return LabelledData(pages, files)


def _word(vocabulary: Sequence[bytes], number: str, file: DataFile, row: int) -> bytes:
    if number.isascii() and number.isdigit() and int(number) < len(vocabulary):
        return vocabulary[int(number)]
    raise UserError(f"{file.path}: row {row} has the word number {number}, of {len(vocabulary)}", _REMEDY)


def _pairs(words: Sequence[str], file: DataFile, row: int) -> Iterator[tuple[str, int]]:
    for pair in words:
        word, colon, count = pair.rpartition(":")
        if not colon or not word or not (count.isascii() and count.isdigit()):
            raise UserError(f"{file.path}: row {row} has {pair!r} where word:count should be", _REMEDY)
        yield word, int(count)
