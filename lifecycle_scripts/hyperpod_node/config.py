"""config.json, which the deployment puts beside these scripts, as typed data. README.md describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hyperpod_node import features
from hyperpod_node.accounting import declared
from hyperpod_node.errors import NodeError
from hyperpod_node.reading import Reader

FORMAT = 1
MODES = ("extension", "custom", "legacy")
# the image alone: such a group runs no script, but may stand beside groups that do
NO_SCRIPTS = "ami"
NODE_TYPES = ("Controller", "Login", "Compute")
FILE_SYSTEM_TYPES = ("LUSTRE", "OPENZFS")
# useradd's own rule on Debian and Ubuntu, cut to what sudoers.d file names allow as well
USER_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# below 1000 are the system's own accounts (login.defs UID_MIN); 65534 is nobody
LOWEST_ID, HIGHEST_ID = 1000, 60000
SETTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
MOUNT_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")
ADVICE = "config.json is made at deployment: deploy again, and do not edit it in the bucket"


class Mount(NamedTuple):
    """A file system and where it goes.

    Args:
        file_system_type: LUSTRE or OPENZFS.
        dns_name: the file system's DNS name.
        mount_name: Lustre's mount name; empty for OpenZFS.
        export_path: the exported OpenZFS volume; `/fsx` is the root volume. Empty for Lustre.
        mount_path: where it is mounted.
        efa: whether Lustre shall use EFA where the instance has it.
        by_service: whether the service mounts it in extension mode; what it does not, the scripts do.
    """

    file_system_type: str
    dns_name: str
    mount_path: str
    mount_name: str = ""
    export_path: str = ""
    efa: bool = False
    by_service: bool = True


class Group(NamedTuple):
    """What the deployment says about an instance group.

    Args:
        node_type: Controller, Login or Compute; empty where provisioning_parameters.json says it.
        mounts: the file systems of its nodes.
    """

    node_type: str
    mounts: tuple[Mount, ...] = ()


class User(NamedTuple):
    """A user who exists on every node under the same numbers.

    Args:
        name: login name.
        uid: user number.
        gid: number of the primary group; made under the user's name when no such group exists.
        groups: further groups; those that a node does not have are left out.
        ssh_public_keys: lines for authorized_keys.
        sudo: may run everything as root, without a password.
        account: account in Slurm; empty for none of its own.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[str, ...] = ()
    ssh_public_keys: tuple[str, ...] = ()
    sudo: bool = False
    account: str = ""


class UserGroup(NamedTuple):
    """A group that exists on every node under the same number."""

    name: str
    gid: int


class SlurmSettings(NamedTuple):
    """What is added to slurm.conf.

    Args:
        conf: settings that count before those of slurm.conf itself.
        scale: settings for the size of the cluster, where slurm.conf has none of the name.
        epilog: whether a user's shared memory is removed after the last process.
        pam_slurm_adopt: whether logins to compute nodes need a job there.
    """

    conf: Mapping[str, str] = MappingProxyType({})
    scale: Mapping[str, str] = MappingProxyType({})
    epilog: bool = False
    pam_slurm_adopt: bool = False


class NodeConfig(NamedTuple):
    """The whole of config.json."""

    mode_by_group: Mapping[str, str]
    groups: Mapping[str, Group]
    users: tuple[User, ...] = ()
    user_groups: tuple[UserGroup, ...] = ()
    removed_users: tuple[str, ...] = ()
    slurm: SlurmSettings = SlurmSettings()
    accounting: declared.Declared = declared.Declared()
    features: features.Features = features.Features()


def load(directory: Path) -> NodeConfig:
    """Read config.json of a directory.

    Raises:
        NodeError: it is not there, may not be read, or is wrong; the message names the place.
    """
    try:
        text = (directory / "config.json").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise NodeError(f"no config.json in {directory}", advice=ADVICE) from error
    except PermissionError as error:
        raise NodeError(f"{directory}/config.json is for root alone", advice="use sudo") from error
    try:
        return parse(Reader.parse(text, "config.json"))
    except NodeError as error:
        error.advice = error.advice or ADVICE
        raise


def parse(document: Reader) -> NodeConfig:
    """Turn the document into data, checking every member."""
    document.get("format").number(lowest=FORMAT, highest=FORMAT)
    users = tuple(_user(entry) for entry in document.get("users").items())
    _check_unique(users)
    return NodeConfig(
        mode_by_group={
            name: mode.one_of((*MODES, NO_SCRIPTS)) for name, mode in document.get("mode_by_group").members()
        },
        groups={name: _group(entry) for name, entry in document.get("groups").members()},
        users=users,
        user_groups=_user_groups(document.get("user_groups")),
        removed_users=tuple(_name(entry) for entry in document.get("removed_users").items()),
        slurm=_slurm(document.get("slurm")),
        accounting=declared.parse(document.get("accounting")),
        features=features.parse(document.get("software")),
    )


def _group(entry: Reader) -> Group:
    mounts = tuple(_mount(mount) for mount in entry.get("mounts").items())
    paths = [mount.mount_path for mount in mounts]
    for path in paths:
        if paths.count(path) > 1:
            raise NodeError(f"{entry.where}.mounts: {path} is the mount path of two file systems")
    node_type = entry.get("node_type")
    return Group(node_type=node_type.one_of(NODE_TYPES) if node_type.value else "", mounts=mounts)


def _mount(entry: Reader) -> Mount:
    kind = entry.get("file_system_type").one_of(FILE_SYSTEM_TYPES)
    path = entry.get("mount_path")
    if not MOUNT_PATH.fullmatch(path.text()):
        raise path.wrong("an absolute path of letters, digits, dots, hyphens and underscores")
    return Mount(
        file_system_type=kind,
        dns_name=entry.get("dns_name").text(),
        mount_path=path.text(),
        mount_name=entry.get("mount_name").text() if kind == "LUSTRE" else "",
        export_path=entry.get("export_path").text("/fsx") if kind == "OPENZFS" else "",
        efa=entry.get("efa").flag(),
        by_service=entry.get("by_service").flag(default=True),
    )


def _user(entry: Reader) -> User:
    keys = [key for key in entry.get("ssh_public_keys").items()]
    for key in keys:
        if "\n" in key.text().strip() or len(key.text().split()) < 2:
            raise key.wrong("one line of an OpenSSH public key")
    return User(
        name=_name(entry.get("name")),
        uid=entry.get("uid").number(lowest=LOWEST_ID, highest=HIGHEST_ID),
        gid=entry.get("gid").number(lowest=LOWEST_ID, highest=HIGHEST_ID),
        groups=tuple(group.text() for group in entry.get("groups").items()),
        ssh_public_keys=tuple(key.text().strip() for key in keys),
        sudo=entry.get("sudo").flag(),
        account=entry.get("account").text(""),
    )


def _name(entry: Reader) -> str:
    if not USER_NAME.fullmatch(entry.text()):
        raise entry.wrong("1 to 32 lower-case letters, digits, hyphens and underscores, no digit first")
    return entry.text()


def _user_groups(document: Reader) -> tuple[UserGroup, ...]:
    found = tuple(
        UserGroup(
            name=_name(entry.get("name")), gid=entry.get("gid").number(lowest=LOWEST_ID, highest=HIGHEST_ID)
        )
        for entry in document.items()
    )
    for member in ("name", "gid"):
        values = [getattr(group, member) for group in found]
        twice = [value for value in values if values.count(value) > 1]
        if twice:
            raise NodeError(f"{document.where}: two groups have the {member} {twice[0]}")
    return found


def _slurm(document: Reader) -> SlurmSettings:
    return SlurmSettings(
        conf=_settings(document.get("conf")),
        scale=_settings(document.get("scale")),
        epilog=document.get("epilog").flag(),
        pam_slurm_adopt=document.get("pam_slurm_adopt").flag(),
    )


def _settings(document: Reader) -> Mapping[str, str]:
    for name, value in document.members():
        if not SETTING_NAME.fullmatch(name):
            raise value.wrong("a name of letters and digits")
        if set(value.text()) & set("\n\r#"):
            raise value.wrong("one line without #")
    return {name: value.text() for name, value in document.members()}


def _check_unique(users: tuple[User, ...]) -> None:
    by_name: dict[str, User] = {}
    by_uid: dict[int, User] = {}
    for user in users:
        if user.name in by_name:
            raise NodeError(f"config.json: users: {user.name} is listed twice")
        if user.uid in by_uid:
            raise NodeError(
                f"config.json: users: {user.name} and {by_uid[user.uid].name} share uid {user.uid}"
            )
        by_name[user.name] = by_uid[user.uid] = user
