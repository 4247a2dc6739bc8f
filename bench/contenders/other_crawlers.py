"""Every other crawler: programs that copy a site into plain files, crawlers for Node, Scrapy, and libcurl as the limit."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pycurl

from bench.contenders.contender import Absent, Contender, Peers, Task

__all__ = [
    "crawlee",
    "httrack",
    "limit",
    "puf",
    "scrapy_documented",
    "scrapy_tuned",
    "spider_rs",
    "spider_rs_storing",
    "wget",
    "wget2",
]

_SCRIPTS = Path(__file__).resolve().parents[1] / "peers"
_FILES = "writes plain files, and fetches what pages embed"
_DEAD_LINKS = 8
"""The exit code of both wgets when some link was dead."""
# The last version that was published together with its native part.
_SPIDER_RS = ("@spider-rs/spider-rs", "0.0.157")
_CRAWLEE = ("@crawlee/cheerio", "3.18.1")


def limit(peers: Peers) -> Contender:
    """libcurl fetches the known URLs, and nothing is done with them. No crawler in one thread can be faster."""

    def command(task: Task) -> list[str]:
        return [peers.python, str(_SCRIPTS / "known_list.py"), str(task.known)]

    version = pycurl.version.split()[0].removeprefix("PycURL/").strip('"')
    return Contender(
        "limit", f"pycurl {version}", "fetches a list of all URLs that it was given, and drops the bodies", command
    )


def wget2(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("wget2", "wget2")
    options = ["--recursive", "--level=inf", "--no-parent", "--max-threads=64", "--robots=on", "--quiet"]

    def command(task: Task) -> list[str]:
        return [program, *options, f"--directory-prefix={task.output}", task.url]

    return Contender("wget2", _version([program, "--version"]), _FILES, command, (0, _DEAD_LINKS))


def wget(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("wget", "wget")
    options = ["--recursive", "--level=inf", "--no-parent", "--execute=robots=on", "--no-verbose"]

    def command(task: Task) -> list[str]:
        return [program, *options, f"--directory-prefix={task.output}", task.url]

    return Contender("wget", _version([program, "--version"]), _FILES, command, (0, _DEAD_LINKS), slow=True)


def httrack(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("httrack", "httrack")
    # Its limits of connections and of bytes per second are lifted; -s2: robots.txt counts; -I0 -q: no index, no questions.
    options = ["--sockets=64", "--max-rate=0", "--connection-per-second=0", "--disable-security-limits", "-s2", "-I0", "-q"]

    def command(task: Task) -> list[str]:
        return [program, task.url, "--path", str(task.output), *options]

    return Contender("httrack", _version([program, "--version"]), f"{_FILES}, links rewritten", command, slow=True)


def puf(peers: Peers) -> Contender:  # noqa: ARG001 # every maker takes the peers
    program = _program("puf", "puf")
    # The whole server, what pages embed too, 64 connections, no display. It does not know robots.txt.
    options = ["-r+", "-pr+", "-lc", "64", "-ns"]

    def command(task: Task) -> list[str]:
        return [program, *options, "-P", str(task.output), task.url]

    return Contender("puf", _version([program, "-h"]), _FILES, command)


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Absent(f"not on PATH (Debian: apt install {package})")
    return found


def _version(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.[\d.]*\d(?:[-+]\d+)?", done.stdout + done.stderr)
    return found[0] if found else "unknown version"


def spider_rs(peers: Peers) -> Contender:
    """Follows links and drops the pages."""
    return _for_node("spider-rs", _SPIDER_RS, "spider-rs.mjs", "drop", "stores nothing", peers)


def spider_rs_storing(peers: Peers) -> Contender:
    return _for_node("spider-rs-storing", _SPIDER_RS, "spider-rs.mjs", "store", "writes plain files", peers)


def crawlee(peers: Peers) -> Contender:
    work = "writes plain files; CheerioCrawler, 64 connections"
    return _for_node("crawlee", _CRAWLEE, "crawlee.mjs", "store", work, peers, slow=True)


def _for_node(
    name: str, package: tuple[str, str], script: str, mode: str, work: str, peers: Peers, *, slow: bool = False
) -> Contender:
    node = shutil.which("node")
    if node is None:
        raise Absent("node is not on PATH (Debian: apt install nodejs npm)")
    modules = _node_modules(package, peers)

    def command(task: Task) -> list[str]:
        return [node, str(_SCRIPTS / script), str(modules / package[0]), mode, task.url, str(task.output)]

    version = json.loads((modules / package[0] / "package.json").read_text(encoding="utf-8"))["version"]
    return Contender(name, version, work, command, slow=slow)


def _node_modules(package: tuple[str, str], peers: Peers) -> Path:
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
    install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@".join(package)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"npm install {package[0]} ended with {done.returncode}:\n{done.stderr.strip()}")


def scrapy_documented(peers: Peers) -> Contender:
    """A CrawlSpider with the library's default settings. A new project's template would add a pause of one second."""
    work = "writes plain files; CrawlSpider and default settings, without the pause of a new project's template"
    return _scrapy("scrapy-documented", "scrapy_documented.py", work, peers, slow=True)


def scrapy_tuned(peers: Peers) -> Contender:
    work = "writes plain files; 64 connections, only the middleware it needs"
    return _scrapy("scrapy-tuned", "scrapy_tuned.py", work, peers)


def _scrapy(name: str, spider: str, work: str, peers: Peers, *, slow: bool = False) -> Contender:
    def command(task: Task) -> list[str]:
        return [peers.scrapy, str(_SCRIPTS / spider), task.url, str(task.output)]

    return Contender(name, _scrapy_version(peers.scrapy), work, command, slow=slow)


def _scrapy_version(python: str) -> str:
    try:
        done = subprocess.run(
            [python, "-c", "import scrapy; print(scrapy.__version__)"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        remedy = "python -m venv FOLDER && FOLDER/bin/pip install scrapy, then --scrapy FOLDER/bin/python"
        raise Absent(f"the interpreter has no Scrapy ({remedy})") from None
    return done.stdout.strip()
