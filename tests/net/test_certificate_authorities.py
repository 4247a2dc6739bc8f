from __future__ import annotations

import ssl
from pathlib import Path

import certifi
import pytest

from parcahyd.core.errors import ConfigurationError
from parcahyd.net import certificate_authorities
from parcahyd.net.certificate_authorities import authorities_file
from tests.net.downloader_harness import AUTHORITY


def test_the_configured_file_is_taken() -> None:
    assert authorities_file(str(AUTHORITY)) == str(AUTHORITY)


@pytest.mark.parametrize("name", ["none.pem", "."])
def test_a_configured_file_that_cannot_be_read_is_never_replaced(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        authorities_file(str(tmp_path / name))


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that keeps no bundle in the usual places."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(certificate_authorities, "_SYSTEM_FILES", ())


@pytest.mark.usefixtures("nowhere")
def test_without_a_system_file_the_bundled_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = ssl.get_default_verify_paths()._replace(cafile="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    assert authorities_file("") == certifi.where()


@pytest.mark.usefixtures("nowhere")
def test_where_openssl_looks_comes_before_the_bundled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = ssl.get_default_verify_paths()._replace(cafile=str(AUTHORITY))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    assert authorities_file("") == str(AUTHORITY)


def test_the_systems_file_comes_before_where_openssl_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(certificate_authorities, "_SYSTEM_FILES", ("/no/such/file.pem", str(AUTHORITY)))
    assert authorities_file("") == str(AUTHORITY)


def test_the_environment_comes_before_the_systems_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert authorities_file("") == str(AUTHORITY)
