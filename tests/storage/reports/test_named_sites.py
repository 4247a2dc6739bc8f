"""Sites by host, by host and port, and by scheme, host and port."""

from __future__ import annotations

import pytest

from parcahyd.storage.reports.named_sites import named_sites
from parcahyd.storage.schema import sites
from tests.storage.desk import Desk


@pytest.mark.parametrize(
    ("name", "schemes_and_ports"),
    [
        ("a.example", {("http", 80), ("https", 443), ("http", 8080)}),
        ("a.example:8080", {("http", 8080)}),
        ("a.example:443", {("https", 443)}),
        ("https://a.example", {("https", 443)}),
        ("http://a.example:8080/", {("http", 8080)}),
        ("b.example", set()),
    ],
)
def test_a_name_stands_for_one_site_or_several(desk: Desk, name: str, schemes_and_ports: set[tuple[str, int]]) -> None:
    desk.begin()
    desk.seed("http://a.example/", "https://a.example/", "http://a.example:8080/", "http://aa.example/")
    found = {row["id"]: (row["scheme"], row["port"]) for row in desk.rows(sites)}
    with desk.look.connect() as connection:
        assert {found[number] for number in named_sites(connection, name)} == schemes_and_ports
