"""The version of PARCAHYD. It has a file of its own so that `config/` can read it without importing the public page."""

__all__ = ["__version__"]

__version__ = "0.1.0"
