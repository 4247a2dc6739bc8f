"""What happens to a page between two visits without making it another page, done to real pages."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

__all__ = ["changes"]

_END = re.compile(rb"(?i)</body>|\Z")
_START = re.compile(rb"(?i)<body[^>]*>")
_PARAGRAPH = re.compile(rb"(?i)</p>|</div>|\Z")
_REFERENCE = re.compile(rb'href="([^"#]+)"')
_CLASS = re.compile(rb'class="([^"]*)"')
_NUMBER = re.compile(rb"\b\d{2,4}\b")
_SCRIPT = b"""<script>
(function () {
  "use strict";
  var queue = window.queue || [], started = new Date().getTime(), session = "%d", panel = null;
  function push (name, value) { queue.push({ name: name, value: value, since: started }); return queue.length; }
  if (typeof panel === "undefined") { panel = document.createElement("div"); panel.className = "panel page-panel"; }
  for (var i = 0; i < queue.length; i++) { if (queue[i].name === "purchase") { push("purchase", session); } else { continue; } }
  /* Some rights reserved. Permission is granted to use, copy and modify this software. */
})();
</script>
<style>.panel { position: absolute; padding: 0 1em; font-family: serif; } .page-panel p { margin: 0 } /* %d */</style>
<!-- rendered by server %d for some reason or other, see page profile -->
"""


def _words(words: Sequence[bytes], count: int, chance: random.Random) -> bytes:
    start = chance.randrange(max(len(words) - count, 1))
    return b" ".join(words[start : start + count])


def _inserted(page: bytes, place: int, text: bytes) -> bytes:
    return page[:place] + text + page[place:]


def _place(pattern: re.Pattern[bytes], page: bytes, start: int = 0) -> int:
    found = pattern.search(page, start)
    return found.end() if found else len(page)


def changes(page: bytes, words: Sequence[bytes], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """The page with one change each, and the change's name; `words` are those that advertisements and menus are made of."""
    number = chance.randrange(10**8)
    end = next(_END.finditer(page)).start()
    date = b"<p>Generated on %d March 2031 at %02d:%02d.</p>" % (number % 31 + 1, number % 24, number % 60)
    yield "a date at its end", _inserted(page, end, date)
    yield "a session id in every link", _REFERENCE.sub(rb'href="\1?sid=%x"' % number, page)
    yield "every class renamed", _CLASS.sub(rb'class="css-%x \1-module"' % number, page)
    yield (
        "a third of its numbers",
        _NUMBER.sub(lambda old: b"%d" % chance.randrange(10, 9999) if chance.random() < 1 / 3 else old[0], page),
    )
    yield "a script, a style sheet, a comment", _inserted(page, _place(_START, page), _SCRIPT % (number, number, number))
    advertisement = b'<div class="ad"><a href="https://ads.example/%d">%s</a></div>' % (number, _words(words, 40, chance))
    yield "an advertisement of 40 words", _inserted(page, _place(_PARAGRAPH, page, len(page) // 2), advertisement)
    menu = b"".join(b'<li><a href="/%d">%s</a></li>' % (entry, _words(words, 2, chance)) for entry in range(12))
    yield "a menu of 12 entries", _inserted(page, _place(_START, page), b"<ul>" + menu + b"</ul>")
