"""A desk on each kind of database, as the tests of `storage` have it."""

from __future__ import annotations

from tests.storage.conftest import desk, doomed_desk, empty_database, postgres_desk, sqlite_desk

__all__ = ["desk", "doomed_desk", "empty_database", "postgres_desk", "sqlite_desk"]
