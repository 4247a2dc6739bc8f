from __future__ import annotations

import json
from typing import Any

import pytest

from parcahyd.export.exchanges import Kind
from parcahyd.export.page_text import page_line
from tests.export.samples import exchange

PAGE = (
    b"<!DOCTYPE html><title>Tea &amp; more</title><style>p{}</style><script>if (a<b) {}</script><!-- no > note -->"
    b"<p>Green<b>ish</b>&nbsp;tea &lt;hot&gt;</p><template>never</template><svg><text>drawn</text></svg> 1 < 2 caf\xc3\xa9"
)


def _line(body: bytes, **more: Any) -> dict[str, str]:
    line = page_line(exchange(body=body, **more), "2026-03-04T05:06:07Z")
    assert line is not None
    assert line.endswith(b"}\n")
    decoded: dict[str, str] = json.loads(line)
    return decoded


def test_title_and_text() -> None:
    page = _line(PAGE)
    assert page["title"] == "Tea & more"
    assert page["text"].split() == ["Green", "ish", "tea", "<hot>", "1", "<", "2", "café"]
    assert (page["url"], page["ts"]) == ("http://a.example/", "2026-03-04T05:06:07Z")


def test_a_stored_title_and_a_charset_count() -> None:
    assert _line("<p>é".encode("cp1252"), charset="windows-1252", title="Stored")["text"] == "é"
    assert _line(b"<p>x", title="Stored")["title"] == "Stored"
    assert _line(b"<p>x")["title"] == "http://a.example/"


def test_references_that_are_none_stay() -> None:
    digits = "1" * 5000
    assert _line(f"<p>&#{digits}; &unknown; &eacute &#x26; AT&T".encode())["text"].endswith("; &unknown; é & AT&T")


@pytest.mark.parametrize("more", [{"status": 404}, {"media_type": "text/plain"}, {"kind": Kind.CONVERSION}])
def test_what_is_no_page(more: dict[str, Any]) -> None:
    assert page_line(exchange(body=PAGE, **more), "") is None


@pytest.mark.parametrize("piece", [b"<script", b"<!--", b"<script>", b"<p ", b"<", b"</script ", b"<svg><", b"&", b"&amp"])
def test_a_page_without_ends_takes_no_longer(piece: bytes) -> None:
    """In quadratic time this test would take hours."""
    assert len(_line(piece * (2_000_000 // len(piece)))["text"]) <= 100_000
