"""Crawls one site breadth first and focused, and reports how many of the first requests brought pages of a topic.

    python bench/focused.py DATA --target student --follow other
    python bench/focused.py DATA --orders

With `--orders` it crawls in each built-in order instead, and reports how much of the PageRank of the whole site the first
requests brought.

DATA are counts with links (docs/lab/data.md). A model is trained with the pages of `--train`. The pages of the other groups are
served on loopback: their words in an order that depends on nothing but the page, and their links. The crawl begins at a page
that links to the `--start` pages, one request at a time. Harvest is judged by the true topics.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from parcahyd.lab.labelled_pages import chosen, read_labelled, read_links
from parcahyd.lab.page_ranks import page_ranks
from parcahyd.topics.linear import train_linear
from parcahyd.topics.training import LabelledPage, trainable

__all__ = ["ServedPages", "harvest", "main"]

_SHARES = (0.10, 0.25, 0.50)


class ServedPages:
    """A site of labelled pages, and the order in which they were requested."""

    def __init__(
        self, pages: Sequence[LabelledPage], links: Sequence[Sequence[int]], served: Sequence[int], start: str
    ) -> None:
        inside = set(served)
        self.requested: list[int] = []
        self._bodies = {f"/{row}": (row, _html(pages[row], [to for to in links[row] if to in inside])) for row in served}
        self._bodies["/"] = (-1, _links([row for row in served if pages[row].topic == start]))
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # Head and body in one packet.

            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        row, body = self._bodies.get(request.path, (-1, b""))
        request.send_response(200 if body else 404)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        if row >= 0:
            self.requested.append(row)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _html(page: LabelledPage, links: Sequence[int]) -> bytes:
    words = [
        (crc32(b"%d %b %b" % (number, word, page.url.encode())), word)
        for word, count in page.words.items()
        for number in range(count)
    ]
    return b"<!DOCTYPE html><title>.</title><p>%b</p>%b" % (b" ".join(word for _, word in sorted(words)), _links(links))


def _links(rows: Sequence[int]) -> bytes:
    return b"".join(b'<a href="/%d">.</a>' % row for row in rows)


def harvest(topics: Sequence[str], target: str, shares: Sequence[float] = _SHARES) -> list[float]:
    """The share of pages of a topic among the first requests, for each share of all requests."""
    cuts = [max(1, round(len(topics) * share)) for share in shares]
    return [sum(topic == target for topic in topics[:cut]) / cut for cut in cuts]


def main(arguments: Sequence[str] | None = None) -> None:
    """Both crawls, and a line for each."""
    options = _parser().parse_args(arguments)
    if not (options.orders or options.follow):
        sys.exit("name topics with --follow, or compare --orders")
    pages = read_labelled(options.data).pages
    links = read_links(options.data, len(pages))[0]
    served = [row for row, page in enumerate(pages) if page.group != options.train]
    with tempfile.TemporaryDirectory(prefix="focused-") as scratch:
        if options.orders:
            _compare_orders(pages, links, served, options.start, Path(scratch))
            return
        model = Path(scratch) / "m.model"
        model.write_bytes(train_linear(trainable(chosen(pages, [options.train])), "en", has_pieces=False).encode())
        print(f"{'crawl':34}  pages  {'  '.join(f'{share:5.0%}' for share in _SHARES)}")
        focus = f"Work.FollowTopics=[{', '.join(repr(topic) for topic in options.follow or ())}]"
        for name, settings in (
            ("breadth first", []),
            (f"{' and '.join(options.follow)} first", [f"Work.Topics={model}", focus]),
        ):
            site = ServedPages(pages, links, served, options.start)
            _crawl(site.url, Path(scratch) / f"{len(settings)}.db", settings)
            rates = harvest([pages[row].topic for row in site.requested], options.target)
            site.close()
            print(f"{name:34}  {len(site.requested):5}  {'  '.join(f'{rate:5.1%}' for rate in rates)}")


def _compare_orders(
    pages: Sequence[LabelledPage], links: Sequence[Sequence[int]], served: Sequence[int], start: str, scratch: Path
) -> None:
    places = {row: place for place, row in enumerate(served)}
    ranks = page_ranks([[places[target] for target in links[row] if target in places] for row in served])
    print(f"{'order':34}  pages  {'  '.join(f'{share:5.0%}' for share in _SHARES)}")
    for order in ("depth", "in-links", "pagerank"):
        site = ServedPages(pages, links, served, start)
        _crawl(site.url, scratch / f"{order}.db", [f"Work.Order={order}"])
        found = [ranks[places[row]] for row in site.requested]
        site.close()
        parts = [sum(found[: round(len(found) * share)]) / sum(found) for share in _SHARES]
        print(f"{order:34}  {len(found):5}  {'  '.join(f'{part:5.1%}' for part in parts)}")


def _crawl(url: str, database: Path, settings: Sequence[str]) -> None:
    fixed = ["Work.HostDelay=0", "Work.MaxInstances=1", 'Map.AllowAddresses=["127.0.0.0/8"]', "Work.TemplateBudget=0"]
    options = [part for setting in (*fixed, *settings) for part in ("--set", setting)]
    command = [sys.executable, "-m", "parcahyd", "run", url, "--db", str(database), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--target", default="student", help="the topic that is looked for")
    parser.add_argument("--orders", action="store_true", help="compare orders")
    parser.add_argument("--follow", action="append", help="a topic whose links are followed first; repeat it")
    parser.add_argument("--train", default="misc", help="the group that the model is trained with")
    parser.add_argument("--start", default="department", help="the topic of the pages that the crawl begins with")
    return parser


if __name__ == "__main__":
    main()
