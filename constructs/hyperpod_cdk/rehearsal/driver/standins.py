"""Stand-ins for what a configuration names and does not create: networks, roles, scripts in S3."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from ipaddress import ip_network
from unittest.mock import patch

from hyperpod_cdk.rehearsal.driver.eks_standins import provide_eks
from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.spec import HyperPodSpec

_CIDR = "10.0.0.0/16"
_SUBNET_BITS = 20
_TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
_SCRIPT = b"#!/usr/bin/env bash\necho 'stands for a script of the user'\n"


def provide(spec: HyperPodSpec, account: Account) -> list[str]:
    """Put into the account what the configuration takes for granted.

    Args:
        spec: the configuration.
        account: the emulated account.

    Returns:
        What was put there, for people.
    """
    return [
        *_network(spec, account),
        *_roles(spec, account),
        *provide_scripts(spec, account),
        *provide_eks(spec, account),
    ]


def provide_scripts(spec: HyperPodSpec, account: Account) -> list[str]:
    """Put scripts where groups look for the user's own; scripts that are there stay.

    Args: as of :func:`provide`.
    """
    put = []
    configs = (group.life_cycle_config for group in spec.cluster.instance_groups)
    for config in {config.source_s3_uri: config for config in configs if config}.values():
        bucket, _, prefix = config.source_s3_uri.removeprefix("s3://").partition("/")
        if bucket not in account.s3.buckets:
            account.s3.create_bucket(bucket, account.region)
        key = f"{prefix.rstrip('/')}/{config.on_create or config.on_init_complete}"
        if key not in account.s3.buckets[bucket].keys:
            account.s3.put_object(bucket, key, _SCRIPT)
            put.append(f"script s3://{bucket}/{key}")
    return put


def provide_foreign_cluster(service: HyperPodService, spec: HyperPodSpec) -> None:
    """Let somebody else have a cluster of the configuration's name, in service.

    Args:
        service: the emulated service.
        spec: the configuration, with a cluster name.
    """
    group = {
        "InstanceGroupName": "theirs",
        "InstanceType": "ml.c5.xlarge",
        "InstanceCount": 1,
        "ExecutionRole": f"arn:aws:iam::{service.account.account_id}:role/theirs",
        "SlurmConfig": {"NodeType": "Controller"},
    }
    request = {
        "ClusterName": spec.cluster.cluster_name,
        "InstanceGroups": [group],
        "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}},
        "Tags": [{"Key": "owner", "Value": "somebody else"}],
    }
    with service.lock, patch.object(service, "check_references", new=False):
        service.call("CreateCluster", request)
        service.settle()


def _network(spec: HyperPodSpec, account: Account) -> Iterator[str]:
    existing = spec.network.existing
    if existing is None:
        return
    ec2, cidr = account.ec2, existing.vpc_cidr or _CIDR
    with _named("vpcs.random_vpc_id", existing.vpc_id):
        vpc = ec2.create_vpc(cidr)
    yield f"VPC {vpc.id}"
    zones = {zone.zone_id: zone.name for zone in ec2.describe_availability_zones()}
    ranges = ip_network(cidr).subnets(new_prefix=max(_SUBNET_BITS, ip_network(cidr).prefixlen))
    for wanted, block in zip(existing.subnets, ranges, strict=False):
        zone = zones.get(wanted.availability_zone_id or "", next(iter(zones.values())))
        with _named("subnets.random_subnet_id", wanted.subnet_id):
            yield f"subnet {ec2.create_subnet(vpc.id, str(block), availability_zone=zone).id}"
    for group_id in existing.security_group_ids:
        with _named("security_groups.random_security_group_id", group_id):
            group = ec2.create_security_group(group_id, "stands for a group of the user", vpc.id)
        yield f"security group {group.id}"


def _named(generator: str, wanted: str | None) -> AbstractContextManager[object]:
    """Let moto, which makes ids up, use the configuration's."""
    return patch(f"moto.ec2.models.{generator}", return_value=wanted) if wanted else nullcontext()


def _roles(spec: HyperPodSpec, account: Account) -> Iterator[str]:
    for arn in dict.fromkeys(group.execution_role_arn for group in spec.cluster.instance_groups):
        if arn is None:
            continue
        *_, account_id, path = arn.split(":", 5)
        prefix, _, name = path.removeprefix("role").rpartition("/")
        role = account.iam.create_role(name, json.dumps(_TRUST), f"{prefix}/", None, "", [], None)
        role.account_id = account_id
        yield f"role {arn}"
