"""The agent's own signed writes, and what a node says when they are refused.

The programs are those of Debian 13's packages, prometheus 2.53 and node_exporter 1.9, since the pinned ones
come from no package archive. They read the same configuration and sign in the same way; only the switch
``--agent`` has another name there. (Debian 12's prometheus 2.42 takes ``sigv4`` and signs nothing: measured.)
"""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.image import sources
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import BUCKET, Sandbox
from tests.lifecycle.sandbox import workspace

SERVER = Path(workspace.__file__)
HOST = "aps-workspaces.us-west-2.amazonaws.com"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
KNOWN = {
    "region": "us-west-2",
    "workspace": "ws-1",
    "access_key": "ASIASANDBOX",
    "secret_key": "no secret",
    "token": "token of the sandbox",
}
MONITORING = {
    "remote_write_url": f"https://{HOST}/workspaces/ws-1/api/v1/remote_write",
    "region": "us-west-2",
    "interval_seconds": 15,
    "exporters": ["node", "gpu", "efa", "slurm"],
    "labels": {"team": "a"},
}
# version 2 knows the agent by another name
RENAMED = '#!/bin/bash\nexec "$(dirname "$0")/prometheus-2" "${@/#--agent/--enable-feature=agent}"\n'
CERTIFICATE = [
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    f"/CN={HOST}",
]
CERTIFICATE += ["-addext", f"subjectAltName=DNS:{HOST}", "-keyout", "key.pem", "-out", "cert.pem"]


def signed(body: bytes, *, region: str = "us-west-2", service: str = "aps") -> dict[str, str]:
    """Headers of a request as a client signs it."""
    request = AWSRequest("POST", MONITORING["remote_write_url"], headers={"host": HOST}, data=body)
    credentials = Credentials(KNOWN["access_key"], KNOWN["secret_key"], KNOWN["token"])
    SigV4Auth(credentials, service, region).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def verdict(headers: dict[str, str], body: bytes) -> str:
    try:
        workspace.check_signature("POST", str(MONITORING["remote_write_url"]), headers, body, KNOWN)
    except workspace.RefusedError as error:
        return str(error)
    return ""


def test_the_stand_in_takes_what_is_signed_and_nothing_else() -> None:
    good = signed(b"body")
    assert verdict(good, b"body") == ""
    assert "does not match" in verdict(good, b"another body")
    assert "does not match" in verdict({**good, "host": "elsewhere"}, b"body")
    assert "Missing Authentication Token" in verdict({}, b"body")
    assert "should be scoped" in verdict(signed(b"body", region="us-east-1"), b"body")
    assert "should be scoped" in verdict(signed(b"body", service="execute-api"), b"body")
    assert "token" in verdict({**good, "x-amz-security-token": "other"}, b"body")
    assert "expired" in verdict({**good, "x-amz-date": "20200101T000000Z"}, b"body")


def test_the_stand_in_reads_a_write_request() -> None:
    label = b"\x0a\x08__name__\x12\x02up"
    sample = b"\x09" + bytes(6) + b"\xf0\x3f" + b"\x10\x01"
    line = b"\x0a" + bytes([len(label)]) + label + b"\x12" + bytes([len(sample)]) + sample
    message = b"\x0a" + bytes([len(line)]) + line
    # one literal, then a copy of eight bytes from eight bytes ago
    block = bytes([len(message), (len(message) - 1) << 2]) + message
    assert workspace.series(block) == [{"labels": {"__name__": "up"}, "value": "1.0"}]
    assert workspace.unsnappy(b"\x10\x1cabcdefgh\x11\x08") == b"abcdefghabcdefgh"
    with pytest.raises(ValueError, match="instead of"):
        workspace.unsnappy(b"\x11\x1cabcdefgh\x11\x08")


def release(name: str, files: dict[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as content:
        for file, data in files.items():
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size, member.mode = len(data), 0o755
            content.addfile(member, io.BytesIO(data))
    return raw.getvalue()


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The programs, from the machine's own package archive."""
    folder = tmp_path_factory.mktemp("packages")
    names = ["prometheus", "prometheus-node-exporter"]
    archive = sources("trixie")[0] if sources("trixie") else "deb http://deb.debian.org/debian trixie main"
    (folder / "sources.list").write_text(archive.replace("deb ", f"deb [signed-by={KEYRING}] ", 1) + "\n")
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    # of its own, so that the machine's packages stay those of its own release
    options = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "/nonexistent",
        "Dir::State": folder / "state",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder / "cache",
    }
    apart = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    for command in (["update", "-qq"], ["download", "-qq", *names]):
        done = subprocess.run(["apt-get", *apart, *command], cwd=folder, capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"no {', '.join(names)} here: {done.stderr.decode()[-300:]}")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True)
    programs = folder / "usr/bin"
    return {
        "prometheus": release(
            "prometheus-2",
            {"prometheus": RENAMED.encode(), "prometheus-2": (programs / "prometheus").read_bytes()},
        ),
        "node-exporter": release(
            "node-exporter-1", {"node_exporter": (programs / "prometheus-node-exporter").read_bytes()}
        ),
    }


def requests(folder: Path) -> list[dict[str, Any]]:
    path = folder / "requests.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def awaited(folder: Path, status: int, *, after: int = 0, seconds: float = 90.0) -> list[dict[str, Any]]:
    """The requests that ended with a status, once there are some."""
    deadline = time.monotonic() + seconds
    while not (found := [one for one in requests(folder)[after:] if one["status"] == status]):
        assert time.monotonic() < deadline, requests(folder)[-3:]
        time.sleep(0.2)
    return found


def serve(sandbox: Sandbox, folder: Path) -> None:
    """Serve the workspace in the room, under a certificate that its hosts trust."""
    folder.mkdir()
    subprocess.run(CERTIFICATE, cwd=folder, check=True, capture_output=True)
    (folder / "known.json").write_text(json.dumps(KNOWN))
    sandbox.room.start(
        *sandbox.room.command(sys.executable, str(SERVER), str(folder)), log=folder / "server.log"
    )
    deadline = time.monotonic() + 20
    while not (folder / "serving").exists():
        assert time.monotonic() < deadline, (folder / "server.log").read_text()
        time.sleep(0.05)
    for host in sandbox.hosts.values():
        with host.path("/etc/ssl/certs/ca-certificates.crt").open("a") as file:
            file.write((folder / "cert.pem").read_text())


@pytest.fixture(scope="module")
def cluster(
    releases: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Sandbox, Path]]:
    pins = {
        f"{name}-amd64": {"file": f"{name}.tar.gz", "url": "https://example.invalid/x", "sha256": digest}
        for name, content in releases.items()
        for digest in [hashlib.sha256(content).hexdigest()]
    }
    downloads = {"artifacts": pins, "sources": [f"s3://{BUCKET}/bundle"], "internet": False}
    config = {"software": {"downloads": downloads, "monitoring": MONITORING}}
    with Sandbox(Plan(groups=usual_groups(1, login=0), config=config)) as sandbox:
        for name, content in releases.items():
            kept = sandbox.shared / "s3" / BUCKET / "bundle" / pins[f"{name}-amd64"]["sha256"]
            kept.mkdir(parents=True)
            (kept / f"{name}.tar.gz").write_bytes(content)
        sandbox.up()
        folder = tmp_path_factory.mktemp("aps") / "workspace"
        serve(sandbox, folder)
        runs = sandbox.provision()
        for run in runs.values():
            assert run.step("monitoring")["outcome"] == "done", run.output
        yield sandbox, folder


def looked(host: Host) -> tuple[int, dict[str, Any]]:
    """The exit code of check-node, and what it says of the metrics."""
    answer = host.run("hyperpod-check-node", "--json", check=False)
    document = json.loads(answer.output)
    return answer.exit_code, {one["name"]: one for one in document["checks"]}["metrics"]


def named(found: Sequence[dict[str, Any]], name: str) -> list[dict[str, str]]:
    return [
        one["labels"] for request in found for one in request["series"] if one["labels"]["__name__"] == name
    ]


@pytest.mark.long_nodes
def test_figures_arrive_signed_by_the_nodes_role(cluster: tuple[Sandbox, Path]) -> None:
    sandbox, folder = cluster
    deadline = time.monotonic() + 90
    while not (
        named(taken := awaited(folder, 200), "hyperpod_slurm_up")
        and len({labels["instance"] for labels in named(taken, "node_load1")}) == 2
    ):
        assert time.monotonic() < deadline, [one["message"] for one in requests(folder)][-5:]
        time.sleep(0.5)
    assert {one["status"] for one in requests(folder)} == {200}
    load = {labels["instance"]: labels for labels in named(taken, "node_load1")}
    for host, group in ((sandbox.controller, "controller"), (sandbox.compute[0], "compute")):
        labels = load[host.address]
        assert (labels["instance_group"], labels["cluster"], labels["team"]) == (group, "ml-cluster", "a")
    for host in sandbox.hosts.values():
        assert looked(host)[1]["outcome"] == "done"


@pytest.mark.long_nodes
def test_a_workspace_that_refuses_is_told_by_the_node(cluster: tuple[Sandbox, Path]) -> None:
    sandbox, folder = cluster
    host = sandbox.compute[0]
    conf = "/etc/hyperpod-cdk/prometheus.yml"
    text = host.run("cat", conf).output
    try:
        host.run(f'sed -i \'s/"region": "us-west-2"/"region": "us-east-1"/\' {conf}')
        host.run("systemctl restart hyperpod-prometheus")
        refused = awaited(folder, 403, after=len(requests(folder)))
        assert "should be scoped to us-west-2/aps, not us-east-1/aps" in refused[0]["message"]
        exit_code, found = looked(host)
        assert (exit_code, found["outcome"]) == (3, "warning"), found
        assert "refuse" in found["detail"]
        assert "journalctl" in found["advice"]
    finally:
        host.path(conf).write_text(text)
        host.run("systemctl restart hyperpod-prometheus")


@pytest.mark.long_nodes
def test_an_agent_that_does_not_run_is_told(cluster: tuple[Sandbox, Path]) -> None:
    host = cluster[0].compute[0]
    host.run("systemctl stop hyperpod-prometheus")
    try:
        assert looked(host)[0] == 3
        assert "hyperpod-prometheus does not run" in looked(host)[1]["detail"]
    finally:
        host.run("systemctl start hyperpod-prometheus")
