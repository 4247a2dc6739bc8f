"""The Crawl Worker (P17): one process, one event loop, many connections, many sites visited at once.

A set arrives in MainQ; each pair of it becomes a `Visit`. The visit reads robots.txt, then drains its LocalQ; the
`Turnstile` says which visit may ask next, so that every host and address has its delay; `reading` takes a document's links;
records leave through the worker's `emit` for the Document and URL Buffer. A worker never asks the database anything.

worker.py joins the parts; visit.py is one site's story; turnstile.py is politeness; known_urls.py is what was seen;
answers.py and reading.py are what came back; scribe.py writes the records.
"""

from parcahyd.pipeline.crawl_worker.worker import CrawlWorker

__all__ = ["CrawlWorker"]
