"""A user error is exit code 2 and one line that says what, where and what to do; never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.crawl import Crawl, CrawlFactory, assert_user_error

_SEED = ("--seed", "http://127.0.0.1:9/")


def _write(crawl: Crawl, name: str, text: str) -> None:
    (crawl.conf / name).write_text(text)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("WorkConf.toml", "# speed\nHostDelai = 1\n", ("WorkConf.toml, line 2", "HostDelai", "HostDelay")),
        ("MapConf.toml", "\n\nNameserver = []\n", ("MapConf.toml, line 3", "Nameserver", "Nameservers")),
        ("WorkConf.toml", 'HostDelay = "fast"\n', ("WorkConf.toml, line 1", "HostDelay")),
        ("WorkConf.toml", "MaxSize = 0\n", ("WorkConf.toml, line 1", "MaxSize")),
        ("WorkConf.toml", 'Scope = "planet"\n', ("WorkConf.toml, line 1", "Scope")),
        ("WorkConf.toml", "HostDelay = \n", ("WorkConf.toml", "1")),
        ("MapConf.toml", 'AllowAddresses = ["127.0.0.300/8"]\n', ("AllowAddresses", "127.0.0.300/8")),
        ("WorkConf.toml", 'DbUrl = "sqlite:///b.db"\nLocalInstance = false\n', ("LocalInstance", "DbUrl", "postgresql://")),
        ("MapConf.toml", 'DbUrl = "sqlite:///a.db"\n#', ("DbUrl",)),
        ("WorkConf.toml", 'DownloaderClass = "curly"\n', ("curly", "curl")),
        ("MapConf.toml", 'DnsResolverClass = "nobody.at.all"\n', ("nobody.at.all",)),
        ("WorkConf.toml", 'DbUrl = "sqlite:///MapConf.toml/crawl.db"\n', ("MapConf.toml/crawl.db",)),
        ("WorkConf.toml", 'DbUrl = "postgresql://127.0.0.1:1/none"\n', ("127.0.0.1",)),
        ("WorkConf.toml", 'DbUrl = "oracle:thin"\n', ("oracle",)),
    ],
)
def test_errors_in_the_files(crawl: CrawlFactory, file: str, text: str, words: tuple[str, ...]) -> None:
    running = crawl()
    _write(running, "MapConf.toml", "")
    _write(running, "WorkConf.toml", 'DbUrl = "sqlite:///b.db"\n')
    _write(running, file, text)
    assert_user_error(running.command("run", "--conf", str(running.conf), *_SEED), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "Work.HostDelai=1", *_SEED), ("HostDelai", "HostDelay")),
        (("--set", "HostDelay=1", *_SEED), ("Work.HostDelay",)),
        (("--set", "Work.HostDelay", *_SEED), ("Work.HostDelay",)),
        (("--set", "Work.HostDelay=[1", *_SEED), ("Work.HostDelay",)),
        (("--seed", "not a url"), ("not a url",)),
        ((), ("parcahyd run URL",)),
        (("--sed", "http://127.0.0.1:9/"), ("--seed",)),
    ],
)
def test_errors_on_the_command_line(crawl: CrawlFactory, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    running = crawl()
    assert_user_error(running.command("run", "--conf", str(running.conf), *arguments), *words)


def test_a_seed_that_no_downloader_serves_is_refused(crawl: CrawlFactory) -> None:
    running = crawl()
    assert_user_error(running.run("gemini://127.0.0.1/", code=2), 'nothing serves the scheme "gemini"')


def test_a_configuration_folder_that_is_not_there(crawl: CrawlFactory, tmp_path: Path) -> None:
    assert_user_error(crawl().command("run", "--conf", str(tmp_path / "nowhere"), *_SEED), "nowhere")


@pytest.mark.parametrize("command", ["status", "urls", "show", "explain", "verify"])
def test_reading_where_nothing_was_crawled(crawl: CrawlFactory, command: str) -> None:
    running = crawl()
    url = ("http://127.0.0.1:9/",) if command in ("show", "explain") else ()
    finished = running.command(command, "--conf", str(running.conf), *url)
    assert finished.code == 2, finished.text + finished.err
    assert len(finished.err.splitlines()) == 1
