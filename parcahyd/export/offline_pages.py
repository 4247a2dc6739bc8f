"""Makes the references of a page or a style sheet lead to files beside it.

A page is read as a browser reads it and written again, in UTF-8. References to documents that are exported become relative,
all others become absolute, so that a click leads to the web. A `base` is taken out, and so are hashes of embedded files
(`integrity`), since their bytes may have been rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, relpath
from urllib.parse import quote

from turbohtml import Element

from parcahyd.rules.html.encodings import decode
from parcahyd.rules.html.links import parse_document
from parcahyd.rules.urls.canonical_url import Joiner

__all__ = ["Resolve", "offline_page", "offline_style", "relative"]

Resolve = Callable[[str], str | None]
"""The file name of a URL; None: it is not exported."""

_REFERENCES = {
    "a": ("href",),
    "area": ("href",),
    "audio": ("src",),
    "embed": ("src",),
    "form": ("action",),
    "frame": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
_LISTS = frozenset(("srcset",))
_SELF_CONTAINED = re.compile(r"(?i)[\x00-\x20]*(?:data|javascript|mailto|tel|about|blob):").match
_CANDIDATE = re.compile(r"([^\t\n\f\r ,][^\t\n\f\r ]*+)(?:(?<=,)|(?:[^,(]++|\([^)]*+\)?+)*+)")
_STYLE_URL = re.compile(
    r"""(url\([\t\n\f\r ]*+)(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'()]++))([\t\n\f\r ]*+\))"""
    r"""|(@import[\t\n\f\r ]++)(?:"([^"\n]*+)"|'([^'\n]*+)')""",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"(?is)([\s\d.]+[;,]\s*(?:url\s*=\s*)?)(?:\"([^\"]*)\"?|'([^']*)'?|(.+))$")


def offline_page(body: bytes, charset: str, url: str, name: str, resolve: Resolve) -> bytes:
    """A page in HTML, to be stored as the file `name`. No input raises."""
    document = parse_document(body, charset)
    base = url
    for element in list(document.iter_elements(("base",))):
        href = element.attr("href")
        if href is not None and base == url:
            base = Joiner(url).join(href) or url
        if href is not None:
            del element.attrs["href"]
    links = _Links(base, url, name, resolve)
    for element in document.iter_elements(tuple(_REFERENCES)):
        links.rewrite(element)
    for element in document.iter_elements(("meta",)):
        _rewrite_meta(element, links)
    for element in document.iter_elements(("style",)):
        element.set_text(links.in_style(element.text))
    for element in document.iter_elements():
        style = element.attr("style")
        if style and "(" in style:
            element.attrs["style"] = links.in_style(style)
    return _utf8(document.serialize())


def offline_style(body: bytes, charset: str, url: str, name: str, resolve: Resolve) -> bytes:
    """A style sheet, to be stored as the file `name`."""
    return _Links(url, url, name, resolve).in_style(decode(body, charset)).encode("utf-8", "replace")


def relative(target: str, name: str) -> str:
    """The reference from one file to another."""
    return quote(relpath(target, dirname(name)))


class _Links:
    """The references of one document."""

    def __init__(self, base: str, url: str, name: str, resolve: Resolve) -> None:
        self._joiner = Joiner(base)
        self._url = url
        self._name = name
        self._resolve = resolve
        self._known: dict[str, str] = {}

    def rewrite(self, element: Element) -> None:
        for attribute in _REFERENCES[element.tag]:
            value = element.attr(attribute)
            if value is not None:
                one = self.in_list if attribute in _LISTS else self.of
                element.attrs[attribute] = one(value)
                for hindrance in ("integrity", "crossorigin"):
                    if element.attr(hindrance) is not None:
                        del element.attrs[hindrance]

    def of(self, href: str) -> str:
        """What stands in place of a reference."""
        known = self._known.get(href)
        if known is None:
            known = self._known[href] = self._new(href)
        return known

    def in_list(self, srcset: str) -> str:
        return _CANDIDATE.sub(lambda found: found[0].replace(found[1].rstrip(","), self.of(found[1].rstrip(",")), 1), srcset)

    def in_style(self, text: str) -> str:
        return _STYLE_URL.sub(self._in_style, text)

    def _in_style(self, found: re.Match[str]) -> str:
        href = next((found[group] for group in (2, 3, 4, 7, 8) if found[group] is not None), "")
        if found[6] is not None:
            return f'{found[6]}"{_bare(self.of(href))}"'
        return f'{found[1]}"{_bare(self.of(href))}"{found[5]}'

    def _new(self, href: str) -> str:
        bare, mark, fragment = href.strip().partition("#")
        if _SELF_CONTAINED(href) or (not bare and mark):
            return href
        target = self._joiner.join(bare)
        if target is None:
            return href
        file = self._resolve(target)
        if file is None:
            return f"{target}{mark}{fragment}"
        if target == self._url and mark:
            return f"{mark}{fragment}"
        return f"{relative(file, self._name)}{mark}{fragment}"


def _bare(text: str) -> str:
    """A reference for a string of a style sheet."""
    return text.replace("\\", "%5C").replace('"', "%22").replace("\n", "%0A")


def _rewrite_meta(element: Element, links: _Links) -> None:
    kind = (element.attr("http-equiv") or "").lower()
    content = element.attr("content") or ""
    if kind == "refresh" and (found := _REFRESH.match(content[:65_536])) is not None:
        href = next((found[group] for group in (2, 3, 4) if found[group] is not None), "")
        element.attrs["content"] = f"{found[1]}{links.of(href)}"
    elif kind == "content-type" and content:
        element.attrs["content"] = "text/html; charset=utf-8"
    if element.attr("charset") is not None:
        element.attrs["charset"] = "utf-8"


def _utf8(text: str) -> bytes:
    """The page in UTF-8, which it says with a byte order mark: that wins over everything else in it."""
    return b"\xef\xbb\xbf" + text.encode("utf-8", "replace")
