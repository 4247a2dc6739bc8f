"""The summarizers and expanders that come with the program, answering the same hooks as everyone's.

The built-in recognizer is not among them: it is a rule on every page's way (`parcahyd.rules.media_type`), which plugins add to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parcahyd.config.schema import WorkConf
    from parcahyd.core.documents import Expander, Summarizer
    from parcahyd.hookspecs import ExpanderFactory, SummarizerFactory

__all__ = ["parcahyd_expanders", "parcahyd_summarizers"]


def parcahyd_summarizers() -> dict[str, SummarizerFactory]:
    return {"html": _html, "xml": _xml, "text": _text, "pdf": _pdf, "office": _office}


def parcahyd_expanders() -> dict[str, ExpanderFactory]:
    return {"archives": _archives}


def _html(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.html_summary import HtmlSummarizer

    return HtmlSummarizer()


def _xml(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.xml_summary import XmlSummarizer

    return XmlSummarizer()


def _text(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.text_summary import TextSummarizer

    return TextSummarizer()


def _pdf(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.pdf_summary import PdfSummarizer

    return PdfSummarizer()


def _office(_conf: WorkConf) -> Summarizer:
    from parcahyd.formats.office_summary import OfficeSummarizer

    return OfficeSummarizer()


def _archives(conf: WorkConf) -> Expander:
    from parcahyd.formats.archives import ArchiveExpander

    return ArchiveExpander(conf)
