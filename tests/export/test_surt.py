from __future__ import annotations

import json

import pytest

from parcahyd.export.surt import surt
from parcahyd.rules.urls.canonical_url import canonical
from tests.support.archive_tools import run_python

KEYS = {
    "http://www.example.com/": "com,example)/",
    "https://www2.example.com:8443/A/b?z=1&a=2": "com,example:8443)/a/b?a=2&z=1",
    "http://127.0.0.1:8080/a": "1,0,0,127:8080)/a",
    "http://a.example/x/": "example,a)/x",
    "http://a.example/a//b": "example,a)/a/b",
    "http://a.example/%2F?Q=%20x": "example,a)/?q=%20x",
    "http://a.example/?PHPSESSID=0123456789abcdef0123456789abcdef&x=1": "example,a)/?x=1",
    "http://a.example/x?sid=9682993c8daa2c5497996114facdc805": "example,a)/x",
    "http://a.example/?a=1&a=0&b": "example,a)/?a=0&a=1&b",
    "http://a.example/?&&a": "example,a)/?&&a",
    "ftp://f.example/x": "example,f)/x",
    "http://xn--mller-kva.example/%C3%BC": "example,xn--mller-kva)/%c3%bc",
    "https://a.example:80/x": "example,a:80)/x",
    "http://www.www.example/": "example,www)/",
    "http://wwwx.example/": "example,wwwx)/",
    "http://a.example/a?b=c&": "example,a)/a?&b=c",
    "http://a.example/?q=a+b%2Bc": "example,a)/?q=a+b+c",
    "http://a.example/x%": "example,a)/x%25",
    "http://a.example/index.html": "example,a)/index.html",
}


@pytest.mark.parametrize("url", KEYS)
def test_a_key(url: str) -> None:
    assert surt(url) == KEYS[url]


def test_keys_are_those_of_the_surt_package() -> None:
    """In a process of its own: that package has another licence."""
    urls = [found for url in KEYS if (found := canonical(url)) is not None]
    program = "import json, surt, sys; print(json.dumps([surt.surt(url) for url in json.load(sys.stdin)]))"
    theirs = json.loads(run_python(program, json.dumps(urls)))
    assert dict(zip(urls, map(surt, urls), strict=True)) == dict(zip(urls, theirs, strict=True))
