"""Where the sidecars of a document are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.sidecars import expand, is_of_document, is_template, resolve, stem, template_for
from parcahyd.rules.urls.canonical_url import canonical

SITE = "http://site.example"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/kettle.html", "/a/kettle"),
        ("/a/b.tar.gz", "/a/b.tar"),
        ("/a/b", "/a/b"),
        ("/a.d/b", "/a.d/b"),
        ("/a/.hidden", "/a/.hidden"),
        ("/a/.hidden.html", "/a/.hidden"),
        ("/a/b.", "/a/b"),
    ],
)
def test_stems(path: str, expected: str) -> None:
    assert stem(path) == expected


@pytest.mark.parametrize(
    ("template", "path", "expected"),
    [
        ("{stem}.TOL", "/a/kettle.html", "/a/kettle.TOL"),
        ("{path}.TOL", "/a/kettle.html", "/a/kettle.html.TOL"),
        ("{stem}.TOL", "/a/", "/a/index.TOL"),
        ("{path}.TOL", "/", "/index.html.TOL"),
        ("/tables{stem}.TOL", "/a/kettle.html", "/tables/a/kettle.TOL"),
        ("{stem}.TOL", "/a/kettle.html?x=1", None),
        ("{path}.TOL?{query}", "/a/b?x=1&y=/", "/a/b.TOL?x=1&y=/"),
        ("{path}.TOL?{query}", "/a/b", "/a/b.TOL"),
        ("{path}@{query}.TOL", "/a/b?x=../../../y?z", "/a/b@x=..%2F..%2F..%2Fy%3Fz.TOL"),
        ("{stem}.TOL", "/a/kettle.TOL", None),
        ("{stem}.html", "/a/", None),
        ("{stem}.TOL", "/a%20b.html", "/a%20b.TOL"),
    ],
)
def test_templates_lead_to_sidecars(template: str, path: str, expected: str | None) -> None:
    assert is_template(template)
    assert expand(template, SITE + path) == (expected and SITE + expected)


@pytest.mark.parametrize(
    "template",
    ["", ".TOL", "{stem}", "{path}", "{other}.TOL", "{stem}{stem}", "x{stem}.TOL",
      "//evil{stem}.TOL#", "{stem}#.TOL", "{stem} .TOL", "\\{stem}.TOL",
     "{stem}.TÖL", "/?{stem}", "{query}.TOL", "{stem}" + "x" * 2000],
)  # fmt: skip
def test_no_templates(template: str) -> None:
    assert not is_template(template)


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_a_template_never_leaves_the_origin(start: str, end: str, tail: str) -> None:
    template = f"/{start}{{path}}{end}"
    url = canonical(f"{SITE}/{tail}")
    if url is not None and is_template(template):
        sidecar = expand(template, url)
        assert sidecar is None or sidecar.startswith(f"{SITE}/")


@pytest.mark.parametrize(
    ("document", "sidecar", "template"),
    [
        ("/a/kettle.html", "/a/kettle.TOL", "{stem}.TOL"),
        ("/a/kettle.html", "/a/kettle.html.TOL", "{path}.TOL"),
        ("/a/kettle", "/a/kettle.TOL", "{stem}.TOL"),
        ("/a/", "/a/index.TOL", "{stem}.TOL"),
        ("/a/kettle.html", "/a/kettles.TOL", None),
        ("/a/kettle.html", "/a/tables/kettle.TOL", None),
        ("/a/kettle.html", "/a/kettle.html", None),
    ],
)
def test_a_page_teaches_a_template(document: str, sidecar: str, template: str | None) -> None:
    assert template_for(SITE + document, SITE + sidecar) == template


def test_a_sidecar_elsewhere_teaches_nothing() -> None:
    assert template_for(f"{SITE}/a.html", "http://other.example/a.TOL") is None


@pytest.mark.parametrize(
    ("reference", "document", "expected"),
    [
        ("kettle.html", "/a/kettle.html", True),
        ("/a/kettle.html", "/a/kettle.html", True),
        (f"{SITE}/a/kettle.html", "/a/kettle.html", True),
        ("./%6Bettle.html", "/a/kettle.html", True),
        ("kettle.html", "/a/cup.html", False),
        ("../kettle.html", "/a/kettle.html", False),
        ("http://other.example/a/kettle.html", "/a/kettle.html", False),
        ("https://site.example/a/kettle.html", "/a/kettle.html", False),
        ("index.html", "/a/", True),
        ("./", "/a/index.html", True),
        ("./", "/a/index.html?x", False),
        ("http://[", "/a/", False),
    ],
)
def test_a_table_is_of_the_document_asked_for(reference: str, document: str, expected: bool) -> None:
    assert is_of_document(f"{SITE}/a/kettle.TOL", reference, SITE + document) == expected


@given(st.text())
def test_any_reference_is_resolved_within_the_origin(reference: str) -> None:
    url = resolve(f"{SITE}/a/kettle.TOL", reference)
    assert url is None or url.startswith(f"{SITE}/")
