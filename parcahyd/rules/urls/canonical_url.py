"""One spelling per URL: the WHATWG parser (ada-url), then what is left that two spellings of one resource can differ in.

A canonical URL is `scheme://host[:port]/path[?query]`, or `file:///path`. It has no fragment, no credentials (the author of a
page must not make us send any), no default port, no dot segments, no empty query and no dot after the host; the host is lower
case and in its ASCII form; unreserved characters stand unescaped and the hexadecimal digits of other escapes are upper case
(RFC 3986, sections 6.2.2 and 6.2.3). Nothing is done that can lead to another resource: queries keep their order, empty path
segments stay, reserved characters stay escaped or not as they came, and a path with a stray percent sign is not touched.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import quote

from ada_url import join_url, normalize_url

from parcahyd.core.documents import MAX_NAME

__all__ = [
    "Joiner",
    "Prefixes",
    "archive_of",
    "canonical",
    "clean_name",
    "key_of",
    "member_url",
    "plain_way",
    "recorded",
    "shortened",
    "split",
]

_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "gopher": 70}

_WITH_KNOWN_SYNTAX = frozenset(("http", "https", "ftp", "ws", "wss"))
"""The special schemes of the URL standard that name a server: ada-url has put their hosts in ASCII and lower case."""

_NEVER_A_SERVER = frozenset(
    (
        "about",
        "blob",
        "cid",
        "data",
        "filesystem",
        "javascript",
        "mailto",
        "mid",
        "tel",
        "urn",
        "vbscript",
        "view-source",
    )
)
"""Schemes that name no server even where their text looks as if it did, as in `javascript://host/%0aalert()`."""

_LONGEST_HOST = 300
"""Characters of scheme, host and port; DNS has names of up to 253."""
_KEPT_OF_PATH = 100
_SHORTENED = re.compile(r"#[0-9]+-characters-[0-9a-f]{16}$").search

# An escape that a canonical URL spells in another way: one with a small letter, or of a character that needs no escape.
_SMALL_LETTER = "[0-9A-F][a-f]|[a-f][0-9A-Fa-f]"
_UNRESERVED = "2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]"
_ESCAPE_TO_CHANGE = re.compile(f"%(?:{_SMALL_LETTER}|{_UNRESERVED})")
_UNRESERVED_ESCAPE = re.compile(f"%(?:{_UNRESERVED})").fullmatch
_MEMBER = re.compile(r"(?s)#!/.*+").search  # of an archive: see `member_url`
_STRAY_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")

# References that joining can only put behind a prefix: every character stays as it is under the URL standard, no segment
# begins with a dot, no colon can end a scheme, and the host neither is a number nor holds punycode that might be invalid.
# `native/plain_links.c` knows them, too.
_SEGMENT = r"[A-Za-z0-9_~!$&()*+,;=@-][A-Za-z0-9_~!$&()*+,;=@.-]*+"
_HOST = r"(?:(?!xn--)[a-z0-9-]++\.)++(?!xn--)[a-z]{2,}+"
_FROM_ROOT, _UPWARDS = 2, 3  # the groups; the first is a whole URL
_NO_PREFIX, _ORIGIN = -2, -1  # of the prefixes; else as many characters of `../` as the reference begins with


_PLAIN = re.compile(
    rf"(?:(https?://{_HOST}/)|(/)|((?:\.\./)++)|(?=[^?]))(?:{_SEGMENT}/)*+(?:{_SEGMENT})?+"
    r"(?:\?[A-Za-z0-9_.~!$&()*+,;=:@/?-]++)?+"
).fullmatch


def plain_way(href: str) -> tuple[int, str] | None:
    """Which of a document's `Prefixes` makes a URL of a reference, and what follows it; None where it takes more than that.

    Most references are plain. What the URL standard makes of them, it makes by this alone.
    """
    plain = _PLAIN(href)
    if plain is None:
        return None
    form = plain.lastindex
    if form is None:
        return 0, href
    if form == _UPWARDS:
        end = plain.end(_UPWARDS)
        return end, href[end:]
    return (_ORIGIN if form == _FROM_ROOT else _NO_PREFIX), href


class Prefixes(dict[int, str]):
    """What stands before plain references in documents of one directory, by what `plain_way` returns for them."""

    def __init__(self, origin: str, directory: str) -> None:
        super().__init__({_NO_PREFIX: "", _ORIGIN: origin, 0: directory})

    def __missing__(self, climbed: int) -> str:
        """The directory that so many characters of `../` lead to; above the root there is only the root."""
        directory, root = self[0], len(self[_ORIGIN])
        slash = len(directory) - 1
        for _ in range(climbed // 3):
            if slash == root:
                break
            slash = directory.rindex("/", root, slash)
        self[climbed] = prefix = directory[: slash + 1]
        return prefix


def canonical(url: str) -> str | None:
    """The canonical form of an absolute URL; None where it cannot be parsed or names no server.

    Schemes that nothing serves stay if they have a host (`irc://host/`): they are refused later, with a reason. Only `file`
    has no host: its site is this machine, `file://`, and its URLs have no query.
    Port 0 is no server either; a port of 0 in `split` therefore always means that none was given.
    """
    try:
        return _finish(normalize_url(url))
    except ValueError:
        return None


def _finish(href: str) -> str | None:
    """The canonical form of a URL that ada-url wrote."""
    scheme, mark, rest = href.partition("://")
    if not mark or ":" in scheme or scheme in _NEVER_A_SERVER:
        return None
    rest = rest.partition("#")[0]
    if scheme == "file":
        return _of_file(rest)
    authority, _, path = rest.partition("/")
    if "?" in authority:  # only where the scheme is unknown: a query directly after the host
        authority, _, query = rest.partition("?")
        path = f"?{query}"
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    if scheme not in _WITH_KNOWN_SYNTAX:
        authority = _authority(scheme, authority)
    if authority.endswith(".") or ".:" in authority:
        return _without_dot(scheme, authority, path)
    if not authority or authority[0] == ":" or authority.endswith(":0"):
        return None
    if path.endswith("?") and path.index("?") == len(path) - 1:
        path = path[:-1]
    if "%" in path and not _STRAY_PERCENT.search(path):
        path = _ESCAPE_TO_CHANGE.sub(_canonical_escape, path)
    return f"{scheme}://{authority}/{path}"


def _authority(scheme: str, authority: str) -> str:
    """Of a scheme that ada-url does not know."""
    return authority.lower().removesuffix(":70") if scheme == "gopher" else authority.lower()


def _of_file(rest: str) -> str | None:
    """Of a file of this machine: `file:///path`. A file of another machine names no server that could be asked for it."""
    path = rest.partition("?")[0]
    if not path.startswith("/"):
        return None
    if "%" in path and not _STRAY_PERCENT.search(path):
        path = _ESCAPE_TO_CHANGE.sub(_canonical_escape, path)
    return f"file://{path}"


def _canonical_escape(found: re.Match[str]) -> str:
    escape = found[0].upper()
    return chr(int(escape[1:], 16)) if _UNRESERVED_ESCAPE(escape) else escape


def _without_dot(scheme: str, authority: str, path: str) -> str | None:
    """Parses again without the dots after the host: what they hid may be an address (`0x7f.1..` is 127.0.0.1)."""
    host, colon, port = authority.partition(":")
    host = host.rstrip(".")
    return canonical(f"{scheme}://{host}{colon}{port}/{path}") if host else None


def split(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port, and path with query of a canonical URL, by cutting the text.

    The host is as it stands in the URL, an IPv6 address in brackets. Without a port it is the scheme's own, or 0 where the
    scheme is none that we know.
    """
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    host, colon, port = authority.rpartition(":")
    if not colon or port[-1] == "]":
        return scheme, authority, _DEFAULT_PORTS.get(scheme, 0), f"/{path}"
    return scheme, host, int(port), f"/{path}"


def key_of(path: str) -> int:
    """The signed 64-bit number of a path within its site; the same in every process and on every machine."""
    return int.from_bytes(blake2b(path.encode(), digest_size=8).digest(), "big", signed=True)


def shortened(url: str) -> str | None:
    """What is recorded of a canonical URL that is too long: its beginning, then `#`, which no canonical URL has, its length and
    a hash of all of it. None where it is the host that is too long."""
    path = url.find("/", url.index("://") + 3)
    if path > _LONGEST_HOST:
        return None
    return f"{url[: path + _KEPT_OF_PATH]}#{len(url)}-characters-{key_of(url) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def recorded(url: str) -> str | None:
    """The canonical form of a URL as it is recorded: what `shortened` wrote stays, and so does the name of a member."""
    found, mark = canonical(url), _SHORTENED(url) or _MEMBER(url)
    return found if found is None or mark is None else found + mark[0]


class Joiner:
    """Resolves the references of one document against its base, a canonical URL."""

    __slots__ = ("_base", "prefixes")

    def __init__(self, base: str) -> None:
        self._base = base
        origin = base[: base.index("/", base.index("://") + 3)]
        directory = base.partition("?")[0].rpartition("/")[0] + "/"
        self.prefixes = Prefixes(origin, directory) if base.startswith(("http://", "https://")) else None
        """None where no reference is plain: other schemes than http and https have rules of their own."""

    def join(self, href: str) -> str | None:
        """The canonical absolute URL of a reference as it stands in a document; None where `canonical` would give None.

        The URL standard's joining defines the outcome.
        """
        if self.prefixes is not None and (way := plain_way(href)) is not None:
            return self.prefixes[way[0]] + way[1]
        try:
            return _finish(join_url(self._base, href))
        except ValueError:
            return None


# --- The URL of a member of an archive: the archive's canonical URL, then `#!/` and the member's path -------------------
# A canonical URL has no fragment and a fragment is never sent to a server (RFC 9110, section 4.2.5; RFC 3986, section 3.5), so
# no link leads to such a URL and no server serves another document under it; without the fragment, it is the archive's own.
# A fragment is also what it should be: it names a part of the resource that the rest of the URL names.


_MARK = "#!/"
_DRIVE = re.compile(r"[A-Za-z]:")


def member_url(archive: str, name: str) -> str:
    """The URL of the member with that (clean) name in the archive with that canonical URL."""
    return f"{archive}{_MARK}{quote(name, safe='/!$&()*+,;=:@~')}"


def archive_of(url: str) -> str | None:
    """The URL of the archive that a member's URL belongs to; None for a URL that is no member's."""
    archive, mark, _ = url.partition(_MARK)
    return archive if mark else None


def clean_name(raw: str) -> str:
    """A member's path without what could lead out of the archive or break a line; empty where nothing usable is left.

    Backslashes separate too; empty parts, `.`, `..`, drive letters and control characters are dropped.
    """
    if len(raw) > MAX_NAME:
        return ""
    if not raw.isprintable():
        raw = "".join([c for c in raw if c.isprintable()])
    parts = [part for part in raw.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if parts and _DRIVE.fullmatch(parts[0]):
        del parts[0]
    return "/".join(parts)
