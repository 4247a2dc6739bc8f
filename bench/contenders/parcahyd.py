"""PARCAHYD, as `parcahyd run` crawls a site that is one's own."""

from __future__ import annotations

import compileall
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import parcahyd
from bench.contenders.contender import Absent, Contender, Peers, Task
from bench.machine import python_build

__all__ = ["before", "elsewhere", "embedding", "plain"]

_ROOT = Path(__file__).resolve().parents[2]
# One host on loopback, and no pause: what wget2 and the others are allowed too.
_SETTINGS = ("Work.HostDelay=0", "Work.HostConnections=64", 'Map.AllowAddresses=["127.0.0.0/8"]')
_WORK = "compresses each page and commits it with its links to SQLite"


def plain(peers: Peers) -> Contender:
    """Pages only, which is the default."""
    return _contender("parcahyd", _WORK, peers.settings, peers.python)


def embedding(peers: Peers) -> Contender:
    """What pages embed is fetched too, as wget2 does it."""
    work = f"{_WORK}, and images, scripts and styles too"
    return _contender("parcahyd-embedded", work, [*peers.settings, "Work.Embedded=true"], peers.python)


def before(peers: Peers) -> Contender:
    """Another version of PARCAHYD, by the same interpreter and its packages."""
    if peers.before is None:
        raise Absent("needs a checkout of another version (--before CHECKOUT)")
    return _contender("parcahyd-before", _WORK, peers.settings, peers.python, peers.before.resolve())


def elsewhere(peers: Peers) -> Contender:
    """The same version by another interpreter."""
    if peers.other_python is None:
        raise Absent("needs another interpreter that has what PARCAHYD depends on (--other-python PYTHON)")
    return _contender("parcahyd-elsewhere", _WORK, peers.settings, peers.other_python)


def _contender(name: str, work: str, settings: Sequence[str], python: str, root: Path = _ROOT) -> Contender:
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
    version = f"{_version(root)}, {_tag_reader(python, environment, root)}, Python {python_build(python)}"
    return Contender(name, version, work, command, check=verify, environment=environment)


def _program(python: str, command: str, output: Path) -> list[str]:
    return [python, "-m", "parcahyd", command, "--conf", str(output / "conf")]


def _tag_reader(python: str, environment: dict[str, str], root: Path) -> str:
    """Whether the one module that can be compiled was; of a version that has none, that it was not."""
    program = [python, "-c", "import parcahyd.rules._tag_reader"]
    done = subprocess.run(program, capture_output=True, check=False, env=os.environ | environment, cwd=root)
    return "tag reader compiled" if done.returncode == 0 else "tag reader not compiled"


def _version(root: Path) -> str:
    """The version, and the commit where this is a checkout."""
    describe = ["git", "-c", f"safe.directory={root}", "describe", "--always", "--dirty=, changed since"]
    try:
        commit = subprocess.run(describe, cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return parcahyd.__version__
    return f"{parcahyd.__version__} ({commit})"
