"""The door to everything about tables: who goes through it, and when a plain site becomes an augmented one."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Literal

import pytest

import parcahyd.pipeline.crawl_worker as room
from parcahyd.augment.site_offer import Declaration, SiteOffer, write_offer
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, PageRecord, SiteRecord
from parcahyd.pipeline.crawl_worker import visit
from parcahyd.pipeline.crawl_worker.augmented.site import AugmentedSite, PlainSite
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.linked_pages import linking, robots
from tests.pipeline.crawl_worker.parted_pages import document, stored
from tests.pipeline.crawl_worker.world import Answer, World, page

_PACKAGE = "parcahyd.pipeline.crawl_worker.augmented"


def _public(of: type) -> dict[str, inspect.Signature]:
    return {name: inspect.signature(one) for name, one in vars(of).items() if name[0] != "_" and inspect.isfunction(one)}


def test_a_plain_site_and_an_augmented_one_are_asked_the_same() -> None:
    assert _public(PlainSite) == _public(AugmentedSite)
    assert len(_public(PlainSite)) >= 5


def test_the_rest_of_the_worker_knows_only_the_door() -> None:
    folder = Path(inspect.getfile(room)).parent
    imported = {
        (path.name, node.module)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE)
    }
    assert imported == {("visit.py", f"{_PACKAGE}.site"), ("next_request.py", f"{_PACKAGE}.site")}


def augmented(monkeypatch: pytest.MonkeyPatch) -> list[AugmentedSite]:
    """The augmented sites that visits construct from now on."""
    made: list[AugmentedSite] = []

    class Noted(AugmentedSite):
        def __init__(self, *arguments: object, **named: object) -> None:
            super().__init__(*arguments, **named)  # type: ignore[arg-type]
            made.append(self)

    monkeypatch.setattr(visit, "AugmentedSite", Noted)
    return made


def test_where_nothing_is_offered_the_site_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    made = augmented(monkeypatch)
    world = World({"/robots.txt": robots("User-agent: *", "Disallow: /x"), "/": page("a"), "/a": page()})
    world.visit("/")
    assert [record.path for record in world.of(PageRecord)] == ["/", "/a"]
    assert [record.augmentation for record in world.of(SiteRecord)] == [b""]
    assert made == []


@pytest.mark.parametrize("probe", ["well-known", "blind"])
def test_where_tables_are_requested_without_a_declaration_the_site_is_augmented(
    monkeypatch: pytest.MonkeyPatch, probe: Literal["well-known", "blind"]
) -> None:
    made = augmented(monkeypatch)
    World({"/": page()}, WorkConf(HostDelay=0.0, Probe=probe)).visit("/")
    assert len(made) == 1


def test_what_robots_an_earlier_visit_or_a_page_says_makes_a_site_augmented_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = augmented(monkeypatch)
    plain: dict[str, Answer] = {"/": page("a"), "/a": page()}
    World({**plain, "/robots.txt": robots("# Augment: 1")}).visit("/")
    assert len(made) == 1
    World(plain).visit("/", augmentation=write_offer(SiteOffer(declarations=(Declaration("/", "{stem}.TOL"),))))
    assert len(made) == 2
    World({"/": linking(page("a"), ("tol", "x.TOL")), "/a": linking(page(), ("tol", "a.TOL"))}).visit("/")
    assert len(made) == 3


def test_a_stored_document_that_is_refreshed_by_fragment_makes_its_site_augmented(monkeypatch: pytest.MonkeyPatch) -> None:
    made = augmented(monkeypatch)
    World({"/page.html": DownloadResult(304)}).visit(urls=(stored(document()), DueUrl(key_of("/a"), "/a")))
    assert len(made) == 1
