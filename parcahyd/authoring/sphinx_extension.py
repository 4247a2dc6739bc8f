"""An extension for Sphinx that writes tables for the HTML that was built.

    extensions = ["parcahyd.authoring.sphinx_extension"]
    html_baseurl = "https://www.example.org/docs/"

It runs after all others, so that tables describe what is served. An error in a page's markers is a warning, which
`sphinx-build -W` treats as a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parcahyd.authoring.build import BUNDLE, augment_folder, page_element
from parcahyd.core.errors import UserError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

_BUILDERS = ("html", "dirhtml", "singlehtml", "readthedocs", "readthedocsdirhtml")
_LAST = 999


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx. Settings: `augment_form` (stem or path), `augment_bundle` (a name, or empty for none)."""
    app.add_config_value("augment_form", "stem", "html", [str])
    app.add_config_value("augment_bundle", BUNDLE, "html", [str])
    app.connect("html-page-context", _add_link_element, priority=_LAST)
    app.connect("build-finished", _write_tables, priority=_LAST)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_link_element(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if app.builder.name in _BUILDERS:
        element = page_element(app.builder.get_target_uri(page), app.config.html_baseurl)
        context["metatags"] = f"{context.get('metatags', '')}{element}"


def _write_tables(app: Sphinx, failure: Exception | None) -> None:
    from sphinx.errors import ExtensionError
    from sphinx.util import logging

    if failure is not None or app.builder.name not in _BUILDERS:
        return
    log = logging.getLogger(__name__)
    form, bundle = app.config.augment_form, app.config.augment_bundle
    try:
        report = augment_folder(app.outdir, app.config.html_baseurl, form=form, bundle=bundle)
    except UserError as error:
        raise ExtensionError(f"augment: {error}", error) from error
    for page_error in report.errors:
        log.warning("%s", page_error, type="augment")
    log.info("augment: tables of %d pages, %d files written", report.pages, len(report.written))
