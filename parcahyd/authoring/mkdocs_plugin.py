"""A plug-in for MkDocs that writes tables for the site that was built.

    plugins:
      - search
      - augment

It runs after all others, so that tables describe what is served. An error in a page's markers is a warning, which
`mkdocs build --strict` treats as a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger

from parcahyd.authoring.build import BUNDLE, augment_folder, page_element
from parcahyd.core.errors import UserError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

__all__ = ["AugmentConfig", "AugmentPlugin"]

_log = get_plugin_logger(__name__)


class AugmentConfig(Config):
    """The settings under `augment:` in mkdocs.yml."""

    form = config_options.Choice(("stem", "path"), default="stem")
    bundle = config_options.Type(str, default=BUNDLE)
    """Empty for none."""


class AugmentPlugin(BasePlugin[AugmentConfig]):
    """The plug-in `augment` of mkdocs.yml. `site_url` is the URL of the site."""

    @event_priority(-100)
    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        element = page_element(page.file.dest_uri, config.site_url or "")
        return output.replace("</head>", f"{element}</head>", 1) if element else output

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        try:
            report = augment_folder(config.site_dir, config.site_url or "", form=self.config.form, bundle=self.config.bundle)
        except UserError as error:
            raise PluginError(f"augment: {error}") from error
        for page_error in report.errors:
            _log.warning("%s", page_error)
        _log.info("tables of %d pages, %d files written", report.pages, len(report.written))
