"""The URL of a member of an archive: the archive's canonical URL, then `#!/` and the member's path.

A canonical URL has no fragment and a fragment is never sent to a server (RFC 9110, section 4.2.5; RFC 3986, section 3.5), so no
link leads to such a URL and no server serves another document under it; without the fragment, it is the archive's own.
A fragment is also what it should be: it names a part of the resource that the rest of the URL names.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from parcahyd.core.documents import MAX_NAME

__all__ = ["clean_name", "member_url"]

_MARK = "#!/"
_DRIVE = re.compile(r"[A-Za-z]:")


def member_url(archive: str, name: str) -> str:
    """The URL of the member with that (clean) name in the archive with that canonical URL."""
    return f"{archive}{_MARK}{quote(name, safe='/!$&()*+,;=:@~')}"


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
