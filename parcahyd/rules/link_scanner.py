r"""A quick way through ordinary HTML: the tags that can carry links, without building a tree.

`scan` reads a document's bytes as the WHATWG's tokenizer does, as long as they stay within a grammar in which the tree builder
can neither drop nor add a link:

- attributes as `name`, `name=value`, `name="value"`, `name='value'`, with nothing odd between them;
- comments, doctypes and end tags that end; raw text (`script`, `style`, `title`, `textarea`, ...) that ends, and scripts
  without `<!--`, which would change how they end;
- no `svg` but plain drawings, none of `template`, `math`, `select`, `frameset`, `frame`, `image`, `plaintext`; no NUL.

Whatever leaves the grammar makes `scan` answer None, and the caller builds the tree: a page that is odd costs time, never a
link. One difference is left: the tree builder moves what stands in a table outside of its cells to before the table, so the
order of links can differ there, never their set. `tests/conformance/test_link_scanner.py` holds the two against each other.

The whole document is one substitution by PCRE2, compiled to machine code: everything but the tags is replaced by nothing, in
one call. Its quantifiers give nothing back and the first oddity ends it, so the time is linear.
"""

from __future__ import annotations

import re

import pcre2

from parcahyd.rules.replacements import taking

__all__ = ["REFERENCE", "declares_utf8", "scan"]

_SPACE = r"\t\n\f\r "
_NAME_ENDS = rf"(?=[{_SPACE}/>])"
# What stands between a tag's name and its `>`. A quote or an equals sign anywhere else is left to the tree builder.
# A quote has a meaning only behind `name=`, and what is not quoted runs up to white space or `>`.
_ATTRIBUTES = rf"""[^>"'=<]*+(?:(?<![{_SPACE}/"'])=(?:"[^"]*+"|'[^']*+'|[^{_SPACE}"'>=<`]++(?=[{_SPACE}>]))[^>"'=<]*+)*+"""
_CARRIERS = "a|area|audio|base|embed|form|img|input|link|meta|object|source|track|video"
_RAW_CARRIERS = "script|iframe"
_RAW = "style|title|textarea|noembed|noframes|xmp"
_ODD = "template|svg|math|select|frameset|frame|image|plaintext"

# A drawing of these shapes, with text at most in its title: nothing in it is a link, and its end tag is its end.
_SHAPES = (
    "circle|clippath|defs|ellipse|g|line|lineargradient|mask|path|polygon|polyline|radialgradient|rect|stop|symbol|text"
    "|tspan|use"
)
# Of an anchor without `rel`, only the reference matters, without its fragment: nine links in ten. In it, these character
# references mean the same to everybody; those of the space and of `#` would change where it ends.
_OTHER = rf'[{_SPACE}]++(?!(?:(?:xlink:)?+href|rel)=)[a-z][a-z0-9_:.-]*+="[^"]*+"'
_MEANT = r"(?-i:&(?:amp|#(?:3[346-9]|[4-9][0-9]|1[01][0-9]|12[0-6]));)"
_FRAGMENT = r'(?:(?<![\x01-\x20])#[^"]*+)?+'
_REFERENCE = rf"""[{_SPACE}]++href=("(?:[^"#&]++|{_MEANT})*+){_FRAGMENT}"(?:{_OTHER})*+"""

# Tags that nobody reads: what begins with these letters, or is one of the frequent names that begin with another. Nearly all
# have attributes of the plainest form, which is checked with the classes that machine code is quickest at: two ranges.
_INITIALS = "cdghjkqruwyz"
_FREQUENT = "s(?:pan|trong|mall|u[bp])|t(?:[drht]|able|body)|li|p(?:re)?+|em|b|i"
_IN_NAME = r"[0-;?-\xff]"
_PLAINLY = rf'(?: {_IN_NAME}++="[^"]*+")*+>'

# In every alternative of what is taken, the first group is what is kept of it and the second the name that must end it.
_RAW_CARRIER = (
    rf"""<((?=({_RAW_CARRIERS}){_NAME_ENDS})[a-z]++{_ATTRIBUTES})>"""
    rf"""[^<]*+(?:<(?!/\2{_NAME_ENDS}|!--)[^<]*+)*+</\2[^>"'=<]*+>"""
)
_RAW_TEXT = rf"""<()({_RAW}){_NAME_ENDS}{_ATTRIBUTES}>[^<]*+(?:<(?!/\2{_NAME_ENDS})[^<]*+)*+</\2[^>"'=<]*+>"""
_DRAWING = (
    rf"""<svg{_NAME_ENDS}{_ATTRIBUTES}()(?:(?<=["' ]/)>|(?<!/)>(?:[^<]++|<(?:{_SHAPES}){_NAME_ENDS}{_ATTRIBUTES}>"""
    rf"""|</(?:{_SHAPES})[{_SPACE}]*+>|<(title|desc|style){_NAME_ENDS}{_ATTRIBUTES}(?<!/)>[^<]*+</\2>)*+"""
    rf"""</svg[{_SPACE}]*+>)"""
)

# A meta matters with `http-equiv`, which may refresh, or with a word for robots, whatever its name (`directives` decides);
# character references by number can spell any word. In one pass: between the values no `http-equiv`, in them no such word.
_BETWEEN = r"""[^>"'=<h]*+(?:h(?!ttp-equiv)[^>"'=<h]*+)*+"""
_NO_WORD = r"(?:n(?!o(?:index|follow|archive|cache|ne))|u(?!navailable)|&(?!#))"
_QUIET = (
    rf"""(?:"[^"nu&]*+(?:{_NO_WORD}[^"nu&]*+)*+"|'[^'nu&]*+(?:{_NO_WORD}[^'nu&]*+)*+'"""
    rf"""|(?:[^{_SPACE}"'>=<`nu&]++|{_NO_WORD})++)"""
)
_SILENT_META = rf"""meta{_NAME_ENDS}{_BETWEEN}(?:={_QUIET}{_BETWEEN})*+>"""

# What follows a `<` that is passed over, the frequent first.
_PASSED_OVER = (
    rf"/[a-eg-z]{_IN_NAME}*+>",
    rf"(?:[{_INITIALS}]{_IN_NAME}*+|(?:{_FREQUENT})){_PLAINLY}",
    rf"(?:[{_INITIALS}]|(?:{_FREQUENT}){_NAME_ENDS}){_ATTRIBUTES}>",
)
_RARELY_PASSED_OVER = (
    rf"""/(?!form{_NAME_ENDS})[a-z][^>"'=<]*+>""",
    _SILENT_META,
    rf"(?!(?:{_CARRIERS}|{_RAW_CARRIERS}|{_RAW}|{_ODD}){_NAME_ENDS})[a-z]{_ATTRIBUTES}>",
    r"!--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+)*+--!?>",
    r"!(?!--)[^>]*+>",
    r"(?![a-z/!?])",
    r"\?[^>]*+>",
    r"/(?![a-z])[^>]*+>",
)
_PLAIN_OTHERS = r'(?: (?:class|title)="[^"]*+")*+'
_TAKEN = (
    rf"""<a{_PLAIN_OTHERS} href=("[^"#&]*+){_FRAGMENT}"{_PLAIN_OTHERS}>""",
    rf"<a(?:{_OTHER})*+(?:{_REFERENCE})?+[{_SPACE}]*+>",
    rf"<((?:{_CARRIERS}){_NAME_ENDS}{_ATTRIBUTES})>",
    _RAW_CARRIER,
    _RAW_TEXT,
    rf"""<(/form){_NAME_ENDS}[^>"'=<]*+>""",
    _DRAWING,
    r"\z",
    r"(<)[^\0]*+",
)
# Text is passed over with the tag before it, so that it is looked at once.
_take = taking(
    rf"(?i)[^<]*+(?:<(?:{'|'.join(_PASSED_OVER)}|(?!a[{_SPACE}])(?:{'|'.join(_RARELY_PASSED_OVER)}))[^<]*+)*+"
    rf"(?|{'|'.join(_TAKEN)})",
    b"\0$1",
)

REFERENCE = ord('"')
"""The first byte of what stands for an anchor of which only the reference matters."""

_META_UTF8 = re.compile(
    rb"""<meta\s+(?:charset\s*=\s*["']?utf-8["'\s/>]"""
    rb"""|http-equiv\s*=\s*["']?content-type["']?\s+content\s*=\s*["'][^"'<>]*;\s*charset\s*=\s*utf-8\s*["'])""",
    re.IGNORECASE,
)
_PRESCANNED = 1024


def declares_utf8(body: bytes, header_charset: str) -> bool:
    """Whether the document is UTF-8 by its header, or by a `meta` in the part of it that browsers look at first."""
    start = body[:_PRESCANNED]
    if start[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return False
    if header_charset:
        return header_charset.lower() in ("utf-8", "utf8")
    found = _META_UTF8.search(start)
    # Only the first declaration counts, and none within a comment.
    return found is not None and b"<!--" not in start[: found.start()] and start.lower().find(b"charset") >= found.start()


def scan(body: bytes) -> list[bytes] | None:
    """Every tag that can carry a link, in order, as its name and attributes stand; `/form` where a form ends.

    An anchor of which only the reference matters is given as a quotation mark and its reference without the fragment, in which
    character references stand as they were written; an anchor without a reference is given as nothing.
    None where the document is not ordinary enough.
    """
    if b"\0" in body:
        return None
    try:
        tags = _take(body, 0).split(b"\0")
    except pcre2.LibraryError:  # The machine code's own stack was too small: only made-up pages come here.
        return None
    return None if b"<" in tags[-2:] else tags  # The first oddity takes everything that follows.
