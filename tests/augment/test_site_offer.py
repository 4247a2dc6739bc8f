"""What is kept of a site's tables."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.refusal import Refusal, RefusalReason
from parcahyd.augment.site_offer import (
    MAX_ABSENT,
    MAX_DECLARATIONS,
    NOTHING_OFFERED,
    Declaration,
    SiteOffer,
    choose,
    declaration_from_links,
    declarations_in,
    read_declaration,
    read_offer,
    restricted_to_directory,
    write_declaration,
    write_offer,
)

OFFER = SiteOffer((Declaration("/docs/", "{stem}.TOL", within="/docs/"),), (("/old/", 5.0),), 3, 1, 0.0, 2, 99.0)


def test_what_is_written_is_read_back() -> None:
    assert read_offer(write_offer(OFFER)) == OFFER
    assert read_offer(b"") == NOTHING_OFFERED


@pytest.mark.parametrize(
    "data",
    [
        write_offer(OFFER)[:-1],
        b"\xc1",
        write_offer(msgspec.structs.replace(OFFER, form=2)),
        write_offer(msgspec.structs.replace(OFFER, absent=(("/", 1.0),) * (MAX_ABSENT + 1))),
    ],
)
def test_what_is_damaged_or_of_another_form_is_nothing(data: bytes) -> None:
    assert read_offer(data) == NOTHING_OFFERED


SITE = "http://site.example"
TEXT = "1; scope=/docs/; tol={stem}.TOL; tvi={stem}.TVI; index=index.html; bundle=/docs/site.TOL"
DOCS = Declaration("/docs/", "{stem}.TOL", "{stem}.TVI", "index.html", "/docs/site.TOL")


def test_the_example_of_the_specification() -> None:
    assert read_declaration(TEXT) == DOCS
    assert write_declaration(DOCS) == TEXT
    assert DOCS.tol_of(f"{SITE}/docs/a.html") == f"{SITE}/docs/a.TOL"
    assert DOCS.tvi_of(f"{SITE}/docs/") == f"{SITE}/docs/index.TVI"
    assert DOCS.bundle_of(SITE) == f"{SITE}/docs/site.TOL"
    assert DOCS.tol_of(f"{SITE}/a.html") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", Declaration("/", "{stem}.TOL", "{stem}.TVI")),
        (" 1 ;scope = /a ;", Declaration("/a", "{stem}.TOL", "{stem}.TVI")),
        ("1; bundle=/all.TOL", Declaration(bundle="/all.TOL")),
        ("1; TOL={path}.TOL; tol={stem}.TOL; future=x", Declaration(tol="{path}.TOL")),
        ("2; scope=/", RefusalReason.VERSION),
        ("", RefusalReason.DECLARATION),
        ("one", RefusalReason.DECLARATION),
        ("1; scope=docs", RefusalReason.DECLARATION),
        ("1; scope=", RefusalReason.DECLARATION),
        ("1; scope=/a/../b/", RefusalReason.DECLARATION),
        ("1; scope=http://other/", RefusalReason.DECLARATION),
        ("1; scope=//other/", Declaration("//other/", "{stem}.TOL", "{stem}.TVI")),
        ("1; tol=http://evil{stem}.TOL", RefusalReason.DECLARATION),
        ("1; tol=x", RefusalReason.DECLARATION),
        ("1; bundle=site.TOL", RefusalReason.DECLARATION),
        ("1; index=../x", RefusalReason.DECLARATION),
        ("1; index=..", RefusalReason.DECLARATION),
    ],
)
def test_reading(text: str, expected: Declaration | RefusalReason) -> None:
    answer = read_declaration(text)
    assert (answer.reason if isinstance(answer, Refusal) else answer) == expected


def test_robots_and_files() -> None:
    text = (
        b"User-agent: *\r\nDisallow: /x\r\n# Augment: 1; scope=/a/\r\nAugment: 1; scope=/b/\n"
        b"  #augment:1;scope=/c/\nAugment: 9\nAugmented: 1\n# see Augment: 1\nAugment: 1; scope=\xff\nAugment: 1; scope=/d/"
    )
    assert [declaration.scope for declaration in declarations_in(text)] == ["/a/", "/b/", "/c/", "/d/"]
    assert len(declarations_in(b"Augment: 1\n" * 1000)) == MAX_DECLARATIONS


@given(st.binary())
def test_any_bytes_are_read(noise: bytes) -> None:
    for declaration in declarations_in(b"Augment: 1; scope=/" + noise + b"\nAugment: 1;" + noise):
        declaration.tol_of(f"{SITE}/a.html")


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_a_declaration_is_written_only_as_it_is_read(scope: str, tol: str, tvi: str, index: str, bundle: str) -> None:
    declaration = Declaration(f"/{scope}", f"{{stem}}{tol}", tvi, index or "index.html", bundle)
    text = write_declaration(declaration)
    assert isinstance(text, Refusal) or read_declaration(text) == declaration


@pytest.mark.parametrize(
    ("scope", "speaker", "expected"),
    [
        ("/", "/~alice/page.html", ("/~alice/", "/~alice/")),
        ("/~alice/", "/~alice/page.html", ("/~alice/", "/~alice/")),
        ("/~alice", "/~alice/page.html", ("/~alice/", "/~alice/")),
        ("/~alice/x/", "/~alice/page.html", ("/~alice/x/", "/~alice/")),
        ("/~bob/", "/~alice/page.html", None),
        ("/~alice/", "/~alice-too/", None),
        ("/", "/augment.txt?x=/a/", ("/", "/")),
    ],
)
def test_a_page_speaks_for_its_own_directory(scope: str, speaker: str, expected: tuple[str, str] | None) -> None:
    held = restricted_to_directory(msgspec.structs.replace(DOCS, scope=scope), SITE + speaker)
    assert (held and (held.scope, held.within)) == expected


def test_what_a_page_names_stays_in_its_directory() -> None:
    wide = Declaration("/", "/~bob{path}.TOL", "{path}.TVI", bundle="/all.TOL")
    held = restricted_to_directory(wide, f"{SITE}/~alice/index.html")
    assert held is not None
    assert held.tol_of(f"{SITE}/~alice/a.html") is None
    assert held.tvi_of(f"{SITE}/~alice/a.html") == f"{SITE}/~alice/a.html.TVI"
    assert held.tvi_of(f"{SITE}/~bob/a.html") is None
    assert held.bundle_of(SITE) is None
    climbing = restricted_to_directory(Declaration("/", "{path}/../../../~bob/x.TOL"), f"{SITE}/~alice/index.html")
    assert climbing is not None
    assert climbing.tol_of(f"{SITE}/~alice/a.html") is None


def test_the_most_specific_scope_wins() -> None:
    whole, docs, same, file = Declaration("/"), DOCS, Declaration("/docs/"), Declaration("/docs/a.html")
    held = [whole, docs, same, file]
    assert choose(held, f"{SITE}/x") is whole
    assert choose(held, f"{SITE}/docs/b.html") is docs
    assert choose(held, f"{SITE}/docs/a.html?q") is file
    assert choose(held, f"{SITE}/docs-old/") is whole
    assert choose([docs], f"{SITE}/x") is None


def test_a_page_teaches_the_template_for_its_neighbours() -> None:
    taught = declaration_from_links(f"{SITE}/a/b.html", "b.TOL", "/a/b.TVI")
    assert taught == Declaration("/a/", "{stem}.TOL", "{stem}.TVI", within="/a/")
    assert taught.tol_of(f"{SITE}/a/c/d.html") == f"{SITE}/a/c/d.TOL"
    assert declaration_from_links(f"{SITE}/a/b.html", "http://evil.example/a/b.TOL") is None
    assert declaration_from_links(f"{SITE}/a/b.html", "other.TOL") is None
    assert declaration_from_links(f"{SITE}/a/b.html", "http://[") is None
    assert declaration_from_links(f"{SITE}/a/b.html") is None
