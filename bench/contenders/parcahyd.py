"""PARCAHYD, as `parcahyd run` crawls a site that is one's own, with some settings and in more than one version."""

from __future__ import annotations

import compileall
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import parcahyd
from bench.contenders.contender import Absent, Contender, Peers, Task
from bench.machine import python_build

__all__ = ["VARIANTS", "Variant", "makers", "plain"]

_ROOT = Path(__file__).resolve().parents[2]
# One host on loopback, and no pause: wget2 and the others may do so too.
_SETTINGS = ("Work.HostDelay=0", "Work.HostConnections=64", 'Map.AllowAddresses=["127.0.0.0/8"]')
_WORK = "compresses each page and commits it with its links to SQLite"


@dataclass(frozen=True)
class Variant:
    """One row of the report: which settings differ from the defaults, which checkout and which interpreter."""

    settings: tuple[str, ...] = ()
    remark: str = ""
    before: bool = False
    """The checkout that --before names."""
    elsewhere: bool = False
    """The interpreter that --other-python names."""


VARIANTS = {
    "parcahyd": Variant(),
    # Both sides of the comparison with another version compress with zlib-ng at the same level. In versions whose default is
    # ISA-L, level 2 selects zlib-ng.
    "parcahyd-zlib-ng": Variant(("Work.CompressionLevel=2",), "zlib-ng, level 2"),
    "parcahyd-before": Variant(("Work.CompressionLevel=2",), "another version; zlib-ng, level 2", before=True),
    "parcahyd-isal": Variant(('Work.Compressor="isal"',), "ISA-L"),
    "parcahyd-before-default": Variant((), "another version, its own defaults", before=True),
    "parcahyd-embedded": Variant(("Work.Embedded=true",), "images, scripts and styles too"),
    "parcahyd-elsewhere": Variant((), "another interpreter", elsewhere=True),
}


def makers() -> dict[str, Callable[[Peers], Contender]]:
    """What makes the contender of each variant."""
    return {name: partial(_made, name, variant) for name, variant in VARIANTS.items()}


def plain(peers: Peers) -> Contender:
    """The defaults."""
    return _made("parcahyd", VARIANTS["parcahyd"], peers)


def _made(name: str, variant: Variant, peers: Peers) -> Contender:
    root, python = _ROOT, peers.python
    if variant.before:
        if peers.before is None:
            raise Absent("needs a checkout of another version (--before CHECKOUT)")
        root = peers.before.resolve()
    if variant.elsewhere:
        if peers.other_python is None:
            raise Absent("needs another interpreter that has what PARCAHYD depends on (--other-python PYTHON)")
        python = peers.other_python
    work = f"{_WORK} ({variant.remark})" if variant.remark else _WORK
    return _contender(name, work, [*variant.settings, *peers.settings], python, root)


def _contender(name: str, work: str, settings: Sequence[str], python: str, root: Path) -> Contender:
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))}

    def command(task: Task) -> list[str]:
        conf = task.output / "conf"
        conf.mkdir()
        for file in ("MapConf.toml", "WorkConf.toml"):
            (conf / file).touch()
        sets = [argument for setting in (*_SETTINGS, *settings) for argument in ("--set", setting)]
        return [*_program(python, "run", task.output), "--seed", task.url, *sets]

    def verify(output: Path) -> str | None:
        program = _program(python, "verify", output)
        done = subprocess.run(
            program, capture_output=True, text=True, check=False, env=os.environ | environment, cwd=output
        )  # In this folder, `-m` would find this checkout first.
        return done.stdout + done.stderr if done.returncode else None

    # As installed: a checkout has no byte code where the environment forbids to write it, and would compile at every start.
    compileall.compile_dir(root / "parcahyd", quiet=1)
    version = f"{_version(root)}, {_tag_reader(root)}, Python {python_build(python)}"
    return Contender(name, version, work, command, check=verify, environment=environment)


def _program(python: str, command: str, output: Path) -> list[str]:
    return [python, "-m", "parcahyd", command, "--conf", str(output / "conf")]


def _tag_reader(root: Path) -> str:
    """Whether a checkout has the compiled module, wherever that version keeps it."""
    compiled = any((root / "parcahyd").rglob("_tag_reader*.so"))
    return "tag reader compiled" if compiled else "tag reader not compiled"


def _version(root: Path) -> str:
    """The version, and the commit where this is a checkout."""
    describe = ["git", "-c", f"safe.directory={root}", "describe", "--always", "--dirty=, changed since"]
    try:
        commit = subprocess.run(describe, cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return parcahyd.__version__
    return f"{parcahyd.__version__} ({commit})"
