"""`parcahyd lab rir`: the registries' files become one that a cluster loads."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from parcahyd.cli import lab_rir
from parcahyd.cli.application import run_command
from parcahyd.lab.registries import build, lookups_per_second
from parcahyd.partition.locations.hierarchy_file import decode_hierarchy
from parcahyd.partition.locations.networks import network_of

SAMPLES = Path(__file__).parents[1] / "partition" / "locations"
TODAY, IN_2018 = SAMPLES / "delegated-made-extended-latest", SAMPLES / "ipv4-2018.tsv"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "lab" / "ip-rir2018" / "ipv4.tsv.xz"


def test_files_of_2018_and_of_today_become_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "delegated.gz"
    packed.write_bytes(gzip.compress(TODAY.read_bytes()))
    out = tmp_path / "registries.bin"
    assert run_command(["lab", str(lab_rir.command.name), str(packed), str(IN_2018), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "138 ranges of IPv4, 3 of IPv6, 2 deep at most" in said
    assert "registries: afrinic, apnic, arin, lacnic, ripencc" in said
    hierarchy = decode_hierarchy(out.read_bytes(), out.name)
    assert hierarchy == build([TODAY, IN_2018]).hierarchy
    assert hierarchy.place(network_of("2001:db8::1") or 0) == hierarchy.place(network_of("192.0.2.1") or 0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent", None, "absent cannot be read: No such file or directory"),
        ("cut.xz", lzma.compress(TODAY.read_bytes())[:200], "cut.xz cannot be read"),
        ("cut.gz", gzip.compress(TODAY.read_bytes())[:100], "cut.gz cannot be read"),
        ("bomb.xz", lzma.compress(b"arin|" + b"x" * 50_000_000, preset=0), "line 1: it has more than 1000 bytes"),
        ("page.html", b"<html>\n", "line 1: 1 fields"),
    ],
)
def test_a_damaged_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert run_command(["lab", "rir", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_where_it_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "rir", str(TODAY), "--out", str(tmp_path / "no" / "folder")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_all_ranges_of_2018_are_looked_up() -> None:
    if not SHARED.exists():
        pytest.skip(
            f"needs the registries' ranges, which are not part of the project: {SHARED.name} in ../shared/data/lab/ip-rir2018"
        )
    built = build([SHARED])
    assert len(built.hierarchy.ipv4.first) == 190_920
    assert built.hierarchy.holders == 93_678
    assert built.in_memory < 6_000_000
    assert lookups_per_second(built.hierarchy, range(0, 1 << 24, 997)) > 0
