"""Every command on the database of a cluster: it reads all partitions as one crawl, refuses, or has nothing to do with it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from parcahyd.cli import main
from parcahyd.cli.application import COMMANDS
from parcahyd.storage.connection import Database
from tests.cluster.crawled_cluster import COUNTS, CrawledCluster, crawled_cluster
from tests.cluster.hub_desk import want
from tests.support.postgres import fresh_database

READS, REFUSES, TOUCHES_NONE, IS_ITS_OWN = "reads", "refuses", "touches none", "is its own"
BY_COMMAND = {
    "run": REFUSES,
    "node": IS_ITS_OWN,
    "cluster": IS_ITS_OWN,
    "init": TOUCHES_NONE,
    "status": READS,
    "urls": READS,
    "show": READS,
    "history": READS,
    "diff": READS,
    "export": READS,
    "import": REFUSES,
    "explain": READS,
    "fetch": TOUCHES_NONE,
    "forget": REFUSES,
    "verify": READS,
    "lab": READS,
    "augment": TOUCHES_NONE,
    "topic": TOUCHES_NONE,
    "config": TOUCHES_NONE,
    "plugins": TOUCHES_NONE,
    "completion": TOUCHES_NONE,
}
"""What each command of the program does with a cluster's database. A new command needs an entry, and a line below."""

READING = [
    ("status", "--json"),
    ("status", "--json", "--freshness"),
    ("status", "--json", "--sites"),
    ("urls",),
    ("urls", "--jsonl"),
    ("urls", "--order", "url", "--limit", "5"),
    ("urls", "--site", "{site}", "--state", "stored"),
    ("urls", "--why", "missing", "--match", "*/broken"),
    ("show", "{url}"),
    ("show", "--headers", "{url}shared.html"),
    ("show", "--versions", "{url}"),
    ("show", "--exchange", "{url}moved"),
    ("history", "{url}shared.html"),
    ("diff", "{url}"),
    ("explain", "{url}"),
    ("explain", "{url}broken"),
    ("explain", "{url}later"),
    ("export", "warc", "{out}"),
    ("export", "wacz", "{out}/some.wacz", "--state", "stored"),
    ("export", "files", "{out}"),
    ("verify",),
    ("verify", "--json"),
    ("lab", "record", "{out}"),
]
REFUSING = [
    ("run",),
    ("run", "{url}"),
    ("run", "--refresh"),
    ("run", "--refresh", "--site", "{site}"),
    ("run", "--archive", "{url}"),
    ("import", "{archive}"),
    ("forget", "{url}"),
    ("forget", "--site", "{site}"),
]
WITHOUT_A_DATABASE = [
    ("init", "{out}/new", "http://a.example/", "--yes"),
    ("fetch", "http://127.0.0.1:1/"),
    ("augment", "check", "{out}"),
    ("topic",),
    ("config", "--conf", "{out}"),
    ("plugins", "--conf", "{out}"),
    ("completion", "bash"),
]
Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture(scope="module")
def cluster(postgres: str) -> Iterator[CrawledCluster]:
    with fresh_database(postgres) as url, fresh_database(postgres) as single, crawled_cluster(url, single) as cluster:
        yield cluster


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "WorkConf.toml").write_text("# nothing\n")
    return tmp_path


def run(*arguments: str) -> tuple[int, bytes, str]:
    written, said = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (written, said))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as end:
            code = int(str(end.code))
    return code, written.getvalue(), said.getvalue().decode()


def filled(arguments: tuple[str, ...], **words: object) -> list[str]:
    return [argument.format(**words) for argument in arguments]


def test_every_command_has_an_entry() -> None:
    assert set(BY_COMMAND) == set(COMMANDS)
    for tried, kind in ((READING, READS), (REFUSING, REFUSES), (WITHOUT_A_DATABASE, TOUCHES_NONE)):
        assert {arguments[0] for arguments in tried} == {command for command, found in BY_COMMAND.items() if found == kind}


# --- reading --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", [0, 1, 2])
@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_a_command_reads_all_partitions_as_one_database(
    cluster: CrawledCluster, conf: Path, arguments: tuple[str, ...], site: int
) -> None:
    if site and not any("{url}" in word or "{site}" in word for word in arguments):
        return
    found = {}
    for name, database in (("cluster", cluster.url), ("single", cluster.single.url)):
        out = conf / name
        words = {"url": f"http://{cluster.sites[site]}/", "site": cluster.sites[site], "out": out}
        if writes := arguments[0] in ("export", "lab"):
            out.mkdir()
        code, text, error = run(*filled(arguments, **words), "--conf", str(conf), "--db", database)
        assert code == 0, error
        found[name] = _exported(out) if writes else _comparable(arguments[0], text.decode())
    assert found["cluster"] == found["single"]
    assert found["cluster"] or arguments == ("verify", "--json")


def _comparable(command: str, text: str) -> Any:
    """What a command wrote, without what a cluster has besides."""
    if command == "status":
        report = json.loads(text)
        # Each partition stores the document that all sites have; and when it was is the hub's to say.
        for key in ("database", "documents", "document_bytes", "stored_bytes"):
            del report[key]
        report["last_run"] = {key: report["last_run"][key] for key in ("run", "outcome", "counts", "version")}
        report["freshness"] = None if "freshness" not in report else {**report["freshness"], "fresh": 0, "mean_age": 0}
        return report
    lines = text.splitlines()
    if command == "explain":
        # Documents are compared with those of the same partition.
        return [line for line in lines if not line.startswith(("home ", "node ", "requests ", "same as ", "nearly as "))]
    return lines


def _exported(out: Path) -> Any:
    index = out / "index.cdxj"
    if index.exists():
        entries = [line.split(" ", 2) for line in index.read_text().splitlines()]
        return sorted((key, at, *(json.loads(rest)[name] for name in ("url", "status", "digest"))) for key, at, rest in entries)
    return {
        str(path.relative_to(out)): path.read_bytes() if path.suffix != ".wacz" else path.name
        for path in out.rglob("*")
        if path.is_file()
    }


def test_status_says_how_the_last_run_of_the_cluster_went(cluster: CrawledCluster, conf: Path) -> None:
    code, text, _ = run("status", "--json", "--conf", str(conf), "--db", cluster.url)
    report = json.loads(text)
    assert code == 0
    assert report["last_run"]["run"] == 2
    assert report["last_run"]["outcome"] == "done"
    assert report["last_run"]["ended_at"] == report["last_run"]["started_at"] + 60
    assert report["last_run"]["counts"] == {kind: 3 * number for kind, number in COUNTS.items()}
    assert (report["sites"], report["documents"]) == (3, 9)
    assert {site["site"] for site in report["top_sites"]} == {f"http://{site}" for site in cluster.sites}


# --- what only a cluster has ----------------------------------------------------------------------------------------------


def test_explain_says_whose_a_url_is_and_who_waits(cluster: CrawledCluster, conf: Path) -> None:
    url = f"http://{cluster.sites[2]}/"
    desk = cluster.hub
    arguments = ("explain", url, "--conf", str(conf), "--db", cluster.url)
    before = run(*arguments)[1].decode()
    assert 'home       partition 2: the strategy "hash" says so\n' in before
    assert "node       nobody runs that partition now\n" in before
    assert "requests   no partition has claimed its host or an address of it\n" in before
    desk.change("UPDATE parcahyd_p2.sites SET addresses = '192.0.2.1'")
    two, none = desk.take(2, "n2"), desk.take(0, "n0")
    two.claims.claim([want(cluster.sites[2])])
    none.claims.claim([want(cluster.sites[2])])
    ((ticket,),) = desk.rows("SELECT DISTINCT ticket FROM parcahyd_hub.waiters")
    try:
        lines = run(*arguments)[1].decode().splitlines()
        assert "node       n2 runs that partition" in lines
        begin = lines.index(f"requests   host {cluster.sites[2]}: partition 2 has it, on n2")
        assert lines[begin + 1 :] == [
            f"           host {cluster.sites[2]}: partition 0 waits with ticket {ticket}",
            "           address 192.0.2.1: partition 2 has it, on n2",
            f"           address 192.0.2.1: partition 0 waits with ticket {ticket}",
        ]
    finally:
        desk.end(2)
        desk.end(0)
        desk.change("UPDATE parcahyd_p2.sites SET addresses = ''")


def test_explain_says_that_a_row_overrides_the_strategy(cluster: CrawledCluster, conf: Path) -> None:
    host = cluster.sites[2]
    cluster.hub.change("INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES (%s, 1, 2)", host)
    try:
        text = run("explain", f"http://{host}/", "--conf", str(conf), "--db", cluster.url)[1].decode()
    finally:
        cluster.hub.change("DELETE FROM parcahyd_hub.homes")
    assert f"home       partition 1: {host} was given to it, which is on record since " in text
    assert "           it moves there from partition 2, whose rows of it have not all come\n" in text
    assert "           rows of its site are in partition 2\n" in text


def test_an_unknown_url_is_added_by_a_command_of_the_cluster(cluster: CrawledCluster, conf: Path) -> None:
    code, text, _ = run("explain", "http://nowhere.example/", "--conf", str(conf), "--db", cluster.url)
    assert code == 0
    assert b"to add it  parcahyd cluster seed http://nowhere.example/\n" in text
    assert b"home       partition " in text


def test_verify_names_the_partition(cluster: CrawledCluster, conf: Path) -> None:
    arguments = ("verify", "--conf", str(conf), "--db", cluster.url)
    cluster.hub.change("UPDATE parcahyd_p1.urls SET reason = 'robots' WHERE path = '/broken'")
    cluster.hub.change("INSERT INTO parcahyd_hub.mail (partition, kind, routing, body) VALUES (0, 'urls', 0, '')")
    try:
        code, text, _ = run(*arguments)
        findings = [json.loads(line) for line in run(*arguments, "--json")[1].splitlines()]
    finally:
        cluster.hub.change("UPDATE parcahyd_p1.urls SET reason = 'missing' WHERE path = '/broken'")
        cluster.hub.change("DELETE FROM parcahyd_hub.mail")
    url = f"http://{cluster.sites[1]}/broken"
    assert code == 1
    assert text.decode().splitlines() == [
        f"state: partition 1: {url}: A URL that is gone cannot have the reason robots.",
        "mail: partition 0: letters: The run is done, and letters wait for it: 1.",
    ]
    assert [(finding["kind"], finding["partition"]) for finding in findings] == [("state", 1), ("mail", 0)]


def test_an_open_visit_is_wrong_only_when_the_run_is_done_and_nobody_works(cluster: CrawledCluster, conf: Path) -> None:
    arguments = ("verify", "--conf", str(conf), "--db", cluster.url)
    cluster.hub.change("UPDATE parcahyd_p0.sites SET visit = 99")
    try:
        code, text, _ = run(*arguments)
        assert (code, text.split(b":")[0]) == (1, b"visit")
        cluster.hub.take(1)
        assert run(*arguments)[0] == 0
        cluster.hub.end(1)
        cluster.end("stopped")
        assert run(*arguments)[0] == 0
    finally:
        cluster.end("done")
        cluster.hub.change("UPDATE parcahyd_p0.sites SET visit = NULL")


# --- refusing, and having nothing to do with it ---------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", REFUSING, ids=" ".join)
def test_a_command_that_writes_refuses_before_anything_is_changed(
    cluster: CrawledCluster, conf: Path, arguments: tuple[str, ...]
) -> None:
    archive = conf / "one.warc"
    archive.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    before = _everything(cluster)
    words = {"url": f"http://{cluster.sites[0]}/", "site": cluster.sites[0], "archive": archive}
    code, _, error = run(*filled(arguments, **words), "--conf", str(conf), "--db", cluster.url)
    assert code == 2
    assert error == (
        "parcahyd: this is the database of a cluster, which no command by itself writes to "
        "(crawl with `parcahyd cluster start`, or name another database with --db)\n"
    )
    assert _everything(cluster) == before


def _everything(cluster: CrawledCluster) -> Any:
    tables = cluster.hub.rows("SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT LIKE 'pg%%' ORDER BY 1, 2")
    return tables, [desk.everything() for desk in cluster.desks]


@pytest.mark.parametrize("arguments", WITHOUT_A_DATABASE, ids=" ".join)
def test_a_command_touches_no_database(conf: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    def connect(_: Database) -> None:
        raise AssertionError("a database was opened")

    monkeypatch.setattr(Database, "connect", connect)
    monkeypatch.chdir(conf)
    code, _, error = run(*filled(arguments, out=conf))
    assert code in (0, 1), error
    assert "Traceback" not in error
