"""Media types that are kept."""

from __future__ import annotations

import pytest

from parcahyd.rules.accepted_types import AcceptedTypes


@pytest.mark.parametrize(
    ("wanted", "media_type", "admitted"),
    [
        ((), "", True),
        ((), "image/png", True),
        (("*",), "image/png", True),
        (("*/*",), "", True),
        (("text/html",), "text/html", True),
        (("TEXT/HTML",), "Text/html; charset=utf-8", True),
        (("text/html; q=1",), "text/html", True),
        (("text/html",), "text/plain", False),
        (("text/html",), "", False),
        (("text/*", "image/png"), "text/x-odd", True),
        (("text/*",), "texture/x", False),
        (("text/*",), "text", False),
    ],
)
def test_types(wanted: tuple[str, ...], media_type: str, admitted: bool) -> None:
    assert AcceptedTypes(wanted).admits(media_type) is admitted
