"""Scrapy reads tables of links: a spider middleware, after docs/tol-tvi-format.md. It needs nothing of PARCAHYD.

    SPIDER_MIDDLEWARES = {"scrapy_tol.TolMiddleware": 950}

A site of the start requests is first asked for robots.txt and the `Augment` lines in it. A bundle that is named there is read,
and all its documents and links are scheduled at once. Else, where pages have tables beside them, each request is preceded by
one for its table, so that links are known before their page has come. Tables give hints: what they name passes the duplicate
filter, robots.txt and the other middlewares like any request, and the spider sees documents only.
"""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http import Response

LINE = re.compile(r"^[ \t]*(?:#[ \t]*)?augment[ \t]*:[ \t]*1[ \t]*(?:;(.*))?$", re.IGNORECASE | re.MULTILINE)
FOLLOWED = {"k=a", "k=area", "k=frame", "k=canonical", "k=alternate", "k=next"}


class TolMiddleware:
    def __init__(self) -> None:
        self.sites: dict[str, list[dict[str, str]]] = {}  # by origin: its declarations, the most specific first

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for found in start:
            if isinstance(found, Request) and (site := origin(found.url)) not in self.sites:
                self.sites[site] = []
                waiting = {"handle_httpstatus_all": True, "start": found}
                request = asked(site + "/robots.txt", self.read_robots, 500 << 10, dont_filter=True, meta=waiting)
                yield request.replace(errback=lambda failure: [failure.request.meta["start"]])
            else:
                yield found

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:  # noqa: ARG002
        async for found in result:
            if isinstance(found, Request) and found.callback != self.read_tables and (table := self.table_of(found.url)):
                yield asked(table, self.read_tables, 5 << 20, priority=found.priority + 1, meta={"table of": found.url})
            yield found

    def read_robots(self, response: Response) -> Iterator[Request]:
        lines = LINE.findall(response.body.decode("utf-8", "replace")) if response.status == 200 else []
        said = [{"scope": "/", **dict(field.strip().partition("=")[::2] for field in line.split(";"))} for line in lines]
        self.sites[origin(response.url)] = sorted(said, key=lambda each: -len(each["scope"]))
        for bundle in {each["bundle"]: None for each in said if each.get("bundle", "").startswith("/")}:
            yield asked(origin(response.url) + bundle, self.read_tables, 256 << 20)
        yield response.meta["start"]

    def read_tables(self, response: Response) -> Iterator[Request]:
        for headers, links in tables_of(response.body):
            document = join(response.url, headers["Document"])
            wanted = response.meta.get("table of", document).partition("#")[0]
            if origin(document) == origin(response.url) and wanted in (document, document.removesuffix("index.html")):
                base = join(document, headers.get("Base", ""))
                yield from (Request(url) for url in [wanted, *(join(base, link) for link in links)] if url)

    def table_of(self, url: str) -> str:
        """Where the document's table is; empty where it has none, or where a bundle says it all."""
        path, declared = urlsplit(url).path or "/", self.sites.get(origin(url), [])
        said = next((each for each in declared if f"{path}/".startswith(each["scope"].rstrip("/") + "/")), {"tol": ""})
        template = said.get("tol", "" if "tvi" in said else "{stem}.TOL")
        if urlsplit(url).query or "bundle" in said or not template.startswith(("{stem}", "{path}")):
            return ""
        path += said.get("index", "index.html") if path.endswith("/") else ""
        return origin(url) + template.replace("{stem}", re.sub(r"(?<=[^/])\.[^./]*$", "", path)).replace("{path}", path)


def tables_of(data: bytes) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Headers and links to other documents of each table in a file or bundle; after a fault or a cut comes nothing."""
    lines = iter(data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"))
    while next(lines, "") == "TOL/1":
        headers, links = dict(line.partition(": ")[::2] for line in iter(lambda: next(lines, ""), "")), []
        if not {"Document", "Hash"} <= headers.keys() or any(name.startswith("!") for name in headers):
            return
        while (line := next(lines, "end ")) and not line.startswith("end "):
            reference, *fields = line.split("\t")
            if line[0] != "#" and FOLLOWED.intersection(fields) and not re.search("\trel=[^\t]*nofollow", line):
                links.append(reference.replace("\\\\", "\\"))
        yield headers, [] if "nofollow" in headers.get("Robots", "").lower() else links


def asked(url: str, callback: Any, limit: int, meta: Any = None, **options: Any) -> Request:
    safely = {"dont_merge_cookies": True, "dont_redirect": True, "download_maxsize": limit, "download_warnsize": 0}
    return Request(url, callback, meta={**safely, **(meta or {})}, **options)


def join(base: str, reference: str) -> str:
    try:
        parts = urlsplit(url := urljoin(base, reference))
        return url if parts.scheme in ("http", "https") and parts.netloc and parts.port != 0 else ""
    except ValueError:  # it leads nowhere
        return ""


def origin(url: str) -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(url))
