"""Crawlers for Node: spider-rs, with and without storing, and Crawlee."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from bench.complaint import Complaint
from bench.contenders.contender import Absent, Contender, Peers, Task

__all__ = ["crawlee", "spider_rs", "spider_rs_storing"]

_SCRIPTS = Path(__file__).resolve().parents[1] / "peers"
# The last version that was published together with its native part.
_SPIDER_RS = ("@spider-rs/spider-rs", "0.0.157")
_CRAWLEE = ("@crawlee/cheerio", "3.18.1")


def spider_rs(peers: Peers) -> Contender:
    """Follows links and drops the pages."""
    return _contender("spider-rs", _SPIDER_RS, "spider-rs.mjs", "drop", "stores nothing", peers)


def spider_rs_storing(peers: Peers) -> Contender:
    return _contender("spider-rs-storing", _SPIDER_RS, "spider-rs.mjs", "store", "writes plain files", peers)


def crawlee(peers: Peers) -> Contender:
    return _contender(
        "crawlee", _CRAWLEE, "crawlee.mjs", "store", "writes plain files; CheerioCrawler, 64 connections", peers, slow=True
    )


def _contender(
    name: str, package: tuple[str, str], script: str, mode: str, work: str, peers: Peers, *, slow: bool = False
) -> Contender:
    node = shutil.which("node")
    if node is None:
        raise Absent("node is not on PATH (Debian: apt install nodejs npm)")
    modules = _modules(package, peers)

    def command(task: Task) -> list[str]:
        return [node, str(_SCRIPTS / script), str(modules / package[0]), mode, task.url, str(task.output)]

    version = json.loads((modules / package[0] / "package.json").read_text(encoding="utf-8"))["version"]
    return Contender(name, version, work, command, slow=slow)


def _modules(package: tuple[str, str], peers: Peers) -> Path:
    """The folder of installed packages, with this one among them."""
    if peers.node_folder is None:
        raise Absent(f"needs the package {package[0]} of Node (--peers FOLDER --fetch installs it there)")
    modules = peers.node_folder.resolve() / "node_modules"
    if not (modules / package[0]).is_dir():
        if not peers.fetch:
            raise Absent(f"{package[0]} is not installed in the folder of --peers (--fetch installs it)")
        _install(package, peers.node_folder)
    return modules


def _install(package: tuple[str, str], folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Absent("npm is not on PATH (Debian: apt install npm)")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@".join(package)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Complaint(f"npm install {package[0]} ended with {done.returncode}:\n{done.stderr.strip()}")
