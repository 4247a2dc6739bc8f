from __future__ import annotations

import io
import json
import zlib
from pathlib import Path

from parcahyd.export.cdxj import index_line, merged_lines, timestamp, write_blocks
from parcahyd.export.exchanges import Kind
from tests.export.samples import AT, exchange


def test_a_line() -> None:
    line = index_line(exchange("http://www.a.example/B"), "response", "x.warc.gz", 10, 20)
    assert line is not None
    key, time, fields = line.decode().split(" ", 2)
    assert (key, time) == ("example,a)/b", "20260304050607")
    assert json.loads(fields) == {
        "url": "http://www.a.example/B",
        "mime": "text/html",
        "status": "200",
        "digest": f"sha256:{exchange().payload_sha256.hex()}",
        "length": "20",
        "offset": "10",
        "filename": "x.warc.gz",
    }
    assert timestamp(AT) == time


def test_a_revisit_says_so_and_what_cannot_be_replayed_has_no_line() -> None:
    line = index_line(exchange(), "revisit", "x", 0, 1)
    assert line is not None
    assert b'"mime":"warc/revisit"' in line
    assert index_line(exchange(), "conversion", "x", 0, 1) is None
    assert index_line(exchange(kind=Kind.NOT_MODIFIED), "revisit", "x", 0, 1) is None


def test_sorted_parts_are_merged(tmp_path: Path) -> None:
    parts = [tmp_path / "a", tmp_path / "b"]
    parts[0].write_bytes(b"a 1 {}\nc 1 {}\n")
    parts[1].write_bytes(b"a 2 {}\nb 1 {}\n")
    assert list(merged_lines(parts)) == [b"a 1 {}\n", b"a 2 {}\n", b"b 1 {}\n", b"c 1 {}\n"]


def test_blocks_are_found_by_their_table() -> None:
    lines = [b"k%05d 1 {}\n" % number for number in range(3000)]
    blocks, table = io.BytesIO(), io.BytesIO()
    write_blocks(lines, blocks, table, "index.cdx.gz")
    head, *rows = table.getvalue().decode().splitlines()
    assert head == '!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}'
    assert [row.split(" ")[0] for row in rows] == ["k00000", "k01024", "k02048"]
    read = b""
    for row in rows:
        where = json.loads(row.split(" ", 2)[2])
        read += zlib.decompress(blocks.getvalue()[where["offset"] : where["offset"] + where["length"]], 31)
    assert read == b"".join(lines)
