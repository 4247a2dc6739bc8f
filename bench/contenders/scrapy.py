"""Scrapy, once as its documentation has it and once as those tune it who need speed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.contenders.contender import Absent, Contender, Peers, Task

__all__ = ["documented", "tuned"]

_SPIDERS = Path(__file__).resolve().parents[1] / "peers"


def documented(peers: Peers) -> Contender:
    """A CrawlSpider with the library's default settings. A new project's template would add a pause of one second."""
    work = "writes plain files; CrawlSpider and default settings, without the pause of a new project's template"
    return _contender("scrapy-documented", "scrapy_documented.py", work, peers, slow=True)


def tuned(peers: Peers) -> Contender:
    return _contender(
        "scrapy-tuned", "scrapy_tuned.py", "writes plain files; 64 connections, only the middleware it needs", peers
    )


def _contender(name: str, spider: str, work: str, peers: Peers, *, slow: bool = False) -> Contender:
    def command(task: Task) -> list[str]:
        return [peers.scrapy, str(_SPIDERS / spider), task.url, str(task.output)]

    return Contender(name, _version(peers.scrapy), work, command, slow=slow)


def _version(python: str) -> str:
    try:
        done = subprocess.run(
            [python, "-c", "import scrapy; print(scrapy.__version__)"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        remedy = "python -m venv FOLDER && FOLDER/bin/pip install scrapy, then --scrapy FOLDER/bin/python"
        raise Absent(f"the interpreter has no Scrapy ({remedy})") from None
    return done.stdout.strip()
