"""The snippet for nginx, run by nginx."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from parcahyd.augment.site_offer import declaration_from_links
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from tests.support.nginx import find_nginx, nginx

pytestmark = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed, so its snippet is not tried")
SNIPPET = Path(__file__).parents[2] / "docs" / "nginx" / "augment.conf"

CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    types {{ text/html html htm; }}
    access_log off;
    client_body_temp_path {folder}/t1;
    proxy_temp_path {folder}/t2;
    fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4;
    scgi_temp_path {folder}/t5;
    server {{
        listen 127.0.0.1:{port};
        root {site};
        include {snippet};
    }}
}}
"""


@pytest.fixture
def url(site: Path, tmp_path: Path) -> Iterator[str]:
    build(make_plan(site))
    (site / "a b.html").write_text("<a href=x>")
    user = "user root;" if os.geteuid() == 0 else ""  # else its worker cannot read the test's folder

    def configuration(port: int) -> str:
        return CONFIGURATION.format(user=user, folder=tmp_path, site=site, snippet=SNIPPET, port=port)

    with nginx(tmp_path, configuration) as port:
        yield f"http://127.0.0.1:{port}"


def test_tables_are_served_as_such(url: str, site: Path) -> None:
    for name, kind in (("kettle.TOL", "tol"), ("kettle.TVI", "tvi"), ("site.TOL", "tol")):
        with urlopen(f"{url}/{name}") as answer:  # noqa: S310 - loopback
            assert answer.headers["Content-Type"] == f"text/vnd.augment.{kind}; charset=utf-8"
            assert answer.headers["Cache-Control"] == "no-cache"
            assert answer.read() == (site / name).read_bytes()
            tag = answer.headers["ETag"]
        with pytest.raises(HTTPError) as unchanged:
            urlopen(Request(f"{url}/{name}", headers={"If-None-Match": tag}))  # noqa: S310 - loopback
        assert unchanged.value.code == 304
        unchanged.value.close()


def test_tables_are_compressed(url: str) -> None:
    with urlopen(Request(f"{url}/site.TOL", headers={"Accept-Encoding": "gzip"})) as answer:  # noqa: S310 - loopback
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("page", "table"),
    [("/kettle.html", "/kettle.TOL"), ("/", "/index.TOL"), ("/sub/", "/sub/index.TOL"), ("/a%20b.html", None)],
)
def test_pages_name_their_tables(url: str, page: str, table: str | None) -> None:
    with urlopen(url + page) as answer:  # noqa: S310 - loopback
        assert answer.headers["Content-Type"] == "text/html"
        assert answer.headers["Link"] == (f'<{table}>; rel="tol"' if table else None)
    if table is not None:
        declaration = declaration_from_links(url + page, tol=table)
        assert declaration is not None
        assert declaration.tol_of(url + page) == url + table


@pytest.mark.parametrize("path", ["/.augment.json", "/nowhere.TOL", "/a%0d%0aX:%20y.html"])
def test_what_is_not_there(url: str, path: str) -> None:
    with pytest.raises(HTTPError) as missing:
        urlopen(url + path)  # noqa: S310 - loopback
    assert (missing.value.code, missing.value.headers["X"], missing.value.headers["Link"]) == (404, None, None)
    missing.value.close()
