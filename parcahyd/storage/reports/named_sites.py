"""Sites by what a user calls them: a host, a host with its port, or scheme, host and port."""

from __future__ import annotations

from sqlalchemy import Connection, select

from parcahyd.core.records import origin
from parcahyd.storage.schema import sites

__all__ = ["named_sites"]


def named_sites(connection: Connection, name: str) -> list[int]:
    """The ids of the sites that a name stands for."""
    host = name.partition("://")[2].partition("/")[0] if "://" in name else name
    bare = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    statement = select(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port).where(sites.c.host.in_((host, bare)))
    return [
        number
        for number, scheme, its_host, port in connection.execute(statement)
        if name in (its_host, f"{its_host}:{port}") or name.rstrip("/") == origin(scheme, its_host, port).rstrip("/")
    ]
