"""What compressing a document costs and leaves, by Compressor and CompressionLevel, and by the standard library beside them.

python bench/compression.py FOLDER... [--files 1000]
"""

from __future__ import annotations

import argparse
import random
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from parcahyd.config.schema import WorkConf
from parcahyd.storage.packing import compressor

__all__ = ["main", "measure"]

_LEVELS = (1, 2, 3, 6, 9)
_ROUNDS = 3


def measure(documents: Sequence[bytes], way: Callable[[bytes], bytes]) -> tuple[float, float]:
    """Microseconds of CPU per document, the best of some rounds, and the share of the bytes that is left."""
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        left = sum(len(way(document)) for document in documents)
        best = min(best, time.process_time() - began)
    return 1e6 * best / len(documents), left / sum(map(len, documents))


def _zlib_at(level: int) -> Callable[[bytes], bytes]:
    return lambda document: zlib.compress(document, level)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--files", type=int, default=1000, help="at most so many HTML files, chosen by chance")
    chosen = parser.parse_args()
    files = sorted(file for folder in chosen.folders for file in folder.rglob("*.htm*") if file.is_file())
    random.Random(1).shuffle(files)
    documents = [file.read_bytes() for file in files[: chosen.files]]
    print(f"{len(documents):,} documents of {sum(map(len, documents)) / max(len(documents), 1):,.0f} bytes on average\n")
    print("| way | µs per document | left |")
    print("|---|---|---|")
    ways = {f"zlib-ng, CompressionLevel {level}": compressor(WorkConf(CompressionLevel=level)) for level in _LEVELS}
    ways["isal"] = compressor(WorkConf(Compressor="isal"))
    ways |= {f"the standard library's zlib, level {level}": _zlib_at(level) for level in (1, 6)}
    for name, way in ways.items():
        cost, left = measure(documents, way)
        print(f"| {name} | {cost:.0f} | {100 * left:.1f} % |")


if __name__ == "__main__":
    main()
