"""Conditions of clusters on Amazon EKS, each made false by itself."""

from collections.abc import Callable
from typing import Any

from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.eks import API_PORT, KUBELET_PORT
from hyperpod_cdk.service.eks_add_ons import (
    CERTIFICATES,
    METRICS_SERVER,
    OBSERVABILITY,
    POD_IDENTITY,
    TRAINING_OPERATOR,
    VPC_CNI,
)
from hyperpod_cdk.spec import (
    AccessEntry,
    BucketVolume,
    EnvironmentConfig,
    ExistingSubnet,
    Grafana,
    HelmChart,
    Inference,
    InstanceRequirements,
    Observability,
    SharedLustre,
    SystemNodes,
    TaskGovernance,
    Volume,
)
from hyperpod_cdk.spec.add_on import AddOn
from tests.preflight import eks_account, eks_specs
from tests.preflight.account import Account
from tests.preflight.changes import change_quota, without_plan
from tests.preflight.eks_account import alter, alter_add_on, alter_network, put_chart, without_add_on
from tests.preflight.eks_governance import existing_policy, existing_quota, on_control_plane
from tests.preflight.row import Change, Row, Spec

Settings = Callable[[Account], Any]


def there(check: str, title: str, change: Change = lambda _: None, **settings: Settings) -> Row:
    """A row of a control plane that is there, with other settings of the orchestrator."""
    return _row(check, title, change, eks_specs.there, settings)


def new(check: str, title: str, change: Change = lambda _: None, **settings: Settings) -> Row:
    """A row of a control plane that is made."""
    return _row(check, title, change, eks_specs.new, settings)


def _row(check: str, title: str, change: Change, spec: Spec, settings: dict[str, Settings]) -> Row:
    if not settings:
        return Row(check, title, change, spec)
    return Row(check, title, change, spec, lambda a: {"eks": {k: v(a) for k, v in settings.items()}})


def changed(check: str, title: str, more: Settings, *, spec: Spec = eks_specs.there) -> Row:
    """A row of a spec that is otherwise elsewhere."""
    return Row(check, title, spec=spec, more=more)


def _in_turn(*changes: Callable[[], None]) -> None:
    for change in changes:
        change()


def _types(*names: str) -> Settings:
    several = {"instance_requirements": InstanceRequirements(instance_types=names), "instance_count": 1}
    return lambda _: {"mixed": several}


CONTROL_PLANE = (
    there("eks-cluster", "not there", cluster_arn=lambda a: f"{a.control_plane}x"),
    there(
        "eks-cluster",
        "of another Region",
        cluster_arn=lambda a: a.control_plane.replace("us-west-2", "us-east-1"),
    ),
    there("eks-cluster", "going", lambda a: alter(a, status="DELETING")),
    there(
        "eks-authentication",
        "ConfigMap",
        lambda a: alter(a, accessConfig={"authenticationMode": "CONFIG_MAP"}),
    ),
    there("oidc-provider", "not there", oidc_provider_arn=lambda a: f"{a.provider}x"),
    there("oidc-provider", "of another", oidc_provider_arn=lambda a: a.other_provider),
    there(
        "eks-version",
        "too old",
        lambda a: eks_account.set_constant(a, "KUBERNETES_VERSIONS", ("1.34", "1.35")),
    ),
    there("eks-network", "in another VPC", lambda a: alter_network(a, vpcId=a.other_vpc)),
    there("eks-occupied", "by another", on_control_plane),
    there(
        "eks-traffic",
        "shut into the control plane",
        lambda a: a.revoke(a.plane_group, API_PORT, a.group),
    ),
    there("eks-traffic", "shut into the nodes", lambda a: a.revoke(a.group, KUBELET_PORT, a.plane_group)),
)

ADD_ONS = (
    there(
        "eks-network-plugin",
        "too old",
        lambda a: alter_add_on(a, VPC_CNI, addonVersion="v1.18.2-eksbuild.1"),
    ),
    there("eks-needed-add-ons", "no certificates", lambda a: without_add_on(a, CERTIFICATES)),
    there("eks-needed-add-ons", "no agent", lambda a: without_add_on(a, POD_IDENTITY)),
    there("eks-needed-add-ons", "degraded agent", lambda a: alter_add_on(a, POD_IDENTITY, status="DEGRADED")),
    there(
        "eks-needed-add-ons",
        "too old for inference",
        lambda a: alter_add_on(a, METRICS_SERVER, addonVersion="v0.7.1-eksbuild.9"),
    ),
    there("eks-taken-add-ons", "operator", lambda a: alter_add_on(a, TRAINING_OPERATOR)),
    there("eks-taken-add-ons", "observability", lambda a: alter_add_on(a, OBSERVABILITY)),
    new("eks-add-on-versions", "none of the kind", add_ons=lambda _: {VPC_CNI: AddOn(version="v9.9.9-x.1")}),
    new(
        "eks-add-on-versions",
        "no such governance",
        task_governance=lambda _: TaskGovernance(add_on=AddOn(version="v1.0.0-eksbuild.1")),
    ),
    there(
        "eks-add-on-versions",
        "no such operator",
        training_operator=lambda _: AddOn(version="v9.0.0-eksbuild.1"),
    ),
)


def _small_subnets(account: Account) -> dict[str, Any]:
    subnets = (account.subnet, account.elsewhere, account.tight)
    return {"network": {"subnets": tuple(ExistingSubnet(subnet_id=one) for one in subnets)}}


MADE = (
    new("quota-control-planes", "none left", lambda a: change_quota(a, quotas.CONTROL_PLANES.name, 1)),
    new(
        "kubernetes-offered",
        "gone",
        lambda a: eks_account.only_kubernetes(a, v1_34="STANDARD_SUPPORT", v1_33="UNSUPPORTED"),
    ),
    new(
        "kubernetes-support",
        "extended",
        lambda a: eks_account.only_kubernetes(a, v1_33="EXTENDED_SUPPORT"),
    ),
    there(
        "kubernetes-support",
        "extended, of the one that is there",
        lambda a: eks_account.only_kubernetes(a, v1_33="EXTENDED_SUPPORT"),
    ),
    new(
        "control-plane-zones",
        "without control planes",
        lambda a: eks_account.set_constant(a, "ZONES_WITHOUT_EKS", {"usw2-az1"}),
    ),
    changed(
        "control-plane-zones",
        "only one",
        lambda a: {
            "network": {"subnets": (ExistingSubnet(subnet_id=a.subnet), ExistingSubnet(subnet_id=a.large))}
        },
        spec=eks_specs.new,
    ),
    changed("control-plane-addresses", "five", _small_subnets, spec=eks_specs.new),
    new(
        "access-principals",
        "no such role",
        access=lambda a: (AccessEntry(principal_arn=f"{a.admins}x"),),
    ),
    new(
        "access-principals",
        "without its path",
        access=lambda a: (AccessEntry(principal_arn=a.admins.replace("/team/", "/")),),
    ),
    new("access-principals", "no such user", access=lambda a: (AccessEntry(principal_arn=f"{a.ann}e"),)),
    new("control-plane-name", "a log group", eks_account.leave_log_group),
    new("control-plane-name", "a control plane", eks_account.leave_control_plane),
    new(
        "system-node-offerings",
        "in no zone",
        system_nodes=lambda _: SystemNodes(instance_type="a1.large"),
    ),
    new("quota-vcpus", "too few", lambda a: change_quota(a, quotas.on_demand_vcpus("m6i.large").name, 3)),
    new(
        "quota-vcpus",
        "taken by others",
        lambda a: _in_turn(
            lambda: change_quota(a, quotas.on_demand_vcpus("m6i.large").name, 5),
            lambda: eks_account.run_instances(a, 2),
        ),
    ),
)

CHART = (
    new("helm-chart", "not there", helm_chart=lambda a: HelmChart(s3_uri="s3://sagemaker-scripts/no.zip")),
    new("helm-chart", "no such bucket", helm_chart=lambda a: HelmChart(s3_uri="s3://sagemaker-none/a.zip")),
    new("helm-chart", "no zip", lambda a: put_chart(a, b"name: chart")),
    new("helm-chart", "empty", lambda a: put_chart(a, b"")),
    new(
        "helm-chart",
        "in a folder",
        lambda a: put_chart(a, eks_account.chart(**{"Chart.yaml": "", "chart/Chart.yaml": "name: a"})),
    ),
    new(
        "helm-chart",
        "without its dependencies",
        lambda a: put_chart(a, eks_account.chart(**{"charts/deep-health-check/Chart.yaml": ""})),
    ),
    new(
        "helm-chart",
        "no such version",
        helm_chart=lambda a: HelmChart(oci_uri=a.chart, version="2.0.0"),
    ),
    new(
        "helm-chart",
        "no such repository",
        helm_chart=lambda a: HelmChart(oci_uri=f"{a.chart}-none", version="1.0.0"),
    ),
)

THINGS = (
    changed(
        "grafana-workspace",
        "not there",
        lambda a: {
            "eks": {
                "observability": Observability(
                    prometheus_workspace_arn=a.workspace, grafana=Grafana(name="b", arn=f"{a.grafana[:-1]}8")
                )
            }
        },
    ),
    there(
        "prometheus-workspace",
        "of the add-on",
        observability=lambda a: Observability(prometheus_workspace_arn=f"{a.workspace[:-1]}x"),
    ),
    new(
        "buckets",
        "a volume of none",
        volumes=lambda _: {"data": Volume(bucket=BucketVolume(bucket_name="sagemaker-nowhere"))},
    ),
    new("buckets", "models in none", inference=lambda _: Inference(model_buckets=("sagemaker-nowhere",))),
    new(
        "keys",
        "of a volume's bucket",
        volumes=lambda _: {
            "data": Volume(
                bucket=BucketVolume(
                    bucket_name="training-data", kms_key_arn="1234abcd-12ab-34cd-56ef-1234567890ab"
                )
            )
        },
    ),
    new(
        "file-system-ports",
        "of a volume",
        lambda a: a.revoke(a.server_group, ("tcp", 988, 988), a.group),
    ),
    there("role-permissions", "no images", lambda a: a.deny_role("ecr:*")),
    there("role-permissions", "no pod identity", lambda a: a.deny_role("eks-auth:*")),
    there("role-permissions", "no metrics of restricted nodes", lambda a: a.deny_role("aps:*")),
)

QUOTAS = (
    there(
        "quota-restricted-file-systems",
        "one TiB",
        lambda a: change_quota(a, quotas.RESTRICTED_FILE_SYSTEMS.name, 1),
    ),
    Row(
        "quota-restricted-file-systems",
        "a group's own beside the shared one",
        lambda a: change_quota(a, quotas.RESTRICTED_FILE_SYSTEMS.name, 3),
        eks_specs.there,
        lambda _: {
            "restricted": {
                "environment_config": EnvironmentConfig(
                    fsx_lustre_config=SharedLustre(size_in_gib=1200, per_unit_storage_throughput=125)
                )
            }
        },
    ),
    # three of two types, beside one of the second
    there(
        "quota-instance-type",
        "two of three of a flexible group",
        lambda a: _in_turn(
            lambda: change_quota(a, "ml.c5.xlarge for cluster usage", 1),
            lambda: change_quota(a, "ml.m5.xlarge for cluster usage", 2),
        ),
    ),
    there("training-plan", "not there", without_plan),
    changed("offerings-of-several", "one of two", _types("ml.c5.xlarge", "ml.g5.12xlarge")),
    Row(
        "offerings",
        "none of two",
        spec=eks_specs.there,
        more=_types("ml.g5.12xlarge", "ml.g5.24xlarge"),
        findings=2,
    ),
)

GOVERNANCE = (
    there("compute-quotas", "of a team", existing_quota),
    there("cluster-policy", "another", existing_policy),
    Row(
        "unseen-in-kubernetes",
        "chart and Kueue",
        spec=eks_specs.there,
        more=lambda _: {"acknowledge": ()},
        findings=2,
    ),
)

DEPLOYED = (
    new("kubernetes-upgrade", "two versions", lambda a: eks_account.deploy_plane(a, "1.31")),
    new("kubernetes-upgrade", "back", lambda a: eks_account.deploy_plane(a, "1.34")),
    new(
        "governance-upgrade",
        "from 1.3",
        lambda a: eks_account.deploy_plane(a, "1.33", "v1.3.3-eksbuild.1"),
    ),
)

EKS = (*CONTROL_PLANE, *ADD_ONS, *MADE, *CHART, *THINGS, *QUOTAS, *GOVERNANCE, *DEPLOYED)
