"""What letters between partitions say, as bytes: URLs, robots.txt questions and answers, and seeds of the user.

However many links a page has, no letter is long: URLs are divided among as many letters as they need. A letter with a
robots.txt is as long as that file, of which 500 KiB are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from parcahyd.cluster.mail import ReceivedLetter
from parcahyd.cluster.seeds import SEED
from parcahyd.core.records import RobotsFact
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.storage.other_partitions import FoundUrl
from parcahyd.storage.store import TakenMail

__all__ = [
    "LEFT_DOCUMENTS",
    "ROBOTS_ANSWER",
    "ROBOTS_QUESTION",
    "URLS",
    "answer",
    "document_bodies",
    "halves",
    "question",
    "read_letters",
    "url_bodies",
]

URLS, ROBOTS_QUESTION, ROBOTS_ANSWER = "urls", "robots-question", "robots-answer"
LEFT_DOCUMENTS = "left-documents"

_LETTER_BYTES = 32 * 1024
"""About so many bytes of URLs are in one letter, at most; one URL may have more."""
_DOCUMENTS = 2000
_BESIDE_A_URL = 32
"""Bytes of what is said of a URL, about."""

_encode = msgspec.msgpack.Encoder().encode
_decode_urls = msgspec.msgpack.Decoder(list[FoundUrl]).decode
_decode_question = msgspec.msgpack.Decoder(tuple[int, str, int]).decode
_decode_documents = msgspec.msgpack.Decoder(list[int]).decode
_decode_answer = msgspec.msgpack.Decoder(tuple[int, RobotsFact]).decode


def url_bodies(urls: Iterable[FoundUrl]) -> Iterator[bytes]:
    """The bodies of the letters that bring these URLs."""
    part: list[FoundUrl] = []
    size = 0
    for url in urls:
        more = len(url[0]) + _BESIDE_A_URL
        if part and size + more > _LETTER_BYTES:
            yield _encode(part)
            part, size = [], 0
        part.append(url)
        size += more
    if part:
        yield _encode(part)


def document_bodies(documents: Sequence[int]) -> Iterator[bytes]:
    """The bodies of letters that name documents which a site has left behind."""
    for first in range(0, len(documents), _DOCUMENTS):
        yield _encode(documents[first : first + _DOCUMENTS])


def question(asker: int, url: str, hops: int) -> bytes:
    """A site awaits this robots.txt, to which so many redirects led."""
    return _encode((asker, url, hops))


def answer(asker: int, fact: RobotsFact) -> bytes:
    """The robots.txt that a site awaits."""
    return _encode((asker, fact))


def read_letters(letters: Iterable[ReceivedLetter]) -> tuple[TakenMail, int]:
    """What letters say, and how many of them cannot be read: another version of the program may have written them."""
    mail = TakenMail()
    unreadable = 0
    for letter in letters:
        try:
            _read(letter, mail)
        except (msgspec.MsgspecError, ValueError):
            unreadable += 1
    return mail, unreadable


def _read(letter: ReceivedLetter, mail: TakenMail) -> None:
    kind = letter.kind
    if kind == URLS:
        mail.urls += _decode_urls(letter.body)
    elif kind == ROBOTS_QUESTION:
        mail.robots_questions.append(_decode_question(letter.body))
    elif kind == ROBOTS_ANSWER:
        mail.robots_answers.append(_decode_answer(letter.body))
    elif kind == LEFT_DOCUMENTS:
        mail.left_documents += _decode_documents(letter.body)
    elif kind == SEED and (url := canonical(letter.body.decode())) is not None:
        mail.seeds.append(url)
    else:
        raise ValueError("it says nothing that is known here")


def halves(letter: ReceivedLetter) -> Sequence[bytes]:
    """The bodies of two letters that say together what this one says; none where it says one thing."""
    if letter.kind != URLS:
        return ()
    urls = _decode_urls(letter.body)
    middle = len(urls) // 2
    return (_encode(urls[:middle]), _encode(urls[middle:])) if middle else ()
