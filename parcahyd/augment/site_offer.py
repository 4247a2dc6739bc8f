"""What a site declares that it offers, and for which of its documents.

    Augment: 1; scope=/docs/; tol={stem}.TOL; tvi={stem}.TVI; index=index.html; bundle=/docs/site.TOL

This is a line of robots.txt (plain or as a comment) or of a file of declarations. Only robots.txt and `/.well-known/` declare
for the whole site. A declaration anywhere else applies only to paths below its own directory, and so must all paths that it
names: the author of `/~alice/` cannot rewrite what is stored for `/~bob/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from parcahyd.augment.refusal import Refusal, RefusalReason
from parcahyd.augment.sidecars import INDEX, STEM, expand, is_template, template_for
from parcahyd.rules.urls.canonical_url import Joiner, canonical, split

__all__ = [
    "ALL_TABLES",
    "ALL_TVI",
    "MAX_ABSENT",
    "MAX_DECLARATIONS",
    "NOTHING_OFFERED",
    "Declaration",
    "SiteOffer",
    "choose",
    "declaration_from_links",
    "declarations_in",
    "read_declaration",
    "read_offer",
    "restricted_to_directory",
    "write_declaration",
    "write_offer",
]

MAX_DECLARATIONS = 100
"""Declarations that are read from one text; further ones are ignored."""
_LONGEST = 4096
_MAX_TEXT = 500 * 1024

_LINE = re.compile(rb"^[\t ]*+(?:#[\t ]*+)?+(?i:augment)[\t ]*+:[\t ]*+([^\r\n]*+)", re.MULTILINE)
# Printable ASCII characters but for a blank and those with a meaning of their own.
_PATH = re.compile(r"/[!\"$-:<->@-\[\]-~]*+")
_INDEX = re.compile(r"[!\"$&-.0-:<->@-\[\]-~]++")
_DEFAULTS = {"tol": f"{STEM}.TOL", "tvi": f"{STEM}.TVI"}


class Declaration(msgspec.Struct, frozen=True):
    """Which documents have sidecars, and where; an empty field means that this is not offered."""

    scope: str = "/"
    """The path below which the declaration applies."""
    tol: str = ""
    """A template, or empty."""
    tvi: str = ""
    index: str = INDEX
    bundle: str = ""
    """A path, or empty."""
    within: str = "/"
    """The directory that its author controls: sidecars and bundles elsewhere are not requested."""

    def covers(self, url: str) -> bool:
        """Whether the declaration applies to a document (canonical URL of the declaring site)."""
        path = split(url)[3].partition("?")[0]
        return _is_below(path, self.scope)

    def tol_of(self, url: str) -> str | None:
        """Where the document's table of links is."""
        return self._sidecar(self.tol, url)

    def tvi_of(self, url: str) -> str | None:
        """Where the document's table of variable information is."""
        return self._sidecar(self.tvi, url)

    def bundle_of(self, site: str) -> str | None:
        """Where the bundle is, on a site given as `scheme://host[:port]`."""
        url = canonical(site + self.bundle) if self.bundle else None
        return url if url is not None and _is_below(split(url)[3], self.within) else None

    def _sidecar(self, template: str, url: str) -> str | None:
        if not template or not self.covers(url):
            return None
        sidecar = expand(template, url, self.index)
        return sidecar if sidecar is not None and _is_below(split(sidecar)[3], self.within) else None


def read_declaration(text: str) -> Declaration | Refusal:
    """A declaration, without the name `Augment:` before it. Unknown keys are ignored; of two equal keys the first counts.

    Where none of `tol`, `tvi` and `bundle` is named, the tables are beside their documents, as in the paper.
    """
    version, *fields = [part.strip() for part in text[:_LONGEST].split(";")]
    if version != "1":
        return Refusal(RefusalReason.VERSION if version.isdigit() else RefusalReason.DECLARATION)
    values: dict[str, str] = {}
    for field in fields:
        key, _, value = field.partition("=")
        values.setdefault(key.strip().lower(), value.strip())
    if not values.keys() & {"tol", "tvi", "bundle"}:
        values |= _DEFAULTS
    declaration = Declaration(
        values.get("scope", "/"),
        values.get("tol", ""),
        values.get("tvi", ""),
        values.get("index", INDEX),
        values.get("bundle", ""),
    )
    return _error_in(declaration) or declaration


def write_declaration(declaration: Declaration) -> str | Refusal:
    """The text of a declaration; refused where `read_declaration` would not read the same declaration from it."""
    fields = [
        f"{key}={value}"
        for key, value in (
            ("scope", declaration.scope),
            ("tol", declaration.tol),
            ("tvi", declaration.tvi),
            ("index", declaration.index),
            ("bundle", declaration.bundle),
        )
        if value
    ]
    text = "; ".join(["1", *fields])
    again = read_declaration(text)
    if isinstance(again, Refusal) or again != msgspec.structs.replace(declaration, within="/"):
        return Refusal(RefusalReason.DECLARATION)
    return text


def declarations_in(text: bytes) -> list[Declaration]:
    """The declarations of a robots.txt or of a file of declarations, in order; other lines are ignored."""
    found = []
    for number, line in enumerate(_LINE.finditer(text[:_MAX_TEXT])):
        if number >= MAX_DECLARATIONS:
            break
        declaration = read_declaration(line[1].decode("utf-8", "replace"))
        if isinstance(declaration, Declaration):
            found.append(declaration)
    return found


def restricted_to_directory(declaration: Declaration, found_at: str) -> Declaration | None:
    """A declaration restricted to what the author of the page `found_at` controls: not robots.txt, not below `/.well-known/`.

    It applies to paths both in its scope and below the directory of `found_at`; None where there are none.
    """
    directory = _directory(found_at)
    if directory.startswith(_as_directory(declaration.scope)):
        return msgspec.structs.replace(declaration, scope=directory, within=directory)
    if _is_below(declaration.scope, directory):
        return msgspec.structs.replace(declaration, within=directory)
    return None


def declaration_from_links(url: str, tol: str = "", tvi: str = "") -> Declaration | None:
    """The declaration that the `Link` headers or `link` elements of a page imply for the pages beside and below it.

    `tol` and `tvi` are references as written on the page, or empty. None where they imply no template within that directory.
    """
    joiner = Joiner(url)
    found = {
        kind: template_for(url, sidecar) or ""
        for kind, href in (("tol", tol), ("tvi", tvi))
        if href and (sidecar := joiner.join(href)) is not None
    }
    directory = _directory(url)
    declaration = Declaration(directory, found.get("tol", ""), found.get("tvi", ""), within=directory)
    return declaration if (declaration.tol or declaration.tvi) and _error_in(declaration) is None else None


def choose(declarations: Iterable[Declaration], url: str) -> Declaration | None:
    """The declaration that applies to a document: the one with the most specific scope, the first where two are equal."""
    covering: Sequence[Declaration] = [declaration for declaration in declarations if declaration.covers(url)]
    return max(covering, key=lambda declaration: len(declaration.scope), default=None)


def _error_in(declaration: Declaration) -> Refusal | None:
    """The first error in a declaration, or None."""
    paths = [path for path in (declaration.scope, declaration.bundle) if path]
    templates = [template for template in (declaration.tol, declaration.tvi) if template]
    if not declaration.scope or not all(map(_is_plain_path, paths)):
        return Refusal(RefusalReason.DECLARATION, "scope or bundle")
    if not all(map(is_template, templates)) or ";" in declaration.tol + declaration.tvi:
        return Refusal(RefusalReason.DECLARATION, "tol or tvi")
    if _INDEX.fullmatch(declaration.index) is None or declaration.index in (".", ".."):
        return Refusal(RefusalReason.DECLARATION, "index")
    return None


def _is_plain_path(path: str) -> bool:
    """Whether a path is canonical, without dot segments."""
    return _PATH.fullmatch(path) is not None and canonical(f"http://host{path}") == f"http://host{path}"


def _directory(url: str) -> str:
    path = split(url)[3].partition("?")[0]
    return path[: path.rindex("/") + 1]


def _as_directory(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _is_below(path: str, scope: str) -> bool:
    """Whether a path is this one or lies below it; `/docs` does not cover `/docs-old`."""
    return path.partition("?")[0] == scope or path.startswith(_as_directory(scope))


# --- What was learned about the tables of one site. It is stored with the site, sent with every visit, and returned after it.
# Declarations of robots.txt are not stored here: they are read with robots.txt.


ALL_TABLES = "*"
"""An entry of `absent` that means every table of links, for a site that declares none."""
ALL_TVI = "*.TVI"
"""An entry of `absent` that means every table of variable information."""

MAX_ABSENT = 200
"""Entries of `absent`, at most."""
_FORM = 1


class SiteOffer(msgspec.Struct, frozen=True, array_like=True):
    """What is known of the tables of one site. Times are seconds since the epoch."""

    declarations: tuple[Declaration, ...] = ()
    """What pages and `/.well-known/augment` declared, each restricted to what its author controls."""
    absent: tuple[tuple[str, float], ...] = ()
    """Directories that have no tables, and until when that is assumed; also `/.well-known/augment`, bundles, `ALL_TABLES` and
    `ALL_TVI`."""
    confirmed: int = 0
    """Links in tables that are in their documents too."""
    phantoms: int = 0
    """Links in tables that are not in their documents."""
    links_barred_until: float = 0.0
    """Until then its tables of links are ignored because of too many phantoms."""
    strikes: int = 0
    """Tables of variable information that were wrong."""
    fragments_barred_until: float = 0.0
    """Until then its tables of variable information are ignored because of too many strikes."""
    form: int = _FORM


NOTHING_OFFERED = SiteOffer()


def write_offer(offer: SiteOffer) -> bytes:
    """The offer as bytes for the database."""
    return msgspec.msgpack.encode(offer)


def read_offer(data: bytes) -> SiteOffer:
    """The offer that `write_offer` wrote; `NOTHING_OFFERED` where the data have another form or are damaged."""
    if not data:
        return NOTHING_OFFERED
    try:
        offer = msgspec.msgpack.decode(data, type=SiteOffer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NOTHING_OFFERED
    is_sound = offer.form == _FORM and len(offer.declarations) <= MAX_DECLARATIONS and len(offer.absent) <= MAX_ABSENT
    return offer if is_sound else NOTHING_OFFERED
