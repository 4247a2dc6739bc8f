"""What pyproject.toml cannot say: one module is compiled where that is possible. Everything else is there."""

from setuptools import Extension, setup

NATIVE = "parcahyd/rules/html/native"

# Optional: without a compiler, or without Python's headers, the installation goes on without it.
TAG_READER = Extension(
    "parcahyd.rules.html._tag_reader",
    [f"{NATIVE}/scanner.c", f"{NATIVE}/tag_reader.c", f"{NATIVE}/plain_links.c"],
    depends=[f"{NATIVE}/tags.h"],
    py_limited_api=True,
    optional=True,
)

setup(ext_modules=[TAG_READER], options={"bdist_wheel": {"py_limited_api": "cp311"}})
