"""A crawl of the sample site, made once with the real program, for every test that looks at one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from parcahyd.sample.server import SampleServer

ROOT = Path(__file__).parents[2]


class Crawl(NamedTuple):
    """Where a crawl is configured, and the site that it stored."""

    conf: str
    site: str
    """With the slash at its end."""
    output: str
    """What `parcahyd run` wrote."""

    def arguments(self, command: str, *others: str) -> list[str]:
        return [command, "--conf", self.conf, *others]


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    conf = tmp_path_factory.mktemp("crawl")
    (conf / "MapConf.toml").write_text('AllowAddresses = ["127.0.0.0/8"]\n')
    (conf / "WorkConf.toml").write_text("HostDelay = 0.0\nHostConnections = 4\nMaxInstances = 1\n")
    with SampleServer() as server:
        command = [sys.executable, "-m", "parcahyd", "run", "--conf", str(conf), "--seed", server.url]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return Crawl(str(conf), server.url, done.stdout)
