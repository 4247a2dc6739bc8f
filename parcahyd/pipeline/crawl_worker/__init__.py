"""The Crawl Worker (P17): one process with one event loop, which visits many sites at once over many connections.

A set arrives in MainQ; each pair of it becomes a `Visit`. The visit reads robots.txt, then drains its LocalQ. The
`RequestScheduler` decides which visit may send its request next, so that every host and address has its delay. Records go
through the worker's `emit` to the Document and URL Buffer. A worker has no connection to the database.

To follow one page: worker.py starts the request that next_request.py has planned; visit.py takes the answer;
document_reader.py reads the document; new_links.py finds its new links, which url_filter.py judges; record_writer.py writes the
record. Beside them: request_scheduler.py keeps the delays, backoff.py leaves sites and addresses alone, site_robots.py obeys
robots.txt, and augmented/ is for sites that offer tables.
"""

from parcahyd.pipeline.crawl_worker.worker import CrawlWorker

__all__ = ["CrawlWorker"]
