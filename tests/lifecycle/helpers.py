"""A pretended cluster for the node scripts' tests: its facts, its configuration, one node of it."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cdk.rehearsal.node import CommandFault, Machine, prepare_root
from hyperpod_cdk.rehearsal.node_commands.machine import STATE, Call
from hyperpod_cdk.rehearsal.node_commands.serving import COMMANDS, answer
from hyperpod_node import config, facts, provisioning
from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.commands import Commands, Completed
from hyperpod_node.context import Context
from hyperpod_node.log import Log
from hyperpod_node.reading import Reader
from hyperpod_node.root import Root

SCRIPTS = Path(__file__).parents[2] / "lifecycle_scripts"
NODE_TYPES = {"controller": "Controller", "login": "Login", "compute": "Compute"}
LUSTRE: dict[str, Any] = {
    "file_system_type": "LUSTRE",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcdefgh",
    "mount_path": "/fsx",
}
OPENZFS: dict[str, Any] = {
    "file_system_type": "OPENZFS",
    "dns_name": "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com",
    "mount_path": "/home",
}
ALICE = {
    "name": "alice",
    "uid": 2001,
    "gid": 2001,
    "groups": ["docker"],
    "ssh_public_keys": ["ssh-ed25519 AAAAC3Nza alice@laptop"],
    "sudo": True,
}
BOB = {"name": "bob", "uid": 2002, "gid": 2002, "groups": [], "ssh_public_keys": [], "sudo": False}
HOOKS = {"extension": "on_init_complete", "custom": "on_create", "legacy": "on_create"}


def hook_of(mode: str) -> str:
    return HOOKS[mode]


def node_config(
    mode: str = "custom",
    mounts: Sequence[Mapping[str, Any]] = (LUSTRE,),
    users: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    return {
        "format": 1,
        "mode_by_group": dict.fromkeys(NODE_TYPES, mode),
        "groups": {
            group: {"node_type": node_type, "mounts": list(mounts)} for group, node_type in NODE_TYPES.items()
        },
        "users": list(users),
    }


def resource_config(compute: int = 2) -> dict[str, Any]:
    groups, number = [], 4
    for group, count in (("controller", 1), ("login", 1), ("compute", compute)):
        instances = []
        for index in range(1, count + 1):
            instances.append(
                {
                    "InstanceName": f"{group}-{index}",
                    "AgentIpAddress": f"172.16.0.{number}",
                    "CustomerIpAddress": f"10.1.0.{number}",
                    "InstanceId": f"i-{number:017x}",
                }
            )
            number += 1
        groups.append({"Name": group, "InstanceType": "ml.c5.xlarge", "Instances": instances})
    return {
        "ClusterConfig": {
            "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
            "ClusterName": "ml-training-cluster",
        },
        "InstanceGroups": groups,
    }


def address_of(group: str, index: int = 1) -> str:
    for entry in resource_config(compute=50)["InstanceGroups"]:
        if entry["Name"] == group:
            return str(entry["Instances"][index - 1]["CustomerIpAddress"])
    raise KeyError(group)


def provisioning_parameters(**more: Any) -> dict[str, Any]:
    return {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "controller",
        "login_group": "login",
        "worker_groups": [{"instance_group_name": "compute", "partition_name": "gpu-training"}],
        "fsx_dns_name": LUSTRE["dns_name"],
        "fsx_mountname": LUSTRE["mount_name"],
        **more,
    }


def scripts_with(directory: Path, document: dict[str, Any], **files: str) -> Path:
    """What the lifecycle prefix of a deployment holds; a file's `__` stands for `/`."""
    shutil.copytree(SCRIPTS, directory, ignore=shutil.ignore_patterns("__pycache__"))
    (directory / "config.json").write_text(json.dumps(document))
    for name, text in files.items():
        path = directory / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


class FakeClock(Clock):
    """Time that passes only where the scripts sleep, and a hook for what happens meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.sleeps: list[float] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.halt.check()
        self.time += seconds
        self.sleeps.append(seconds)
        self.meanwhile()


class InProcessCommands(Commands):
    """Commands whose stand-ins are called rather than started, for speed; anything else is started."""

    def __init__(self, *, machine: Machine, **members: Any) -> None:
        super().__init__(**members)
        self.machine = machine

    def _once(
        self,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        timeout_seconds: float,
        given: str,
        echo: bool,
    ) -> Completed:
        name = arguments[0]
        if name not in COMMANDS or not self.available(name):
            return super()._once(arguments, environment, timeout_seconds, given, echo)
        call = Call(command=name, arguments=arguments[1:], given=given)
        exit_code, output = answer(self.machine, call)
        return Completed(arguments=arguments, exit_code=exit_code, lines=tuple(output.splitlines()))


@dataclass(kw_only=True)
class Bench:
    """One node under test."""

    context: Context
    machine: Machine
    clock: FakeClock
    output: io.StringIO = field(repr=False)

    @property
    def log(self) -> str:
        return self.output.getvalue()

    def alter(self, part: str = "", **members: Any) -> None:
        """Change members of the context, or of its `config`, `node` or, with the node, `instance`."""
        if part == "instance":
            part, members = "node", {"instance": self.context.node.instance._replace(**members)}
        if part:
            members = {part: getattr(self.context, part)._replace(**members)}
        self.context = self.context._replace(**members)

    def read(self, path: str) -> str:
        return self.context.root.read(path)

    def calls(self, *beginning: str) -> list[list[str]]:
        return [call for call in self.machine.calls() if tuple(call[: len(beginning)]) == beginning]


def bench(
    directory: Path,
    *,
    group: str = "compute",
    index: int = 1,
    mode: str = "custom",
    mounts: Sequence[Mapping[str, Any]] = (LUSTRE,),
    users: Sequence[dict[str, Any]] = (),
    faults: Sequence[CommandFault] = (),
    storage: Path | None = None,
    legacy: dict[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Bench:
    """A node as the service hands it over, and the context of a step on it; `more` goes into config.json."""
    directory.mkdir(parents=True, exist_ok=True)
    scripts = directory / "scripts"
    scripts.mkdir(exist_ok=True)
    document = {**node_config(mode, mounts, users), **(more or {})}
    (scripts / "config.json").write_text(json.dumps(document))
    if legacy is not None:
        (scripts / provisioning.NAME).write_text(json.dumps(legacy))
    place = directory / "root"
    machine = prepare_root(
        scripts,
        place,
        resource_config(),
        hook=hook_of(mode),
        addresses=[address_of(group, index)],
        storage=storage,
        faults=faults,
    )
    output = io.StringIO()
    root, clock = Root(place), FakeClock()
    log = Log(root, output)
    deadline = Deadline.after(clock, 3600)
    environment = {"PATH": str(place / STATE / "bin"), "HYPERPOD_CDK_ROOT": str(place)}
    commands = InProcessCommands(
        clock=clock,
        deadline=deadline,
        environment=environment,
        log=log,
        step="test",
        directory=scripts,
        machine=machine,
    )
    settings = config.parse(Reader(document, "config.json"))
    cluster, instance = facts.read_instance(root, commands, environment)
    node = facts.describe(cluster, instance, settings, hook=hook_of(mode), root=root, directory=scripts)
    context = Context(
        root=root,
        commands=commands,
        clock=clock,
        deadline=deadline,
        log=log,
        environment=environment,
        directory=scripts,
        config=settings,
        node=node,
        step="test",
    )
    return Bench(context=context, machine=machine, clock=clock, output=output)


def snapshot(root: Path) -> dict[str, tuple[int, str]]:
    """Every file of a root with its mode and content, but for what says when it was written."""
    apart = (
        "var/log/provision",
        "opt/ml/config/hyperpod-cdk",
        f"{STATE}/calls.jsonl",
        f"{STATE}/faults.json",
    )
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder) / name
            relative = str(path.relative_to(root))
            if relative.startswith(apart) or (path.is_dir() and not path.is_symlink()):
                continue
            text = str(path.readlink()) if path.is_symlink() else path.read_text()
            found[relative] = (path.lstat().st_mode, text)
    return found
