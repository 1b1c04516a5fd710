"""Munge, the epilog, logins, EFA for Lustre, and what stays on a node: reports 99 to 101, 121; failure 52."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_node import idle, lustre_efa, slurm
from hyperpod_node.catalogue import STEPS
from hyperpod_node.checks import devices
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import adopt, epilog, keep, mounts, munge
from hyperpod_node.steps import lustre_efa as efa_step
from tests.lifecycle.helpers import ALICE, BOB, LUSTRE, Bench, bench, scripts_with

EFA = {**LUSTRE, "efa": True}


def test_59_munge_runs_with_a_key_that_only_it_can_read(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.context.root.path(munge.KEY).chmod(0o644)
    assert munge.check_munge(node.context) == "munge takes its own credentials"
    assert stat.S_IMODE(node.context.root.path(munge.KEY).stat().st_mode) == 0o400
    assert "was readable by others" in node.log
    assert "MUNGE:pretended" not in node.log


def test_the_clusters_key_is_waited_for(tmp_path: Path) -> None:
    node = bench(tmp_path)
    path = node.context.root.path(munge.KEY)
    path.write_text("")

    def service() -> None:
        if len(node.clock.sleeps) == 4:
            path.write_text("key")

    node.clock.meanwhile = service
    munge.check_munge(node.context)
    assert len(node.clock.sleeps) == 4


def test_59_a_munged_from_before_the_clusters_key_takes_it(tmp_path: Path) -> None:
    node = bench(tmp_path)
    pid_file = node.context.root.path(munge.PID_FILE)
    pid_file.parent.mkdir(parents=True)
    pid_file.touch()
    munge.check_munge(node.context)
    assert node.calls("systemctl", "restart") == []
    os.utime(pid_file, (1, 1))
    munge.check_munge(node.context)
    assert node.calls("systemctl", "restart") == [["systemctl", "restart", "munge"]]


def test_59_a_key_that_never_comes_and_a_munged_that_never_answers(tmp_path: Path) -> None:
    node = bench(tmp_path / "a")
    node.context.root.path(munge.KEY).unlink()
    with pytest.raises(NodeError, match="still not so after 300 s: it is missing or empty") as missing:
        munge.check_munge(node.context)
    assert "sagemaker-cluster-agent" in missing.value.advice
    silent = bench(tmp_path / "b", faults=[CommandFault(command="unmunge", output="Invalid credential")])
    with pytest.raises(NodeError, match=r"munge: still not so after 60 s: .*Invalid credential") as invalid:
        munge.check_munge(silent.context)
    assert "the key must be the controller's" in invalid.value.advice


def asked(path: Path, **slurm: Any) -> Bench:
    return bench(path, users=[ALICE, BOB], more={"slurm": slurm})


def test_52_the_epilog_is_where_slurm_looks_and_logind_keeps_off(tmp_path: Path) -> None:
    node = asked(tmp_path, epilog=True)
    for _ in range(2):
        epilog.place_epilog(node.context)
    assert stat.S_IMODE(node.context.root.path(epilog.SCRIPT).stat().st_mode) == 0o755
    assert node.read(epilog.LOGIND) == "[Login]\nRemoveIPC=no\n"
    assert len(node.calls("systemctl", "try-restart")) == 1
    assert idle.no_epilog(node.context) == ""
    assert "off" in idle.no_epilog(asked(tmp_path / "b").context)


def run_epilog(tmp_path: Path, uid: int, **env: str) -> tuple[int, list[list[str]]]:
    """The epilog's own words, run with stand-ins for what it would delete with."""
    calls = tmp_path / "calls"
    calls.touch()
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    for name in ("ipcrm", "find"):
        (tools / name).write_text(f'#!/bin/bash\necho "{name} $*" >>{calls}\n')
        (tools / name).chmod(0o755)
    tables = tmp_path / "sysvipc"
    tables.mkdir(exist_ok=True)
    # columns as in proc(5)
    (tables / "shm").write_text(
        "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n"
        "1 7 600 1000 1 1 0 54321 8 54321 8 0 0 0 0 0\n2 8 600 1000 1 1 0 54322 7 54321 7 0 0 0 0 0\n"
    )
    (tables / "sem").write_text(
        "key semid perms nsems uid gid cuid cgid otime ctime\n3 9 600 1 54321 8 8 8 0 0\n"
    )
    (tables / "msg").write_text(
        "key msqid perms cbytes qnum lspid lrpid uid gid cuid cgid stime rtime ctime\n"
    )
    done = subprocess.run(
        [str(shutil.which("bash")), "-c", epilog.TEXT.replace("/proc/sysvipc", str(tables))],
        env={"PATH": f"{tools}:/usr/bin:/bin", "SLURM_JOB_UID": str(uid), "SLURM_JOB_USER": "ada", **env},
        check=False,
    )
    return done.returncode, [line.split() for line in calls.read_text().splitlines()]


def test_52_shared_memory_of_a_user_of_whom_nothing_runs_goes(tmp_path: Path) -> None:
    code, calls = run_epilog(tmp_path, 54321)
    assert code == 0
    assert [call for call in calls if call[0] == "ipcrm"] == [["ipcrm", "-m", "7"], ["ipcrm", "-s", "9"]]
    assert ["find", "/dev/shm", "-xdev", "-mindepth", "1", "-uid", "54321", "-delete"] in calls


@pytest.mark.parametrize("uid", ["0", "999", "", "1; rm", str(max(1000, os.getuid()))])
def test_the_epilog_leaves_the_system_and_whoever_still_works_alone(tmp_path: Path, uid: str) -> None:
    if uid == "1000":
        worker = subprocess.Popen(["tail", "-f", "/dev/null"], user=1000 if os.getuid() == 0 else None)
    try:
        code, calls = run_epilog(tmp_path, 0, SLURM_JOB_UID=uid)
    finally:
        if uid == "1000":
            worker.kill()
            worker.wait()
    assert (code, calls) == (0, [])


def with_module(path: Path) -> Bench:
    node = asked(path, pam_slurm_adopt=True)
    node.machine.write("/lib/x86_64-linux-gnu/security/pam_slurm_adopt.so", "")
    node.machine.write(adopt.SSHD, "@include common-account\nsession required pam_limits.so\n")
    node.machine.write(slurm.CONF_CACHE, "ProctrackType=proctrack/cgroup\n")
    node.machine.write(f"{slurm.CONF_CACHE_FOLDER}/hyperpod-cdk.conf", "PrologFlags=Contain\n")
    node.machine.write(adopt.SESSION, "session required pam_unix.so\nsession optional pam_systemd.so\n")
    return node


def test_121_logins_need_a_job_but_administrators_get_in(tmp_path: Path) -> None:
    node = with_module(tmp_path)
    for _ in range(2):
        adopt.adopt_logins(node.context)
    assert node.read(adopt.SSHD).splitlines() == [
        "@include common-account",
        "session required pam_limits.so",
        "# hyperpod-cdk begin",
        "account    sufficient    pam_access.so accessfile=/etc/security/hyperpod-cdk-access.conf",
        "account    required      pam_slurm_adopt.so",
        "# hyperpod-cdk end",
    ]
    assert node.read(adopt.ACCESS) == "+:root ubuntu alice:ALL\n+:(sudo):ALL\n-:ALL:ALL\n"
    assert node.read(adopt.SESSION) == "session required pam_unix.so\n"


@pytest.mark.parametrize(
    "text", [None, "", "ProctrackType=proctrack/linuxproc\nPrologFlags=Contain\n", "PrologFlags=Alloc\n"]
)
def test_121_nobody_is_locked_out_where_slurm_cannot_adopt(tmp_path: Path, text: str | None) -> None:
    node = with_module(tmp_path)
    node.context.root.path(f"{slurm.CONF_CACHE_FOLDER}/hyperpod-cdk.conf").unlink()
    node.context.root.path(slurm.CONF_CACHE).unlink()
    if text is not None:
        node.machine.write(slurm.CONF_CACHE, text)
    before = node.read(adopt.SSHD)
    with pytest.raises(NodeError, match="logins are left alone"):
        adopt.adopt_logins(node.context)
    assert node.read(adopt.SSHD) == before
    assert "pam_systemd" in node.read(adopt.SESSION)


def test_121_the_controllers_scripts_may_be_later(tmp_path: Path) -> None:
    node = with_module(tmp_path)
    own = f"{slurm.CONF_CACHE_FOLDER}/hyperpod-cdk.conf"
    node.context.root.path(own).unlink()
    node.clock.meanwhile = lambda: node.machine.write(own, "PrologFlags=Contain\n")
    assert adopt.adopt_logins(node.context).startswith("logins need a job here")
    assert node.clock.time < adopt.CONTAIN_LIMIT_SECONDS


def test_121_an_image_without_the_module_keeps_its_logins(tmp_path: Path) -> None:
    node = asked(tmp_path, pam_slurm_adopt=True)
    with pytest.raises(NodeError, match=r"has no pam_slurm_adopt\.so"):
        adopt.adopt_logins(node.context)
    assert node.read(adopt.SSHD) == ""


def test_121_adoption_comes_last_on_compute_nodes_only_and_never_fails_a_node() -> None:
    [step] = [step for step in STEPS if step.name == "adopt"]
    assert (step.node_types, step.required) == (("Compute",), False)
    assert "slurmd" in step.after


def efa_device(node: Bench, name: str, driver: str = "efa") -> None:
    """A device as the kernel shows it."""
    node.machine.write(f"{lustre_efa.DEVICES}/{name}/uevent", "")
    folder = node.context.root.path(f"{lustre_efa.DEVICES}/{name}/device")
    folder.mkdir()
    (folder / "driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")


def efa_node(path: Path, *, devices: int = 2, module: bool = True) -> Bench:
    node = bench(path, mounts=[EFA])
    for index in range(devices):
        efa_device(node, f"rdmap{index}")
    node.machine.remember("modules", ["kefalnd"] if module else [])
    return node


def test_efa_comes_up_before_the_mount_and_at_each_boot(tmp_path: Path) -> None:
    node = efa_node(tmp_path)
    assert efa_step.set_up_client(node.context) == "2 of 2 EFA devices carry Lustre"
    mounts.mount_file_systems(node.context)
    assert f"x-systemd.after={lustre_efa.OWN_UNIT}" in node.read("/etc/fstab")
    script = node.context.root.path(lustre_efa.SCRIPT)
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert "Before=remote-fs-pre.target" in node.read(f"{lustre_efa.UNITS}/{lustre_efa.OWN_UNIT}")
    assert node.calls("systemctl", "enable", lustre_efa.OWN_UNIT)


def test_101_an_instance_without_efa_goes_on_over_tcp(tmp_path: Path) -> None:
    with pytest.raises(StepSkippedError, match=r"ml\.c5\.xlarge has no EFA device"):
        efa_step.set_up_client(efa_node(tmp_path, devices=0).context)


def test_29_an_image_without_the_client_says_so(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="no EFA module"):
        efa_step.set_up_client(efa_node(tmp_path, module=False).context)


def test_99_awss_own_unit_is_used_where_it_is(tmp_path: Path) -> None:
    node = efa_node(tmp_path, module=False)
    node.machine.write(f"{lustre_efa.UNITS}/{lustre_efa.AWS_UNIT}", "[Unit]\n")
    efa_step.set_up_client(node.context)
    assert node.calls("systemctl", "start", lustre_efa.AWS_UNIT)
    assert not node.context.root.path(lustre_efa.SCRIPT).exists()


def test_100_awss_unit_waits_for_instance_metadata_and_tries_again(tmp_path: Path) -> None:
    node = efa_node(tmp_path, module=False)
    node.machine.write(f"{lustre_efa.UNITS}/{lustre_efa.AWS_UNIT}", "[Unit]\n")
    for _ in range(2):
        efa_step.set_up_client(node.context)
    text = node.read(lustre_efa.DROP_IN)
    assert "ExecStartPre=/usr/bin/timeout 120 " in text
    assert "http://169.254.169.254/latest/api/token" in text
    assert "Restart=on-failure" in text
    order = [call[1] for call in node.calls("systemctl") if call[1] in ("daemon-reload", "start")]
    assert order == ["daemon-reload", "start", "start"]


def test_lustre_that_is_mounted_already_is_not_torn_down(tmp_path: Path) -> None:
    node = efa_node(tmp_path)
    mounts.mount_file_systems(node.context)
    with pytest.raises(StepSkippedError, match="from the next boot on"):
        efa_step.set_up_client(node.context)
    assert node.calls("systemctl", "start") == []


def test_efa_that_shows_no_device_is_a_warning_with_advice(tmp_path: Path) -> None:
    node = efa_node(tmp_path)
    node.machine.remember("lnet", "none")
    broken = bench(
        tmp_path / "b", mounts=[EFA], faults=[CommandFault(command="lnetctl", exit_code=0, output="net:")]
    )
    efa_device(broken, "rdmap0")
    broken.machine.remember("modules", ["kefalnd"])
    with pytest.raises(NodeError, match="0 of 1 EFA devices") as error:
        efa_step.set_up_client(broken.context)
    assert "over TCP meanwhile" in error.value.advice


LNETCTL = """#!/bin/bash
echo "$*" >>"$CALLS"
[ "$*" != "net show --net tcp" ] || { echo "nid: 10.1.0.10@tcp"; seq 100000; }
"""


@pytest.mark.parametrize(
    ("instance_type", "count", "wanted"),
    [
        ("ml.p5.48xlarge", 32, [0, 4, 8, 12, 16, 20, 24, 28]),
        ("ml.p5en.48xlarge", 16, [0, 2, 4, 6, 8, 10, 12, 14]),
        ("ml.p4d.24xlarge", 4, [0, 2]),
        ("ml.g6.16xlarge", 1, [0]),
    ],
)
def test_a_node_brings_as_many_efa_devices_as_aws_says_and_no_other_ones(
    tmp_path: Path, instance_type: str, count: int, wanted: list[int]
) -> None:
    """The script itself, run on a pretended /sys: a file system takes 1024 of them over all clients."""
    sysfs, programs, calls = tmp_path / "sys", tmp_path / "bin", tmp_path / "calls"
    for name, driver in [*((f"rdmap{i:03}", "efa") for i in range(count)), ("mlx5_0", "mlx5_core")]:
        (sysfs / name / "device").mkdir(parents=True)
        (sysfs / name / "device" / "driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")
    programs.mkdir()
    for name, text in (("lnetctl", LNETCTL), ("modprobe", "#!/bin/bash\n"), ("ip", "#!/bin/bash\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    text = lustre_efa.script(instance_type).replace("/sys/class/infiniband", str(sysfs))
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(calls)}
    subprocess.run(["bash", "-c", text], check=True, env=env)
    lines = calls.read_text().splitlines()
    added = [line.split()[5] for line in lines if line.startswith("net add --net efa")]
    # it is there already, and lnetctl would refuse a second one
    assert not [line for line in lines if line.startswith("net add --net tcp")]
    assert added == [f"rdmap{i:03}" for i in wanted]
    assert len(wanted) == min(count, lustre_efa.limit(instance_type))


def test_lustre_over_fewer_efa_devices_than_it_shall_is_found(tmp_path: Path) -> None:
    node = efa_node(tmp_path)
    with pytest.raises(NodeError, match="0 of 2 EFA devices"):
        devices.lustre_over_efa(node.context)
    efa_step.set_up_client(node.context)
    assert devices.lustre_over_efa(node.context) == "2 of 2 EFA devices carry Lustre"
    down = "net:\n - nid: 1@efa\n   status: up\n   interfaces:\n     0: rdmap0\n"
    down += " - nid: 2@efa\n   status: down\n   interfaces:\n     0: rdmap1\n"
    half = bench(
        tmp_path / "b", mounts=[EFA], faults=[CommandFault(command="lnetctl", exit_code=0, output=down)]
    )
    for index in range(2):
        efa_device(half, f"rdmap{index}")
    with pytest.raises(NodeError, match="1 of 2 EFA devices"):
        devices.lustre_over_efa(half.context)
    with pytest.raises(StepSkippedError, match="no file system with it"):
        devices.lustre_over_efa(bench(tmp_path / "c").context)


def test_only_file_systems_with_efa_ask_for_it(tmp_path: Path) -> None:
    assert idle.no_efa_asked_for(bench(tmp_path / "a").context) == "no file system with EFA"
    assert idle.no_efa_asked_for(efa_node(tmp_path / "b").context) == ""


def test_the_scripts_stay_on_the_node_and_old_ones_go(tmp_path: Path) -> None:
    node = bench(tmp_path / "node")
    scripts = scripts_with(tmp_path / "src", {"format": 1}, extra__before_dot_d__1_dot_sh="echo\n")
    (scripts / "extra/picture").write_bytes(b"\xff\x00")
    node.machine.write(f"{keep.FOLDER}/hyperpod_node/steps/gone.py", "old")
    context = node.context._replace(directory=scripts)
    assert keep.keep_scripts(context).endswith("1 old ones removed")
    kept = context.root.path(keep.FOLDER)
    assert stat.S_IMODE((kept / "config.json").stat().st_mode) == 0o600
    assert not (kept / "hyperpod_node/steps/gone.py").exists()
    # without them a run from there would leave the user's own steps out, or fail for want of them
    assert (kept / "extra/picture").read_bytes() == b"\xff\x00"
    assert stat.S_IMODE((kept / "extra/before.d/1.sh").stat().st_mode) == 0o600
    done = subprocess.run(
        ["bash", str(kept / "hyperpod-node"), "--help"], capture_output=True, text=True, check=True
    )
    assert "slurm_files" in done.stdout
    assert not list(kept.rglob("__pycache__"))
    assert ", 0 of them new, 0 old" in keep.keep_scripts(context)
    shutil.rmtree(scripts / "extra")
    assert ", 0 of them new, 2 old" in keep.keep_scripts(context)
    assert not [path for path in (kept / "extra").rglob("*") if path.is_file()]


def test_scripts_that_run_from_there_do_not_copy_themselves(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.machine.write(f"{keep.FOLDER}/config.json", "{}")
    node.alter(directory=node.context.root.path(keep.FOLDER))
    assert keep.keep_scripts(node.context) == "running from /opt/hyperpod-cdk"
