"""Refusals for what a request refers to and the emulated account does not have."""

import json
from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import InvalidSubnetIdError

from hyperpod_cdk.rehearsal.hyperpod import scripts
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.errors import AccessDeniedError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

SERVICE_PRINCIPAL = "sagemaker.amazonaws.com"
SCALING_PRINCIPAL = "hyperpod.sagemaker.amazonaws.com"
"""…/dg/sagemaker-hyperpod-eks-autoscaling-iam.html"""
LEGACY_FILE = "provisioning_parameters.json"


def check_passing(account: Account, request: Spec, caller_role: str) -> None:
    """Refuse roles that the caller may not pass; to which service they are passed is not asked.

    docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html

    Args:
        account: where the roles are.
        request: a CreateCluster or UpdateCluster request.
        caller_role: ARN; empty for somebody who may do everything.

    Raises:
        AccessDeniedError: naming the first such role.
    """
    for role_arn, _ in _roles(request) if caller_role else ():
        if not allows(account, caller_role, "iam:PassRole", role_arn):
            raise AccessDeniedError(
                f"User: {caller_role} is not authorized to perform: iam:PassRole on resource: {role_arn}"
            )


def check_roles(account: Account, request: Spec, *, not_assumable: bool) -> None:
    """Refuse execution roles, and a ClusterRole, that are missing or that the service may not assume.

    Args:
        account: where the roles are.
        request: a CreateCluster or UpdateCluster request.
        not_assumable: refuse every role, as when IAM has not propagated it yet.

    Raises:
        ValidationError: as the service words it for a role that it can not assume.
    """
    for role_arn, principal in _roles(request):
        if not_assumable or not _is_assumable(account, role_arn, principal):
            raise ValidationError(
                f"Could not assume role {role_arn}. Please ensure that the role exists and allows "
                f"principal '{principal}' to assume the role."
            )


def _roles(request: Spec) -> list[tuple[str, str]]:
    """The roles of a request, each with the principal that it is for."""
    wanted = [(group["ExecutionRole"], SERVICE_PRINCIPAL) for group in groups_of(request)]
    wanted += [(request[member], SCALING_PRINCIPAL) for member in ("ClusterRole",) if member in request]
    return list(dict.fromkeys(wanted))


def check_network(account: Account, request: Spec) -> None:
    """Refuse subnets and security groups that are missing or of different VPCs.

    Args:
        account: where they are.
        request: a CreateCluster or UpdateCluster request.

    Raises:
        ValidationError: naming the first one that is wrong.
    """
    for config in _vpc_configs(request):
        vpcs = [_vpc_of_subnet(account, subnet_id) for subnet_id in config["Subnets"]]
        vpcs += [_vpc_of_security_group(account, group_id) for group_id in config["SecurityGroupIds"]]
        if len(set(vpcs)) > 1:
            raise ValidationError(
                "Subnets and security groups must belong to the same VPC, but belong to "
                f"{', '.join(sorted(set(vpcs)))}."
            )


def check_legacy_file(account: Account, request: Spec) -> None:
    """Refuse a provisioning_parameters.json beside an API configuration of Slurm.

    Args:
        account: where the lifecycle scripts are.
        request: the whole cluster as a CreateCluster request whose Slurm the API configures.

    Raises:
        ValidationError: as the service words it
            (docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html).
    """
    for group in groups_of(request):
        uri = group.get("LifeCycleConfig", {}).get("SourceS3Uri")
        if uri and scripts.exists(account, uri, LEGACY_FILE):
            raise ValidationError(
                f"The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a {LEGACY_FILE} "
                f"file simultaneously. Instance group '{group['InstanceGroupName']}' has one under {uri}."
            )


def groups_of(request: Spec) -> list[Spec]:
    """Give every instance group of a request, restricted ones last."""
    groups: list[Spec] = request.get("InstanceGroups", []) + request.get("RestrictedInstanceGroups", [])
    return groups


def _vpc_configs(request: Spec) -> Iterator[Spec]:
    if "VpcConfig" in request:
        yield request["VpcConfig"]
    for group in groups_of(request):
        if "OverrideVpcConfig" in group:
            yield group["OverrideVpcConfig"]


def _vpc_of_subnet(account: Account, subnet_id: str) -> str:
    try:
        return account.ec2.get_subnet(subnet_id).vpc_id
    except InvalidSubnetIdError:
        raise ValidationError(f"The subnet ID '{subnet_id}' does not exist.") from None


def _vpc_of_security_group(account: Account, group_id: str) -> str:
    group = account.ec2.get_security_group_from_id(group_id)
    if group is None:
        raise ValidationError(f"The security group ID '{group_id}' does not exist.")
    return str(group.vpc_id)


def _is_assumable(account: Account, role_arn: str, principal: str) -> bool:
    role = next((role for role in account.iam.roles.values() if role.arn == role_arn), None)
    if role is None:
        return False
    statements = _as_list(json.loads(role.assume_role_policy_document)["Statement"])
    return any(_allows(statement, principal) for statement in statements)


def _allows(statement: dict[str, Any], principal: str) -> bool:
    trusted = statement.get("Principal", {})
    services = ["*"] if trusted == "*" else _as_list(trusted.get("Service", []))
    actions = _as_list(statement.get("Action", []))
    return (
        statement.get("Effect") == "Allow"
        and any(action in ("sts:AssumeRole", "sts:*", "*") for action in actions)
        and any(service in (principal, "*") for service in services)
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
