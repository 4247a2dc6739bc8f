"""Links between sites of different schemes."""

from __future__ import annotations

import pytest

from parcahyd.core.states import Reason
from parcahyd.rules.urls.cross_links import ALWAYS_LOCAL, cross_refusal

_LOCAL = ALWAYS_LOCAL | {"rows"}


@pytest.mark.parametrize("asker", ["http", "https", "ftp", "gopher", "rows", ""])
def test_nothing_but_files_leads_to_files(asker: str) -> None:
    assert cross_refusal(asker, "file", 0, _LOCAL) is Reason.LOCAL


def test_documents_of_a_local_scheme_lead_to_each_other() -> None:
    assert cross_refusal("rows", "rows", 0, _LOCAL) is None
    assert cross_refusal("http", "rows", 0, _LOCAL) is Reason.LOCAL
    assert cross_refusal("file", "rows", 0, _LOCAL) is Reason.LOCAL


@pytest.mark.parametrize(("scheme", "port"), [("http", 8080), ("https", 443), ("ftp", 2121), ("gopher", 70), ("irc", 0)])
def test_everything_leads_to_servers(scheme: str, port: int) -> None:
    assert cross_refusal("file", scheme, port, _LOCAL) is None
    assert cross_refusal("http", scheme, port, _LOCAL) is None


@pytest.mark.parametrize("asker", ["http", "gopher"])
def test_nothing_leads_to_gopher_on_an_odd_port(asker: str) -> None:
    assert cross_refusal(asker, "gopher", 6379, _LOCAL) is Reason.PORT
