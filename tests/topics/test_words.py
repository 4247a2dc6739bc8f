"""The words of a page."""

from __future__ import annotations

from parcahyd.topics.words import MOST_WORDS, html_words, text_words

PAGE = b"""<!DOCTYPE html><html><head><title>Copper Kettles</title><style>p { color: red }</style>
<script>if (a < b) document.write("<p>never</p>")</script></head>
<body class="hidden words"><!-- a <b>comment</b> --><p>They cost 12 pounds&nbsp;each, don&rsquo;t they?</p></body></html>"""


def test_markup_scripts_and_numbers_are_no_words() -> None:
    assert html_words(PAGE) == b"copper kettles they cost pounds each don t they".split()


def test_words_of_other_encodings_are_utf_8_in_lower_case_without_their_signs() -> None:
    expected = ["été", "à", "zürich"]
    for charset, codec in (("utf-8", "utf-8"), ("windows-1252", "cp1252"), ("utf-16le", "utf-16-le"), ("", "utf-16")):
        body = "<p>«Été» à—Zürich".encode(codec)
        assert [word.decode() for word in html_words(body, charset)] == expected, charset
    assert [word.decode() for word in text_words("«Été» à—Zürich")] == expected


def test_the_beginning_counts_and_more_is_read_where_it_has_few_words() -> None:
    assert len(html_words(b"word " * 10_000)) == MOST_WORDS
    assert len(html_words(b"word " * 10_000, most=5000)) == 5000
    far = b"<p>" + b"<i></i>" * 5000 + b"far away</p>"
    assert html_words(far) == [b"far", b"away"]
    script = b"<script>" + b"var word = 1; " * 3000 + b"</script>behind"
    assert html_words(script) == [b"behind"]


def test_what_has_no_end_is_read_once() -> None:
    for hostile in (
        b"<!--" * 200_000,
        b"<script " * 100_000,
        b"<" * 500_000,
        b"<svg>" * 100_000,
        b"&" * 500_000,
        b"&#" * 300_000,
    ):
        assert len(html_words(hostile)) <= MOST_WORDS
