"""What kind of document an answer is: by its Content-Type where that says something, else by its content.

It follows the WHATWG's MIME sniffing standard, reduced to what a crawler needs. A declared type is believed, with these
exceptions, all of which are about content that cannot be what was declared:

- one that servers send when they know nothing is no declaration;
- text (HTML, XML, scripts and so on) that begins with the signature of a binary format is of that format: a PDF that was sent
  as `text/html`;
- a binary format that begins as HTML does is HTML: the error page in place of a PDF. One that begins as another binary format
  does is of that one;
- a container (ZIP, OLE2) is the office document, book or program that it holds, and XML is what its root element says.

`text/plain` is never raised to HTML or XML: a document that is to be shown as text has no links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from parcahyd.rules.media_types.containers import OLE, ZIP, ole_kind, zip_kind

__all__ = [
    "OLE",
    "ZIP",
    "AcceptedTypes",
    "is_html",
    "recognise",
]

_OCTETS = "application/octet-stream"
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_SAYS_NOTHING = frozenset(("", _OCTETS, "binary/octet-stream", "application/unknown", "unknown/unknown", "*/*"))

_LONGEST_HEADER = 1024
_FIRST_BYTES = 1445  # the "resource header" of the MIME sniffing standard, section 5.2
_FIRST_BYTES_OF_XML = 4096

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # RFC 9110, section 5.6.2
_MEMBER = re.compile(r"(?:[^,\"]|\"(?:[^\"\\]|\\.)*+(?:\"|$))++")
_ESSENCE = re.compile(rf"[\t ]*({_WORD}/{_WORD})[\t ]*(?:;|$)")
_PARAMETER = re.compile(r";[\t ]*+([^;=]*+)(?:=[\t ]*+(?:\"((?:[^\"\\]|\\.)*+)[^;]*+|([^;]*+)))?+")

_BLANK = rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*+"
_COMMENTS = rb"(?:<!--.*?-->[\t\n\f\r ]*+)*+"


_IS_HTML = re.compile(
    _BLANK + _COMMENTS + rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta"
    rb"|link|base|frameset|noscript)[\t\n\f\r />]",
    re.IGNORECASE | re.DOTALL,
)


_IS_XML = re.compile(_BLANK + rb"<\?xml[\t\n\f\r ]", re.IGNORECASE)


_IS_COMMENT = re.compile(_BLANK + rb"<!--")


# Behind what may stand before it: the XML declaration and other instructions, comments, the document type.


_ROOT = re.compile(
    _BLANK + rb"(?:<(?:!--.*?--|\?[^>]*+|!DOCTYPE[^>\[]*+(?:\[[^\]]*+\][^>]*+)?)>[\t\n\f\r ]*+)*+"
    rb"<(?:[A-Za-z_][\w.-]*+:)?+([A-Za-z_][\w.-]*+)([^>]*+)",
    re.DOTALL,
)


_ROOTS = {
    b"rss": ("application/rss+xml", b""),
    b"RDF": ("application/rdf+xml", b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    b"feed": ("application/atom+xml", b"http://www.w3.org/2005/Atom"),
    b"svg": ("image/svg+xml", b"http://www.w3.org/2000/svg"),
    b"html": ("application/xhtml+xml", b""),
}
_GENERIC_XML = frozenset(("text/xml", "application/xml"))

# These are exact bytes, letters included. In the first table, none can begin a text.
_UNMISTAKABLE = (
    (rb"%PDF-", "application/pdf"),
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF.{4}WEBPVP", "image/webp"),
    (rb"RIFF.{4}WAVE", "audio/wave"),
    (rb"RIFF.{4}AVI\x20", "video/avi"),
    (rb"II\*\0|MM\0\*", "image/tiff"),
    (rb"PK(?:\x03\x04|\x05\x06)", ZIP),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    (rb"\x1f\x8b\x08", "application/gzip"),
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "application/x-bzip2"),
    (rb"\xfd7zXZ\0", "application/x-xz"),
    (rb"\x28\xb5\x2f\xfd", "application/zstd"),
    (rb"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (rb"Rar!\x1a\x07", "application/vnd.rar"),
    (rb"AT&TFORM.{4}DJV[UM]", "image/vnd.djvu"),
    (rb"OggS\0", "application/ogg"),
    (rb".{4}ftyp(?:mp4|isom|iso[2-9]|avc1|M4[AV]|qt)", "video/mp4"),
    (rb"\x1aE\xdf\xa3", "video/webm"),
    (rb"fLaC\0", "audio/flac"),
    (rb"ID3[\x02-\x04]", "audio/mpeg"),
    (rb"wOFF\0|wOFF\1", "font/woff"),
    (rb"wOF2\0|wOF2\1", "font/woff2"),
    (rb".{257}ustar(?:\0|\x20\x20\0)", "application/x-tar"),
)
_READABLE = (
    (rb"\{\\rtf", "application/rtf"),
    (rb"%!PS-Adobe-|\xc5\xd0\xd3\xc6", "application/postscript"),
)


def _table(rows: tuple[tuple[bytes, str], ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(b"(" + pattern + b")" for pattern, _ in rows), re.DOTALL)


_BINARY_SIGNATURE = _table(_UNMISTAKABLE)


_SIGNATURE = _table(_UNMISTAKABLE + _READABLE)


_SIGNED = ("", *(media_type for _, media_type in _UNMISTAKABLE + _READABLE))

_UTF_16_MARKS = (b"\xfe\xff", b"\xff\xfe")
# "Binary data bytes", section 3.
_NEVER_IN_TEXT = bytes((*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
# How a declared type is treated.
_BELIEVE, _TEXT, _PLAIN, _XML, _BINARY, _NOTHING = range(6)
# By that: first bytes of documents whose content is not looked at. All; those of most texts and of no signature; none.
_DECIDING_FIRST_BYTES: tuple[bytes | tuple[bytes, ...], ...] = (b"", (b"<", b"\n", b"\r", b"\t", b" ", b"\xef"), (), (), (), ())
_TEXT_TYPES = frozenset(
    ("application/json", "application/javascript", "application/ecmascript", "application/x-javascript", "image/svg+xml")
)
_BINARY_TYPES = frozenset(_SIGNED) | {
    "application/java-archive",
    "application/msword",
    "application/octet-stream",
    "application/x-gzip",
    "application/x-pdf",
    "application/x-zip-compressed",
    "application/epub+zip",
}
_BINARY_FAMILIES = ("image/", "audio/", "video/", "font/", "application/vnd.ms-", "application/vnd.o")
_MANY_NAMED = ("audio/", "video/", "application/ogg", "image/tiff", "image/x-")  # and all of the names are right
_ANYTHING_WITHIN = frozenset((ZIP, OLE, "application/gzip"))


def recognise(content_type: str, body: bytes) -> tuple[str, str]:
    """The media type (lower case, without parameters) and the charset that the header names (lower case, or empty)."""
    declared, above_suspicion, trust = _declared(content_type[:_LONGEST_HEADER])
    if body.startswith(above_suspicion):
        return declared
    media_type, charset = declared
    return _corrected(media_type, charset, trust, body), charset


def is_html(media_type: str) -> bool:
    """Whether documents of this type are read for links."""
    return media_type in _HTML


# --- what is declared ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)  # a site's pages mostly share one header
def _declared(header: str) -> tuple[tuple[str, str], bytes | tuple[bytes, ...], int]:
    """The last usable type of the header; a charset holds on while the type stays the same (Fetch, "extract a MIME type").

    With it, how a document of that type begins that needs no second look, and how far the type is to be believed.
    """
    media_type = charset = ""
    for member in _MEMBER.findall(header):
        named = _charset(member)
        essence = _ESSENCE.match(member)
        if essence is not None and essence[1].lower() != media_type:
            media_type, charset = essence[1].lower(), named
        else:
            charset = named or charset
    trust = _trust(media_type)
    return (media_type, charset), _DECIDING_FIRST_BYTES[trust], trust


def _charset(member: str) -> str:
    for name, quoted, plain in _PARAMETER.findall(member):
        if name.rstrip("\t ").lower() == "charset" and (value := (quoted or plain).strip("\t \"'").lower()):
            return str(value)
    return ""


def _trust(media_type: str) -> int:
    if media_type in _SAYS_NOTHING:
        return _NOTHING
    if media_type == "text/plain":
        return _PLAIN
    if media_type in _GENERIC_XML:
        return _XML
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+xml", "+json")):
        return _TEXT
    return _BINARY if media_type in _BINARY_TYPES or media_type.startswith(_BINARY_FAMILIES) else _BELIEVE


# --- what the content says ----------------------------------------------------------------------------------------------


def _corrected(media_type: str, charset: str, trust: int, body: bytes) -> str:
    if trust == _NOTHING:
        return _recognised(body)
    if trust == _BINARY:
        return _corrected_binary(media_type, body)
    signed = _signed(body, _BINARY_SIGNATURE)
    if signed:
        return signed
    if trust == _XML:
        return _xml_kind(body) or media_type
    return _OCTETS if trust == _PLAIN and not charset.startswith("utf-16") and _is_binary(body) else media_type


def _corrected_binary(media_type: str, body: bytes) -> str:
    if _IS_HTML.match(body[:_FIRST_BYTES]):
        return "text/html"
    signed = _signed(body, _SIGNATURE)
    if not signed or (media_type.startswith(_MANY_NAMED) and signed.startswith(_MANY_NAMED)):
        return media_type
    if signed in _ANYTHING_WITHIN and media_type not in _SIGNED and media_type.startswith("application/"):
        return media_type
    return signed


def _recognised(body: bytes) -> str:
    first = body[:_FIRST_BYTES]
    if _IS_HTML.match(first):
        return "text/html"
    if _IS_XML.match(first):
        return _xml_kind(body) or "text/xml"
    if _IS_COMMENT.match(first):
        return "text/html"
    return _signed(body, _SIGNATURE) or _xml_kind(body) or (_OCTETS if _is_binary(first) else "text/plain")


def _signed(body: bytes, table: re.Pattern[bytes]) -> str:
    """The type whose signature the bytes begin with, or nothing."""
    found = table.match(body[:512])
    media_type = _SIGNED[found.lastindex or 0] if found is not None else ""
    if media_type not in (ZIP, OLE):
        return media_type
    return zip_kind(body) if media_type == ZIP else ole_kind(body)


def _xml_kind(body: bytes) -> str:
    """The type that the root element stands for, or nothing."""
    root = _ROOT.match(body[:_FIRST_BYTES_OF_XML])
    if root is None or root[1] not in _ROOTS:
        return ""
    media_type, namespace = _ROOTS[root[1]]
    return media_type if namespace in root[2] else ""


def _is_binary(body: bytes) -> bool:
    first = body[:_FIRST_BYTES]
    return not first.startswith(_UTF_16_MARKS) and len(first.translate(None, _NEVER_IN_TEXT)) != len(first)


# --- MediaTypes: the types of documents that are kept -------------------------------------------------------------------


class AcceptedTypes:
    """Decides whether documents of a media type are kept: `text/html`, `image/*`, or `*` and `*/*` for all.

    Letter case makes no difference, nor do parameters behind `;`. With nothing wanted in particular everything is.
    """

    __slots__ = ("_families", "_types", "_wants_all")

    def __init__(self, wanted: Sequence[str]) -> None:
        types = [_bare(one) for one in wanted]
        self._wants_all = not types or "*" in types or "*/*" in types
        self._types = frozenset(types)
        self._families = tuple(one[:-1] for one in types if one.endswith("/*"))

    def admits(self, media_type: str) -> bool:
        """Whether a document of this type is kept; one of unknown type only where all types are kept."""
        if self._wants_all:
            return True
        bare = _bare(media_type)
        return bare in self._types or bare.startswith(self._families)


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
