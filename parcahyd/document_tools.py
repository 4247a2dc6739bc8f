"""Recognizer, summarizers, expanders and model of topics of a configuration, as a Crawl Worker uses them.

The coordinator and Update Database read no documents, so this is not in `plugin_manager`: formats take 0.1 s to load.
Tested in tests/test_plugin_manager.py.
"""

from __future__ import annotations

from collections.abc import Callable

from parcahyd.config.schema import WorkConf
from parcahyd.formats.format_plugins import Expanders, Recognise, Summarizers, recognizer_of
from parcahyd.formats.topic_model import topic_model
from parcahyd.plugin_manager import PluginManager

__all__ = ["DocumentTools"]


class DocumentTools:
    """`report` gets a sentence for each error of a plugin. What the configuration does not use is not made."""

    def __init__(self, plugins: PluginManager, work: WorkConf, report: Callable[[str], None]) -> None:
        self.recognise: Recognise = recognizer_of(dict(plugins.recognizers()), report)
        self.summarizers = Summarizers(plugins.summarizers() if work.Summaries == "full" else [], report)
        self.topics = topic_model(work) if work.Topics else None
        self.expanders = Expanders(plugins.expanders() if work.Expand else [], work, report)
