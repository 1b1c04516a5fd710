"""Rules of disks, volumes and add-ons on Amazon EKS (HP530 to HP544)."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.service.eks_add_ons import GRAFANA_REGIONS, INFERENCE_MINIMUM_VERSIONS
from hyperpod_cdk.spec import AddOn, EbsVolume, EksOrchestrator, HelmChart, LustreFileSystem, TaskGovernance
from hyperpod_cdk.spec.eks_inference import Inference
from hyperpod_cdk.spec.eks_observability import Grafana, Metrics, Observability
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess
from hyperpod_cdk.spec.node_disk import NodeDisk, NodeDiskPath
from tests.unit.rules.specs import LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

NUMBER: Any = NUMBER_TOKEN
TEXT: Any = TEXT_TOKEN
EKS = "cluster.orchestrator.eks"
CHART = HelmChart(s3_uri="s3://charts/hyperpod.zip")
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF"
PROMETHEUS = "arn:aws:aps:us-west-2:111122223333:workspace/ws-0123"
GRAFANA = "arn:aws:grafana:us-west-2:111122223333:/workspaces/g-0123"
EBS = EbsVolume(volume_size_in_gb=500)
READ_ONLY = VolumeAccess.READ_ONLY
REQUIRED = NodeDisk(required=True)
WITH_VOLUMES = {f"{group}.secondary_volume": EBS for group in ("controller", "login", "compute")}


def plane(**settings: Any) -> dict[str, Any]:
    """The change that makes it a cluster on Amazon EKS."""
    return {EKS: EksOrchestrator(**{"helm_chart": CHART, **settings})}


def existing(**settings: Any) -> dict[str, Any]:
    return plane(helm_chart=None, cluster_arn=ARN, **settings)


def volume(name: str = "data", **settings: Any) -> dict[str, Any]:
    return plane(volumes={name: Volume(**{"storage": "scratch", **settings})})


def bucket(
    access: VolumeAccess = VolumeAccess.READ_WRITE, options: Any = (), **settings: Any
) -> dict[str, Any]:
    of = BucketVolume(**{"bucket_name": "models", **settings})
    return volume(storage=None, bucket=of, access=access, mount_options=options)


def add_ons(**versions: Any) -> dict[str, Any]:
    return {name.replace("_", "-"): AddOn(version=version) for name, version in versions.items()}


def inference(versions: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return plane(inference=Inference(**settings), add_ons=versions)


def observability(**settings: Any) -> dict[str, Any]:
    return plane(observability=Observability(**settings))


def chart(values: dict[str, Any]) -> dict[str, Any]:
    return plane(helm_chart=HelmChart(s3_uri="s3://x/y.zip", values=values))


VOLUMES = f"{EKS}.volumes"
DATA = f"{VOLUMES}.data"
ROWS = [
    ("HP530", {**plane(node_disk=REQUIRED), **WITH_VOLUMES}, []),
    ("HP530", plane(node_disk=NodeDisk()), []),
    ("HP530", plane(node_disk=NodeDisk(required=TEXT)), []),
    ("HP530", plane(node_disk=NodeDisk(required=True, mount_path=NodeDiskPath.INSTANCE_STORE)), []),
    (
        "HP530",
        {**plane(node_disk=REQUIRED), **WITH_VOLUMES, "compute.secondary_volume": None},
        ["compute.secondary_volume"],
    ),
    (
        "HP530",
        plane(node_disk=NodeDisk(required=True, mount_path=NodeDiskPath.NONE)),
        [f"{EKS}.node_disk.required"],
    ),
    *(
        ("HP531", plane(node_disk=NodeDisk(wait_seconds=seconds)), paths)
        for seconds, paths in (
            (0, []),
            (9999, []),
            (NUMBER, []),
            (-1, [f"{EKS}.node_disk.wait_seconds"]),
            (10_000, [f"{EKS}.node_disk.wait_seconds"]),
        )
    ),
    ("HP532", volume(namespaces=["default", "hyperpod-ns-a"]), []),
    ("HP532", volume("a" * 63), []),
    ("HP532", volume(TEXT_TOKEN), []),
    ("HP532", volume(namespaces=LIST_TOKEN), []),
    ("HP532", volume(namespaces=[TEXT_TOKEN, TEXT_TOKEN]), []),
    ("HP532", volume("a" * 64), [f"{VOLUMES}.{'a' * 64}"]),
    ("HP532", volume("Data"), [f"{VOLUMES}.Data"]),
    ("HP532", volume(namespaces=[]), [f"{DATA}.namespaces"]),
    ("HP532", volume(namespaces=["a", "a"]), [f"{DATA}.namespaces[1]"]),
    ("HP532", volume(namespaces=["a_b"]), [f"{DATA}.namespaces[0]"]),
    ("HP533", volume(), []),
    ("HP533", bucket(), []),
    ("HP533", volume(storage=TEXT_TOKEN), []),
    ("HP533", volume(storage="scratchy"), [f"{DATA}.storage"]),
    ("HP533", volume(storage=None), [DATA]),
    ("HP533", volume(bucket=BucketVolume(bucket_name="models")), [DATA]),
    ("HP534", volume(capacity_gib=1), []),
    ("HP534", volume(capacity_gib=NUMBER), []),
    ("HP534", volume(capacity_gib=0), [f"{DATA}.capacity_gib"]),
    ("HP534", bucket(prefix="a/", allow_delete=True, options=["uid=1000"]), []),
    ("HP534", bucket(prefix=TEXT_TOKEN, options=[TEXT_TOKEN, " "]), []),
    ("HP534", bucket(READ_ONLY), []),
    ("HP534", bucket(prefix="a"), [f"{DATA}.bucket.prefix"]),
    ("HP534", bucket(prefix="/a/"), [f"{DATA}.bucket.prefix"]),
    ("HP534", bucket(READ_ONLY, allow_delete=True), [f"{DATA}.bucket.allow_delete"]),
    ("HP534", bucket(options=["uid=1", "--read-only"]), [f"{DATA}.mount_options[1]"]),
    ("HP534", bucket(options=["prefix a/"]), [f"{DATA}.mount_options[0]"]),
    ("HP535", volume(), []),
    ("HP535", existing(inference=Inference(), oidc_provider_arn=PROVIDER), []),
    ("HP535", existing(inference=Inference(), oidc_provider_arn=TEXT_TOKEN), []),
    ("HP535", plane(oidc_provider_arn=TEXT_TOKEN), []),
    ("HP535", existing(volumes={"data": Volume(storage="scratch")}), [VOLUMES]),
    ("HP535", existing(inference=Inference()), [f"{EKS}.oidc_provider_arn"]),
    ("HP535", existing(oidc_provider_arn="oidc.eks"), [f"{EKS}.oidc_provider_arn"]),
    ("HP535", plane(oidc_provider_arn=PROVIDER), [f"{EKS}.oidc_provider_arn"]),
    ("HP337", {**volume(storage="spare"), "storage.spare": LustreFileSystem()}, []),
    ("HP337", {**volume(storage=TEXT_TOKEN), "storage.spare": LustreFileSystem()}, []),
    ("HP337", {**volume(), "storage.spare": LustreFileSystem()}, ["storage.spare"]),
    ("HP536", plane(training_operator=AddOn(version="v1.3.0-eksbuild.1")), []),
    ("HP536", plane(training_operator=AddOn(version=TEXT_TOKEN)), []),
    (
        "HP536",
        plane(training_operator=AddOn(version="1.3.0")),
        [f"{EKS}.training_operator.version"],
    ),
    ("HP536", plane(add_ons=add_ons(coredns="latest")), [f"{EKS}.add_ons.coredns.version"]),
    (
        "HP536",
        plane(
            task_governance=TaskGovernance(add_on=AddOn(version="v1")),
            observability=Observability(add_on=AddOn(version="v1.2.0")),
            inference=Inference(add_on=AddOn(version="v2.1.0-eksbuild")),
        ),
        [f"{EKS}.{name}.add_on.version" for name in ("task_governance", "observability", "inference")],
    ),
    ("HP537", plane(add_ons=add_ons(coredns=None, cert_manager=None)), []),
    ("HP537", inference(add_ons(metrics_server=None, aws_fsx_csi_driver=None)), []),
    (
        "HP537",
        plane(volumes={"a": Volume(storage="scratch")}, add_ons=add_ons(aws_fsx_csi_driver=None)),
        [],
    ),
    (
        "HP537",
        plane(
            volumes={"a": Volume(bucket=BucketVolume(bucket_name="b"))},
            add_ons=add_ons(aws_mountpoint_s3_csi_driver=None),
        ),
        [],
    ),
    ("HP537", plane(add_ons={TEXT_TOKEN: AddOn()}), []),
    ("HP537", plane(add_ons=add_ons(core_dns=None)), [f"{EKS}.add_ons.core-dns"]),
    ("HP537", plane(add_ons=add_ons(metrics_server=None)), [f"{EKS}.add_ons.metrics-server"]),
    (
        "HP537",
        plane(volumes={"a": Volume(storage="home")}, add_ons=add_ons(aws_fsx_csi_driver=None)),
        [f"{EKS}.add_ons.aws-fsx-csi-driver"],
    ),
    (
        "HP537",
        plane(add_ons=add_ons(amazon_sagemaker_hyperpod_observability=None)),
        [f"{EKS}.add_ons.amazon-sagemaker-hyperpod-observability"],
    ),
    ("HP538", inference({name: AddOn(version=v) for name, v in INFERENCE_MINIMUM_VERSIONS.items()}), []),
    ("HP538", plane(add_ons=add_ons(cert_manager="v1.17.0-eksbuild.1")), []),
    ("HP538", inference(add_ons(cert_manager=TEXT_TOKEN)), []),
    ("HP538", inference(add_ons(cert_manager="v1.18.2-eksbuild.2")), []),
    ("HP538", inference(add_ons(cert_manager="v1.18.2-eksbuild.1")), [f"{EKS}.add_ons.cert-manager.version"]),
    (
        "HP538",
        inference(add_ons(metrics_server="v0.7.2-eksbuild.3")),
        [f"{EKS}.add_ons.metrics-server.version"],
    ),
    ("HP538", inference({}, gateway=True, add_on=AddOn(version="v2.0.0-eksbuild.2")), []),
    ("HP538", inference({}, add_on=AddOn(version="v1.0.0-eksbuild.1")), []),
    (
        "HP538",
        inference({}, gateway=True, add_on=AddOn(version="v2.0.0-eksbuild.1")),
        [f"{EKS}.inference.add_on.version"],
    ),
    *(
        ("HP539", inference({}, tls_bucket_name=name), paths)
        for name, paths in (
            (None, []),
            ("hyperpod-tls-mine", []),
            ("hyperpod-tls" + "a" * 51, []),
            (TEXT_TOKEN, []),
            ("hyperpod-tls" + "a" * 52, [f"{EKS}.inference.tls_bucket_name"]),
            ("certificates", [f"{EKS}.inference.tls_bucket_name"]),
            ("hyperpod-tls-Mine", [f"{EKS}.inference.tls_bucket_name"]),
        )
    ),
    ("HP540", chart({"cert-manager": {"enabled": False}, "mpi-operator": {"enabled": True}}), []),
    ("HP540", chart({"cert-manager": {"enabled": TEXT_TOKEN}}), []),
    (
        "HP540",
        chart({"cert-manager": {"enabled": True}, "inferenceOperators": {"enabled": True}}),
        [
            f"{EKS}.helm_chart.values.cert-manager.enabled",
            f"{EKS}.helm_chart.values.inferenceOperators.enabled",
        ],
    ),
    ("HP541", observability(prometheus_workspace_arn=PROMETHEUS), []),
    ("HP541", observability(grafana=Grafana(name="mine", arn=GRAFANA)), []),
    ("HP541", observability(grafana=Grafana(name="mine")), []),
    ("HP541", observability(prometheus_workspace_arn=TEXT_TOKEN, grafana=Grafana(arn=TEXT_TOKEN)), []),
    (
        "HP541",
        observability(prometheus_workspace_arn="ws-0123"),
        [f"{EKS}.observability.prometheus_workspace_arn"],
    ),
    ("HP541", observability(grafana=Grafana(arn=GRAFANA)), [f"{EKS}.observability.grafana.name"]),
    (
        "HP541",
        observability(grafana=Grafana(name="mine", arn="g-0123")),
        [f"{EKS}.observability.grafana.arn"],
    ),
    *(
        ("HP542", {**observability(grafana=Grafana()), "region": region}, [])
        for region in (*sorted(GRAFANA_REGIONS), TEXT_TOKEN, None)
    ),
    ("HP542", {**observability(), "region": "ap-south-1"}, []),
    ("HP542", {**observability(grafana=Grafana(name="m", arn=GRAFANA)), "region": "ap-south-1"}, []),
    (
        "HP542",
        {**observability(grafana=Grafana()), "region": "ap-south-1"},
        [f"{EKS}.observability.grafana"],
    ),
    *(
        ("HP543", observability(metrics=Metrics(scrape_interval_seconds=seconds)), paths)
        for seconds, paths in (
            (1, []),
            (NUMBER, []),
            (0, [f"{EKS}.observability.metrics.scrape_interval_seconds"]),
        )
    ),
    ("HP544", {**observability(), "compute.instance_count": 1}, []),
    ("HP544", {**observability(), "compute.instance_count": NUMBER}, []),
    ("HP544", {**observability(), "compute.instance_type": "ml.c5.4xlarge"}, []),
    ("HP544", {**observability(), "compute.instance_type": "ml.c5.metal"}, []),
    ("HP544", {**plane(), "compute.instance_type": "ml.c5.2xlarge"}, []),
    ("HP544", {**observability(), "compute.instance_type": TEXT_TOKEN}, []),
    ("HP544", {**observability(), "compute.instance_count": 0}, [f"{EKS}.observability"]),
    ("HP544", {**observability(), "compute.instance_type": "ml.c5.2xlarge"}, [f"{EKS}.observability"]),
    ("HP544", {**inference({}), "compute.instance_type": "ml.c5.xlarge"}, [f"{EKS}.inference"]),
    ("HP544", {**inference({}), "compute.instance_type": "ml.t3.medium"}, [f"{EKS}.inference"]),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


@pytest.mark.parametrize(
    ("code", "changes", "nearest"),
    [
        ("HP531", plane(node_disk=NodeDisk(wait_seconds=10_000)), (9999,)),
        ("HP534", bucket(prefix="/a"), ("a/",)),
        ("HP537", plane(add_ons=add_ons(core_dns=None)), ("coredns",)),
        ("HP543", observability(metrics=Metrics(scrape_interval_seconds=0)), (1,)),
    ],
)
def test_what_is_offered_instead(code: str, changes: dict[str, Any], nearest: tuple[Any, ...]) -> None:
    (found,) = [one for one in check(changed(changes)) if one.code == code]
    assert found.nearest == nearest


def test_an_add_on_with_a_setting_of_its_own_is_sent_there() -> None:
    changes = plane(add_ons=add_ons(amazon_sagemaker_hyperpod_observability=None))
    (found,) = [one for one in check(changed(changes)) if one.code == "HP537"]
    assert found.message == "is set by observability.add_on"
