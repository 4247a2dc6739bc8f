"""Pages with tables of links, and the settings and records of visits to them."""

from __future__ import annotations

from parcahyd.augment.document_tables import tol_of
from parcahyd.augment.site_offer import SiteOffer, read_offer
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import SiteRecord
from tests.pipeline.crawl_worker.world import Answer, World, page

__all__ = ["DAY", "NOW", "chain", "eager", "linking", "offer_of", "robots", "table", "text"]

DAY = 86_400.0
NOW = 1000.0


def robots(*lines: str) -> DownloadResult:
    return DownloadResult(200, (("Content-Type", "text/plain"),), "\n".join(lines).encode())


def table(document: DownloadResult, name: str) -> bytes:
    made = tol_of(document.body, name, header_charset="utf-8")
    assert isinstance(made, bytes)
    return made


def text(body: bytes, kind: str = "text/plain") -> DownloadResult:
    return DownloadResult(200, (("Content-Type", kind),), body)


def chain(length: int, *, far: bool = False) -> dict[str, Answer]:
    """Pages that each link to the next one, with a bundle of their tables."""
    pages = {
        f"/{number}.html": page(f"{number + 1}.html", *([f"http://far.example/{number}"] if far else []))
        for number in range(length - 1)
    }
    pages[f"/{length - 1}.html"] = page()
    bundle = b"".join(table(answer, path[1:]) for path, answer in pages.items())
    declared = robots("User-agent: *", "Allow: /", "# Augment: 1; tol={stem}.TOL; tvi={stem}.TVI; bundle=/site.TOL")
    return {"/robots.txt": declared, **pages, "/site.TOL": text(bundle)}


def eager(**settings: object) -> WorkConf:
    return WorkConf(**{"HostDelay": 0.0, "HostConnections": 8, "Eager": "always", **settings})  # type: ignore[arg-type]


def offer_of(world: World) -> SiteOffer:
    return read_offer(next((record.augmentation for record in reversed(world.of(SiteRecord)) if record.augmentation), b""))


def linking(answer: DownloadResult, *relations: tuple[str, str], by_header: bool = False) -> DownloadResult:
    if by_header:
        value = ", ".join(f'<{target}>; rel="{relation}"' for relation, target in relations)
        return DownloadResult(200, (*answer.headers, ("Link", value)), answer.body)
    links = "".join(f'<link rel="{relation}" href="{target}">' for relation, target in relations)
    return DownloadResult(200, answer.headers, b"<!doctype html>" + links.encode() + answer.body)
