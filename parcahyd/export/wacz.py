"""Packs the parts of an archive into one WACZ file (WACZ 1.1.1): a ZIP file with WARC files, index, pages and their hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import msgspec

from parcahyd.core.version import __version__
from parcahyd.export.cdxj import merged_lines, write_blocks
from parcahyd.export.page_text import PAGES_HEADER

__all__ = ["pack_wacz"]

_PIECE = 1 << 20
_LEVEL = 1
_LARGE = 2_000_000_000
_BLOCKS = "index.cdx.gz"
_TABLE = "index.idx"


class _Resource(msgspec.Struct, frozen=True):
    """A file of the package, as `datapackage.json` lists it."""

    name: str
    path: str
    hash: str
    bytes: int


def pack_wacz(
    file: Path, warcs: Sequence[Path], indexes: Sequence[Path], pages: Sequence[Path], scratch: Path, made_at: float
) -> None:
    """Writes the package. The index is made in the folder `scratch`, which is removed by the caller."""
    blocks, table = scratch / _BLOCKS, scratch / _TABLE
    with blocks.open("wb") as blocks_file, table.open("wb") as table_file:
        write_blocks(merged_lines(indexes), blocks_file, table_file, _BLOCKS)
    with ZipFile(file, "w", ZIP_STORED, allowZip64=True, compresslevel=_LEVEL) as package:
        packer = _Packer(package, made_at)
        for warc in warcs:  # They are compressed, and a browser reads pieces of them where they are.
            packer.add(f"archive/{warc.name}", [warc], ZIP_STORED)
        packer.add(f"indexes/{_BLOCKS}", [blocks], ZIP_STORED)
        packer.add(f"indexes/{_TABLE}", [table], ZIP_DEFLATED)
        packer.add("pages/pages.jsonl", [PAGES_HEADER, *pages], ZIP_DEFLATED)
        packer.describe()


class _Packer:
    def __init__(self, package: ZipFile, made_at: float) -> None:
        self._package = package
        self._made_at = datetime.fromtimestamp(made_at, UTC)
        self._resources: list[_Resource] = []

    def add(self, path: str, content: Sequence[bytes | Path], compression: int) -> str:
        """Adds a file of some bytes and of other files; returns its hash."""
        self._package.compression = compression
        digest, length = sha256(), sum(len(part) if isinstance(part, bytes) else part.stat().st_size for part in content)
        # ReplayWeb.page looks for a file's bytes where they lie without the extra field for large files.
        with self._package.open(path, "w", force_zip64=length >= _LARGE) as member:
            for piece in _pieces(content):
                member.write(piece)
                digest.update(piece)
        found = f"sha256:{digest.hexdigest()}"
        self._resources.append(_Resource(path.rpartition("/")[2], path, found, length))
        return found

    def describe(self) -> None:
        """Adds the description of the package, and the hash of that."""
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "created": self._made_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "software": f"parcahyd/{__version__}",
            "resources": self._resources,
        }
        text = msgspec.json.format(msgspec.json.encode(package))
        digest = {"path": "datapackage.json", "hash": self.add("datapackage.json", [text], ZIP_DEFLATED)}
        self.add("datapackage-digest.json", [msgspec.json.encode(digest)], ZIP_DEFLATED)


def _pieces(content: Sequence[bytes | Path]) -> Iterator[bytes]:
    for part in content:
        if isinstance(part, bytes):
            yield part
            continue
        with part.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
