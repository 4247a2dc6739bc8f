"""The tutorial: its commands are run as they stand there, in an empty folder, and show what it says they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.processes import TEST_TIMEOUT

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_AWAIT = """{python} - <<'END'
import re, time, urllib.request
from pathlib import Path
while not (found := re.search(r"http://\\S+", Path("site.log").read_text())):
    time.sleep(0.05)
urllib.request.urlopen(found[0]).close()
END
"""
"""A reader types the second command later than the first; a script has to wait for the server."""


def _blocks() -> list[tuple[str, str]]:
    return _BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def test_the_commands_do_what_the_page_says(tmp_path: Path, free_port: int) -> None:
    """All in one shell, as a reader has them; the port is another one, because somebody may use that of the page."""
    blocks = [(kind, text.replace("8090", str(free_port))) for kind, text in _blocks()]
    first, *others = [text for kind, text in blocks if kind == "sh"]
    script = tmp_path / "commands.sh"
    ended = 'trap "kill $! 2>/dev/null || true" EXIT\n'
    script.write_text("set -e\n" + first + ended + _AWAIT.format(python=sys.executable) + "".join(others), encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/sh", str(script)],
        cwd=folder,
        env={**os.environ, "PATH": programs},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "parcahyd: Work.MaxPages: was 5 -> is unset\n")
    said = done.stderr + done.stdout
    for kind, text in blocks:
        for line in text.splitlines() if kind == "text" else ():
            shown = re.escape(line).replace(re.escape("..."), ".*")
            assert re.search(rf"^{shown} *$", said, re.MULTILINE), f"{line}\n{said}"


def test_it_is_short_and_stays_on_this_machine() -> None:
    commands = [line for kind, text in _blocks() if kind == "sh" for line in text.splitlines()]
    assert 10 <= len(commands) <= 25
    assert {host for line in commands for host in re.findall(r"https?://([^/:\s]+)", line)} == {"127.0.0.1"}
