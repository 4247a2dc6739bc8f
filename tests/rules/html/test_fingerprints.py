"""The document fingerprint."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pcre2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.changes import changes
from parcahyd.rules.html import fingerprints
from parcahyd.rules.html import fingerprints as module
from parcahyd.rules.html.fingerprints import NO_SIMILARITY, WITHIN, df_text, distance, fingerprint, similarity, taking


def test_a_fingerprint_is_the_start_of_the_sha_256() -> None:
    empty = fingerprint(b"")
    assert empty.sha256.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert empty.df == 0xE3B0C44298FC1C14 - 2**64
    assert df_text(empty.df) == "df64=e3b0c44298fc1c14"
    assert df_text(fingerprint(b"abc").df) == "df64=ba7816bf8f01cfea"


def test_text_has_sixteen_digits() -> None:
    assert df_text(1) == "df64=0000000000000001"
    assert df_text(-1) == "df64=ffffffffffffffff"


@settings(deadline=None)
@given(st.binary(max_size=64))
def test_the_number_fits_a_database_and_its_text_is_the_hashs_beginning(document: bytes) -> None:
    df, digest = fingerprint(document)
    assert -(2**63) <= df < 2**63
    assert df_text(df) == f"df64={digest.hex()[:16]}"


def test_what_stands_for_each_match_is_joined() -> None:
    assert taking(" [ps](....)", b"<$1>")(b"x paper x stone x", 0) == b"<aper><tone>"
    assert taking(" [ps](....)", b"$1")(b"x paper x stone x", 5) == b"tone"


def test_a_group_without_a_part_in_the_match_is_nothing() -> None:
    assert taking("a(b)?+", b"\0$1")(b"ab a", 0) == b"\0b\0"


def test_another_version_of_the_binding_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pcre2._cy, "substitute")
    assert taking(" [ps](....)", b"$1")(b"x paper x stone x", 0) == b"apertone"
    assert taking("a(b)?+", b"\0$1")(b"ab a", 0) == b"\0b\0"


_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ra", "se", "ti", "vo", "mar", "pel", "sen", "pre", "sub")
_SHORT = b"<body><h1>Not found</h1><p>No such page is here. It may have moved, or its address was misspelt. Try the search.</p>"


def _prose(seed: int, words: int = 900) -> list[str]:
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices(_SYLLABLES, k=chance.randrange(1, 4))) for _ in range(words // 2)]
    return chance.choices(vocabulary, k=words)


def _page(words: list[str], title: str = "A page") -> bytes:
    paragraphs = "\n".join(f'<p class="text">{" ".join(words[at : at + 60])}.</p>' for at in range(0, len(words), 60))
    return f"<!doctype html><html><head><title>{title}</title></head><body>\n{paragraphs}\n</body></html>".encode()


def test_the_same_text_has_the_same_fingerprint_whatever_stands_in_the_head() -> None:
    words = _prose(1)
    style = "</title><style>p { margin: 0 } /* some plain prose of the page's author */</style><title>"
    assert similarity(_page(words)) == similarity(_page(words, style)) != NO_SIMILARITY


def test_other_text_is_far_away() -> None:
    values = [similarity(_page(_prose(seed))) for seed in range(40)]
    distances = [distance(a, b) for at, a in enumerate(values) for b in values[:at]]
    assert min(distances) > 2 * WITHIN
    assert 18 < sum(distances) / len(distances) < 34


@pytest.mark.parametrize("seed", range(10))
def test_what_changes_between_two_visits_leaves_a_page_near(seed: int) -> None:
    page = _page(_prose(seed, 3000))
    for name, changed in changes(page, _prose_bytes(seed + 100), random.Random(seed)):
        assert distance(similarity(page), similarity(changed)) <= 2 * WITHIN, name


def _prose_bytes(seed: int) -> list[bytes]:
    return [word.encode() for word in _prose(seed)]


def test_the_more_changes_the_farther() -> None:
    shares = (0.0, 0.02, 0.1, 0.3, 1.0)
    means = []
    for share in shares:
        total = 0
        for seed in range(30):
            words, others = _prose(seed), _prose(seed + 1000)
            kept = words[: len(words) - int(share * len(words))]
            total += distance(similarity(_page(words)), similarity(_page(kept + others[len(kept) :])))
        means.append(total / 30)
    assert means == sorted(means)
    assert means[0] == 0
    assert means[1] <= WITHIN < means[3]


@pytest.mark.parametrize(
    "invisible",
    [
        '<a class="some-plain-page" href="/search/plain/some" title="a plain page" data-some="page">',
        "<script>function some (page) { return page.slice(0, 12); } if (some) { print(page); } else { some = 1; }</script>",
        "<style>.some p { position: static; } .plain .some { padding: 0 } </style>",
        "<!-- some comment about the page, rendered by server 17 -->",
    ],
)
def test_markup_scripts_and_comments_are_not_sampled(invisible: str) -> None:
    words = _prose(3)
    page = _page(words)
    assert similarity(page.replace(b"</p>", b"</p>" + invisible.encode())) == similarity(page)


@pytest.mark.parametrize(
    "text",
    [
        "Заяц проскакал по поляне и скрылся в кустах, а лиса так и не поняла, куда он делся. ",  # noqa: RUF001
        "搜索引擎的爬虫会沿着网页上的链接不断前进，并把看到的每一个页面保存下来，以便日后检索和比较。",  # noqa: RUF001
        "クローラーはページのリンクをたどり、見つけた文書を保存して、あとで検索できるようにします。",
        "ο ανιχνευτής ακολουθεί τους συνδέσμους και κρατά κάθε σελίδα που βρίσκει στον δρόμο του. ",  # noqa: RUF001
    ],
)
def test_text_beyond_ascii_counts(text: str) -> None:
    chance = random.Random(7)
    pages = ["".join(chance.choices(text, k=3000)).encode() for _ in range(2)]
    one, other = (similarity(b"<body><p>" + page + b"</p>") for page in pages)
    assert NO_SIMILARITY not in (one, other)
    assert distance(one, other) > WITHIN
    assert distance(one, similarity(b"<body><div>2031-01-01</div><p>" + pages[0] + b"</p>")) <= WITHIN


def test_too_little_text_has_no_fingerprint() -> None:
    for body in (b"", b"\0", b"<html><body></body></html>", b"<p>Not found</p>", b"<script>some = page</script>"):
        assert similarity(body) == NO_SIMILARITY


def test_a_short_page_has_one() -> None:
    assert similarity(_SHORT) != NO_SIMILARITY


def test_only_the_beginning_of_a_long_document_counts() -> None:
    page = _page(_prose(1, 200_000))
    assert len(page) > 2**19
    assert similarity(page) == similarity(page[: 2**19]) == similarity(page + page)


def test_fingerprints_never_change() -> None:
    assert similarity(_SHORT) == _RECORDED_SHORT
    assert similarity(_page(["plain", "some", "paper", "sun", "page", "stone", "prose", "span"] * 30)) == _RECORDED_PAGE
    assert similarity("".join(chr(0x4E00 + 37 * step % 5000) for step in range(2000)).encode()) == _RECORDED_HAN


_RECORDED_SHORT = 1746660716029454680
_RECORDED_PAGE = 9026057435547561927
_RECORDED_HAN = -3027776228336798202


def test_another_process_with_another_seed_says_the_same(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(_page(_prose(5)))
    code = f"from parcahyd.rules.html.fingerprints import similarity; print(similarity(open({str(page)!r}, 'rb').read()))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    root = Path(module.__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, check=True)
    assert int(ran.stdout) == similarity(page.read_bytes())


def test_the_bindings_published_functions_find_the_same_samples() -> None:
    body = _page(_prose(2)) + "搜索引擎的爬虫会沿着网页上的链接不断前进".encode() * 20
    for expression in (module._SPARSE, module._BEYOND_ASCII, *module._LADDER):
        pattern = pcre2.compile(expression.encode())
        for start in (0, 100):
            assert fingerprints._quick(pattern, b"$1")(body, start) == fingerprints._slow(pattern, b"$1")(body, start)


@pytest.mark.parametrize(
    "hostile",
    [
        b" p" * 300_000,
        b" p p=" * 200_000,
        b"e " * 300_000,
        b"<" * 600_000,
        b" " * 600_000,
        b"\xaa" * 600_000,
        b" pabcd" * 100_000 + b">",
    ],
)
def test_hostile_documents_are_only_documents(hostile: bytes) -> None:
    assert -(2**63) <= similarity(hostile) < 2**63


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=600)
    | st.lists(st.sampled_from([b" p", b" s", b"e ", b"\xaa\x80", b"abc", b"<", b">", b"="])).map(b"".join)
)
def test_any_bytes_have_a_fingerprint_that_fits_a_database(body: bytes) -> None:
    assert -(2**63) <= similarity(body) < 2**63


def test_the_table_of_weights_is_bounded_and_lanes_do_not_overflow() -> None:
    assert 255 * module._MOST < 2**16
    assert module._HALF - module._ZERO * module._MOST > 0
    for kind in (0, 1, module._KINDS - 1):
        lanes = module._weights[kind].to_bytes(128, "little")
        assert set(lanes[1::2]) == {0}
        assert 0 not in lanes[::2]


def test_distance() -> None:
    assert distance(0, 0) == 0
    assert distance(-1, 0) == 64
    assert distance(-(2**63), 2**63 - 1) == 64
    assert distance(5, -5) == distance(-5, 5) == (5 ^ (2**64 - 5)).bit_count()
