"""The document fingerprint."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.fingerprint import df_text, fingerprint


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
