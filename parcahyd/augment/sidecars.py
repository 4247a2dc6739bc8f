"""Where the sidecars of a document are: a template expanded with its URL, and a check that a table describes the document.

Paths are those of canonical URLs. `{stem}` stands for the path without its last extension, `{path}` for the whole path,
`{query}` for the query.
"""

from __future__ import annotations

import re

from parcahyd.rules.urls.canonical_url import Joiner, canonical, split

__all__ = ["INDEX", "STEM", "WHOLE_PATH", "expand", "is_of_document", "is_template", "resolve", "stem", "template_for"]

STEM = "{stem}"
WHOLE_PATH = "{path}"
_QUERY = "{query}"
INDEX = "index.html"
"""The document that a path ending in `/` stands for, by default."""

_LITERAL = r"[!\"$->@-\[\]-z|~]"
"""A printable ASCII character but for a blank, `{`, `}`, `?`, `#` and the backslash."""
_TEMPLATE = re.compile(
    rf"(?:/{_LITERAL}*+)?+\{{(?:stem|path)\}}(?:{_LITERAL}|\{{query\}})*+(?:\?(?:{_LITERAL}|\{{query\}})*+)?+"
)
_LONGEST_TEMPLATE = 1024
_UNSAFE_IN_PATH = str.maketrans({"/": "%2F", "?": "%3F", "\\": "%5C"})


def is_template(text: str) -> bool:
    """Whether a text can be expanded: it has the document's stem or path once, and cannot lead to another origin."""
    return len(text) <= _LONGEST_TEMPLATE and text not in (STEM, WHOLE_PATH) and _TEMPLATE.fullmatch(text) is not None


def stem(path: str) -> str:
    """A path without its last extension: from the last dot of the last segment, unless that is its first character."""
    dot = path.rfind(".")
    return path[:dot] if dot > path.rfind("/") + 1 else path


def expand(template: str, url: str, index: str = INDEX) -> str | None:
    """The URL of a document's sidecar, canonical; None where the document has none.

    It has none where its URL has a query but the template has no `{query}`, and where the sidecar would be the document itself.
    """
    origin, path, query = _parts(url)
    if path.endswith("/"):
        path += index
    if query and _QUERY not in template:
        return None
    before, mark, after = template.partition("?")
    made = before.replace(STEM, stem(path)).replace(WHOLE_PATH, path).replace(_QUERY, query.translate(_UNSAFE_IN_PATH))
    sidecar = canonical(f"{origin}{made}{mark}{after.replace(_QUERY, query)}")
    return None if sidecar is None or sidecar in (url, f"{origin}{path}") or not sidecar.startswith(f"{origin}/") else sidecar


def template_for(url: str, sidecar: str, index: str = INDEX) -> str | None:
    """The template that expands to this sidecar for this document, for use with other documents; None where there is none."""
    origin, path, _ = _parts(url)
    path = path + index if path.endswith("/") else path
    for form, begin in ((WHOLE_PATH, path), (STEM, stem(path))):
        suffix = sidecar.removeprefix(origin + begin)
        # A suffix that is only a part of a name, as from /a to /ab.TOL, does not apply to other documents.
        if suffix == sidecar or suffix[:1] != "." or (form == WHOLE_PATH and begin == stem(path)):
            continue
        if is_template(form + suffix) and expand(form + suffix, url, index) == sidecar:
            return form + suffix
    return None


def resolve(table_url: str, reference: str) -> str | None:
    """The document that a table names, as a canonical URL; None where it is invalid or of another origin."""
    url = Joiner(table_url).join(reference)
    return url if url is not None and _parts(url)[0] == _parts(table_url)[0] else None


def is_of_document(table_url: str, reference: str, url: str, index: str = INDEX) -> bool:
    """Whether the table at this URL describes this document; `/docs/` and its index document count as one."""
    named = resolve(table_url, reference)
    return named is not None and _with_index(named, index) == _with_index(url, index)


def _with_index(url: str, index: str) -> str:
    return url + index if url.endswith("/") and "?" not in url else url


def _parts(url: str) -> tuple[str, str, str]:
    """Origin, path and query of a canonical URL."""
    whole = split(url)[3]
    path, _, query = whole.partition("?")
    return url[: len(url) - len(whole)], path, query
