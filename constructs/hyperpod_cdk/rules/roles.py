"""HP60x: roles of the nodes, as far as their ARNs tell."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, node_type, runs_our_scripts
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, NodeType

_ACCOUNT = re.compile(r"arn:[^:]*:iam::(\d{12}):")
_LINKED = re.compile(r"arn:[^:]*:iam::\d{12}:role/aws-service-role/.+")
_IAM = f"{GUIDE}sagemaker-hyperpod-prerequisites-iam.html"
_MANAGED_POLICY = (
    "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/"
    "AmazonSageMakerClusterInstanceRolePolicy.html"
)


@checks(
    Rule(
        code="HP600",
        title="a role of another account than another group's",
        why="the service takes roles of the cluster's own account only",
        fix="use roles of one account",
        source=_IAM,
    )
)
def roles_of_one_account(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    first = ""
    for path, group in groups(spec):
        arn = group.execution_role_arn
        found = None if arn is None or unresolved(arn) else _ACCOUNT.match(arn)
        if found is None:
            continue
        first = first or found[1]
        if found[1] != first:
            message = f"is of account {found[1]}, an earlier group's role of {first}"
            yield rule.finding(f"{path}.execution_role_arn", message, given=arn)


@checks(
    Rule(
        code="HP601",
        title="a role that nodes can not take",
        why="a service-linked role trusts its own service alone, and its trust can not be changed",
        fix="leave execution_role_arn out: a role is made for the group",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_create-service-linked-role.html",
    )
)
def service_linked_role(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        arn = group.execution_role_arn
        if arn is not None and not unresolved(arn) and _LINKED.fullmatch(arn):
            yield rule.finding(f"{path}.execution_role_arn", "is a service-linked role", given=arn)


@checks(
    Rule(
        code="HP602",
        title="a role of yours that needs more than the managed policy",
        why="nothing is granted to a role that is not made here, and the managed policy of nodes lets them "
        "read buckets whose name begins with sagemaker-, use no key and read no secret",
        fix="see that the role allows it, which preflight simulates, and acknowledge this; or leave "
        "execution_role_arn out",
        source=f"{_MANAGED_POLICY}, {GUIDE}smcluster-cmk.html",
        severity=Severity.WARNING,
    )
)
def own_role_needs_more(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.execution_role_arn is None:
            continue
        needs = _needs(spec, group)
        if needs:
            message = f"has to allow {', '.join(needs)}"
            yield rule.finding(f"{path}.execution_role_arn", message, given=group.execution_role_arn)


@checks(
    Rule(
        code="HP603",
        title="a role of yours in a VPC",
        why="nodes make their network interfaces in your subnets with it, and the managed policy of nodes "
        "has no permission of EC2: they come up without network, often without a message",
        fix="see that the role allows ec2:CreateNetworkInterface and what else the page lists for a VPC, as "
        "preflight simulates, and acknowledge this; or leave execution_role_arn out",
        source=f"{_IAM}, {_MANAGED_POLICY}",
        severity=Severity.WARNING,
    )
)
def own_role_in_vpc(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    told: set[str] = set()
    for path, group in groups(spec):
        arn = group.execution_role_arn
        if arn is not None and arn not in told and not unresolved(arn):
            told.add(arn)
            where = f"{path}.execution_role_arn"
            yield rule.finding(where, "has to make network interfaces in the VPC", given=arn)


def _needs(spec: HyperPodSpec, group: InstanceGroup) -> list[str]:
    """What a group's role must allow beyond the managed policy, in words."""
    config, needs = group.life_cycle_config, []
    if config is not None and not unresolved(config.source_s3_uri):
        bucket = urlsplit(config.source_s3_uri).netloc
        if bucket and not bucket.startswith("sagemaker-"):
            needs.append(f"s3:ListBucket and s3:GetObject on {bucket}")
    if any(volume and volume.volume_kms_key_id for volume in (group.root_volume, group.secondary_volume)):
        needs.append("kms:CreateGrant and kms:DescribeKey on the volumes' key")
    if config is None and spec.kms_key_arn is not None and runs_our_scripts(spec, group):
        needs.append("kms:Decrypt on kms_key_arn, under which the scripts lie")
    slurm = spec.cluster.orchestrator.slurm
    if node_type(group) == NodeType.CONTROLLER and (slurm.accounting_database or slurm.multi_head):
        needs.append("secretsmanager:GetSecretValue on the database's secret")
    return [*needs, *_needs_of_software(spec, group)] if runs_our_scripts(spec, group) else needs


def _needs_of_software(spec: HyperPodSpec, group: InstanceGroup) -> Iterator[str]:
    """What the scripts set up on a group's nodes; roles that are made here are granted the same."""
    lifecycle = spec.lifecycle
    if lifecycle.monitoring is not None:
        yield "aps:RemoteWrite on the workspace"
    directory = lifecycle.directory
    if directory and directory.bind_password_secret_arn and _on(group, directory.node_types):
        yield "secretsmanager:GetSecretValue on the directory's secret"
    for mount in lifecycle.bucket_mounts:
        if _on(group, mount.node_types):
            yield f"s3:ListBucket and s3:GetObject on {mount.bucket}"
    if lifecycle.downloads.source and not unresolved(lifecycle.downloads.source):
        yield f"s3:GetObject on {lifecycle.downloads.source}"


def _on(group: InstanceGroup, node_types: Sequence[NodeType]) -> bool:
    return not node_types or node_type(group) in (None, *node_types)
