"""The manifest for Kubernetes: what can be checked without one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from parcahyd.cli import main
from parcahyd.config.loading import load
from parcahyd.config.schema import WorkConf
from parcahyd.processes import agent

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "examples" / "kubernetes" / "parcahyd.yaml"


@pytest.fixture
def objects() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="the manifest is read with PyYAML")
    return {one["kind"]: one for one in yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))}


def _pod(one: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pods of an object, and their only container."""
    pod = one["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    return pod, container


def test_it_has_settings_a_job_and_the_nodes(objects: dict[str, Any]) -> None:
    assert list(objects) == ["ConfigMap", "Job", "StatefulSet"]
    assert {kind: one["apiVersion"] for kind, one in objects.items()} == {
        "ConfigMap": "v1",
        "Job": "batch/v1",
        "StatefulSet": "apps/v1",
    }
    labels = objects["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert objects["StatefulSet"]["spec"]["selector"]["matchLabels"] == labels


def test_the_settings_are_valid_and_name_no_password(objects: dict[str, Any], tmp_path: Path) -> None:
    for name, text in objects["ConfigMap"]["data"].items():
        tomllib.loads(text)
        (tmp_path / name).write_text(text, encoding="utf-8")
    configuration = load(tmp_path)
    assert configuration.map.DbUrl.startswith("postgresql://crawler@")
    variable = configuration.map.DbPassword.removeprefix("env:")
    for kind in ("Job", "StatefulSet"):
        _, container = _pod(objects[kind])
        (found,) = [one for one in container["env"] if one["name"] == variable]
        secret = found["valueFrom"]["secretKeyRef"]
        assert f"create secret generic {secret['name']} --from-literal={secret['key']}=" in MANIFEST.read_text(encoding="utf-8")


def test_its_commands_can_be_run(objects: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("Job", "StatefulSet"):
        assert main([*_pod(objects[kind])[1]["args"], "--help"]) == 0
    for line in re.findall(r"-- parcahyd (.*)$", MANIFEST.read_text(encoding="utf-8"), re.MULTILINE):
        assert main([*line.split(), "--help"]) == 0
    assert capsys.readouterr().out.count("Usage: ") == 4


def test_the_job_is_not_repeated(objects: dict[str, Any]) -> None:
    pod, container = _pod(objects["Job"])
    assert (pod["restartPolicy"], objects["Job"]["spec"]["backoffLimit"]) == ("Never", 0)
    at = container["args"].index("--partitions")
    assert int(container["args"][at + 1]) == 4 * objects["StatefulSet"]["spec"]["replicas"]


def test_a_node_is_called_as_its_pod_and_has_time_to_give_its_partitions_back(objects: dict[str, Any]) -> None:
    pod, container = _pod(objects["StatefulSet"])
    assert container["args"][-2:] == ["--name", "$(POD_NAME)"]
    names = {one["name"]: one["valueFrom"].get("fieldRef") for one in container["env"]}
    assert names["POD_NAME"] == {"fieldPath": "metadata.name"}
    assert pod["terminationGracePeriodSeconds"] > WorkConf().StopTimeout + agent._GRACE


def test_nothing_runs_as_root(objects: dict[str, Any]) -> None:
    user = re.search(r"^USER (\d+)$", (ROOT / "examples" / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert user is not None
    for kind in ("Job", "StatefulSet"):
        pod, container = _pod(objects[kind])
        assert pod["securityContext"] == {"runAsNonRoot": True, "runAsUser": int(user[1])}
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert pod["automountServiceAccountToken"] is False
        (volume,) = pod["volumes"]
        (mount,) = container["volumeMounts"]
        assert mount["name"] == volume["name"]
        assert (volume["configMap"]["name"], mount["readOnly"]) == (objects["ConfigMap"]["metadata"]["name"], True)
        assert mount["mountPath"] == container["args"][container["args"].index("--conf") + 1]
