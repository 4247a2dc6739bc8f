"""Writes the last section of docs/plugins.md, every name of `parcahyd.plugins` with its fields and methods, from the code.

`python -m parcahyd.cli.plugins_page docs/plugins.md` puts it into that file, and `make docs` does so.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from parcahyd import plugins
from parcahyd.core.states import Reason

__all__ = ["GROUPS", "HEADING", "main", "members", "with_reference"]

HEADING = "## Every name\n"

GROUPS: dict[str, tuple[str, ...]] = {
    "For every plugin": ("hookimpl", "MapConf", "WorkConf", "UserError"),
    "Resolvers": ("Resolver", "Resolution", "ResolutionFailure", "Reason", "AnswerCache"),
    "Downloaders": (
        *("Downloader", "ThreadedDownloader", "DownloadRequest", "RequestOptions", "GENERAL", "DownloadResult"),
        *("DownloadFailure", "ACCEPT_ENCODING", "codings_of"),
    ),
    "Orders": ("Order",),
    "Partition strategies": (
        *("Partitioner", "ByHash", "Routing", "Seen", "Neighbours", "Undecided", "JudgedPage", "Observation", "Observed"),
        *("ClusterView", "ClusterNode", "Plan", "SiteMove", "MAX_SHARED"),
    ),
    "Formats": (
        *("Recognizer", "Summarizer", "Summary", "Expander", "Member", "Skipped", "decode", "one_line", "Joiner"),
        *("MAX_TITLE", "MAX_LANGUAGE", "MAX_TEXT", "MAX_KEYWORDS", "MAX_LINKS", "MAX_HEADINGS", "MAX_WORD", "MAX_NAME"),
    ),
}
"""The names by what they are for, in the order of the page."""

_OPENING = f"""{HEADING}
What `parcahyd.plugins` exports, with fields, types and methods. The section is made from the code: `make docs` writes it anew.
"""
_SAID_ELSEWHERE = {
    "hookimpl": "Marks the functions of a plugin that implement a [hook](#the-hooks).",
    "MapConf": "The settings of MapConf.toml as attributes: see [settings](settings.md).",
    "WorkConf": "The settings of WorkConf.toml as attributes: see [settings](settings.md).",
    "GENERAL": "`RequestOptions()`, the options of nearly every request.",
    "ACCEPT_ENCODING": "The value of the header of that name in every request: the codings that the crawl can undo.",
}


def with_reference(page: str) -> str:
    """The page with its last section made anew."""
    return page.partition(HEADING)[0] + "\n".join([_OPENING, *_sections()])


def _sections() -> Iterator[str]:
    for group, names in GROUPS.items():
        yield f"### {group}\n"
        constants = [name for name in names if name.startswith("MAX_")]
        for name in names:
            if name not in constants:
                yield from _entry(name, getattr(plugins, name))
        if constants:
            yield "| bound | value |\n|---|---|"
            yield from (f"| `{name}` | {getattr(plugins, name):,} |" for name in constants)
            yield ""


def _entry(name: str, value: object) -> Iterator[str]:
    if name in _SAID_ELSEWHERE:
        yield f"**`{name}`**: {_SAID_ELSEWHERE[name]}\n"
        return
    if not inspect.isclass(value):
        yield f"**`{name}{_signature(ast.parse(_source(value)).body[0])}`**: {_prose(inspect.getdoc(value))}\n"
        return
    yield f"**`{_constructor(value)}`**: {_prose(inspect.getdoc(value))}\n"
    rows = list(members(value))
    if rows:
        yield "| member | type | |\n|---|---|---|"
        yield from (f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)
        yield ""


def members(kind: type) -> Iterator[tuple[str, str, str]]:
    """Of a class: each public field, member of an enumeration or method, its type, and what its docstring says."""
    if kind is Reason:
        yield from ((f"`{reason.name}`", f'`"{reason.word}"`', reason.sentence) for reason in Reason)
        return
    body = _body(kind)
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
            yield f"`{node.target.id}`", f"`{ast.unparse(node.annotation)}{default}`", _said(following)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id[0] != "_":
            yield f"`{node.targets[0].id}`", f"`{ast.unparse(node.value)}`", _said(following)
        elif isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            yield f"`{node.name}{_parameters(node)}`", f"`{_returns(node)}`", _prose(ast.get_docstring(node))


def _body(kind: type) -> list[ast.stmt]:
    (node,) = ast.parse(_source(kind)).body
    return node.body if isinstance(node, ast.ClassDef) else []


def _source(value: object) -> str:
    return textwrap.dedent(inspect.getsource(value))  # type: ignore[arg-type]  # classes and functions


def _constructor(kind: type) -> str:
    """The class, with what it is made with where a plugin makes it itself."""
    made = next((node for node in _body(kind) if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    return kind.__name__ if made is None or issubclass(kind, Enum) else kind.__name__ + _parameters(made)


def _signature(node: ast.stmt) -> str:
    return f"{_parameters(node)} -> {_returns(node)}" if isinstance(node, ast.FunctionDef) else ""


def _parameters(node: ast.FunctionDef) -> str:
    written = ast.unparse(node.args)
    return f"({written.removeprefix('self').removeprefix(', ')})"


def _returns(node: ast.FunctionDef) -> str:
    return "" if node.returns is None else ast.unparse(node.returns)


def _said(node: ast.stmt | None) -> str:
    """What the docstring of a field says, which is the statement after it."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return _prose(node.value.value) if is_text else ""  # type: ignore[union-attr]  # it is one


def _prose(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Writes the section into the file that is named."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m parcahyd.cli.plugins_page docs/plugins.md\n")
        return 2
    page = Path(arguments[0])
    page.write_text(with_reference(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
