"""What the other constructs need of a file system."""

from typing import Protocol

from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk.spec import Mount


class IStorage(Protocol):
    """A file system made here or an existing one."""

    @property
    def file_system_id(self) -> str:
        """``fs-…``."""

    @property
    def dns_name(self) -> str:
        """Name that nodes mount."""

    @property
    def security_group(self) -> ec2.ISecurityGroup | None:
        """Group of its servers; None for an existing file system that was given none."""

    def mount(self, mount_path: str | None = None) -> Mount:
        """What an instance group's ``mounts`` take.

        Args:
            mount_path: Absolute path on the nodes. Default: the service's.
        """
