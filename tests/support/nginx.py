"""nginx for tests, on a port that no other process can take.

The listening socket is made here and handed to nginx, which takes inherited sockets from its variable NGINX. So no time passes
between the choice of a port and its binding, and a client need not wait until nginx is up.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

__all__ = ["find_nginx", "nginx"]


def find_nginx() -> str | None:
    """Where nginx lies; None where it is not installed."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")


@contextlib.contextmanager
def nginx(folder: Path, configuration: Callable[[int], str]) -> Iterator[int]:
    """Runs nginx in a folder with the configuration for a port, which is given; skips, and says why, where it does not run."""
    program = find_nginx()
    if program is None:
        pytest.skip("nginx is not installed")
    file, errors = folder / "nginx.conf", folder / "errors"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        file.write_text(configuration(port))
        options = ["-p", str(folder), "-e", str(errors), "-c", str(file)]
        checked = subprocess.run([program, "-t", *options], capture_output=True, text=True, check=False)
        if checked.returncode:
            pytest.skip(f"nginx does not start: {checked.stderr[:300]}")
        descriptor = listening.fileno()
        environment = {**os.environ, "NGINX": f"{descriptor};"}
        server = subprocess.Popen([program, *options], env=environment, pass_fds=(descriptor,), stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        server.terminate()
        server.wait()
