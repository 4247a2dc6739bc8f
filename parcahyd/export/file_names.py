"""A file name for a URL that every file system takes: Linux, macOS, Windows, and what is mounted there.

`http://example.org:8080/a/b?c=d` is `example.org_8080/a/b@c=d.html`. A name is a path of segments with these properties:

- no segment is empty, `.` or `..`, has a separator, a control character or one of `<>:"|?*`, begins or ends with a blank, ends
  with a dot, is a device of Windows (`con`, `nul`), or is longer than 120 bytes; what is too long is cut and gets a hash, and
  a path of more than 200 bytes is replaced by `HOST/_long/NAME~HASH`;
- a file has an extension, and the folder of a path never ends like one (`v1.2/` is `v1.2_/`). So `/a` and `/a/b` never want the
  same name, and neither do `/a.html` and `/a.html/b`;
- a page in HTML ends with `.html`, since a browser goes by that when it opens a file.

Two URLs can still want the same name, for example where only upper case differs. `distinct` tells them apart with a hash.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b
from urllib.parse import unquote_to_bytes

from parcahyd.rules.urls.canonical_url import split

__all__ = ["distinct", "file_name", "folded"]

_LONGEST = 120
_UNWANTED = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffd]')
_END = re.compile(r"[\s.]+$")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE).match
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}
_LONGEST_PATH = 200
_PAGE = (".html", ".htm")
_LOOKS_LIKE_PAGE = (*_PAGE, ".xhtml", ".xht", ".shtml")
_EXTENSIONS = {
    "application/javascript": (".js", ".mjs"),
    "application/json": (".json",),
    "application/pdf": (".pdf",),
    "application/xml": (".xml",),
    "image/gif": (".gif",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/png": (".png",),
    "image/svg+xml": (".svg",),
    "image/webp": (".webp",),
    "text/css": (".css",),
    "text/html": _PAGE,
    "application/xhtml+xml": _PAGE,  # It is written as HTML.
    "text/javascript": (".js", ".mjs"),
    "text/xml": (".xml",),
}
"""What a browser goes by when it opens a file."""
_FALLBACKS = {"text/plain": ".txt"}


def file_name(url: str, media_type: str) -> str:
    """The relative path for a document, with slashes."""
    scheme, host, port, path = split(url)
    path, _, query = path.partition("?")
    *folders, last = path[1:].split("/")
    bare = host.strip("[]")
    top = _segment(bare if port in (0, _DEFAULT_PORTS.get(scheme)) else f"{bare}_{port}")
    name = _decoded(last) or "index"
    if query:
        stem, dot, extension = name.rpartition(".")
        asked = f"@{_decoded(query)}"
        name = f"{stem}{asked}{dot}{extension}" if stem and dot and _EXTENSION.search(name) else f"{name}{asked}"
    file = _file(name, media_type)
    whole = "/".join([top, *(_folder(folder) for folder in folders), file])
    return whole if len(whole.encode()) <= _LONGEST_PATH else f"{top}/_long/{distinct(file, url)}"


def distinct(name: str, url: str) -> str:
    """Another name for the same document, which no other URL gets."""
    stem, dot, extension = name.rpartition(".")
    return f"{stem}~{_hash(url)}{dot}{extension}"


def folded(name: str) -> str:
    """The name as a file system sees it that knows no case and no spellings of one character."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _file(name: str, media_type: str) -> str:
    wanted = _EXTENSIONS.get(media_type)
    found = _EXTENSION.search(name)
    if wanted is not None:
        is_right = name.lower().endswith(wanted)
    else:  # What is shown as text must not become a page.
        is_right = found is not None and not name.lower().endswith(_LOOKS_LIKE_PAGE)
    if is_right and found is not None and found.start():
        return _segment(name[: found.start()], found[0])
    return _segment(name, wanted[0] if wanted is not None else _FALLBACKS.get(media_type, ".bin"))


def _folder(text: str) -> str:
    name = _segment(_decoded(text))
    return f"{name}_" if _EXTENSION.search(name) else name


def _decoded(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "replace")


def _segment(name: str, extension: str = "") -> str:
    """The name of a file or folder; its extension is kept whatever else is cut."""
    clean = _END.sub("", _UNWANTED.sub("_", name.encode("utf-8", "replace").decode()).lstrip())
    if clean in ("", ".", "..") or clean.startswith("."):  # A dot in front hides a file.
        clean = f"_{clean.lstrip('.')}"
    if _DEVICE(f"{clean}{extension}"):
        clean = f"_{clean}"
    raw = clean.encode()
    if len(raw) + len(extension) > _LONGEST:
        cut = raw[: _LONGEST - len(extension) - 17].decode("utf-8", "ignore")
        clean = f"{cut}~{_hash(name)}"
    return clean + extension


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
