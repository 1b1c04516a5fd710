"""HP13x: ARNs, ids and folders that stand where another kind is wanted."""

import re
from collections.abc import Iterator
from pathlib import Path

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import file_systems, groups
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_ARN = r"arn:aws[a-z-]*:{service}:[a-z0-9-]+:\d{{12}}:{resource}"
_KEY = re.compile(_ARN.format(service="kms", resource=r"key/[\w-]+"))
_SECRET = re.compile(_ARN.format(service="secretsmanager", resource=r"secret:.+"))
_TOPIC = re.compile(_ARN.format(service="sns", resource=r"[\w.-]+"))
_BOUNDARY = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+")
_PARTITION = re.compile(r"arn:(aws[a-z-]*):")
# https://docs.aws.amazon.com/general/latest/gr/rande.html, 2026-10
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "eusc-": "aws-eusc",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
}
_REGION = re.compile(r"arn:[^:]+:[^:]+:([^:]+):")
_EKS_CLUSTER = re.compile(_ARN.format(service="eks", resource=r"cluster/[0-9A-Za-z][\w-]*"))
_EXAMPLES = {
    _BOUNDARY: "arn:aws:iam::111122223333:policy/boundary",
    _EKS_CLUSTER: "arn:aws:eks:us-west-2:111122223333:cluster/training",
    _KEY: "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    _SECRET: "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
    _TOPIC: "arn:aws:sns:us-west-2:111122223333:failover",
}


@checks(
    Rule(
        code="HP130",
        title="an ARN that is none, or of something else",
        why="ids and aliases do not say Region and account, and are refused where an ARN is wanted",
        fix="copy the ARN from the resource's page in the console",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html",
    )
)
def arn_of_kind(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, value, wanted in _arns(spec):
        if value is not None and not unresolved(value) and not wanted.fullmatch(value):
            yield rule.finding(
                path, "is no ARN of this kind", given=value, allowed=f"such as {_EXAMPLES[wanted]}"
            )


@checks(
    Rule(
        code="HP131",
        title="an id of another kind",
        why="the service finds nothing by it, and says so only in the deployment",
        fix="use the id of the right thing; its beginning tells its kind",
        source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html",
    )
)
def id_of_kind(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, value, kind in _ids(spec):
        if value is not None and not unresolved(value) and not value.startswith(f"{kind}-"):
            yield rule.finding(path, "is the id of something else", given=value, allowed=f"{kind}-…")


@checks(
    Rule(
        code="HP132",
        title="a folder that is not there",
        why="its files are deployed with the node scripts",
        fix="create the folder, or correct its name; in a YAML file it is relative to that file. "
        "`hyperpod-cdk bundle` makes that of downloads",
        source="hyperpod_cdk.spec.Lifecycle",
    )
)
def folders_exist(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    named = {
        "lifecycle.extra_files": spec.lifecycle.extra_files,
        "lifecycle.downloads.folder": spec.lifecycle.downloads.folder,
    }
    for path, folder in named.items():
        if folder is not None and not unresolved(folder) and not Path(folder).is_dir():
            yield rule.finding(path, "is no folder", given=folder)


@checks(
    Rule(
        code="HP133",
        title="a key, a training plan or a control plane of another Region",
        why="keys encrypt, and reserved capacity and control planes lie, in their own Region only",
        fix="use one of the stack's Region, or correct region",
        source="https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html, "
        f"{GUIDE}training-plan-utilization-for-hyperpod.html",
    )
)
def region_of_stack(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.region is None or unresolved(spec.region):
        return
    for path, arn in _regional(spec):
        found = None if arn is None or unresolved(arn) else _REGION.match(arn)
        if found and found[1] != spec.region:
            yield rule.finding(path, f"is of {found[1]}", given=arn, allowed=f"one of {spec.region}")


@checks(
    Rule(
        code="HP134",
        title="an ARN of another partition",
        why="China, GovCloud and the other Regions are worlds of their own: nothing of one is known in the "
        "next",
        fix="use one of the stack's partition, or correct region",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html",
    )
)
def partition_of_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.region is None or unresolved(spec.region):
        return
    wanted = next((one for start, one in _PARTITIONS.items() if spec.region.startswith(start)), "aws")
    for path, arn in _every_arn(spec):
        found = None if arn is None or unresolved(arn) else _PARTITION.match(arn)
        if found and found[1] != wanted:
            yield rule.finding(path, f"is of {found[1]}", given=arn, allowed=f"arn:{wanted}:…")


def _every_arn(spec: HyperPodSpec) -> Iterator[tuple[str, str | None]]:
    for path, arn, _ in _arns(spec):
        yield path, arn
    yield from _of_groups(spec)
    database = spec.cluster.orchestrator.slurm.accounting_database
    if database is not None:
        yield "cluster.orchestrator.slurm.accounting_database.secret_arn", database.secret_arn
    for path, group in groups(spec):
        yield f"{path}.execution_role_arn", group.execution_role_arn
    scaling = spec.cluster.auto_scaling
    yield "cluster.auto_scaling.cluster_role_arn", scaling.cluster_role_arn if scaling else None


def _regional(spec: HyperPodSpec) -> Iterator[tuple[str, str | None]]:
    """Paths and ARNs of what is used in its own Region only."""
    yield "kms_key_arn", spec.kms_key_arn
    for path, file_system in file_systems(spec):
        yield f"{path}.kms_key_arn", file_system.kms_key_arn
    yield from _of_groups(spec)
    eks = spec.cluster.orchestrator.eks
    yield "cluster.orchestrator.eks.cluster_arn", eks.cluster_arn if eks else None


def _of_groups(spec: HyperPodSpec) -> Iterator[tuple[str, str | None]]:
    for path, group in groups(spec):
        yield f"{path}.training_plan_arn", group.training_plan_arn
        for name in ("root_volume", "secondary_volume"):
            volume = getattr(group, name)
            yield f"{path}.{name}.volume_kms_key_id", volume and volume.volume_kms_key_id


def _arns(spec: HyperPodSpec) -> Iterator[tuple[str, str | None, re.Pattern[str]]]:
    yield "kms_key_arn", spec.kms_key_arn, _KEY
    yield "permissions_boundary_arn", spec.permissions_boundary_arn, _BOUNDARY
    for path, file_system in file_systems(spec):
        yield f"{path}.kms_key_arn", file_system.kms_key_arn, _KEY
    for index, mount in enumerate(spec.lifecycle.bucket_mounts):
        yield f"lifecycle.bucket_mounts[{index}].kms_key_arn", mount.kms_key_arn, _KEY
    heads = spec.cluster.orchestrator.slurm.multi_head
    if heads is not None:
        path = "cluster.orchestrator.slurm.multi_head"
        yield f"{path}.slurm_database_secret_arn", heads.slurm_database_secret_arn, _SECRET
        yield f"{path}.slurm_sns_arn", heads.slurm_sns_arn, _TOPIC

    eks = spec.cluster.orchestrator.eks
    if eks is not None:
        yield "cluster.orchestrator.eks.cluster_arn", eks.cluster_arn, _EKS_CLUSTER


def _ids(spec: HyperPodSpec) -> Iterator[tuple[str, str | None, str]]:
    existing = spec.network.existing
    if existing is not None:
        yield "network.existing.vpc_id", existing.vpc_id, "vpc"
        for index, subnet in enumerate(existing.subnets):
            here = f"network.existing.subnets[{index}]"
            yield f"{here}.subnet_id", subnet.subnet_id, "subnet"
            yield f"{here}.route_table_id", subnet.route_table_id, "rtb"
        for index, group_id in enumerate(existing.security_group_ids):
            yield f"network.existing.security_group_ids[{index}]", group_id, "sg"
    database = spec.cluster.orchestrator.slurm.accounting_database
    if database is not None:
        path = "cluster.orchestrator.slurm.accounting_database.security_group_id"
        yield path, database.security_group_id, "sg"
    for path, group in groups(spec):
        place = group.override_vpc_config
        for index, subnet_id in enumerate(place.subnet_ids if place else ()):
            yield f"{path}.override_vpc_config.subnet_ids[{index}]", subnet_id, "subnet"
        for index, group_id in enumerate(place.security_group_ids if place else ()):
            yield f"{path}.override_vpc_config.security_group_ids[{index}]", group_id, "sg"
    for path, file_system in file_systems(spec):
        if file_system.existing is not None:
            yield f"{path}.existing.file_system_id", file_system.existing.file_system_id, "fs"
