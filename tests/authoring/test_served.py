"""Serving a site folder."""

from __future__ import annotations

import threading
from pathlib import Path
from urllib.request import urlopen

from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.authoring.served import FolderServer


def test_tables_have_their_media_types(site: Path) -> None:
    build(make_plan(site))
    with FolderServer(site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            with urlopen(f"{server.url}kettle.TOL") as answer:  # noqa: S310 - loopback
                assert answer.headers["Content-Type"] == "text/vnd.augment.tol; charset=utf-8"
                assert answer.read() == (site / "kettle.TOL").read_bytes()
            with urlopen(f"{server.url}sub/") as answer:  # noqa: S310 - loopback
                assert answer.read() == (site / "sub" / "index.html").read_bytes()
        finally:
            server.shutdown()
            thread.join()
