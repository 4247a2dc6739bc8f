"""Draws the picture of a crawl that README.md begins with: what a terminal shows of a real crawl.

    python bench/picture.py

Three copies of the sample site are served on loopback and crawled by `parcahyd run`, with a delay that lets the crawl last some
seconds. What the run reports is written to `docs/crawl.jsonl`, a state in the middle and the summary; `docs/crawl.svg` is drawn
from that by the code of the live display. A test draws it again and compares the words, so the picture cannot lag behind.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import msgspec
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from parcahyd.cli.live_display import draw, summary_lines
from parcahyd.core.progress import Progress, RunSummary
from parcahyd.sample.server import SampleServer

__all__ = ["PICTURE", "STATES", "crawl", "main", "picture", "words"]

DOCS = Path(__file__).resolve().parents[1] / "docs"
STATES, PICTURE = DOCS / "crawl.jsonl", DOCS / "crawl.svg"
_SITES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
_SIZE = 88, 30
_SETTINGS = {
    "MapConf.toml": 'AllowAddresses = ["127.0.0.0/8"]\n',
    "WorkConf.toml": "HostDelay = 0.3\nMaxInstances = 2\n",
}
_LOADED_FONT = re.compile(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", re.DOTALL)
"""Fonts are not loaded from elsewhere: whoever looks at a page need not tell a third site. Comments are not needed."""


def crawl() -> list[str]:
    """A real crawl: its command, a state about its middle, and its summary, a line each."""
    with ExitStack() as stack:
        servers = [stack.enter_context(SampleServer(address)) for address in _SITES]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "conf").mkdir()
        for name, text in _SETTINGS.items():
            (folder / "conf" / name).write_text(text, encoding="utf-8")
        arguments = ["run", *[server.url for server in servers]]
        command = [sys.executable, "-m", "parcahyd", *arguments, "--interval", "0"]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    *states, summary = done.stdout.splitlines()
    return [f"$ parcahyd {' '.join(arguments)}", states[len(states) // 2], summary]


def picture(recorded: list[str]) -> str:
    """The picture of a recorded crawl, as SVG."""
    command, state, summary = recorded
    ended = msgspec.json.decode(summary, type=RunSummary)
    snapshot = msgspec.json.decode(state, type=Progress)
    width, height = _SIZE
    console = Console(record=True, file=io.StringIO(), width=width, height=height, highlight=False, force_terminal=True)
    console.print(Text(command, style="bold green"))
    console.print(draw(snapshot, console))
    console.print(Text(f"\n... and {ended.seconds - snapshot.seconds:.0f} seconds later:\n", style="dim"))
    for line in summary_lines(ended, snapshot.at):
        console.print(Text(line))
    drawn = console.export_svg(title="parcahyd run", theme=DIMMED_MONOKAI, unique_id="crawl")
    return "\n".join(line.rstrip() for line in _LOADED_FONT.sub("", drawn).splitlines()) + "\n"


def words(svg: str) -> list[str]:
    """The words of a picture, without how they are drawn."""
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    return " ".join(texts).replace("&#160;", " ").split()


def main() -> None:
    recorded = crawl()
    STATES.write_text("\n".join(recorded) + "\n", encoding="utf-8")
    PICTURE.write_text(picture(recorded), encoding="utf-8")
    print(f"{PICTURE.name} and {STATES.name} are written")


if __name__ == "__main__":
    main()
