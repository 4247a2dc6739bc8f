"""Measures the document fingerprint DF (statement P23) on real files: collisions, copies, and bytes that sharing saves.

    python bench/fingerprints.py FOLDER... [--crawl FOLDER]

The first table fingerprints every file below the folders. With `--crawl`, the given folder is also served under three host
names and crawled, and the second table says what the database kept of the three copies.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from parcahyd.rules.html.fingerprints import fingerprint

__all__ = ["Count", "count_files", "crawl_three_hosts", "main"]

_ROOT = Path(__file__).resolve().parents[1]
_HOSTS = ("one.test", "two.test", "three.test")


@dataclass
class Count:
    """What was seen: documents, their fingerprints, and how many bytes are copies of others."""

    files: int = 0
    total_bytes: int = 0
    saved_bytes: int = 0
    collisions: int = 0
    digests: set[bytes] = field(default_factory=set)
    fingerprints: dict[int, bytes] = field(default_factory=dict)
    """The first SHA-256 that was seen with each DF."""

    def add(self, document: bytes) -> None:
        # A file without volatile regions is its own skeleton.
        df, digest = fingerprint(document)
        self.files += 1
        self.total_bytes += len(document)
        if digest in self.digests:
            self.saved_bytes += len(document)
            return
        self.digests.add(digest)
        if self.fingerprints.setdefault(df, digest) != digest:
            self.collisions += 1


def count_files(folders: Iterable[Path]) -> Count:
    """Every regular file below the folders, links not followed."""
    count = Count()
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            count.add(file.read_bytes())
    return count


def _file_table(count: Count) -> Iterator[str]:
    expected = comb(len(count.digests), 2) / 2**64
    yield "| files | bytes | distinct SHA-256 | distinct DF | DF collisions | expected collisions | bytes saved |"
    yield "|---|---|---|---|---|---|---|"
    distinct = f"{len(count.digests):,} | {len(count.fingerprints):,}"
    saved = f"{count.saved_bytes:,} ({count.saved_bytes / max(count.total_bytes, 1):.1%})"
    yield f"| {count.files:,} | {count.total_bytes:,} | {distinct} | {count.collisions} | {expected:.1e} | {saved} |"


# --- one site under three names ----------------------------------------------------------------------------------------


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # the name is the base class's
        """Says nothing: the crawl reports."""


@contextmanager
def _served(folder: Path) -> Iterator[int]:
    handler = functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def _parcahyd(conf: Path, *arguments: str) -> bytes:
    command = [sys.executable, "-m", "parcahyd", arguments[0], "--conf", str(conf), *arguments[1:]]
    return subprocess.run(command, check=True, capture_output=True, cwd=_ROOT).stdout


def crawl_three_hosts(folder: Path, start: str) -> dict[str, Any]:
    """Crawls the folder under three host names; the answer of `parcahyd status --json`."""
    with tempfile.TemporaryDirectory() as temporary, _served(folder) as port:
        conf = Path(temporary) / "conf"
        conf.mkdir()
        (conf / "hosts").write_text(f"127.0.0.1 {' '.join(_HOSTS)}\n")
        (conf / "MapConf.toml").write_text(
            'DnsResolverClass = "hosts-file"\nHostsFile = "hosts"\nAllowAddresses = ["127.0.0.0/8"]\n'
        )
        (conf / "WorkConf.toml").write_text("HostDelay = 0\nHostConnections = 8\n")
        seeds = [argument for host in _HOSTS for argument in ("--seed", f"http://{host}:{port}/{start}")]
        _parcahyd(conf, "run", *seeds)
        status: dict[str, Any] = json.loads(_parcahyd(conf, "status", "--json"))
        return status


def _crawl_table(status: dict[str, Any]) -> Iterator[str]:
    received = sum(site["received"] for site in status["top_sites"])
    pages = sum(site["pages"] for site in status["top_sites"])
    saved = received - status["document_bytes"]
    yield "| host names | pages | bytes received | documents | bytes of documents | bytes saved | bytes on disk, compressed |"
    yield "|---|---|---|---|---|---|---|"
    kept = f"{status['documents']:,} | {status['document_bytes']:,}"
    share = f"{saved:,} ({saved / max(received, 1):.1%})"
    yield f"| {len(_HOSTS)} | {pages:,} | {received:,} | {kept} | {share} | {status['stored_bytes']:,} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Document fingerprints over real files.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--crawl", type=Path, metavar="FOLDER", help="serve this folder under three host names and crawl it")
    parser.add_argument("--start", default="index.html")
    chosen = parser.parse_args(arguments)
    print("\n".join(_file_table(count_files(chosen.folders))))
    if chosen.crawl is not None:
        print("\n" + "\n".join(_crawl_table(crawl_three_hosts(chosen.crawl.resolve(), chosen.start))))


if __name__ == "__main__":
    main()
