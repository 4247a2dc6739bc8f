"""`augment build` as the last step after Hugo and Jekyll, where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.authoring.check import check

_BODY = '<p data-vol="built">%s</p></body></html>'
_HEAD = '<!doctype html><html><head><meta charset="utf-8"><title>%s</title></head><body>'
_HUGO = (
    _HEAD % "{{ .Title }}"
    + '{{ range .Site.RegularPages }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}'
    + _BODY % "{{ now }}"
)
_JEKYLL = (
    _HEAD % "{{ page.title }}"
    + '{% for post in site.posts %}<a href="{{ post.url }}">{{ post.title }}</a>{% endfor %}'
    + _BODY % "{{ site.time }}"
)


def _write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _generate(folder: Path, *command: str) -> None:
    program = shutil.which(command[0])
    if program is None:
        pytest.skip(f"{command[0]} is not installed, so its sites are not tried")
    subprocess.run([program, *command[1:]], cwd=folder, check=True, capture_output=True)


def _tables_fit(site: Path, page: str, links: list[str]) -> None:
    plan = make_plan(site, "https://a.example/")
    build(plan)
    assert check(plan) == []
    assert build(plan).written == []
    table = (site / page).with_suffix(".TOL").read_text()
    assert [line.partition("\t")[0] for line in table.split("\n\n")[1].splitlines()[:-1]] == links
    tvi = read_tvi((site / page).with_suffix(".TVI").read_bytes())
    assert isinstance(tvi, Tvi)
    assert [region.id for region in tvi.regions] == ["built"]


def test_a_site_of_hugo(tmp_path: Path) -> None:
    layouts = {f"layouts/{name}.html": _HUGO for name in ("index", "_default/single", "_default/list")}
    posts = {f"content/posts/p{number}.md": f"---\ntitle: Post {number}\nweight: {number}\n---\n" for number in (1, 2)}
    _write(tmp_path, {"config.toml": 'baseURL = "https://a.example/"\n', **layouts, **posts})
    _generate(tmp_path, "hugo", "--minify")
    _tables_fit(tmp_path / "public", "index.html", ["/posts/p1/", "/posts/p2/"])


def test_a_site_of_jekyll(tmp_path: Path) -> None:
    front = "---\nlayout: page\ntitle: {}\n---\n"
    posts = {f"_posts/2026-01-0{number}-p{number}.md": front.format(f"Post {number}") for number in (1, 2)}
    _write(tmp_path, {"_config.yml": "title: A\n", "_layouts/page.html": _JEKYLL, "index.md": front.format("Home"), **posts})
    _generate(tmp_path, "jekyll", "build", "--quiet")
    _tables_fit(tmp_path / "_site", "index.html", ["/2026/01/02/p2.html", "/2026/01/01/p1.html"])
