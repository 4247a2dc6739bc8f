"""A default crawl runs on the packages that README names, and changes nothing about how modules are imported."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import parcahyd
from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer

PACKAGES = {"dns.resolver", "sqlalchemy", "pluggy", "zlib_ng.zlib_ng", "pycurl", "msgspec", "click"}
NOT_BY_DEFAULT = {"isal", "requests", "psycopg", "rich", "sqlalchemy.dialects.postgresql", "parcahyd.cluster.tables"}


def test_a_default_crawl_loads_what_readme_names(
    server: SiteServer, crawl: CrawlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every process of the run writes its import log to standard error."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    listener = server.listen()
    server.put("", generated_site(5))
    with DnsServer({"site.test": DnsName(("127.0.0.1",))}) as name_server:
        running = crawl({"Map.Nameservers": [name_server.nameserver]})
        finished = running.run(listener.url(host="site.test"))
    imported = set(re.findall(r"^import time:.*\| +(\S+)$", finished.err, re.MULTILINE))
    assert len(running.stored()) == 5
    assert PACKAGES - imported == set()
    assert NOT_BY_DEFAULT & imported == set()


def _changes_sys_modules(path: Path) -> bool:
    """Whether a file stores into sys.modules, deletes from it, or calls one of its methods."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute | ast.Subscript) and ast.unparse(node.value) == "sys.modules":
            is_read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
            if not is_read:
                return True
    return False


def test_no_module_takes_the_place_of_another() -> None:
    root = Path(parcahyd.__file__).parent
    # A plugin's file becomes a module under a name of its own.
    assert [str(path.relative_to(root)) for path in root.rglob("*.py") if _changes_sys_modules(path)] == ["third_party.py"]
