"""provisioning_parameters.json, the service's legacy form: which group is what, and one file system."""

from __future__ import annotations

from typing import NamedTuple

from hyperpod_node.config import MOUNT_PATH, Mount
from hyperpod_node.errors import NodeError
from hyperpod_node.reading import Reader

NAME = "provisioning_parameters.json"
DIRECTORY = "/opt/ml/config"
# The form has no mount path: /fsx and /home are where AWS's own scripts put the two.
LUSTRE_PATH, OPENZFS_PATH = "/fsx", "/home"


class MultiHead(NamedTuple):
    """Several controllers (`slurm_configurations`).

    Args:
        database_endpoint: host of the external database.
        database_secret_arn: Secrets Manager secret with its password.
        database_user: who logs in there; `admin` unless given, as in AWS's own scripts.
        shared_directory: directory on a file system that every controller mounts.
        topic_arn: SNS topic told when another controller takes over; empty for none.
    """

    database_endpoint: str
    database_secret_arn: str
    database_user: str
    shared_directory: str
    topic_arn: str


class ProvisioningParameters(NamedTuple):
    """The members that a node needs.

    Args:
        controller_group: name of the controllers' instance group.
        login_group: name of the login nodes' group; empty without one.
        compute_groups: names of the compute groups (the form's `worker_groups`).
        mounts: the file systems it names.
        multi_head: what several controllers share; None with one.
    """

    controller_group: str
    login_group: str
    compute_groups: tuple[str, ...]
    mounts: tuple[Mount, ...]
    multi_head: MultiHead | None

    def node_type(self, group: str) -> str:
        """What the nodes of a group are; a group that the file does not name is an error."""
        if group == self.controller_group:
            return "Controller"
        if group == self.login_group:
            return "Login"
        if group in self.compute_groups:
            return "Compute"
        known = [self.controller_group, self.login_group, *self.compute_groups]
        raise NodeError(
            f"{NAME} does not name the instance group {group}; it names "
            + ", ".join(name for name in known if name),
            advice=f"add the group to {NAME} and deploy again",
        )


def parse(text: str) -> ProvisioningParameters:
    """Read the file's text.

    Raises:
        NodeError: something in it is wrong; the message names the place.
    """
    document = Reader.parse(text, NAME)
    document.get("workload_manager").one_of(["slurm"])
    return ProvisioningParameters(
        controller_group=document.get("controller_group").text(),
        login_group=str(document.get("login_group").value or ""),
        compute_groups=tuple(
            entry.get("instance_group_name").text() for entry in document.get("worker_groups").items()
        ),
        mounts=_mounts(document),
        multi_head=_multi_head(document.get("slurm_configurations")),
    )


def _multi_head(entry: Reader) -> MultiHead | None:
    if not entry.members():
        return None
    directory = entry.get("slurm_shared_directory")
    if not MOUNT_PATH.fullmatch(directory.text()):
        raise directory.wrong("an absolute path")
    return MultiHead(
        database_endpoint=entry.get("slurm_database_endpoint").text(),
        database_secret_arn=entry.get("slurm_database_secret_arn").text(),
        database_user=entry.get("slurm_database_user").text("admin"),
        shared_directory=directory.text(),
        topic_arn=str(entry.get("slurm_sns_arn").value or ""),
    )


def _mounts(document: Reader) -> tuple[Mount, ...]:
    found = []
    if document.get("fsx_dns_name").value:
        found.append(
            Mount(
                file_system_type="LUSTRE",
                dns_name=document.get("fsx_dns_name").text(),
                mount_name=document.get("fsx_mountname").text(),
                mount_path=LUSTRE_PATH,
            )
        )
    if document.get("fsx_openzfs_dns_name").value:
        found.append(
            Mount(
                file_system_type="OPENZFS",
                dns_name=document.get("fsx_openzfs_dns_name").text(),
                export_path="/fsx",
                mount_path=OPENZFS_PATH,
            )
        )
    return tuple(found)
