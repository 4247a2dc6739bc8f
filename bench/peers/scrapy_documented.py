"""A Scrapy spider as the documentation writes one: `python scrapy_documented.py URL FOLDER`.

A CrawlSpider whose rule follows every link and hands each page to a callback that writes it to a file, with the library's
default settings and robots.txt obeyed, as in a new project. The pause of one second that a new project's template sets is
left out: with it the crawl would measure nothing but the pause.
"""
# mypy: ignore-errors
# Scrapy lives in an environment of its own.

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

_START, _FOLDER = sys.argv[1], Path(sys.argv[2])


class Site(CrawlSpider):
    name = "site"
    allowed_domains = (urlsplit(_START).hostname,)
    start_urls = (_START,)
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def parse_item(self, response: Response) -> None:
        (_FOLDER / hashlib.sha256(response.url.encode()).hexdigest()).write_bytes(response.body)

    parse_start_url = parse_item


if __name__ == "__main__":
    process = CrawlerProcess({"ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR"})
    process.crawl(Site)
    process.start()
