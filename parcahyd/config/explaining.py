"""Describes the settings: for messages, as commented conf files and as docs/settings.md. All of it follows from `schema.py`.

`python -m parcahyd.config` prints them.
"""

from __future__ import annotations

import functools
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import inspect

from parcahyd.config.database_url import DATABASE_KEYS, without_password
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf

__all__ = [
    "SECRETS",
    "SECRETS_OF_OVERRIDES",
    "Conf",
    "Declared",
    "SettingLine",
    "commented",
    "declared",
    "declared_of_host",
    "explain",
    "main",
    "plain",
    "render_conf",
    "render_docs",
    "secret_headers",
    "shown",
    "toml_text",
    "without_secrets",
]


# --- Secret values: no message repeats them, no command shows them, and the database does not hold them -----------------


SECRETS = ("DbUrl", "DbPassword", "Proxy", "Credentials", "Headers", "Host")
"""Settings whose values no message repeats."""
SECRETS_OF_OVERRIDES = ("DbUrl", "DbPassword", "Proxy")
"""Those that `--set` takes; a key that is spelled nearly like one of them is a secret too."""

_OPEN_HEADERS = frozenset({"accept", "accept-language", "dnt", "from", "referer"})
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


def secret_headers(work: WorkConf) -> frozenset[str]:
    """Names, in lower case, of the headers of requests whose values are not shown."""
    given = {name.lower() for rule in work.Host for name in rule.Headers or {}}
    return _SECRET_HEADERS | (given - _OPEN_HEADERS)


def without_secrets(key: str, value: object) -> object:
    """A setting's value, as it may be shown and recorded: passwords are hidden, variables that hold one are named.

    Rules of hosts become plain tables. Of their headers only those that are never secret are shown.
    """
    match key:
        case "DbUrl" | "Proxy":
            return value and without_password(str(value))
        case "DbPassword" | "Credentials":
            return _hidden(value)
        case "Headers" if isinstance(value, dict):
            return {name: text if name.lower() in _OPEN_HEADERS else _hidden(text) for name, text in value.items()}
        case "Host" if isinstance(value, tuple):
            rules = [msgspec.to_builtins(rule) for rule in value]
            return [{name: without_secrets(name, one) for name, one in rule.items() if one is not None} for rule in rules]
    return value


def _hidden(value: object) -> object:
    return value if not value or str(value).startswith("env:") else "***"


Conf = Literal["Map", "Work"]
"""Which of the two files."""

_CONFS: dict[Conf, type[MapConf | WorkConf]] = {"Map": MapConf, "Work": WorkConf}

_SECTIONS: dict[Conf, dict[str, str]] = {
    "Map": {
        "DbUrl": "Database",
        "DnsResolverClass": "Mappers",
        "AllowAddresses": "Addresses and names",
        "PluginDir": "Plugins",
    },
    "Work": {
        "DbUrl": "Database",
        "DownloaderClass": "Downloader",
        "Seeds": "Seeds and scope",
        "MaxPathSegments": "Traps",
        "UserAgent": "Politeness",
        "MaxInstances": "Workers",
        "TimeoutConnect": "Time limits and trust",
        "MaxTries": "Retries and revisits",
        "MaxSize": "Storage and stopping",
        "Host": "Single hosts",
    },
}
"""Each section by the key that opens it; a section ends where the next one opens, in the schema's order."""

_COMMENT_WIDTH = 100
_LONGEST_SHOWN = 80


class Declared(msgspec.Struct, frozen=True):
    """One key as the schema declares it."""

    key: str
    annotation: Any
    """What `msgspec.convert` checks a value against."""
    kind: str
    """The annotation in words that follow "expected": "a number of at least 0"."""
    default: Any
    sentence: str
    is_text: bool
    """The value is written as text: the text after `--set KEY=` needs no quotes."""
    choices: tuple[str, ...]
    """The only values there are, or empty."""
    belongs_to: str
    """Whose setting it is: "crawl", "user", "run" or "apart", as `schema.py` explains; empty for a key of [[Host]]."""


class SettingLine(msgspec.Struct, frozen=True):
    """One setting as it is in force, in texts ready to be shown; passwords are hidden."""

    name: str
    """As `--set` takes it: "Work.HostDelay"."""
    value: str
    """In TOML; "unset" for a key that is left out and has no default of its own."""
    default: str
    source: str
    """"MapConf.toml:12", "--set" or "default"."""
    sentence: str
    kind: str


@functools.cache
def declared(which: Conf) -> Mapping[str, Declared]:
    """The keys of one file, in the schema's order."""
    return _declared_in(_CONFS[which])


@functools.cache
def declared_of_host() -> Mapping[str, Declared]:
    """The keys of a [[Host]] table, in the schema's order."""
    return _declared_in(HostRule)


def explain(configuration: Configuration) -> Iterator[SettingLine]:
    """Every setting in force, MapConf's first, each in the schema's order."""
    for which, conf in _both(configuration):
        for key, setting in declared(which).items():
            name = f"{which}.{key}"
            yield SettingLine(
                name=name,
                value=toml_text(without_secrets(key, getattr(conf, key))),
                default=toml_text(setting.default),
                source=configuration.sources.get(name, "default"),
                sentence=setting.sentence,
                kind=_kind_with_unset(setting),
            )


def toml_text(value: object) -> str:
    """A value as TOML writes it, always in one line; None, which TOML cannot write, is "unset"."""
    match value:
        case None:
            return "unset"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{"".join(map(_escaped, value))}"'
        case list() | tuple():
            return f"[{', '.join(map(toml_text, value))}]"
        case dict():
            return f"{{{', '.join(f'{toml_text(key)} = {toml_text(item)}' for key, item in value.items())}}}"
    return str(value)


def shown(value: object) -> str:
    """A value for a message: as TOML writes it, cut when it is long."""
    return _cut(toml_text(value))


def plain(text: str) -> str:
    """A name for a message: the text itself in one line, cut when it is long."""
    return _cut(text if text.isprintable() else toml_text(text)[1:-1])


def render_conf(which: Conf) -> str:
    """One whole conf file: every key with its default, and its sentence as a comment."""
    lines = [
        *commented(f"{which}Conf.toml. {_CONFS[which].__doc__}"),
        "#",
        *commented(
            "Every key stands here with its default; a key that is left out keeps it. "
            f"`--set {which}.KEY=VALUE` on the command line goes before this file, "
            "`parcahyd config` shows what is in force and why. Relative paths start in this folder."
        ),
    ]
    for title, settings in _sections(which):
        lines += ["", "", f"# ---- {title} {'-' * (_COMMENT_WIDTH - len(title) - 8)}"]
        if which == "Work" and settings[0].key in DATABASE_KEYS:
            lines += ["", *commented("The database keys of MapConf.toml serve both files; given here too, they must agree.")]
            lines += [f"# {setting.key} = {toml_text(setting.default)}" for setting in settings]
            continue
        for setting in settings:
            rows = _host_table() if setting.key == "Host" else [_assignment(setting)]
            lines += ["", *commented(setting.sentence), *rows]
    return "\n".join(lines) + "\n"


def render_docs() -> str:
    """The whole of docs/settings.md."""
    parts = [_DOCS_OPENING]
    for which, struct in _CONFS.items():
        parts.append(f"## {which}Conf.toml\n\n{struct.__doc__}\n")
        for title, settings in _sections(which):
            rows = "\n".join(map(_table_row, settings))
            parts.append(f"### {title}\n\n| key | value | default | meaning |\n|---|---|---|---|\n{rows}\n")
    parts.append(f"### [[Host]]\n\n{HostRule.__doc__}\n\n{_DOCS_HOST}")
    rows = "\n".join(map(_host_row, declared_of_host().values()))
    parts.append(f"| key | value | meaning |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> int:
    """Prints what the arguments name; 2 and a line of usage when they name nothing."""
    match arguments:
        case ["conf", "Map"]:
            sys.stdout.write(render_conf("Map"))
        case ["conf", "Work"]:
            sys.stdout.write(render_conf("Work"))
        case ["docs"]:
            sys.stdout.write(render_docs())
        case _:
            sys.stderr.write("usage: python -m parcahyd.config conf Map | conf Work | docs\n")
            return 2
    return 0


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _both(configuration: Configuration) -> tuple[tuple[Conf, MapConf | WorkConf], ...]:
    return ("Map", configuration.map), ("Work", configuration.work)


def _declared_in(struct: type[msgspec.Struct]) -> dict[str, Declared]:
    annotations: dict[str, Any] = {}
    for parent in reversed(struct.__mro__):
        annotations |= getattr(parent, "__annotations__", {})
    fields = msgspec.structs.fields(struct)
    return {field.name: _declared(field.name, annotations[field.name], field.default) for field in fields}


def _declared(key: str, annotation: Any, default: Any) -> Declared:
    kind, sentence, belongs_to = inspect.type_info(annotation), "", ""
    if isinstance(kind, inspect.Metadata):
        sentence = (kind.extra_json_schema or {}).get("description", "")
        belongs_to = (kind.extra or {}).get("belongs_to", "")
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        # The other side is None: TOML cannot write it.
        kind = next(side for side in kind.types if not isinstance(side, inspect.NoneType))
    return Declared(
        key=key,
        annotation=annotation,
        kind=_in_words(kind),
        default=default,
        sentence=sentence,
        is_text=isinstance(kind, inspect.StrType | inspect.LiteralType),
        choices=tuple(map(str, kind.values)) if isinstance(kind, inspect.LiteralType) else (),
        belongs_to=belongs_to,
    )


def _in_words(kind: inspect.Type) -> str:
    match kind:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number" + _range_in_words(kind)
        case inspect.FloatType():
            return "a number" + _range_in_words(kind)
        case inspect.LiteralType():
            return f"one of {', '.join(map(toml_text, kind.values))}"
        case inspect.StrType():
            return "text" if kind.pattern is None else "text of printable ASCII characters that starts with no space"
        case inspect.VarTupleType():
            return "tables" if isinstance(kind.item_type, inspect.StructType) else "a list of texts"
        case inspect.DictType():
            return "a table of texts"
    raise NotImplementedError(f"a setting of type {kind}")


def _range_in_words(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is None:
        return ""
    return f" of at least {kind.ge:.15g}" if kind.le is None else f" from {kind.ge:.15g} to {kind.le:.15g}"


def _kind_with_unset(setting: Declared) -> str:
    return f"{setting.kind}, or unset" if setting.default is None else setting.kind


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08X}"


def _sections(which: Conf) -> Iterator[tuple[str, list[Declared]]]:
    opening, settings = _SECTIONS[which], declared(which)
    title, members = "", list[Declared]()
    for key, setting in settings.items():
        if key in opening:
            if members:
                yield title, members
            title, members = opening[key], []
        members.append(setting)
    yield title, members


def commented(text: str, further: str = "# ") -> list[str]:
    """The lines of a comment in a conf file; `further` begins those after the first."""
    return textwrap.wrap(
        text, _COMMENT_WIDTH, initial_indent="# ", subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )


def _assignment(setting: Declared) -> str:
    if setting.default is None:
        return f"# {setting.key} = ...  # {setting.kind}"
    return f"{setting.key} = {toml_text(setting.default)}"


def _host_table() -> list[str]:
    """A [[Host]] table with every key, commented out."""
    lines = [*commented(f"{HostRule.__doc__} Unset keys: the general setting counts."), "#", "# [[Host]]"]
    for setting in declared_of_host().values():
        lines += commented(f"{setting.key}: {setting.kind}. {setting.sentence}", "#     ")
    return lines


def _host_row(setting: Declared) -> str:
    return f"| `{setting.key}` | {setting.kind} | {setting.sentence} |"


def _table_row(setting: Declared) -> str:
    cells = (f"`{setting.key}`", _kind_with_unset(setting), f"`{toml_text(setting.default)}`", setting.sentence)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


_DOCS_OPENING = """\
# Settings

This page and the files in `conf/` follow from `parcahyd/config/schema.py`, and a test compares them. After a change there:

    python -m parcahyd.config conf Map > conf/MapConf.toml
    python -m parcahyd.config conf Work > conf/WorkConf.toml
    python -m parcahyd.config docs > docs/settings.md

## Where a value comes from

1. `--set Work.HostDelay=0` and `--set 'Map.AllowAddresses=["127.0.0.0/8"]'` on the command line come first. The value is TOML;
   a text needs no quotes (`--set Work.Scope=any`), and of two for one key the later one counts. A key that may be unset is
   unset by leaving the value out: `--set Work.MaxPages=`.
2. Then `MapConf.toml` and `WorkConf.toml` in the folder that `--conf` names. Either may be missing. All keys stand at the top
   level; the only tables are the `[[Host]]` of `WorkConf.toml`, which come last.
3. Then, for a run that goes on with a crawl, what the last run was given, as far as it belongs to the crawl
   ([settings stay with their crawl](command-line.md#settings-stay-with-their-crawl)).
4. Then the defaults below.

`parcahyd config` shows every value in force and where it came from. A key that is not known, a value of the wrong type and one
out of range stop the start with one line: file, line, key, what is wrong, and the nearest valid key or the values allowed.

- `DbUrl`, `DbName`, `DbUser` and `DbPassword` given in one file serve both; two different values are an error. A password is
  best kept out of the files: `DbPassword = "env:PARCAHYD_DB_PASSWORD"` reads it from that environment variable.
- Relative paths (`DbUrl`, `HostsFile`, `CaFile`, `Topics`, `PluginDir`) start in the configuration folder.
- Without a configuration folder, `PluginDir` is empty and no plugin file is loaded; `--set Map.PluginDir=DIR` names one.
- `LocalInstance = false` in either file has `parcahyd run` crawl on the machines of `ListIP` of both files, with
  [Ray](cluster-ray.md). It needs a PostgreSQL database and the extra `parcahyd[cluster]`.
- `ListIP` also says which machines may take part with `parcahyd node` ([cluster](cluster.md)). Where everything runs on this
  machine it has no effect; a hint says so.
- `DnsResloverClass`, as the paper's table spells it, is understood as `DnsResolverClass`, with a hint.
"""


_DOCS_HOST = """\
    [[Host]]
    Pattern = "intranet.example.org"
    Credentials = "env:INTRANET_LOGIN"
    VerifyTls = false

    [[Host]]
    Pattern = "*.example.org"
    Delay = 0.2
    Connections = 4
    Headers = { "Accept-Language" = "pt" }

A `*` in a pattern stands for any characters and a `?` for one; names are compared without case, and a name that is not ASCII is
written as in its URL (`xn--...`). What a rule leaves out is as the general setting has it. `--set` cannot write rules.

- `Credentials`, `Proxy` and the values of `Headers` may be `"env:NAME"`. Secrets are neither shown by `parcahyd config` nor
  recorded in the database. Credentials go to the hosts of their rule alone: redirects are never followed by the downloader.
- A proxy is asked to connect to the address that was resolved and vetted here (CONNECT for http and https alike, or SOCKS 5),
  never to a name, so `AllowAddresses` counts as ever; `socks5h` is refused. That the proxy connects where it was asked to is
  believed. ftp does not go through proxies.
- `Authentication = "digest"` costs a second request whenever the server's question is not known yet.
- Cookies live as long as the worker process; each registrable domain has its own, and no cookie is valid for a public suffix.
- A downloader that cannot do what a rule asks for refuses the request and says so: `requests` knows neither proxies nor digest.
"""
