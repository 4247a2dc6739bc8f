"""The tokens of a document that can begin or end a volatile region; everything else is skipped.

What lies between two such tokens is skipped by one match of a regular expression with possessive quantifiers, so the time is
linear in the bytes. A construct that does not end (a tag, a comment, raw text) extends to the end of the document, as in a
browser.

Tested in tests/augment/test_markers.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from parcahyd.augment.tvi import REGION_ID

__all__ = ["Token", "TokenReader"]

_SPACE = rb"\t\n\f\r "
_NAME_ENDS = rb"(?=[%b/>])" % _SPACE
_NAME = rb"[A-Za-z][^%b/>]*+" % _SPACE
# HTML, section "Before attribute name state" and those after it: a quote is special only after an equals sign.
_VALUE = rb"""[%b]*+=[%b]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^%b>]*+)""" % (_SPACE, _SPACE, _SPACE)
_ATTRIBUTE = rb"[^%b/>][^%b/>=]*+(?:%b|(?![%b]*+=))" % (_SPACE, _SPACE, _VALUE, _SPACE)
_ATTRIBUTES = rb"(?:[%b/]++|%b)*+" % (_SPACE, _ATTRIBUTE)
_TAG = re.compile(rb"<(/?)(%b)(%b)>" % (_NAME, _ATTRIBUTES))
_ATTRIBUTE_PARTS = re.compile(
    rb"""([^%b/>][^%b/>=]*+)(?:[%b]*+=[%b]*+(?:"([^"]*+)"|'([^']*+)'|(?!["'])([^%b>]*+)))?+""" % ((_SPACE,) * 5)
)
_SELF_CLOSED = re.compile(rb"(?:[%b/]*+%b)*+[%b]*+/[%b/]*+" % (_SPACE, _ATTRIBUTE, _SPACE, _SPACE))

_VOL_COMMENT = re.compile(rb"<!--(/?)vol (%b)-->" % REGION_ID.encode())
_COMMENT_HTML = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+--!?>)"
_COMMENT_XML = rb"<!--[^-]*+(?:-(?!->)[^-]*+)*+-->"
_CDATA = rb"<!\[CDATA\[[^\]]*+(?:\](?!\]>)[^\]]*+)*+\]\]>"
_NO_TAG = rb"[^<]++|<(?![A-Za-z/!?])"

_RAW_TEXT = frozenset(b"script style title textarea xmp iframe noembed noframes plaintext".split())
_RAW_NAMES = rb"(?i:%b)" % b"|".join(sorted(_RAW_TEXT))
_SCRIPT_TURNS = re.compile(rb"<!--(?!-*+>)|-->|<(/?)(?i:script)%b" % _NAME_ENDS)

# A tag that cannot mark: none of its attributes is `data-vol`, and a `span` has no class `volatile`.
_NOT_DATA_VOL = rb"(?:[%b/]++|(?!(?i:data-vol)[%b/>=])%b)*+" % (_SPACE, _SPACE, _ATTRIBUTE)
_VOLATILE = rb"""(?i:class)[%b]*+=[%b]*+(?:"[^"]*?volatile|'[^']*?volatile|(?!["'])[^%b>]*?volatile)""" % ((_SPACE,) * 3)
_NOT_VOLATILE = rb"(?:[%b/]++|(?!(?i:data-vol)[%b/>=]|%b)%b)*+" % (_SPACE, _SPACE, _VOLATILE, _ATTRIBUTE)
# Most tags match a simpler pattern: a name that opens no raw text, and well-formed attributes, none of them `data-vol`.
_ORDINARY_NAME = (
    rb"(?:[abcdefghjklmoqruvwyz][a-z0-9]*+|i(?:mg|nput)?+|p(?:re)?+|nav|s(?:mall|trong|ection|u[bp])"
    rb"|t(?:able|[drt]|body|h(?:ead)?+))"
)
_NO_VALUE = rb"""[^>"'=<-]*+(?:-(?!(?i:vol))[^>"'=<-]*+)*+"""
_ORDINARY_ATTRIBUTES = rb"""(?:%b(?<=[A-Za-z0-9-])=(?:"[^"]*+"|'[^']*+'|[^%b"'>=<]++(?=[%b>])))*+%b""" % (
    _NO_VALUE,
    _SPACE,
    _SPACE,
    _NO_VALUE,
)
_QUICK = (
    rb"""[^<]*+<(?:/%%b[A-Za-z][^>"'=<]*+>|%%b%b(?:>|[%b]%b>)"""
    rb"""|%%bspan(?:[ ](?:class|id|style)="[^"v]*+(?:v(?!olatile)[^"v]*+)*+")*+>)"""
) % (_ORDINARY_NAME, _SPACE, _ORDINARY_ATTRIBUTES)
_HTML_PASSED = (
    _NO_TAG,
    rb"<!--(?!/?vol )" + _COMMENT_HTML[4:],
    _CDATA,
    rb"<!(?!--|\[CDATA\[)[^>]*+>|<\?[^>]*+>|</(?![A-Za-z])[^>]*+>",
)
_DOCTYPE_PART = rb"""[^>"'\[\]<]++|"[^"]*+"|'[^']*+'"""
_XML_PASSED = (
    _NO_TAG,
    rb"<!--(?!/?vol )" + _COMMENT_XML[4:],
    _CDATA,
    rb"<\?[^?]*+(?:\?(?!>)[^?]*+)*+\?>",
    # Declarations of the internal subset may hold markup in quotes.
    rb"<!DOCTYPE(?:%b)*+(?:\[(?:%b|%b|<\?[^?]*+(?:\?(?!>)[^?]*+)*+\?>|<!(?!--)(?:%b)*+>)*+\][^>]*+)?+>"
    % (_DOCTYPE_PART, rb"""[^"'\]<]++|"[^"]*+"|'[^']*+'""", _COMMENT_XML, _DOCTYPE_PART),
    rb"</?+(?!Vol[0-9]++%b)%b%b>" % (_NAME_ENDS, _NAME, _ATTRIBUTES),
)
_COMMENTS = {False: re.compile(_COMMENT_HTML), True: re.compile(_COMMENT_XML)}
_SKIP_IN_XML = re.compile(rb"(?:%b)*+" % b"|".join(_XML_PASSED))
_SKIP_NO_TAGS = re.compile(rb"(?:%b)*+" % b"|".join(_HTML_PASSED))
_IS_VOL_NAME = re.compile(rb"Vol[0-9]++")
_LONGEST_ID = 64

_USUAL = frozenset(b"a article aside b dd div em h1 h2 h3 li ol p section small span strong table tbody td time tr ul".split())
"""Names of marked elements for which a pattern is cached; for others every tag is read."""


class Token(NamedTuple):
    """A tag, or a comment that is a marker."""

    start: int
    end: int
    name: bytes = b""
    """A tag's name, in HTML in lower case."""
    is_end: bool = False
    is_comment: bool = False
    is_self_closed: bool = False
    id: str | None = None
    """The ID of the marked region, as it is written; None for a tag that marks nothing and for a comment without a valid ID."""


class TokenReader:
    """Reads the tokens of a document in order. Tags that mark nothing are returned only where their name is watched."""

    def __init__(self, document: bytes, is_xml: bool, watched: Collection[bytes]) -> None:
        """`watched` holds lower-case names and may change between tokens; in XML only tags of marking elements are returned."""
        self._watched = watched
        self._document = document
        self._is_xml = is_xml
        self._position = 0

    def next(self) -> Token | None:
        document = self._document
        while True:
            skipped = self._skip().match(document, self._position)
            at = skipped.end() if skipped else self._position
            if at >= len(document):
                return None
            token = self._comment(at) if document.startswith(b"<!--", at) else self._tag(at)
            if token is None:
                return None
            self._position = max(self._position, token.end)
            if token.is_comment or token.name:
                return token

    def _skip(self) -> re.Pattern[bytes]:
        """The pattern that skips to the next token."""
        if self._is_xml:
            return _SKIP_IN_XML
        if not self._watched:
            return _skip_but(b"")
        if len(self._watched) == 1 and (name := next(iter(self._watched))) in _USUAL:
            return _skip_but(name)
        return _SKIP_NO_TAGS

    def _comment(self, at: int) -> Token | None:
        """Reads a comment that begins like a marker."""
        marker = _VOL_COMMENT.match(self._document, at)
        if marker is not None:
            return Token(at, marker.end(), is_end=marker[1] == b"/", is_comment=True, id=marker[2].decode())
        comment = _COMMENTS[self._is_xml].match(self._document, at)
        return None if comment is None else Token(at, comment.end(), is_comment=True)

    def _tag(self, at: int) -> Token | None:
        tag = _TAG.match(self._document, at)
        if tag is None:
            return None
        name = tag[2] if self._is_xml else tag[2].lower()
        if tag[1]:
            return Token(at, tag.end(), name, is_end=True)
        if not self._is_xml and name in _RAW_TEXT:
            self._pass_raw_text(name, tag.end())
        identity = _identity(name, tag[3], self._is_xml)
        return Token(at, tag.end(), name, False, False, _SELF_CLOSED.fullmatch(tag[3]) is not None, identity)

    def _pass_raw_text(self, name: bytes, start: int) -> None:
        if name == b"script":
            self._position = _end_of_script(self._document, start)
        elif name == b"plaintext":
            self._position = len(self._document)
        else:
            end = _end_tag(name).search(self._document, start)
            self._position = end.start() if end else len(self._document)


def _identity(name: bytes, attributes: bytes, is_xml: bool) -> str | None:
    """The ID of the region that a start tag marks, as it is written."""
    if is_xml:
        return name.decode()[: _LONGEST_ID + 1] if _IS_VOL_NAME.fullmatch(name) else None
    if b"-" not in attributes and name != b"span":
        return None
    values: dict[bytes, bytes] = {}
    for key, double, single, bare in _ATTRIBUTE_PARTS.findall(attributes):
        values.setdefault(key.lower(), double or single or bare)
    if b"data-vol" in values:
        return values[b"data-vol"].decode("utf-8", "replace")
    if name == b"span" and b"volatile" in values.get(b"class", b"").split() and b"id" in values:
        return values[b"id"].decode("utf-8", "replace")
    return None


def _end_of_script(document: bytes, start: int) -> int:
    """Where a script's end tag begins (HTML, section "Script data state" and those after it): within `<!--`, the end
    tag of a nested script does not end the script."""
    is_escaped = is_double = False
    for turn in _SCRIPT_TURNS.finditer(document, start):
        if turn[0] == b"<!--":
            is_escaped = True
        elif turn[0] == b"-->":
            is_escaped = is_double = False
        elif turn[1]:
            if not is_double:
                return turn.start()
            is_double = False
        elif is_escaped:
            is_double = True
    return len(document)


@lru_cache(maxsize=len(_RAW_TEXT))
def _end_tag(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</(?i:%b)%b" % (name, _NAME_ENDS))


@lru_cache(maxsize=len(_USUAL) + 1)
def _skip_but(watched: bytes) -> re.Pattern[bytes]:
    """The pattern that skips all HTML but markers, tags of the watched name, and tags that open raw text."""
    unwatched = rb"(?!(?i:%b)%b)" % (watched, _NAME_ENDS) if watched else b""
    watch = rb"(?!/?+(?i:%b)%b)" % (watched, _NAME_ENDS) if watched else b""
    passed = (
        _QUICK % ((unwatched,) * 3),
        *_HTML_PASSED,
        rb"<%b(?!%b%b)(?:/%b%b|(?!(?i:span)%b)%b%b|(?i:span)%b%b)>"
        % (watch, _RAW_NAMES, _NAME_ENDS, _NAME, _ATTRIBUTES, _NAME_ENDS, _NAME, _NOT_DATA_VOL, _NAME_ENDS, _NOT_VOLATILE),
    )
    return re.compile(rb"(?:%b)*+" % b"|".join(passed))
