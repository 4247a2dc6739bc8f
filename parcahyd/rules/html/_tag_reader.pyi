from collections.abc import Callable, Iterable

from parcahyd.rules.urls.canonical_url import Prefixes

__all__ = ["TagReader", "plain_leads"]

class TagReader:
    def read(
        self, body: bytes, learn: Callable[[bytes], tuple[bytes, bytes]], /
    ) -> tuple[list[bytes], bytes, list[bytes]] | None: ...
    def __len__(self) -> int: ...

def plain_leads(keys: Iterable[bytes], seen: set[bytes], prefixes: Prefixes, targets: set[str], /) -> list[str | bytes]: ...
