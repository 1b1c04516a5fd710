"""Whatever check-node looks at, it tells when that is broken, on every node type, and by its exit code.

`damages.py` has what is broken; `tests/lifecycle/test_check_node.py` holds that no check is without a row.
"""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import BUCKET, Sandbox
from tests.lifecycle.sandbox import test_beside as beside
from tests.lifecycle.sandbox import test_software as software
from tests.lifecycle.sandbox.damages import BY_HOST, NODE_TYPES
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE

pytestmark = pytest.mark.long_nodes

# an agent whose last figures have just arrived
AGENT = software.AGENT.replace(
    "TEXT.encode()",
    '(TEXT + f"prometheus_remote_storage_queue_highest_sent_timestamp_seconds {time.time()}\\n").encode()',
)
RELEASES = {
    **software.RELEASES,
    "prometheus": software.release("prometheus-3/prometheus", AGENT),
}
CONFIG = {
    "accounting": {**ACCOUNTS["accounting"], "purge": {"PurgeJobAfter": "12month"}},
    "user_groups": [{"name": "vision", "gid": 3000}],
    "removed_users": ["carol"],
    "slurm": {"conf": {"DefMemPerCPU": "100"}, "epilog": True, "pam_slurm_adopt": True},
    "software": {
        **beside.SOFTWARE,
        "downloads": {
            "artifacts": {
                f"{name}-amd64": {
                    "file": f"{name}.tar.gz",
                    "url": "https://example.invalid/x",
                    "sha256": hashlib.sha256(content).hexdigest(),
                }
                for name, content in RELEASES.items()
            },
            "sources": [f"s3://{BUCKET}/bundle"],
            "internet": False,
        },
        "monitoring": software.MONITORING,
        "bucket_mounts": [{**software.MOUNT, "node_types": list(NODE_TYPES.values())}],
        "log_rotation": {"max_size_mib": 50, "keep": 3},
    },
}
# what a machine that runs writes by itself; everything else is looked at
LIVING = (
    "/proc",
    "/sys",
    "/dev",
    "/.sandbox",
    "/run/log",
    "/run/systemd",
    "/run/munge",
    # the stand-in of lnetctl notes who asks it
    "/run/lnetctl.calls",
    "/var/log",
    "/var/lib/mysql",
    "/var/lib/systemd",
    "/var/lib/hyperpod-cdk/metrics",
    "/var/spool/slurmctld",
    "/var/spool/slurmd",
    "/tmp/systemd-private",
)
# more than the kernel's clock for files goes forward at once
BEFORE = "touch /root/before; sleep 0.05"
CHANGED = r"""
hyperpod-check-node >/dev/null 2>&1
prune=(-false)
for path in "${@:2}"; do prune+=(-o -path "$path*"); done
for top in / /run /fsx /home /tmp /opt/sagemaker; do
    find "$top" -xdev '(' "${prune[@]}" ')' -prune -o '(' -newercc "$1" -o -newermm "$1" ')' -print
done | sort -u
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A node of each type that has everything which the scripts can set up."""
    folder = tmp_path_factory.mktemp("damage")
    (folder / "pyxis.c").write_text(beside.PLUGIN)
    plugin = folder / "spank_pyxis.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", str(plugin), str(folder / "pyxis.c")], check=True)
    alice = {**ALICE, "groups": ["vision", "docker"]}
    plan = Plan(groups=usual_groups(1, mounts=[beside.WITH_EFA]), users=[alice], config=CONFIG)
    with Sandbox(plan) as sandbox:
        for name, content in RELEASES.items():
            digest = hashlib.sha256(content).hexdigest()
            kept = sandbox.shared / "s3" / BUCKET / "bundle" / digest / f"{name}.tar.gz"
            kept.parent.mkdir(parents=True)
            kept.write_bytes(content)
        sandbox.secret(beside.BIND_SECRET, f'{{"password": "{beside.PASSWORD}"}}')
        sandbox.up(disk="768m")
        for host in sandbox.hosts.values():
            beside.image(host, plugin)
            beside.efa(host)
            # what the image itself says of Slurm's logs goes, so that ours counts
            host.run("rm -f /etc/logrotate.d/slurm*", check=False)
        sandbox.provision()
        sandbox.idle()
        # logins are only asked for a job where Slurm could hold them: see test_beside.py
        settings = "ProctrackType=proctrack/cgroup\\nPrologFlags=Contain\\n"
        (compute,) = sandbox.compute
        compute.run(f"printf '{settings}' >>/var/spool/slurmd/conf-cache/slurm.conf")
        sandbox.provision([compute])
        sandbox.idle()
        yield sandbox


def looked(host: Host) -> tuple[int, dict[str, Any]]:
    answer = host.run("hyperpod-check-node", "--json", check=False)
    document = json.loads(answer.output)
    assert document["exit_code"] == answer.exit_code
    return answer.exit_code, {one["name"]: one for one in document["checks"]}


def bad(found: dict[str, Any]) -> list[Any]:
    return [one for one in found.values() if one["outcome"] in ("failed", "warning")]


@pytest.mark.parametrize("name", BY_HOST)
def test_looking_changes_nothing(cluster: Sandbox, name: str) -> None:
    host = cluster.hosts[name]
    host.run(BEFORE)
    changed = host.run("bash", "-c", CHANGED, "bash", "/root/before", *LIVING).lines
    assert changed == []
    # what is looked for here is found: without this, an empty list says little
    host.run(BEFORE)
    host.run("touch /etc/fstab; chmod 755 /fsx/alice/.ssh; chmod 700 /fsx/alice/.ssh")
    changed = host.run("bash", "-c", CHANGED, "bash", "/root/before", *LIVING).lines
    assert changed == ["/etc/fstab", "/fsx/alice/.ssh"]


@pytest.mark.parametrize("name", BY_HOST)
def test_what_is_broken_is_told(cluster: Sandbox, name: str) -> None:
    host = cluster.hosts[name]
    silent: list[Any] = []
    code, before = looked(host)
    assert code == 0, bad(before)
    for damage in BY_HOST[name]:
        if host in cluster.compute:
            # slurmctld may have asked it while slurmd or munge was away, and thinks so until it asks again
            cluster.joined(host, seconds=150)
        host.run("bash", "-c", damage.harm)
        exit_code, found = looked(host)
        host.run("bash", "-c", damage.mend)
        one = found[damage.check]
        if one not in bad(found) or damage.says not in one["detail"] or not one["advice"]:
            silent.append((damage.harm, one))
        elif exit_code != damage.exit_code:
            silent.append((damage.harm, exit_code, bad(found)))
    cluster.idle()
    code, after = looked(host)
    assert not silent, "\n".join(map(str, silent))
    assert code == 0, bad(after)
