from collections.abc import Callable

__all__ = ["TagReader"]

class TagReader:
    def read(
        self, body: bytes, learn: Callable[[bytes], tuple[bytes, bytes]], /
    ) -> tuple[list[bytes], bytes, list[bytes]] | None: ...
    def __len__(self) -> int: ...
