"""The ASGI middleware behind uvicorn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.skeleton import part_with_tvi
from parcahyd.augment.tvi import read_tvi
from parcahyd.authoring.asgi import TablesMiddleware
from tests.authoring.small_application import KETTLE, SmallApplication

uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install '.[author-test]'")


@pytest.fixture
def url() -> Iterator[str]:
    config = uvicorn.Config(TablesMiddleware(SmallApplication().asgi), port=0, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 120
        while not server.started and thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def test_page_and_tables(url: str) -> None:
    with urlopen(f"{url}/kettle") as page:  # noqa: S310 - loopback
        assert page.read() == KETTLE
        assert page.headers["Link"] == '<kettle.TOL>; rel="tol", <kettle.TVI>; rel="tvi"'
    with urlopen(f"{url}/kettle.TVI") as answer:  # noqa: S310 - loopback
        assert answer.headers["Content-Type"] == "text/vnd.augment.tvi; charset=utf-8"
        tag, tvi = answer.headers["ETag"], read_tvi(answer.read())
    assert not isinstance(tvi, Refusal)
    assert not isinstance(part_with_tvi(KETTLE, tvi), Refusal)
    with pytest.raises(HTTPError) as unchanged:
        urlopen(Request(f"{url}/kettle.TVI", headers={"If-None-Match": tag}))  # noqa: S310 - loopback
    assert unchanged.value.code == 304
    unchanged.value.close()
    with urlopen(Request(f"{url}/kettle.TOL", method="HEAD")) as answer:  # noqa: S310 - loopback
        assert (answer.status, answer.read()) == (200, b"")


def test_no_table_of_what_is_one_visitors(url: str) -> None:
    with pytest.raises(HTTPError) as missing:
        urlopen(f"{url}/private.TOL")  # noqa: S310 - loopback
    assert missing.value.code == 404
    missing.value.close()
