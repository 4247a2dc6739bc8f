"""What `parcahyd explain` tells of a site's tables."""

from __future__ import annotations

from parcahyd.augment.site_offer import Declaration, SiteOffer, write_offer
from parcahyd.cli.table_lines import table_lines

NOW = 1_700_000_000.0
URL = "http://host.example/docs/a.html"
ROBOTS = b"User-agent: *\n# Augment: 1; tol={stem}.TOL; tvi={stem}.TVI; bundle=/site.TOL\n"


def lines(url: str = URL, robots: bytes = ROBOTS, offer: SiteOffer | None = None) -> list[str]:
    return [*table_lines(url, robots, write_offer(offer) if offer else b"", "auto", NOW)]


def test_a_site_without_tables() -> None:
    assert lines(robots=b"User-agent: *\n") == ["the site declares none"]


def test_where_they_are_and_who_says_so() -> None:
    assert lines() == [
        "links at http://host.example/docs/a.TOL, what changes at http://host.example/docs/a.TVI, declared by robots.txt for /",
        'a bundle of links at http://host.example/site.TOL; Eager = "auto"',
    ]
    assert lines(f"{URL}?q=1")[0] == "none for this URL, declared by robots.txt for /"
    learned = SiteOffer((Declaration("/docs/", "{path}.TOL", within="/docs/"),))
    assert lines(robots=b"", offer=learned) == [
        "links at http://host.example/docs/a.html.TOL, declared by a page or a file of declarations for /docs/"
    ]
    assert lines("http://host.example/b", b"", learned) == ["the site declares some, but none for this URL"]


def test_what_is_ignored_and_what_is_missing() -> None:
    absent = (
        ("/docs/", NOW + 60),
        ("/old/", NOW + 60),
        ("/site.TOL", NOW + 60),
        ("*", NOW + 60),
        ("*.TVI", NOW + 60),
        ("/past.TOL", NOW - 1),
    )
    offer = SiteOffer(absent=absent, links_barred_until=NOW + 120, fragments_barred_until=NOW + 180)
    assert lines(offer=offer)[2:] == [
        "no tables are asked for in /docs/ before 2023-11-14 22:14:20Z: three were missing",
        "/site.TOL is not asked for before 2023-11-14 22:14:20Z",
        "no tables are asked for on this site before 2023-11-14 22:14:20Z: three were missing",
        "no tables of what changes are asked for on this site before 2023-11-14 22:14:20Z: three were missing",
        "its tables of links are ignored until 2023-11-14 22:15:20Z: its documents lack too many of them",
        "its tables of what changes are ignored until 2023-11-14 22:16:20Z: too many were wrong",
    ]
