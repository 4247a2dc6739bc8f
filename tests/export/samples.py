"""Captures and exchanges made by hand."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from parcahyd.export.captures import Capture
from parcahyd.export.exchanges import Exchange, Kind

__all__ = ["AT", "capture", "exchange"]

AT = 1_772_600_767.25  # 2026-03-04 05:06:07.25 UTC
_OF_BOTH = ("headers", "protocol", "request")


def capture(url: str = "http://a.example/", body: bytes | None = b"<p>hello</p>", **more: Any) -> Capture:
    given: dict[str, Any] = {
        "number": 1,
        "version": None if body is None else 1,
        "url": url,
        "at": AT,
        "status": 200,
        "address": "192.0.2.1",
        "head": None,
        "head_base": None,
        "headers": b"Content-Type: text/html\r\n",
        "coding": "",
        "coded_sha256": None,
        "marks": 0,
        "protocol": "",
        "request": None,
        "redirect": None,
        "media_type": "text/html",
        "charset": "",
        "title": "",
        "depth": 2,
        "hops": 0,
        "is_seed": False,
        "is_merged": False,
        "sha256": None if body is None else sha256(body).digest(),
        "packed": 100,
    }
    return Capture(**{**given, **more})


def exchange(url: str = "http://a.example/", body: bytes = b"<p>hello</p>", **more: Any) -> Exchange:
    of_capture = {name: more.pop(name) for name in list(more) if name in Capture.__struct_fields__ and name not in _OF_BOTH}
    given: dict[str, Any] = {
        "capture": capture(url, body, **of_capture),
        "kind": Kind.RESPONSE,
        "status_line": b"HTTP/1.1 200 OK",
        "headers": b"Content-Type: text/html\r\n",
        "body": body,
        "payload_sha256": sha256(body).digest(),
        "document": body,
    }
    return Exchange(**{**given, **more})
