"""The WSGI middleware behind real servers: that of the standard library, with its validator on both sides, and waitress."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.validate import validator

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.tol import read_tol
from parcahyd.authoring.wsgi import TablesMiddleware
from tests.authoring.small_application import KETTLE, SmallApplication

# In a process of its own: it cannot be stopped in a thread.
_WAITRESS = """
import waitress
from parcahyd.authoring.wsgi import TablesMiddleware
from tests.authoring.small_application import SmallApplication
server = waitress.create_server(TablesMiddleware(SmallApplication(streams=True).wsgi), host="127.0.0.1", port=0)
print(server.effective_port, flush=True)
server.run()
"""


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the standard library's
        """Nothing is printed."""


@pytest.fixture(params=["wsgiref", "waitress"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    # The validator raises where one side breaks a rule of PEP 3333; the server then answers 500.
    app = validator(TablesMiddleware(validator(SmallApplication(streams=True).wsgi)))
    if request.param == "wsgiref":
        with make_server("127.0.0.1", 0, app, handler_class=_Quiet) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
            thread.join()
        return
    pytest.importorskip("waitress", reason="waitress is not installed: pip install '.[author-test]'")
    command = [sys.executable, "-c", _WAITRESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as child:
        assert child.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.kill()


def test_page_and_tables(url: str) -> None:
    with urlopen(f"{url}/kettle") as page:  # noqa: S310 - loopback
        assert page.read() == KETTLE
        assert page.headers["Link"] == '<kettle.TOL>; rel="tol"'
    with urlopen(f"{url}/kettle.TOL") as answer:  # noqa: S310 - loopback
        assert answer.headers["Content-Type"] == "text/vnd.augment.tol; charset=utf-8"
        tag, tol = answer.headers["ETag"], read_tol(answer.read())
    assert not isinstance(tol, Refusal)
    assert (tol.head.tvi, tol.references) == ("kettle.TVI", ["/"])
    with pytest.raises(HTTPError) as unchanged:
        urlopen(Request(f"{url}/kettle.TOL", headers={"If-None-Match": tag}))  # noqa: S310 - loopback
    assert unchanged.value.code == 304
    unchanged.value.close()
    with urlopen(Request(f"{url}/kettle.TVI", method="HEAD")) as answer:  # noqa: S310 - loopback
        assert (answer.status, answer.read()) == (200, b"")


def test_no_table_of_what_is_one_visitors(url: str) -> None:
    with pytest.raises(HTTPError) as missing:
        urlopen(f"{url}/private.TOL")  # noqa: S310 - loopback
    assert missing.value.code == 404
    missing.value.close()
