"""Asks a headless Chromium what it sees on the site in many charsets, and writes that down.

    python tests/conformance/charset_site/record.py [--chromium /usr/bin/chromium]

It needs `playwright` and a Chromium. The site is served on the loopback. Scripting is off, as it is for a crawler.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # `tests` is found when this file is run by its name

from tests.conformance.charset_site.pages import PAGES

__all__ = ["ORIGIN", "RECORDED", "observe", "observed_from"]

RECORDED = Path(__file__).with_name("chromium.json")
ORIGIN = "http://site.example"
"""Stands for the address that the site was served at."""

# A drawing's link is resolved as if an anchor had it, because an SVG element does not tell the URL that it leads to.
_SEEN = """() => [document.characterSet, document.title, Array.from(document.querySelectorAll(
    'a, area, iframe, frame, link[rel~=canonical], link[rel~=next]'
)).map(element => {
    if (element.namespaceURI.endsWith('svg')) {
        const anchor = document.createElement('a')
        anchor.href = element.href.baseVal
        return anchor.href
    }
    return element.hasAttribute('href') ? element.href : element.hasAttribute('src') ? element.src : ''
}).filter(href => href)]"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", page.content_type if page else "text/plain")
        self.send_header("Content-Length", str(len(page.body) if page else 0))
        self.end_headers()
        self.wfile.write(page.body if page else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def observed_from(browser: Any, origin: str) -> dict[str, dict[str, Any]]:
    """By path: charset, title and links, in the order of the document."""
    page = browser.new_context(java_script_enabled=False).new_page()
    seen: dict[str, dict[str, Any]] = {}
    for path in PAGES:
        page.goto(origin + path, wait_until="domcontentloaded")
        charset, title, links = page.evaluate(_SEEN)
        seen[path] = {"charset": charset.lower(), "title": title, "links": [link.replace(origin, ORIGIN) for link in links]}
    return seen


def observe(chromium: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """The browser's version, and what it sees. Raises ImportError without playwright."""
    playwright = import_module("playwright.sync_api")
    with _served() as origin, playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        try:
            return browser.version, observed_from(browser, origin)
        finally:
            browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    version, pages = observe(parser.parse_args().chromium)
    RECORDED.write_text(json.dumps({"chromium": version, "pages": pages}, ensure_ascii=False, indent=1) + "\n")
    sys.stdout.write(f"{len(pages)} pages, as Chromium {version} sees them\n")


if __name__ == "__main__":
    main()
