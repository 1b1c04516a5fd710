"""What is set up beside Slurm, under a real systemd: metrics, a bucket as files, logs, own steps."""

import hashlib
import io
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import BUCKET, Sandbox
from tests.lifecycle.sandbox.scenario import ALICE

# stand-ins for the programs of the releases: one that stays, one that tells of itself as an agent that
# writes does, one that mounts a folder as Mountpoint does
STAYS = "#!/bin/bash\nexec sleep infinity\n"
MOUNTS = (
    '#!/bin/bash\nmkdir -p /srv/bucket; echo "$@" >/srv/arguments\n'
    'exec bindfs -o fsname=mountpoint-s3 /srv/bucket "${@: -1}"\n'
)
AGENT = """#!/usr/bin/python3 -I
import http.server, time
TEXT = f"process_start_time_seconds {time.time()}\\nprometheus_remote_storage_samples_total 1\\n"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(TEXT.encode())
http.server.HTTPServer(("127.0.0.1", 9818), Handler).serve_forever()
"""
OWN = '#!/bin/bash\necho "$HYPERPOD_NODE_TYPE $PLACE $1" >>/var/log/own-step.log\n'
MONITORING = {
    "remote_write_url": "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write",
    "region": "us-west-2",
    "interval_seconds": 10,
    "exporters": ["node", "gpu", "efa", "slurm"],
    "labels": {"team": "a"},
}
MOUNT = {"bucket": "data", "mount_path": "/datasets", "cache_gib": 0, "node_types": ["Compute"]}
STEP = {
    "name": "mark",
    "script": "steps/mark.sh",
    "when": "before",
    "arguments": ["one"],
    "environment": {"PLACE": "here"},
    "time_limit_seconds": 30,
    "attempts": 1,
}


def release(path: str, text: str) -> bytes:
    """An archive as a release is."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as content:
        member = tarfile.TarInfo(path)
        member.size, member.mode = len(text), 0o755
        content.addfile(member, io.BytesIO(text.encode()))
    return raw.getvalue()


RELEASES = {
    "node-exporter": release("node_exporter-1/node_exporter", STAYS),
    "prometheus": release("prometheus-3/prometheus", AGENT),
    "mount-s3": release("bin/mount-s3", MOUNTS),
}


def pins() -> dict[str, Any]:
    return {
        f"{name}-amd64": {
            "file": f"{name}.tar.gz",
            "url": "https://example.invalid/x",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in RELEASES.items()
    }


def gauge(host: Host, name: str, *, seconds: float = 30.0) -> float:
    """The newest value of a metric, once it has been measured."""
    deadline = time.monotonic() + seconds
    while True:
        command = f"grep -hsF '{name} ' /var/lib/hyperpod-cdk/metrics/*.prom"
        found = host.run(command, check=False).lines
        lines = [line for line in found if not line.startswith("#")]
        if lines or time.monotonic() > deadline:
            return float(lines[0].rsplit(" ", 1)[1])
        time.sleep(0.2)


@pytest.mark.long_nodes
def test_everything_beside_slurm(tmp_path: Path) -> None:
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "mark.sh").write_text(OWN)
    software = {
        "downloads": {"artifacts": pins(), "sources": [f"s3://{BUCKET}/bundle"], "internet": False},
        "monitoring": MONITORING,
        "bucket_mounts": [MOUNT],
        "log_rotation": {"max_size_mib": 50, "keep": 3},
        "steps": [STEP],
    }
    plan = Plan(
        groups=usual_groups(1, login=0),
        users=[ALICE],
        config={"software": software},
        extra_files=tmp_path,
    )
    with Sandbox(plan) as sandbox:
        for name, content in RELEASES.items():
            digest = hashlib.sha256(content).hexdigest()
            kept = sandbox.shared / "s3" / BUCKET / "bundle" / digest / f"{name}.tar.gz"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(content)
        sandbox.up()
        # what the image itself says of Slurm's logs goes, so that ours counts
        for host in sandbox.hosts.values():
            host.run("rm -f /etc/logrotate.d/slurm*", check=False)
        runs = sandbox.provision()
        sandbox.idle()
        controller, (compute,) = sandbox.controller, sandbox.compute

        for host in (controller, compute):
            steps = runs[host.name]
            assert steps.step("monitoring")["outcome"] == "done", steps.step("monitoring")
            active = host.run("systemctl is-active hyperpod-prometheus hyperpod-node-exporter").lines
            assert active == ["active", "active"]
            conf = json.loads(host.run("cat /etc/hyperpod-cdk/prometheus.yml").output)
            assert conf["remote_write"][0]["sigv4"] == {"region": "us-west-2"}
            kind = "Controller" if host is controller else "Compute"
            assert host.run("cat /var/log/own-step.log").lines == [f"{kind} here one"]
            assert (
                host.run("logrotate --debug /etc/logrotate.d/hyperpod-cdk-slurm", check=False).exit_code == 0
            )
        assert gauge(controller, "hyperpod_slurm_up") == 1
        assert gauge(controller, 'hyperpod_slurm_nodes{partition="dev",state="idle"}') == 1

        assert runs[controller.name].step("buckets")["outcome"] == "skipped"
        assert runs[compute.name].step("buckets")["outcome"] == "done", runs[compute.name].step("buckets")
        compute.run("echo hello >/srv/bucket/file")
        assert compute.run("cat /datasets/file").output == "hello\n"
        assert compute.run("cat /srv/arguments").output.split() == [
            "--allow-other",
            "--read-only",
            "data",
            "/datasets",
        ]
        compute.run("umount -l /datasets")
        answer = compute.run("hyperpod-check-node", check=False)
        assert answer.exit_code == 3
        assert "not mounted: /datasets" in answer.output
        compute.run("systemctl restart hyperpod-cdk-s3-datasets")
        assert compute.run("hyperpod-check-node", check=False).exit_code == 0

        units = "hyperpod-prometheus hyperpod-node-exporter"
        since = compute.run(f"systemctl show -p ActiveEnterTimestampMonotonic {units}").output
        again = sandbox.provision()
        assert {run.exit_code for run in again.values()} == {0}
        assert compute.run(f"systemctl show -p ActiveEnterTimestampMonotonic {units}").output == since
