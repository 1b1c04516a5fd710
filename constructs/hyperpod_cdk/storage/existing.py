"""File systems that are already there."""

from typing import Literal

from aws_cdk import Fn, Token
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.spec import Mount


class ExistingStorage(Construct):
    """A file system that is already there; nothing of it is created or changed.

    Args:
        file_system_type: ``LUSTRE`` or ``OPENZFS``.
        dns_name: Name that nodes mount, ``fs-….fsx.<region>.amazonaws.com``.
        mount_name: Lustre only: its mount name.
        file_system_id: ``fs-…``. Default: the first label of ``dns_name``.
        security_group: Group of its servers. Default: unknown.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system_type: Literal["LUSTRE", "OPENZFS"],
        dns_name: str,
        mount_name: str | None = None,
        file_system_id: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.file_system_type = file_system_type
        self.dns_name = dns_name
        self.mount_name = mount_name
        self.file_system_id = file_system_id or _first_label(dns_name)
        self.security_group = security_group
        self.availability_zone_id: str | None = None

    def mount(self, mount_path: str | None = None) -> Mount:
        """What an instance group's ``mounts`` take; the path's default is the service's."""
        return Mount(
            file_system_type=self.file_system_type,
            dns_name=self.dns_name,
            mount_name=self.mount_name,
            mount_path=mount_path,
        )


def _first_label(dns_name: str) -> str:
    if Token.is_unresolved(dns_name):
        return Fn.select(0, Fn.split(".", dns_name))
    return dns_name.split(".", 1)[0]
