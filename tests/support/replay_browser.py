"""ReplayWeb.page in Chromium, which opens a WACZ file and replays what is in it.

ReplayWeb.page has another licence, so nothing here contains it. The variable PARCAHYD_REPLAYWEB names a folder with its `sw.js`
(from the package `replaywebpage` of npm), PARCAHYD_CHROMIUM the browser. Without them the test is skipped, with a reason in the
summary.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import TEST_TIMEOUT

__all__ = ["replayed"]

_PAGE = """<script>
const report = answer => fetch("/report", {method: "POST", body: JSON.stringify(answer)});
(async () => {
  const worker = navigator.serviceWorker;
  await worker.register("/sw.js", {scope: "/"});
  await worker.ready;
  if (!worker.controller) { setTimeout(() => location.reload(), 200); return; }
  const added = new Promise(done => worker.addEventListener("message", event => {
    if (event.data.msg_type === "collAdded" || event.data.error) done(event.data);
  }));
  worker.controller.postMessage({msg_type: "addColl", name: "odd", file: {sourceUrl: location.origin + "/odd.wacz"}});
  const answer = {error: (await added).error || null, bodies: {}};
  answer.pages = (await (await fetch("/w/api/c/odd?all=1")).json()).pages || [];
  for (const url of URLS) answer.bodies[url] = await (await fetch("/w/odd/20991231id_/" + url)).text();
  await report(answer);
})().catch(error => report({error: String(error)}));
</script>"""


def _needed(variable: str) -> Path:
    place = os.environ.get(variable)
    if not place or not Path(place).exists():
        pytest.skip(f"{variable} names nothing: see tests/support/replay_browser.py")
    return Path(place)


class _Reports:
    def __init__(self) -> None:
        self.has_come = threading.Event()
        self.answer: dict[str, Any] = {}


@contextmanager
def _served(folder: Path, reports: _Reports) -> Iterator[str]:
    """The folder on loopback, with ranges of files, as ReplayWeb.page asks for them."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None: ...  # noqa: A002 (the base's name)

        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(200, b"")
            if not reports.has_come.is_set():  # A browser that is ended reports that, too.
                reports.answer = said
            reports.has_come.set()

        def do_GET(self) -> None:
            file = folder / self.path.partition("?")[0].lstrip("/")
            wanted = self.headers.get("Range")
            if wanted is None or not file.is_file():
                super().do_GET()
                return
            data = file.read_bytes()
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin = int(first) if first else len(data) - int(last)
            end = min(int(last) if first and last else len(data) - 1, len(data) - 1)
            self._send(206, data[begin : end + 1], f"bytes {begin}-{end}/{len(data)}")

        def _send(self, status: int, body: bytes, content_range: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if content_range:
                self.send_header("Content-Range", content_range)
            self.end_headers()
            self.wfile.write(body)

    def handler(*arguments: Any) -> Handler:
        return Handler(*arguments, directory=str(folder))

    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def replayed(scratch: Path, wacz: Callable[[Path], list[str]]) -> dict[str, Any]:
    """What the browser shows of a WACZ file: `bodies` by URL, its list of `pages`, and the `error` if there is one.

    `wacz` writes the file, and returns the URLs to look up. Where the programs are missing, it is not called.
    """
    chromium, replayweb = _needed("PARCAHYD_CHROMIUM"), _needed("PARCAHYD_REPLAYWEB")
    folder = scratch / "web"
    folder.mkdir()
    urls = wacz(folder / "odd.wacz")
    (folder / "index.html").write_text(_PAGE.replace("URLS", json.dumps(urls)))
    shutil.copy(replayweb / "sw.js", folder / "sw.js")
    reports = _Reports()
    with _served(folder, reports) as base, (scratch / "chromium.log").open("wb") as log:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch / 'profile'}"]
        command = [str(chromium), *options, "--remote-debugging-port=0", f"{base}/index.html"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            assert reports.has_come.wait(TEST_TIMEOUT), (scratch / "chromium.log").read_text()
        finally:
            process.terminate()
            process.wait()
    return reports.answer
