"""Each condition made false, one at a time: exactly its check says so."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_cdk.preflight import CHECKS, Aws, Outcome, Report, run
from hyperpod_cdk.preflight.look import WHO_ASKS, Look
from hyperpod_cdk.preflight.traffic import ALL
from hyperpod_cdk.service import quotas
from hyperpod_cdk.spec import (
    BucketMount,
    CapacityType,
    DataRepositoryAssociation,
    EbsVolume,
    ExistingFileSystem,
    ExistingSubnet,
    LifeCycleConfig,
    LifecycleMode,
    LustreFileSystem,
    Monitoring,
    Mount,
    OverrideVpcConfig,
)
from tests.preflight import eks_specs, specs
from tests.preflight.account import BUCKET, PREFIX, REGION, SCRIPT, Account
from tests.preflight.changes import (
    change_plan,
    change_quota,
    deploy_cluster,
    deploy_lustre,
    deploy_lustre_without_efa,
    foreign_cluster,
    patched,
    without_plan,
    without_way_to_s3,
)
from tests.preflight.eks_rows import EKS
from tests.preflight.row import Change, Row, Spec


def quota(check: str, name: str, value: float, *, spec: Spec = specs.existing) -> Row:
    return Row(check, name, lambda a: change_quota(a, name, value), spec)


def login(check: str, title: str, change: Change = lambda _: None, **settings: Any) -> Row:
    """A row whose login group is different."""
    return Row(check, title, change, more=lambda a: {"login": {k: v(a) for k, v in settings.items()}})


def storage(check: str, title: str, one: Callable[[Account], Any], *, findings: int = 1) -> Row:
    """A row with another file system at /fsx."""
    return Row(check, title, more=lambda a: {"storage": {"scratch": one(a)}}, findings=findings)


def lustre(file_system_id: str, **settings: Any) -> LustreFileSystem:
    return LustreFileSystem(
        existing=ExistingFileSystem(dns_name=f"{file_system_id}.fsx.us-west-2.amazonaws.com", **settings)
    )


def small(account: Account) -> OverrideVpcConfig:
    return OverrideVpcConfig(subnet_ids=(account.small,))


QUOTAS = (
    quota("quota-instance-type", "ml.c5.xlarge for cluster usage", 0),
    quota(
        "quota-instances-per-cluster", "Maximum number instances allowed per SageMaker HyperPod cluster", 3
    ),
    quota(
        "quota-instances-of-all-clusters",
        "Total number of instances allowed across SageMaker HyperPod clusters",
        3,
    ),
    quota(
        "quota-volume-size", "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance", 499
    ),
    # moto's own VPC, and the two of the account
    quota("quota-vpcs", "VPCs per Region", 3, spec=lambda _: specs.new()),
    quota("quota-internet-gateways", "Internet gateways per Region", 1, spec=lambda _: specs.new()),
    quota("quota-elastic-ips", "EC2-VPC Elastic IPs", 0, spec=lambda _: specs.new()),
    quota("quota-network-interfaces", "Network interfaces per Region", 60),
)

REGION_ROWS = (
    Row(
        "zones",
        "a zone that is not there",
        spec=lambda _: specs.new(
            zones=("usw2-az4", "usw2-az9"), storage={"a": LustreFileSystem(availability_zone_id="usw2-az9")}
        ),
        findings=2,
    ),
    Row(
        "bootstrap",
        "not bootstrapped",
        lambda a: patched(a, "ssm", "get_parameter", "ParameterNotFound"),
    ),
    Row("bootstrap", "an old bootstrap", lambda a: a.set_bootstrap("5")),
    Row("service-linked-role", "not there", lambda a: a.without_service_linked_role()),
    Row("cluster-name", "another stack's cluster", foreign_cluster),
    Row(
        "offerings",
        "a type that the zone does not have",
        more=lambda _: {"login": {"instance_type": "ml.g5.12xlarge"}},
    ),
)

PLANS = (
    Row("training-plan", "expired", lambda a: change_plan(a, Status="Expired")),
    Row(
        "training-plan",
        "not there",
        without_plan,
    ),
    Row(
        "training-plan",
        "for training jobs",
        lambda a: change_plan(a, TargetResources=["training-job"]),
    ),
    Row("training-plan", "too few", lambda a: change_plan(a, AvailableInstanceCount=1)),
    Row(
        "training-plan",
        "another type",
        lambda a: change_plan(a, block={"InstanceType": "ml.p4d.24xlarge"}),
    ),
    Row(
        "training-plan",
        "another zone",
        lambda a: change_plan(a, block={"AvailabilityZoneId": "usw2-az1"}),
    ),
    Row("training-plan-begun", "begins later", lambda a: change_plan(a, Status="Scheduled")),
)

NETWORK = (
    login(
        "subnets",
        "not there",
        override_vpc_config=lambda _: OverrideVpcConfig(subnet_ids=("subnet-0123456789",)),
    ),
    login(
        "subnets", "of another VPC", override_vpc_config=lambda a: OverrideVpcConfig(subnet_ids=(a.foreign,))
    ),
    Row(
        "subnets",
        "in another zone than said",
        more=lambda a: {
            "network": {
                "subnets": (
                    ExistingSubnet(subnet_id=a.subnet, availability_zone_id=a.zone),
                    ExistingSubnet(subnet_id=a.small, availability_zone_id="usw2-az1"),
                )
            }
        },
    ),
    login("free-addresses", "12 nodes, 11 addresses", override_vpc_config=small, instance_count=lambda _: 12),
    login(
        "spare-addresses", "11 nodes, 11 addresses", override_vpc_config=small, instance_count=lambda _: 11
    ),
    Row("private-subnets", "a route to the internet gateway", lambda a: a.open_to_internet()),
    Row("dns-attributes", "no host names", lambda a: a.without_dns("EnableDnsHostnames")),
    Row("dns-attributes", "no resolution", lambda a: a.without_dns("EnableDnsSupport")),
    Row("s3-by-internet", "no endpoint", lambda a: a.without_s3_endpoint()),
    Row("service-endpoints", "closed", lambda a: a.close()),
    Row(
        "s3-endpoint",
        "closed, and no endpoint",
        without_way_to_s3,
    ),
    Row("self-rules", "none in", lambda a: a.revoke(a.group, ALL, a.group)),
    Row(
        "self-rules",
        "none out, and 0.0.0.0/0 does not count for EFA",
        lambda a: a.revoke(a.group, ALL, a.group, egress=True),
    ),
    login(
        "security-groups",
        "of another VPC",
        override_vpc_config=lambda a: OverrideVpcConfig(
            subnet_ids=(a.subnet,), security_group_ids=(a.group, a.foreign_group)
        ),
    ),
)

FILE_SYSTEMS = (
    storage("file-systems", "not there", lambda _: lustre("fs-0123456789abcdef0")),
    storage("file-systems", "another mount name", lambda a: lustre(a.lustre, mount_name="other")),
    storage("file-systems", "another type", lambda a: lustre(a.openzfs)),
    Row("file-systems", "too old", lambda a: a.alter_lustre(FileSystemTypeVersion="2.10")),
    Row("file-system-ports", "all shut for EFA", lambda a: a.enable_efa(), findings=4),
    Row("file-systems", "not available", lambda a: a.set_lifecycle("CREATING")),
    storage(
        "file-system-vpc",
        "in another VPC",
        lambda a: lustre(a.add_lustre(a.foreign, a.foreign_group)),
    ),
    storage(
        "file-system-zone",
        "in another zone",
        lambda a: lustre(a.add_lustre(a.elsewhere, a.server_group)),
        findings=3,
    ),
    Row(
        "file-system-ports",
        "shut into Lustre",
        lambda a: a.revoke(a.server_group, ("tcp", 988, 988), a.group),
    ),
    Row(
        "file-system-ports",
        "shut into the nodes",
        lambda a: a.revoke(a.group, ("tcp", 1018, 1023), a.server_group),
    ),
    Row(
        "file-system-ports",
        "shut into OpenZFS",
        lambda a: a.revoke(a.server_group, ("udp", 2049, 2049), a.group),
    ),
    Row("file-system-ports", "shut out of the nodes", lambda a: a.without_egress(a.group), findings=2),
    Row(
        "file-systems",
        "mounted by its name, and not there",
        more=lambda _: {
            "login": {
                "mounts": (
                    Mount(
                        file_system_type="LUSTRE",
                        dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
                        mount_name="abcdefgh",
                    ),
                )
            }
        },
    ),
    Row(
        "buckets",
        "a link to no bucket",
        more=lambda _: {
            "storage": {
                "new": LustreFileSystem(
                    data_repository_associations=(
                        DataRepositoryAssociation(data_repository_path="s3://nowhere-at-all/a"),
                    )
                )
            }
        },
    ),
)


LEGACY = {"lifecycle_mode": LifecycleMode.LEGACY}


def new_lustre(**settings: Any) -> Callable[[Account], dict[str, Any]]:
    return lambda _: {"storage": {"new": LustreFileSystem(**settings)}}


SCRATCH = {"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}}

DEPLOYED = (
    Row(
        "legacy-groups",
        "a group that the cluster does not have",
        lambda a: deploy_cluster(a, InstanceType="ml.c5.xlarge"),
        more=lambda _: {"controller": LEGACY, "login": LEGACY, "compute": LEGACY},
    ),
    Row(
        "file-system-changes",
        "smaller",
        lambda a: deploy_lustre(a, StorageCapacity=4800),
        more=new_lustre(capacity_gib=2400),
    ),
    Row(
        "file-system-changes",
        "an older version",
        deploy_lustre,
        more=new_lustre(file_system_type_version="2.12"),
    ),
    Row("file-system-changes", "EFA", deploy_lustre_without_efa, more=new_lustre(efa_enabled=True)),
    Row("file-system-replaced", "another type", lambda a: deploy_lustre(a, **SCRATCH), more=new_lustre()),
    Row("file-system-replaced", "another key", lambda a: deploy_lustre(a, KmsKeyId="alias/other")),
    Row("image-age", "of 2025", lambda a: a.set_image_date(datetime(2025, 12, 31, tzinfo=UTC))),
)

SPOT = {"login": {"capacity_requirements": CapacityType.SPOT}}

OTHERS = (
    Row(
        "buckets",
        "a mount of no bucket",
        more=lambda _: {
            "lifecycle": {"bucket_mounts": (BucketMount(bucket="sagemaker-nowhere", mount_path="/data"),)}
        },
    ),
    Row(
        "prometheus-workspace",
        "not there",
        more=lambda a: {"lifecycle": {"monitoring": Monitoring(workspace_arn=f"{a.workspace[:-1]}x")}},
    ),
    Row(
        "quota-spot-instances",
        "none",
        lambda a: change_quota(a, quotas.SPOT_INSTANCES_OF_ALL_CLUSTERS.name, 0),
        more=lambda _: SPOT,
    ),
    Row(
        "quota-instance-type",
        "no Spot nodes of the type",
        lambda a: change_quota(a, "ml.m5.xlarge for cluster spot instance usage", 0),
        more=lambda _: SPOT,
    ),
)


def scripts(name: str = SCRIPT, bucket: str = BUCKET) -> Callable[[Account], LifeCycleConfig]:
    return lambda _: LifeCycleConfig(source_s3_uri=f"s3://{bucket}/{PREFIX}/", on_init_complete=name)


SCRIPTS = (
    login("scripts", "no such script", life_cycle_config=scripts("other.sh")),
    login("scripts", "no such bucket", life_cycle_config=scripts(bucket="sagemaker-nowhere")),
    Row(
        "legacy-file",
        "beside the scripts",
        lambda a: a.put_for_now(f"{PREFIX}/provisioning_parameters.json", b"{}"),
    ),
    login(
        "script-form",
        "Windows line ends",
        lambda a: a.put_for_now(f"{PREFIX}/windows.sh", b"#!/bin/bash\r\necho\r\n"),
        life_cycle_config=scripts("windows.sh"),
    ),
    login(
        "script-form",
        "no #!",
        lambda a: a.put_for_now(f"{PREFIX}/plain.sh", b"echo hello\n"),
        life_cycle_config=scripts("plain.sh"),
    ),
)

IDENTITY = (
    login("roles", "not there", execution_role_arn=lambda a: a.role.replace("nodes", "nobody")),
    Row("roles", "trusts somebody else", lambda a: a.set_trust("ec2.amazonaws.com")),
    Row(
        "role-permissions",
        "no network interfaces",
        lambda a: a.deny_role("ec2:*"),
    ),
    Row("role-permissions", "no secret", lambda a: a.deny_role("secretsmanager:*")),
    Row("role-permissions", "no volume key", lambda a: a.deny_role("kms:*")),
    Row("role-permissions", "no mounted bucket", lambda a: a.deny_role("s3:*")),
    Row("role-permissions", "no workspace", lambda a: a.deny_role("aps:*")),
    Row("role-permissions", "no Lustre", lambda a: a.deny_role("fsx:*")),
    Row("role-permissions", "no managed policy", lambda a: a.without_managed_policy()),
    Row("keys", "disabled", lambda a: a.disable_key()),
    Row(
        "keys",
        "not there",
        more=lambda a: {
            "compute": {
                "secondary_volume": EbsVolume(
                    volume_size_in_gb=500, volume_kms_key_id="1234abcd-12ab-34cd-56ef-1234567890ab"
                )
            }
        },
    ),
    Row("key-for-logs", "only for others", lambda a: a.set_key_policy("sns.amazonaws.com")),
    Row("secrets", "being deleted", lambda a: a.delete_secret()),
    login("images", "not there", image_id=lambda _: "ami-0123456789abcdef0"),
    Row("images", "for another architecture", lambda a: a.set_architecture("arm64")),
)

ROWS = (
    *(*REGION_ROWS, *QUOTAS, *PLANS, *NETWORK, *FILE_SYSTEMS, *SCRIPTS, *IDENTITY, *OTHERS, *DEPLOYED),
    *EKS,
)
BY_THEMSELVES = {"region", "region-options"}
"""Checks with a test of their own below."""


def not_passed(report: Report) -> dict[str, Outcome]:
    return {
        result.check.name: result.outcome for result in report.results if result.outcome is not Outcome.PASS
    }


WHOLE: dict[str, Spec] = {
    "existing": specs.existing,
    "new": lambda _: specs.new(),
    "EKS that is there": eks_specs.there,
    "EKS that is made": eks_specs.new,
    "EKS with a chart in ECR": eks_specs.from_registry,
    "EKS in a new network": eks_specs.in_new_network,
}


@pytest.mark.parametrize("spec", WHOLE.values(), ids=WHOLE)
def test_an_account_with_everything_passes(account: Account, ask: Callable[[], Aws], spec: Spec) -> None:
    report = run(spec(account), ask())
    assert not_passed(report) == {}
    assert report.exit_code == 0
    assert report.account == "123456789012"


@pytest.mark.parametrize("spec", WHOLE.values(), ids=WHOLE)
def test_no_call_waits_for_the_answer_of_another(
    account: Account, ask: Callable[[], Aws], spec: Spec
) -> None:
    wanted, aws = spec(account), ask()
    look = Look(spec=wanted, aws=aws)
    foreseen = {call.key for check in CHECKS if check.needed(wanted) for call in check.asks(look)}
    run(wanted, aws)
    # those that were refused are not among aws.made
    assert set(aws._calls) == foreseen | {WHO_ASKS().key}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}: {row.title}")
def test_exactly_its_check_fails(account: Account, ask: Callable[[], Aws], row: Row) -> None:
    row.change(account)
    more = row.more(account)
    report = run(row.spec(account, **more) if more else row.spec(account), ask())
    result = next(one for one in report.results if one.check.name == row.check)
    severity = result.check.rule.severity
    assert not_passed(report) == {row.check: Outcome.FAIL if severity == "error" else Outcome.WARN}
    assert [one.code for one in result.findings] == [result.check.rule.code] * row.findings
    assert report.exit_code == (1 if severity == "error" else 0)
    assert all(one.message and one.fix for one in result.findings)


def test_every_check_has_a_row() -> None:
    assert {row.check for row in ROWS} | BY_THEMSELVES == {check.name for check in CHECKS}


def test_a_region_without_hyperpod(account: Account, ask: Callable[[], Aws]) -> None:
    patched(account, "sagemaker", "list_clusters", "UnknownOperationException")
    report = run(specs.new(), ask())
    assert not_passed(report)["region"] is Outcome.FAIL
    # what takes the account's clusters to count is not known then, and no pass
    assert not_passed(report)["quota-instance-type"] is Outcome.UNKNOWN
    assert report.exit_code == 1


def test_a_file_system_with_efa_behind_rules_by_group(account: Account, ask: Callable[[], Aws]) -> None:
    account.enable_efa()
    for own, other in ((account.group, account.server_group), (account.server_group, account.group)):
        for egress in (False, True):
            account.authorize_for_now(own, other, egress=egress)
    assert not_passed(run(specs.existing(account), ask())) == {}


def test_what_is_deployed_as_the_spec_has_it_may_grow(account: Account, ask: Callable[[], Aws]) -> None:
    deploy_lustre(account)
    spec = specs.existing(account, storage={"new": LustreFileSystem(capacity_gib=2400)})
    assert not_passed(run(spec, ask())) == {}


def test_a_legacy_group_may_have_its_file(account: Account, ask: Callable[[], Aws]) -> None:
    account.put_for_now(f"{PREFIX}/provisioning_parameters.json", b"{}")
    spec = specs.existing(account, controller=LEGACY, login=LEGACY, compute=LEGACY)
    assert not_passed(run(spec, ask())) == {}


def test_region_is_the_one_that_was_asked(account: Account, ask: Callable[[], Aws]) -> None:
    assert run(specs.new(), ask()).region == REGION
