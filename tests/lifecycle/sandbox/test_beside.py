"""What an image or a deployment brings beside Slurm, with stand-ins for programs that no package here has.

Docker and SSSD are units that stay; Pyxis is a SPANK plugin that knows its option and runs nothing; EFA is a
device in a pretended /sys and an lnetctl that remembers. All else is real: systemd, PAM, sshd, plugstack.conf
on its way to the nodes.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, Group, Plan
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox, ScriptRun
from tests.lifecycle.sandbox.scenario import ALICE, BOB, KEY

pytestmark = pytest.mark.long_nodes

SLURM_22_05_8 = 0x160508
PLUGIN = f"""
extern int spank_option_register(void *, void *);
struct option {{ char *name, *info, *usage; int has_argument, value; void *callback; }};
const char plugin_name[] = "pyxis", plugin_type[] = "spank";
const unsigned int plugin_version = {SLURM_22_05_8}, spank_plugin_version = 1;
static int taken(int value, const char *text, int remote) {{ return 0; }}
static struct option image = {{ "container-image", "IMAGE", "run in an image", 1, 0, taken }};
int slurm_spank_init(void *spank, int count, char **words) {{ return spank_option_register(spank, &image); }}
"""
STAYS = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
LNETCTL = """#!/bin/bash
echo "$*" >>/run/lnetctl.calls
case "$*" in
"net add --net efa"*) echo "$6" >>/run/lnetctl.efa ;;
"net show --net efa") cat /run/lnetctl.efa 2>/dev/null ;;
esac
exit 0
"""
MODPROBE = '#!/bin/bash\necho "$*" >>/run/modprobe.calls\n'
MARK = 'echo "$HYPERPOD_NODE_TYPE {when}, slurmd: $(systemctl is-active slurmd)" >>/var/log/own\n'
WITH_EFA: dict[str, Any] = {**LUSTRE, "efa": True}
BIND_SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:bind-AbCdEf"
SOFTWARE = {
    "containers": {"docker": True, "enroot": True, "required": True},
    "downloads": {"artifacts": {}, "sources": [], "internet": False},
    "directory": {
        "domain": "example",
        # any port that answers will do
        "uris": ["ldap://10.1.0.10:22"],
        "search_base": "dc=example",
        "schema": "rfc2307",
        "secret_arn": BIND_SECRET,
        "bind_dn": "cn=reader",
        "required": True,
    },
}
PASSWORD = "bind-s3cret"


def program(host: Host, path: str, text: str) -> None:
    """Put a program on a host."""
    host.path(path).write_text(text)
    host.path(path).chmod(0o755)


def image(host: Host, plugin: Path) -> None:
    """What a node's image has."""
    host.run("groupadd --system docker; mkdir -p /usr/local/lib/slurm /opt/sagemaker")
    host.run("mount", "-t", "tmpfs", "secondary", "/opt/sagemaker")
    for name in ("docker", "enroot"):
        program(host, f"/usr/local/bin/{name}", "#!/bin/bash\n[ $1 != info ] || echo /opt/sagemaker/docker\n")
    program(host, "/usr/sbin/sssd", "#!/bin/bash\n")
    for unit in ("docker", "sssd"):
        host.path(f"/etc/systemd/system/{unit}.service").write_text(STAYS)
    host.run("mkdir", "-p", "/etc/sssd")
    host.path("/usr/local/lib/slurm/spank_pyxis.so").write_bytes(plugin.read_bytes())


def efa(host: Host) -> None:
    """A device that the kernel shows as one of EFA's, and what brings Lustre up on it."""
    host.run("mount -t tmpfs class /sys/class && mkdir -p /sys/class/infiniband/efa_0/ports/1")
    host.run("mkdir /sys/class/infiniband/efa_0/device")
    host.run("ln -s /sys/bus/pci/drivers/efa /sys/class/infiniband/efa_0/device/driver")
    host.path("/sys/class/infiniband/efa_0/ports/1/state").write_text("4: ACTIVE\n")
    program(host, "/usr/local/sbin/lnetctl", LNETCTL)
    for name in ("modprobe", "modinfo"):
        program(host, f"/usr/local/sbin/{name}", MODPROBE)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sandbox, dict[str, ScriptRun]]]:
    """A controller and a compute node whose images have all of it."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "pyxis.c").write_text(PLUGIN)
    plugin = folder / "spank_pyxis.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", str(plugin), str(folder / "pyxis.c")], check=True)
    own = folder / "extra"
    for when in ("before", "after"):
        (own / f"{when}.d").mkdir(parents=True)
        (own / f"{when}.d" / "10-mark.sh").write_text(MARK.format(when=when))
    plan = Plan(
        groups=[
            Group(name="controller", node_type="Controller", count=1),
            Group(name="compute", node_type="Compute", count=1, mounts=[WITH_EFA]),
        ],
        users=[{**ALICE, "groups": ["docker"], "account": None}, {**BOB, "ssh_public_keys": [KEY]}],
        config={"software": SOFTWARE, "slurm": {"pam_slurm_adopt": True}},
        extra_files=own,
        slurm_conf_delay_seconds=4,
    )
    with Sandbox(plan) as sandbox:
        sandbox.secret(BIND_SECRET, f'{{"password": "{PASSWORD}"}}')
        sandbox.up()
        for host in sandbox.hosts.values():
            image(host, plugin)
        efa(sandbox.compute[0])
        sandbox.controller.run("systemctl stop munge; chmod 644 /etc/munge/munge.key")
        runs = sandbox.provision()
        sandbox.idle()
        yield sandbox, runs


Cluster = tuple[Sandbox, dict[str, ScriptRun]]


def test_docker_runs_with_its_data_on_the_other_disk_for_its_group(cluster: Cluster) -> None:
    for host in cluster[0].hosts.values():
        assert host.run("systemctl", "is-active", "docker").lines == ["active"]
        assert '"data-root": "/opt/sagemaker/docker"' in host.run("cat /etc/docker/daemon.json").output
        members = host.run("getent", "group", "docker").lines[0].rpartition(":")[2]
        assert sorted(members.split(",")) == ["alice", "ubuntu"]


def test_enroot_and_pyxis_reach_srun_on_every_node(cluster: Cluster) -> None:
    sandbox, runs = cluster
    assert runs[sandbox.controller.name].step("pyxis")["outcome"] == "done"
    plugstack = sandbox.controller.run("cat /opt/slurm/etc/plugstack.conf").lines
    assert plugstack == ["optional /usr/local/lib/slurm/spank_pyxis.so"]
    (compute,) = sandbox.compute
    for host in sandbox.hosts.values():
        assert "/opt/sagemaker/enroot/data" in host.run("cat /etc/enroot/enroot.conf").output
    # the compute node has no file of its own: it got the controller's
    assert "--container-image" in compute.run("srun --help").output
    answer = sandbox.controller.run("srun", "--container-image=any", "hostname")
    assert answer.lines == [compute.name]


def test_the_directory_is_asked_and_its_password_is_in_one_file(cluster: Cluster) -> None:
    for host in cluster[0].hosts.values():
        assert host.run("systemctl", "is-active", "sssd").lines == ["active"]
        assert host.run("stat -c '%a %U' /etc/sssd/sssd.conf").lines == ["600 root"]
        found = host.run(f"grep -rlF {PASSWORD} /etc /opt /var/log /run /tmp 2>/dev/null; true").lines
        assert found == ["/etc/sssd/sssd.conf"]


def test_lustre_comes_up_on_efa_before_it_is_mounted(cluster: Cluster) -> None:
    sandbox, runs = cluster
    (compute,) = sandbox.compute
    run = runs[compute.name]
    assert run.step("lustre-efa")["detail"] == "1 of 1 EFA devices carry Lustre"
    assert compute.run("systemctl is-active hyperpod-cdk-lustre-efa").lines == ["active"]
    modules = [line.split()[0] for line in compute.run("cat /run/modprobe.calls").lines]
    assert [name for name in modules if name != "kefalnd"] == ["lnet", "ksocklnd", "lustre"]
    ended = run.step("lustre-efa")["began"] + run.step("lustre-efa")["seconds"]
    assert run.step("mount")["began"] >= ended
    assert "x-systemd.after=hyperpod-cdk-lustre-efa.service" in compute.run("cat /etc/fstab").output


def test_own_steps_run_before_everything_and_after_it(cluster: Cluster) -> None:
    sandbox, _ = cluster
    (compute,) = sandbox.compute
    marks = compute.run("cat /var/log/own").lines
    assert marks == ["Compute before, slurmd: inactive", "Compute after, slurmd: active"]


def test_munge_is_started_with_a_key_that_nobody_else_reads(cluster: Cluster) -> None:
    controller = cluster[0].controller
    assert controller.run("systemctl", "is-active", "munge").lines == ["active"]
    assert controller.run("stat -c '%a' /etc/munge/munge.key").lines == ["400"]


def test_the_services_slurm_conf_is_waited_for(cluster: Cluster) -> None:
    sandbox, runs = cluster
    run = runs[sandbox.controller.name]
    assert "waiting for the service's slurm.conf" in run.output
    assert run.step("slurmctld")["began"] >= run.step("slurm-conf")["seconds"] > 0.2


def test_logins_need_a_job_where_slurm_can_hold_them(cluster: Cluster) -> None:
    """Here it can not, so that nobody is locked out; as soon as its settings say that it can, all are."""
    sandbox, runs = cluster
    (compute,) = sandbox.compute
    adopt = runs[compute.name].step("adopt")
    assert adopt["outcome"] == "warning"
    assert "logins are left alone" in adopt["detail"]
    enter = ["ssh", "-o", "BatchMode=yes", compute.name, "id", "-un"]
    assert sandbox.controller.run(*enter, user="bob").lines[-1] == "bob"
    settings = "ProctrackType=proctrack/cgroup\\nPrologFlags=Contain\\n"
    compute.run(f"printf '{settings}' >>/var/spool/slurmd/conf-cache/slurm.conf")
    (again,) = sandbox.provision([compute]).values()
    assert again.step("adopt")["outcome"] == "done", again.step("adopt")
    refused = sandbox.controller.run(*enter, user="bob", check=False)
    assert refused.exit_code != 0
    journal = compute.run("journalctl --no-pager -t sshd -t pam_slurm_adopt").output
    assert "you have no active jobs on this node" in journal, journal[-2000:]
    assert sandbox.controller.run(*enter, user="alice").lines[-1] == "alice", "who may sudo gets in"
