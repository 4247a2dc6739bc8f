"""The Recognizer: the rule that looks at header and content, then whoever of the plugins knows better."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from parcahyd.core.documents import Recognizer
from parcahyd.formats.misconduct import Misconduct
from parcahyd.rules.media_type import is_html, recognise

__all__ = ["Recognise", "recognizer_of"]

Recognise = Callable[[str, bytes], tuple[str, str]]
"""Content-Type and body to media type and charset."""

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}+/[a-z0-9!#$&^_.+-]{1,100}+").fullmatch


def recognizer_of(plugins: Mapping[str, Recognizer], report: Callable[[str], None]) -> Recognise:
    """The function that tells formats. Without plugins it is the rule itself, so nothing is added to a page's way.

    Plugins are asked in the order of their names, about everything that the rule does not take for HTML; the first answer
    counts. What they do wrong is told to `report`, once for each plugin and kind of mistake.
    """
    if not plugins:
        return recognise
    asked = sorted(plugins.items())
    misconduct = Misconduct("recognizer", report)

    def recognise_with_plugins(content_type: str, body: bytes) -> tuple[str, str]:
        media_type, charset = recognise(content_type, body)
        if is_html(media_type):
            return media_type, charset
        for name, plugin in asked:
            try:
                answer = plugin.recognize(content_type, body, media_type)
            except Exception as error:
                misconduct.raised(name, error)
                continue
            if answer is None:
                continue
            if isinstance(answer, str) and _MEDIA_TYPE(answer):
                return answer, charset
            misconduct.told(name, f"gave {answer!r:.50}, not a media type")
        return media_type, charset

    return recognise_with_plugins
