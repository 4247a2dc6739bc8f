"""The links of documents that are lists by their protocol: the folder of an ftp server, the menu of a gopher server."""

from __future__ import annotations

__all__: list[str] = []
