"""The title and the language of an HTML document, read from its first bytes in a few microseconds, without a tree.

The title is the first `title` that does not stand in a comment, a script or a drawing (`svg`). The language is that
of the `html` tag, else of `<meta http-equiv=content-language>` before the title. For more, `parcahyd.formats` builds
the tree. Only the first 16 KiB are read, and no input raises.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

from turbohtml import DocumentFragment, Namespace

from parcahyd.core.documents import MAX_LANGUAGE, MAX_TITLE
from parcahyd.rules.html.encodings import codec_of, decode
from parcahyd.rules.html.links import parse_document

__all__ = [
    "ENOUGH",
    "document_title",
    "language_tag",
    "one_line",
    "resolved",
    "title_and_language",
]

_LOOKED_AT = 16 * 1024
ENOUGH = 2 * _LOOKED_AT
"""No byte beyond these changes what `title_and_language` says: in UTF-16, 16 KiB of text take so many."""
_LONGEST_TITLE = 4 * MAX_TITLE  # in bytes, before references are resolved and spaces collapse
_LONGEST_START = 4096
_LONGEST_TAG = 1024
_WIDE = frozenset(("utf-16-le", "utf-16-be"))
_UTF_16_MARKS = frozenset((b"\xfe\xff", b"\xff\xfe"))

_WHITE_SPACE = re.compile(r"[\t\n\f\r ]+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TRIES = 8
_NAME_ENDS = b"\t\n\f\r />"

_LANG = re.compile(rb"[\s\"'](?:xml:)?lang\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\s\"'>]++))", re.IGNORECASE)
_META_LANGUAGE = re.compile(rb"(?i)<meta\s++http-equiv=[\"']?content-language[\"']?\s++content=[\"']?([^\"'>,;]*+)")
_TAG = re.compile(r"[a-z]{1,8}+(?:-[a-z0-9]{1,8}+)*+").fullmatch


def title_and_language(body: bytes, charset: str) -> tuple[str, str]:
    """The title (one line, at most MAX_TITLE characters) and the language tag in lower case; each empty where there is none.

    `charset` is what is known of the encoding: best what reading the links has found out, else the header's; or empty.
    """
    codec = codec_of(charset)
    if codec in _WIDE or body[:2] in _UTF_16_MARKS:
        body, codec = decode(body[:ENOUGH], charset).encode("utf-8", "replace"), "utf-8"
    at = _title_at(body)
    if at < 0:
        return _in_capitals(body[:_LOOKED_AT], codec, charset)
    title = body[at + 6 : at + 6 + _LONGEST_TITLE]
    end = title.find(b"</title")
    if end < 0:
        end = title.lower().find(b"</title")
    return _text(title if end < 0 else title[:end], codec, charset), _language(body, at)


def _in_capitals(start: bytes, codec: str, charset: str) -> tuple[str, str]:
    """The same where no title is in lower case: there is none, or it is written in capitals."""
    small = start.lower()
    at = _title_at(small)
    if at < 0:
        return "", _language(small, _LONGEST_START)
    end = small.find(b"</title", at)
    return _text(start[at + 6 : end if end >= 0 else None][:_LONGEST_TITLE], codec, charset), _language(small, at)


def _text(title: bytes, codec: str, charset: str) -> str:
    """What stands behind the tag's `>`."""
    raw = title[title.find(b">") + 1 :]
    text = raw.decode(codec, "replace") if codec else decode(raw)
    if (not codec and charset) or "\ufffd" in text:
        return one_line(_as_in_browsers(raw, charset, text), MAX_TITLE)
    return one_line(resolved(text) if "&" in text else text, MAX_TITLE)


def _as_in_browsers(raw: bytes, charset: str, otherwise: str) -> str:
    """The text by the decoders of the Encoding Standard, which read bytes that Python's do not: what is declared wrong."""
    return document_title(b"<title>" + raw, charset) if charset else otherwise


def _title_at(start: bytes) -> int:
    """Where the document's title tag begins, or -1."""
    at = -1
    for _ in range(_TRIES):
        at = start.find(b"<title", at + 1, _LOOKED_AT)
        if at < 0 or (start[at + 6 : at + 7] in _NAME_ENDS and not _is_inside(start, at)):
            return at
    return -1


def _is_inside(start: bytes, at: int) -> bool:
    """Whether a comment, a script or a drawing is open there. Titles in styles are not made."""
    return (
        ((opened := start.rfind(b"<!--", 0, at)) >= 0 and start.find(b"-->", opened, at) < 0)
        or ((opened := start.rfind(b"<script", 0, at)) >= 0 and start.find(b"</script", opened, at) < 0)
        or ((opened := start.rfind(b"<svg", 0, at)) >= 0 and start.find(b"</svg", opened, at) < 0)
    )


def resolved(text: str) -> str:
    """The text with its character references resolved as `html.unescape` does it; those that recur are remembered."""
    first, *rest = text.split("&")
    parts = [first]
    for part in rest:
        name, end, after = part.partition(";")
        parts += (_reference(f"&{name};"), after) if end and len(name) < 32 else (unescape(f"&{part}"),)
    return "".join(parts)


_reference = lru_cache(maxsize=1024)(unescape)


def one_line(text: str, length: int) -> str:
    """The text without control characters, its runs of white space made one space, cut to a length.

    Spaces of other scripts, joiners and characters for private use stay, as in a browser's `document.title`.
    """
    line = " ".join(text.split())
    if line != text and not text.isascii():  # Python knows more blanks than browsers do.
        line = _WHITE_SPACE.sub(" ", text).strip(" ")
    if not line.isprintable():
        line = _WHITE_SPACE.sub(" ", _CONTROLS.sub(" ", line)).strip(" ")
    return line if len(line) <= length else line[:length].rstrip(" ")


def _language(start: bytes, until: int) -> str:
    at = start.find(b"<html", 0, until)
    if at < 0:
        at = start.find(b"<HTML", 0, until)
    end = start.find(b">", at, at + _LONGEST_TAG) if at >= 0 else -1
    language = _html_language(start[at:end]) if end >= 0 else ""
    if not language and start.find(b"anguage", 0, until) >= 0:
        found = _META_LANGUAGE.search(start, 0, until)
        language = language_tag(found[1].decode("latin-1")) if found is not None else ""
    return language


@lru_cache(maxsize=256)  # a site's pages mostly begin alike
def _html_language(tag: bytes) -> str:
    found = _LANG.search(tag)
    return "" if found is None else language_tag((found[1] or found[2] or found[3] or b"").decode("latin-1"))


def language_tag(text: str) -> str:
    """The text as a language tag (RFC 5646, section 2.1) in lower case; empty where it is none."""
    tag = text.strip().lower().replace("_", "-")
    return tag if len(tag) <= MAX_LANGUAGE and _TAG(tag) else ""


# --- A document's title as a browser's `document.title`: the text of the first `title` element, without superfluous white
# space. It reads the whole document: `title_and_language` uses it for the few titles that it cannot read itself.


_BLANKS = re.compile(r"[\t\n\f\r ]++")


def document_title(body: bytes, header_charset: str) -> str:
    """The title of an HTML document, or empty."""
    for title in parse_document(body, header_charset).iter_elements(("title",)):
        # The titles of drawings are theirs, and what stands in a template is not in the document.
        if title.namespace is Namespace.HTML and not any(isinstance(above, DocumentFragment) for above in title.ancestors):
            return _BLANKS.sub(" ", title.text).strip(" ")
    return ""
