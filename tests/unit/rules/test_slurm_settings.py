"""Rules of slurm.conf, groups of users and accounts (HP424 to HP434)."""

from typing import Any

import pytest

from hyperpod_cdk.spec import LifeCycleConfig, LifecycleMode, User, UserGroup
from tests.unit.rules.specs import LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

CONF = "lifecycle.slurm.conf"
ADOPT = {"lifecycle.slurm.pam_slurm_adopt": True}
GROUPS = "lifecycle.user_groups"
MEMORY = {"DefMemPerCPU": "4000"}
AMI = LifecycleMode.AMI
OWN = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_create="a.sh")


def users(account: str) -> dict[str, Any]:
    return {"lifecycle.users": (User(name="ada", uid=2001, account=account),)}


def group(name: str, gid: Any) -> dict[str, Any]:
    return {GROUPS: (UserGroup(name=name, gid=gid),)}


def people(*numbers: tuple[int, int | None]) -> dict[str, Any]:
    listed = (User(name=f"user{i}", uid=uid, gid=gid) for i, (uid, gid) in enumerate(numbers))
    return {"lifecycle.users": tuple(listed)}


def member_of(*names: str) -> dict[str, Any]:
    return {"lifecycle.users": (User(name="ada", uid=2001, groups=names),)}


def two(first: UserGroup, second: UserGroup) -> dict[str, Any]:
    return {GROUPS: (first, second)}


# what `scontrol show config` of Slurm 22.05 and 24.11 takes, and what it ends at
READABLE = (
    *(("MaxJobCount", value) for value in ("UNLIMITED", "infinite", "5k", "0x10", "70000")),
    *(("UsePAM", value) for value in ("1", "Yes", "false")),
    ("KillWait", "65535"),
    ("SlurmctldDebug", "Verbose"),
    ("SlurmdDebug", "5"),
    ("PreemptMode", "SUSPEND,gang"),
    ("PrologFlags", "Alloc,Contain"),
    *(("PriorityMaxAge", value) for value in ("7-0", "10080", "1-12:30:00", "UNLIMITED")),
)
UNREADABLE = (
    ("MaxJobCount", "many"),
    ("KillWait", "30.5"),
    ("KillWait", "65536"),
    ("KillWait", "-1"),
    ("UsePAM", "on"),
    ("MaxMemPerCPU", "4G"),
    ("SlurmctldDebug", "loud"),
    ("PriorityUsageResetPeriod", "hourly"),
    ("PreemptMode", "kill"),
    ("PrologFlags", "Contains"),
    ("PriorityDecayHalfLife", "14d"),
)
ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP430", {CONF: {"DefMemPerCPU": "4000"}}, []),
    ("HP430", {CONF: {"NodeName": "a"}}, [f"{CONF}.NodeName"]),
    ("HP430", {CONF: {"partitionname": "a"}}, [f"{CONF}.partitionname"]),
    ("HP430", {CONF: {TEXT_TOKEN: "a"}}, []),
    ("HP430", {CONF: {"SlurmUser": "root"}}, [f"{CONF}.SlurmUser"]),
    ("HP436", {CONF: {"DefMemPerCPU": "4000", "maxjobcount": "5", "CertmgrType": "x"}}, []),
    ("HP436", {CONF: {"DefMemPerCPUs": "4000"}}, [f"{CONF}.DefMemPerCPUs"]),
    ("HP436", {CONF: {TEXT_TOKEN: "4000"}}, []),
    *(("HP437", {CONF: {name: value}}, []) for name, value in READABLE),
    *(("HP437", {CONF: {name: value}}, [f"{CONF}.{name}"]) for name, value in UNREADABLE),
    ("HP437", {CONF: {"KillWait": TEXT_TOKEN}}, []),
    ("HP437", {CONF: {"DefMemPerCPU": "4000", "defmempernode": "9"}}, [f"{CONF}.DefMemPerCPU"]),
    ("HP437", {CONF: {"DefMemPerCPU": "4000", "MaxMemPerNode": "9"}}, []),
    ("HP431", {CONF: {"TaskPlugin": "task/none"}}, []),
    ("HP431", {CONF: {"TaskPlugin": "task/cgroup"}}, [f"{CONF}.TaskPlugin"]),
    ("HP431", {CONF: {"SchedulerParameters": "defer,permit_job_expansion"}}, []),
    ("HP431", {CONF: {"SchedulerParameters": "defer"}}, [f"{CONF}.SchedulerParameters"]),
    ("HP431", {CONF: {"TaskPlugin": TEXT_TOKEN}}, []),
    ("HP432", {CONF: {"DefMemPerCPU": "4000", "X": '"a b"', "NodeSet": "big Feature=gpu"}}, []),
    ("HP432", {CONF: {"PriorityMaxAge": "7 days"}}, [f"{CONF}.PriorityMaxAge"]),
    ("HP432", {CONF: {"Def Mem": "4000"}}, [CONF]),
    ("HP432", {CONF: {"MaxJobCount": "5", "maxjobcount": "6"}}, [f"{CONF}.maxjobcount"]),
    ("HP432", {CONF: {"DefMem": "4000 # four"}}, [f"{CONF}.DefMem"]),
    ("HP432", {CONF: {"DefMem": "4\nNodeName=x"}}, [f"{CONF}.DefMem"]),
    ("HP432", {CONF: {"DefMem": ""}}, [f"{CONF}.DefMem"]),
    ("HP432", {CONF: {"DefMem": TEXT_TOKEN}}, []),
    ("HP433", {CONF: {"ProctrackType": "proctrack/linuxproc"}}, []),
    ("HP433", {**ADOPT, CONF: {"ProctrackType": "proctrack/cgroup", "PrologFlags": "Alloc,Contain"}}, []),
    ("HP433", {**ADOPT, CONF: {"ProctrackType": "proctrack/linuxproc"}}, [f"{CONF}.ProctrackType"]),
    ("HP433", {**ADOPT, CONF: {"PrologFlags": "Alloc"}}, [f"{CONF}.PrologFlags"]),
    ("HP433", {**ADOPT, CONF: {"PrologFlags": TEXT_TOKEN}}, []),
    ("HP434", {CONF: {"SelectTypeParameters": "CR_Core"}}, []),
    ("HP434", {CONF: {"SelectTypeParameters": "CR_Core_Memory"}}, [f"{CONF}.SelectTypeParameters"]),
    ("HP434", {CONF: {"SelectTypeParameters": TEXT_TOKEN}}, []),
    ("HP435", {CONF: MEMORY, **ADOPT}, []),
    ("HP435", {CONF: MEMORY, "controller.lifecycle_mode": AMI}, [CONF]),
    ("HP435", {CONF: MEMORY, "compute.lifecycle_mode": AMI}, []),
    ("HP435", {**ADOPT, "compute.lifecycle_mode": AMI}, ["lifecycle.slurm.pam_slurm_adopt"]),
    ("HP435", {**ADOPT, "compute.life_cycle_config": OWN}, ["lifecycle.slurm.pam_slurm_adopt"]),
    ("HP435", {CONF: MEMORY, "controller.lifecycle_mode": TEXT_TOKEN}, []),
    ("HP424", group("vision", 2000), []),
    ("HP424", group("vision", 1999), [f"{GROUPS}[0].gid"]),
    ("HP424", group("vision", 60000), []),
    ("HP424", group("vision", 60001), [f"{GROUPS}[0].gid"]),
    ("HP424", group("a" * 32, 3000), []),
    ("HP424", group("a" * 33, 3000), [f"{GROUPS}[0].name"]),
    ("HP424", group("Vision", 3000), [f"{GROUPS}[0].name"]),
    ("HP424", group(TEXT_TOKEN, NUMBER_TOKEN), []),
    ("HP425", two(UserGroup(name="a", gid=3000), UserGroup(name="b", gid=3001)), []),
    ("HP425", two(UserGroup(name="a", gid=3000), UserGroup(name="a", gid=3001)), [f"{GROUPS}[1].name"]),
    ("HP425", two(UserGroup(name="a", gid=3000), UserGroup(name="b", gid=3000)), [f"{GROUPS}[1].gid"]),
    ("HP425", two(UserGroup(name=TEXT_TOKEN, gid=1), UserGroup(name=TEXT_TOKEN, gid=2)), []),
    ("HP425", {**people((2001, None), (2002, None)), **group("vision", 3000)}, []),
    ("HP425", {**people((2001, None)), **group("user0", 2001)}, []),
    ("HP425", {**people((2001, None)), **group("user0", 3000)}, ["lifecycle.users[0].name"]),
    ("HP425", {**people((2001, None)), **group("user0", NUMBER_TOKEN)}, []),
    ("HP425", people((2001, 2002), (2002, None)), ["lifecycle.users[0].gid"]),
    ("HP425", people((2001, 3000), (2002, 3000)), []),
    ("HP425", {**people((2001, 2002), (2002, None)), **group("vision", 2002)}, []),
    ("HP428", {"lifecycle.removed_users": ("bob",)}, []),
    ("HP428", {"lifecycle.removed_users": ("bob", "ubuntu")}, ["lifecycle.removed_users[1]"]),
    ("HP428", {"lifecycle.removed_users": ("Bob B",)}, ["lifecycle.removed_users[0]"]),
    ("HP428", {"lifecycle.removed_users": (TEXT_TOKEN,)}, []),
    *(
        ("HP429", {**group("research", 3000), **member_of(*names)}, paths)
        for names, paths in (
            (("research", "docker", "of-the-directory"), []),
            (("reserch",), ["lifecycle.users[0].groups[0]"]),
            (("docker", "dcoker"), ["lifecycle.users[0].groups[1]"]),
            (("a b",), ["lifecycle.users[0].groups[0]"]),
            ((TEXT_TOKEN,), []),
        )
    ),
    ("HP426", {"lifecycle.removed_users": ("bob",)}, []),
    ("HP426", {**users("a"), "lifecycle.removed_users": ("bob", "ada")}, ["lifecycle.removed_users[1]"]),
    ("HP426", {**users("a"), "lifecycle.removed_users": LIST_TOKEN}, []),
    ("HP427", users("nlp.big-1"), []),
    ("HP427", users("NLP"), ["lifecycle.users[0].account"]),
    ("HP427", users("a,b"), ["lifecycle.users[0].account"]),
    ("HP427", users(TEXT_TOKEN), []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]
