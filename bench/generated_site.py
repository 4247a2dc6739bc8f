"""A site for machines that have no other: pages of made-up words, the same ones every time."""

from __future__ import annotations

import random
from pathlib import Path

__all__ = ["PAGES", "generate"]

PAGES = 2_000
_FOLDER_PAGES = 50
_LINKS = 60
_PARAGRAPHS = 40
_WORDS = 60
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def generate(root: Path, pages: int = PAGES) -> None:
    """Writes the pages below a folder: `index.html` and folders of fifty, each page with links to sixty others."""
    chance = random.Random(pages)
    vocabulary = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(2_000)]
    for number in range(pages):
        file = root / _name(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_page(number, pages, vocabulary, chance), encoding="utf-8")


def _name(number: int) -> str:
    return f"part{number // _FOLDER_PAGES:02}/page{number:04}.html" if number else "index.html"


def _page(number: int, pages: int, vocabulary: list[str], chance: random.Random) -> str:
    up = "../" if number else ""
    # The next page and those at twice the number make every page reachable, most of them in a few steps.
    targets = {(number + 1) % pages, 2 * number % pages, (2 * number + 1) % pages}
    targets |= {chance.randrange(pages) for _ in range(_LINKS - len(targets))}
    links = [f'<a href="{up}{_name(target)}">{chance.choice(vocabulary)}</a>' for target in sorted(targets)]
    paragraphs = [f"<p>{' '.join(chance.choices(vocabulary, k=_WORDS))}.</p>" for _ in range(_PARAGRAPHS)]
    for place, link in enumerate(links):
        paragraphs[place % _PARAGRAPHS] += f" See {link}."
    title = f"Page {number}"
    head = f'<!DOCTYPE html>\n<html lang="la">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
    return f"{head}<body>\n<h1>{title}</h1>\n" + "\n".join(paragraphs) + "\n</body>\n</html>\n"
