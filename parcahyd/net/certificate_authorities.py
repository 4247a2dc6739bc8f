"""Which certificate authorities are trusted: the configured file, else the system's, else the one of the package certifi.

Both downloaders use it, and neither imports the other, so it has a file of its own.
"""

from __future__ import annotations

import os
import ssl

import certifi

from parcahyd.core.errors import ConfigurationError

__all__ = ["authorities_file"]

# Where Linux distributions, the BSDs and Homebrew keep their bundle, for a Python that was built on another system.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/etc/openssl/cert.pem",
    "/opt/homebrew/etc/openssl@3/cert.pem",
)


def authorities_file(configured: str) -> str:
    """The path of a PEM file. A configured file that cannot be read is a ConfigurationError; no other takes its place."""
    if configured:
        if not os.access(configured, os.R_OK) or os.path.isdir(configured):
            raise ConfigurationError(
                f'CaFile "{configured}" cannot be read', "name a readable PEM file, or leave CaFile empty for the system's"
            )
        return configured
    for candidate in (os.environ.get("SSL_CERT_FILE"), *_SYSTEM_FILES, ssl.get_default_verify_paths().cafile):
        if candidate and os.access(candidate, os.R_OK):
            return candidate
    return certifi.where()
