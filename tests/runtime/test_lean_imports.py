"""What our processes leave out of a library is there as soon as somebody asks for it. Each case is a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pycurl
import pytest


def _printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.strip()


def test_msgspec_is_loaded_without_what_it_does_not_need_and_works() -> None:
    code = """
        import sys
        from parcahyd.runtime.lean_imports import import_msgspec
        import_msgspec()
        print(*sorted({"typing_extensions", "inspect", "ast", "platform", "textwrap"} & set(sys.modules)), "|")
        import msgspec, platform, textwrap, typing, typing_extensions, uuid
        class Some(typing_extensions.TypedDict):
            a: typing_extensions.Required[int]
            b: typing_extensions.NotRequired[str]
        print(msgspec.json.decode(b'{"a": 1}', type=Some))
        class Other(msgspec.Struct):
            __doc__ = "   Two words."
            c: typing.Annotated[int, msgspec.Meta(gt=0)]
        print(msgspec.msgpack.decode(msgspec.msgpack.encode(Other(5)), type=Other))
        print(msgspec.json.schema(Other)["$defs"]["Other"]["description"])
        print(platform.python_version() == sys.version.split()[0], textwrap.indent("a", "b"))
        print(msgspec.json.encode(uuid.UUID(int=1)))
    """
    assert _printed(code).splitlines() == [
        "|",
        "{'a': 1}",
        "Other(c=5)",
        "Two words.",
        "True ba",
        """b'"00000000-0000-0000-0000-000000000001"'""",
    ]


def test_who_has_loaded_them_before_is_left_alone() -> None:
    code = """
        import sys, typing_extensions, platform, textwrap, pycurl
        before = dict(sys.modules), dict(vars(pycurl))
        from parcahyd.runtime.lean_imports import import_msgspec, import_pycurl
        import_msgspec()
        import_pycurl()
        print(all(sys.modules[name] is before[0][name] for name in ("typing_extensions", "platform", "textwrap")))
        print(vars(pycurl) == before[1])
    """
    assert _printed(code) == "True\nTrue"


@pytest.mark.skipif(not hasattr(pycurl, "AsyncCurlMulti"), reason="this pycurl has nothing for asyncio")
def test_pycurl_is_loaded_without_what_it_has_for_asyncio_which_can_be_asked_for() -> None:
    code = """
        import sys
        from parcahyd.runtime.lean_imports import import_pycurl
        import_pycurl()
        import pycurl
        print(*sorted({"pycurl.async_multi", "dataclasses", "inspect"} & set(sys.modules)), "|")
        print(pycurl.Curl().getinfo(pycurl.RESPONSE_CODE), hasattr(pycurl, "nonsense"))
        from pycurl import AsyncCurlMulti
        import pycurl.async_multi
        print(AsyncCurlMulti is pycurl.async_multi.AsyncCurlMulti is pycurl.AsyncCurlMulti, AsyncCurlMulti.__module__)
        from pycurl import *
        print(AsyncCurlMulti.__name__, set(dir(pycurl)) >= set(pycurl.__all__))
    """
    assert _printed(code).splitlines() == ["|", "0 False", "True pycurl.async_multi", "AsyncCurlMulti True"]


@pytest.mark.parametrize("library", ["msgspec", "pycurl"])
def test_one_that_cannot_be_loaded_leaves_nothing_behind(library: str) -> None:
    code = f"""
        import sys
        from parcahyd.runtime import lean_imports
        sys.path = []
        try:
            lean_imports.import_{library}()
        except ImportError as error:
            print(error.name)
        print(*sorted({{"typing_extensions", "platform", "textwrap", "pycurl.async_multi"}} & set(sys.modules)))
    """
    assert _printed(code) == library
