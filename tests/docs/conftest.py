from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_port() -> int:
    """A port on 127.0.0.1 that nothing used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
