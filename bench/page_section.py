"""A part of a Markdown page that a program writes, beside parts that others write.

It stands between two comments, and whatever is outside of them stays as it is:

    <!-- NAME begin -->
    <!-- NAME end -->
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["replace_section", "write_section"]


def replace_section(page: str, name: str, text: str) -> str:
    """The page with the section's text replaced; a section that is not there yet is put at the end."""
    begin, end = f"<!-- {name} begin -->", f"<!-- {name} end -->"
    section = f"{begin}\n\n{text.strip()}\n\n{end}"
    before, found_begin, rest = page.partition(begin)
    if not found_begin:
        return f"{page.rstrip()}\n\n{section}\n".lstrip()
    _, found_end, after = rest.partition(end)
    if not found_end:
        raise ValueError(f"the page has {begin} without {end}")
    return f"{before}{section}{after}"


def write_section(file: Path, name: str, text: str, title: str) -> None:
    """Replaces the section in a file, which starts with the title where it is new."""
    page = file.read_text(encoding="utf-8") if file.exists() else f"# {title}\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(replace_section(page, name, text), encoding="utf-8")
