"""A Scrapy spider for speed: `python scrapy_tuned.py URL FOLDER`.

Links by one XPath, no request object for a URL that was seen, 64 connections, no middleware that this crawl does not need.
"""
# mypy: ignore-errors
# Scrapy lives in an environment of its own.

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

_START, _FOLDER = sys.argv[1], Path(sys.argv[2])
_ORIGIN = _START[: _START.index("/", 8) + 1]

_DOWNLOADER = "scrapy.downloadermiddlewares"
_SPIDER = "scrapy.spidermiddlewares"
_UNNEEDED_DOWNLOADER = (
    f"{_DOWNLOADER}.httpauth.HttpAuthMiddleware",
    f"{_DOWNLOADER}.downloadtimeout.DownloadTimeoutMiddleware",
    f"{_DOWNLOADER}.httpcompression.HttpCompressionMiddleware",
    f"{_DOWNLOADER}.httpproxy.HttpProxyMiddleware",
    f"{_DOWNLOADER}.stats.DownloaderStats",
)
_UNNEEDED_SPIDER = (
    f"{_SPIDER}.referer.RefererMiddleware",
    f"{_SPIDER}.urllength.UrlLengthMiddleware",
    f"{_SPIDER}.depth.DepthMiddleware",
)
_SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "DOWNLOADER_MIDDLEWARES": dict.fromkeys(_UNNEEDED_DOWNLOADER),
    "SPIDER_MIDDLEWARES": dict.fromkeys(_UNNEEDED_SPIDER),
}


class Site(scrapy.Spider):
    name = "site"
    start_urls = (_START,)

    def __init__(self) -> None:
        super().__init__()
        self._seen = {_START}

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        (_FOLDER / hashlib.sha256(response.url.encode()).hexdigest()).write_bytes(response.body)
        if not isinstance(response, HtmlResponse):
            return
        for href in set(response.xpath("//a/@href").getall()):
            url = response.urljoin(href).partition("#")[0]
            if url.startswith(_ORIGIN) and url not in self._seen:
                self._seen.add(url)
                yield scrapy.Request(url, dont_filter=True)


if __name__ == "__main__":
    process = CrawlerProcess(_SETTINGS)
    process.crawl(Site)
    process.start()
