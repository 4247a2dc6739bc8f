"""A document's title as a browser's `document.title`: the text of the first `title` element, without superfluous white space.

It reads the whole document: `brief` asks it about the few titles that it cannot read itself.
"""

from __future__ import annotations

import re

from turbohtml import DocumentFragment, Namespace

from parcahyd.rules.links import parse_document

__all__ = ["document_title"]

_BLANKS = re.compile(r"[\t\n\f\r ]++")


def document_title(body: bytes, header_charset: str) -> str:
    """The title of an HTML document, or empty."""
    for title in parse_document(body, header_charset).iter_elements(("title",)):
        # The titles of drawings are theirs, and what stands in a template is not in the document.
        if title.namespace is Namespace.HTML and not any(isinstance(above, DocumentFragment) for above in title.ancestors):
            return _BLANKS.sub(" ", title.text).strip(" ")
    return ""
