"""The tag reader as an object: what it is given, what it asks, what it remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parcahyd.rules.html.known_tags import IS_COMPILED

if not IS_COMPILED:
    pytest.skip("needs the tag reader, which was not compiled: a C compiler was missing", allow_module_level=True)

from parcahyd.rules.html._tag_reader import TagReader

Learn = Callable[[bytes], tuple[bytes, bytes]]


def _asked(told: dict[bytes, tuple[bytes, bytes]]) -> tuple[list[bytes], Learn]:
    asked: list[bytes] = []

    def learn(raw: bytes) -> tuple[bytes, bytes]:
        asked.append(raw)
        return told.get(raw, (b"", b""))

    return asked, learn


def test_plain_anchors_are_understood_without_asking() -> None:
    asked, learn = _asked({})
    document = b'<a href="x#y"><a class="c" href="../z" title="t"></a><a href="x"><a href="#top"><a id="i">'
    assert TagReader().read(document, learn) == ([b"a\tx\n", b"a\t../z\n"], b"a\tx\na\t../z\n", [])
    assert asked == [b'"']


def test_character_references_in_plain_anchors_are_understood_without_asking() -> None:
    asked, learn = _asked({})
    document = b'<a href="x&amp;y&#58;&#126;"><a href="&#33;&amp;amp;"><a href="&#63;q">'
    assert TagReader().read(document, learn) == ([b"a\tx&y:~\n", b"a\t!&amp;\n"], b"a\tx&y:~\na\t!&amp;\n", [])
    assert asked == [b'"&#63;q']


def test_a_tag_is_asked_about_once() -> None:
    asked, learn = _asked({b"img src=x": (b"img\tx\n", b"img\tx\n")})
    reader = TagReader()
    for _ in range(2):
        assert reader.read(b"<img src=x><p><img src=x>", learn) == ([b"img\tx\n"], b"img\tx\n", [])
    assert asked == [b"img src=x"]
    assert len(reader) == 1


def test_marked_keys_name_their_lines_and_every_line_is_written_once() -> None:
    marked = b"\0img src=x srcset=y"
    _, learn = _asked({b"img src=x srcset=y": (marked, b"img\tx\nimg\ty\n"), b"img src=y": (b"img\ty\n", b"img\ty\n")})
    reader = TagReader()
    assert reader.read(b"<img src=y><img src=x srcset=y>", learn) == ([b"img\ty\n", marked], b"img\ty\nimg\tx\n", [marked])
    assert reader.read(b"<img src=x srcset=y><img src=y>", learn) == ([marked, b"img\ty\n"], b"img\tx\nimg\ty\n", [marked])


def test_long_tags_are_not_remembered() -> None:
    asked, learn = _asked({})
    reader = TagReader()
    long = b"img src=" + b"x" * 600
    for _ in range(2):
        assert reader.read(b"<%b>" % long, learn) == ([], b"", [])
    assert (asked, len(reader)) == ([long, long], 0)


def test_many_tags_are_all_remembered() -> None:
    asked, learn = _asked({})
    reader = TagReader()
    document = b"".join(b"<a href=n%d>" % number for number in range(50_000))
    for _ in range(2):
        assert reader.read(document, learn) == ([], b"", [])
    assert len(asked) == len(set(asked)) == len(reader) == 50_000


def test_very_many_tags_are_left_to_others() -> None:
    assert TagReader().read(b'<a href="x">' * 100_000, _asked({})[1]) == ([b"a\tx\n"], b"a\tx\n", [])
    assert TagReader().read(b'<a href="x">' * 100_001, _asked({})[1]) is None


def test_what_learning_raises_is_raised_and_nothing_is_lost() -> None:
    def fail(raw: bytes) -> tuple[bytes, bytes]:
        raise LookupError(raw)

    reader = TagReader()
    with pytest.raises(LookupError):
        reader.read(b"<img src=x>", fail)
    assert reader.read(b"<img src=x>", _asked({b"img src=x": (b"img\tx\n", b"img\tx\n")})[1]) == (
        [b"img\tx\n"],
        b"img\tx\n",
        [],
    )


@pytest.mark.parametrize("told", [None, (b"x",), ("x", "x"), (b"x", b"x", b"x"), (b"x", None)])
def test_an_answer_of_another_kind_is_refused(told: Any) -> None:
    with pytest.raises(TypeError):
        TagReader().read(b"<img src=x>", lambda _raw: told)


@pytest.mark.parametrize("document", ["<p>", None, bytearray(b"<p>"), memoryview(b"<p>")])
def test_a_document_is_bytes(document: Any) -> None:
    with pytest.raises(TypeError):
        TagReader().read(document, _asked({})[1])


def test_while_it_asks_about_a_tag_it_reads_nothing_else() -> None:
    reader = TagReader()
    meanwhile = []

    def learn(_raw: bytes) -> tuple[bytes, bytes]:
        meanwhile.append(reader.read(b"<p>", learn))
        return b"img\tx\n", b"img\tx\n"

    assert reader.read(b"<img src=x>", learn) == ([b"img\tx\n"], b"img\tx\n", [])
    assert meanwhile == [None]
    assert reader.read(b"<p>", learn) == ([], b"", [])
