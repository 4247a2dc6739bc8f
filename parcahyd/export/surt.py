"""SURT: the sort key of a URL, as indexes of web archives have it, such as `com,example)/a?b=c`.

The host's labels stand in reverse order, so that a domain and its subdomains lie together. Spellings that archives take for the
same page have the same key:

- the scheme, a leading `www.` (or `www1.` and so on) and the scheme's own port are left out;
- upper case becomes lower case, in path and query too;
- escapes are resolved, and written again where a character is not printable ASCII, or is `%`, `#` or a blank;
- repeated slashes are one, and a slash at the end is left out;
- parameters are sorted, and session numbers of common servers are left out.

This is what replay programs look up, so it has to be what they compute; the tests compare it with the `surt` package.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from parcahyd.rules.urls.canonical_url import split

__all__ = ["surt"]

_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}
_WWW = re.compile(r"www\d*\.(?=.)")
_SLASHES = re.compile(rb"/{2,}")
_TO_ESCAPE = re.compile(rb"[^\x21-\x22\x24\x26-\x7e]")
_PLAIN = re.compile(r"/(?:[a-z0-9._~!$&'()*+,;=:@-]+/?)*+").fullmatch
_SESSION = re.compile(
    rb"(?:^|(?<=&))(?:jsessionid=[0-9a-z]{10}[0-9a-z]*|(?:phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}"
    rb"|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)


def surt(url: str) -> str:
    """The key of a canonical URL."""
    scheme, host, port, path = split(url)
    path, _, query = path.partition("#")[0].partition("?")
    key = _authority(scheme, host, port) + _path(path)
    found = _query(query) if query else ""
    return f"{key}?{found}" if found else key


@lru_cache(maxsize=1024)  # a site's URLs have one
def _authority(scheme: str, host: str, port: int) -> str:
    bare = host[1:-1] if host.startswith("[") else ",".join(reversed(_WWW.sub("", host.lower(), count=1).split(".")))
    return f"{bare})" if port in (0, _DEFAULT_PORTS.get(scheme)) else f"{bare}:{port})"


def _path(path: str) -> str:
    if not _PLAIN(path):
        path = _spelt(_SLASHES.sub(b"/", unquote_to_bytes(path).lower()))
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


def _query(query: str) -> str:
    raw = _SESSION.sub(b"", unquote_to_bytes(query).lower())
    parameters = raw.split(b"&") if raw else []
    if parameters and not parameters[-1] and raw != query.encode():
        parameters.pop()  # What a session number left behind.
    return _spelt(b"&".join(sorted(parameters)))


def _spelt(raw: bytes) -> str:
    return _TO_ESCAPE.sub(lambda found: b"%%%02x" % found[0][0], raw).decode("ascii")
