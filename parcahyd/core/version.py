"""The version of PARCAHYD. It has a file of its own so that `config/` can read it without importing the public page.

Tested in tests/cli/test_application.py.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
