"""What a site says it offers, and for which of its documents that holds.

    Augment: 1; scope=/docs/; tol={stem}.TOL; tvi={stem}.TVI; index=index.html; bundle=/docs/site.TOL

A line of robots.txt, as it stands or as a comment, or of a file of its own. Only robots.txt and `/.well-known/` speak for the
whole site; what stands anywhere else binds only paths below its own directory, and must stay there with all that it names: the
author of `/~alice/` cannot rewrite what is stored for `/~bob/`.
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
    "bound",
    "choose",
    "declarations_in",
    "learned",
    "read_declaration",
    "read_offer",
    "write_declaration",
    "write_offer",
]

MAX_DECLARATIONS = 100
"""Declarations of one text; those after are not read."""
_LONGEST = 4096
_MAX_TEXT = 500 * 1024

_LINE = re.compile(rb"^[\t ]*+(?:#[\t ]*+)?+(?i:augment)[\t ]*+:[\t ]*+([^\r\n]*+)", re.MULTILINE)
_PATH = re.compile(r"/[^\x00-\x20\x7f-\U0010ffff?#\\;]*+")
_INDEX = re.compile(r"[^\x00-\x20\x7f-\U0010ffff/?#\\;%]++")
_DEFAULTS = {"tol": f"{STEM}.TOL", "tvi": f"{STEM}.TVI"}


class Declaration(msgspec.Struct, frozen=True):
    """Which documents have sidecars, and where these are; an empty field means that nothing is offered."""

    scope: str = "/"
    """The path below which documents are meant."""
    tol: str = ""
    """A template, or empty."""
    tvi: str = ""
    index: str = INDEX
    bundle: str = ""
    """A path, or empty."""
    within: str = "/"
    """The directory that its author speaks for: sidecars and bundles elsewhere are not asked for."""

    def covers(self, url: str) -> bool:
        """Whether a document (canonical URL of the declaring site) is meant."""
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
    """A declaration, without the name `Augment:` before it. Unknown keys are ignored, the first of two equal keys holds.

    Where none of `tol`, `tvi` and `bundle` is named, the tables are beside their documents, as in the paper.
    """
    version, *fields = [part.strip() for part in text[:_LONGEST].split(";")]
    if version != "1":
        return Refusal(RefusalReason.VERSION if version.isdigit() else RefusalReason.DECLARATION)
    said: dict[str, str] = {}
    for field in fields:
        key, _, value = field.partition("=")
        said.setdefault(key.strip().lower(), value.strip())
    if not said.keys() & {"tol", "tvi", "bundle"}:
        said |= _DEFAULTS
    declaration = Declaration(
        said.get("scope", "/"), said.get("tol", ""), said.get("tvi", ""), said.get("index", INDEX), said.get("bundle", "")
    )
    return _disorder(declaration) or declaration


def write_declaration(declaration: Declaration) -> str | Refusal:
    """The text that `read_declaration` reads; refused where that would give something else."""
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
    """The declarations of a robots.txt or of a file of declarations, in order; lines that are none are passed over."""
    found = []
    for number, line in enumerate(_LINE.finditer(text[:_MAX_TEXT])):
        if number >= MAX_DECLARATIONS:
            break
        declaration = read_declaration(line[1].decode("utf-8", "replace"))
        if isinstance(declaration, Declaration):
            found.append(declaration)
    return found


def bound(declaration: Declaration, speaker: str) -> Declaration | None:
    """A declaration as far as it holds when it is found at this URL, which is neither robots.txt nor below `/.well-known/`.

    It binds what lies both in its scope and below the speaker's directory; None where that is nothing.
    """
    directory = _directory(speaker)
    if directory.startswith(_as_directory(declaration.scope)):
        return msgspec.structs.replace(declaration, scope=directory, within=directory)
    if _is_below(declaration.scope, directory):
        return msgspec.structs.replace(declaration, within=directory)
    return None


def learned(url: str, tol: str = "", tvi: str = "") -> Declaration | None:
    """What the `Link` headers or `link` elements of a page teach about the pages beside and below it.

    `tol` and `tvi` are references as they stand on the page, or empty. None where they teach no template that stays there.
    """
    joiner = Joiner(url)
    found = {
        kind: template_for(url, sidecar) or ""
        for kind, href in (("tol", tol), ("tvi", tvi))
        if href and (sidecar := joiner.join(href)) is not None
    }
    directory = _directory(url)
    declaration = Declaration(directory, found.get("tol", ""), found.get("tvi", ""), within=directory)
    return declaration if (declaration.tol or declaration.tvi) and _disorder(declaration) is None else None


def choose(declarations: Iterable[Declaration], url: str) -> Declaration | None:
    """The declaration that holds for a document: the one of the most specific scope, the first where two are equal."""
    covering: Sequence[Declaration] = [declaration for declaration in declarations if declaration.covers(url)]
    return max(covering, key=lambda declaration: len(declaration.scope), default=None)


def _disorder(declaration: Declaration) -> Refusal | None:
    """What cannot be understood in it."""
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
    """Whether a path means what it says: canonical, without dot segments."""
    return _PATH.fullmatch(path) is not None and canonical(f"http://host{path}") == f"http://host{path}"


def _directory(url: str) -> str:
    path = split(url)[3].partition("?")[0]
    return path[: path.rindex("/") + 1]


def _as_directory(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _is_below(path: str, scope: str) -> bool:
    """Whether a path is this one or lies below it; `/docs` does not reach `/docs-old`."""
    return path.partition("?")[0] == scope or path.startswith(_as_directory(scope))


# --- What was learned about the tables of one site: kept with the site, sent along with every visit, and given back after it.
# What robots.txt declares is not kept here: it is read with robots.txt.


ALL_TABLES = "*"
"""Stands in `absent` for every table of links of a site that declares none."""
ALL_TVI = "*.TVI"
"""The same for every table of variable information."""

MAX_ABSENT = 200
"""Directories of which it is remembered that they have no tables."""
_FORM = 1


class SiteOffer(msgspec.Struct, frozen=True, array_like=True):
    """Times are seconds since the epoch."""

    declarations: tuple[Declaration, ...] = ()
    """What pages and `/.well-known/augment` declared, each bound to what its author speaks for."""
    absent: tuple[tuple[str, float], ...] = ()
    """Directories that have no tables, and until when that is believed; `/.well-known/augment`, bundles, `ALL_TABLES` and
    `ALL_TVI` stand here too."""
    confirmed: int = 0
    """Links of tables that their documents have."""
    phantoms: int = 0
    """Links of tables that their documents do not have."""
    links_barred_until: float = 0.0
    """Until then its tables of links are ignored: too many phantoms."""
    strikes: int = 0
    """Tables of variable information that were wrong."""
    fragments_barred_until: float = 0.0
    """Until then its tables of variable information are ignored: too many strikes."""
    form: int = _FORM


NOTHING_OFFERED = SiteOffer()


def write_offer(offer: SiteOffer) -> bytes:
    """For the database."""
    return msgspec.msgpack.encode(offer)


def read_offer(data: bytes) -> SiteOffer:
    """What `write_offer` wrote; nothing where it is of another form, or damaged."""
    if not data:
        return NOTHING_OFFERED
    try:
        offer = msgspec.msgpack.decode(data, type=SiteOffer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NOTHING_OFFERED
    is_sound = offer.form == _FORM and len(offer.declarations) <= MAX_DECLARATIONS and len(offer.absent) <= MAX_ABSENT
    return offer if is_sound else NOTHING_OFFERED
