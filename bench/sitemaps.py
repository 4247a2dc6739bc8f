"""What reading a full sitemap costs, and what a hostile file can make it cost.

    python bench/sitemaps.py

Every file is made here. Times are CPU time of this process, the best of three.
"""

from __future__ import annotations

import gzip
import time

from parcahyd.rules.sitemaps.reader import MAX_DECODED, MAX_ENTRIES, read_sitemap

__all__ = ["main", "measure"]

_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
_ITEM = (
    b"  <url>\n    <loc>https://www.example.com/shop/products/%d.html?a=1&amp;b=2</loc>\n    <lastmod>"
    b"2024-05-%02dT10:%02d:%02d+00:00</lastmod>\n    <changefreq>daily</changefreq>\n    <priority>0.8</priority>\n  </url>\n"
)


def measure(body: bytes) -> tuple[float, int]:
    """Seconds, and how many entries were found."""
    seconds, entries = [], 0
    for _ in range(3):
        start = time.process_time()
        entries = len(read_sitemap(body).entries)
        seconds.append(time.process_time() - start)
    return min(seconds), entries


def _files() -> dict[str, bytes]:
    items = [_ITEM % (number, number % 28 + 1, number % 60, number // 60 % 60) for number in range(MAX_ENTRIES)]
    usual = _HEAD + b"".join(items) + b"</urlset>\n"
    return {
        "usual": usual,
        "usual, gzip": gzip.compress(usual),
        "usual, with one comment": usual.replace(b"</urlset>", b"<!-- --></urlset>"),
        "bare ampersands": usual.replace(b"&amp;", b"&"),
        "list of addresses": b"".join(
            [b"https://www.example.com/shop/products/%d.html\n" % number for number in range(MAX_ENTRIES)]
        ),
        "hostile: empty items": _HEAD + b"<url/>" * (MAX_DECODED // 6 - 99),
        "hostile: bare open items": b"<url>" * (MAX_DECODED // 5 - 99),
        "hostile: links of one entry": b"<feed><entry>" + b"<link href='a'/>" * (MAX_DECODED // 16 - 99),
        "hostile: one comment": _HEAD + b"<!--" + b"x" * (MAX_DECODED - 999),
        "hostile: gzip of blanks": gzip.compress(_HEAD + b" " * (4 * MAX_DECODED)),
    }


def main() -> None:
    print("| file | MB | entries | ms | entries/s |")
    print("|---|---|---|---|---|")
    for name, body in _files().items():
        seconds, entries = measure(body)
        print(f"| {name} | {len(body) / 1e6:.1f} | {entries:,} | {1e3 * seconds:.0f} | {entries / seconds:,.0f} |")


if __name__ == "__main__":
    main()
