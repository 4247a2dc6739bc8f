"""A shim for tools that still look for it; everything is in pyproject.toml."""

from setuptools import setup

setup()
