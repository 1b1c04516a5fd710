"""Volumes: what kubectl applies, judged by Kubernetes' own schemas."""

import json
from typing import Any

import aws_cdk as cdk
import kubernetes_validate
import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.eks.volume_manifests import FileSystemAddress, claims
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess
from tests.unit.eks.order import before, one, resources
from tests.unit.eks.services import build, template

LUSTRE = FileSystemAddress(
    file_system_id="fs-0123456789abcdef0",
    dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    mount_name="abcdefgh",
)
OPENZFS = FileSystemAddress(
    file_system_id="fs-0fedcba9876543210",
    dns_name="fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com",
    mount_name=None,
)
BUCKET = BucketVolume(bucket_name="models", prefix="llama/", allow_delete=True)
READ_ONLY = VolumeAccess.READ_ONLY
KINDS = {
    "lustre": (Volume(storage="scratch"), LUSTRE),
    "lustre, read only": (Volume(storage="scratch", access=READ_ONLY), LUSTRE),
    "openzfs": (Volume(storage="home", namespaces=["default", "team-a"]), OPENZFS),
    "bucket": (Volume(bucket=BUCKET, mount_options=["uid=1000"]), None),
    "bucket, read only": (Volume(bucket=BUCKET, access=READ_ONLY), None),
}


def made(kind: str, name: str = "data") -> list[Any]:
    volume, address = KINDS[kind]
    return claims(name, volume, address)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_kubernetes_takes_them(kind: str, version: str) -> None:
    for manifest in made(kind):
        kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_volume_and_claim_name_each_other_and_the_data_stays(kind: str) -> None:
    volume, claim = made(kind)[:2]
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"] == "data-default"
    reference = volume["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == ("default", claim["metadata"]["name"])
    assert volume["spec"]["storageClassName"] == claim["spec"]["storageClassName"] == ""
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["accessModes"] == claim["spec"]["accessModes"]
    assert claim["spec"]["resources"]["requests"] == volume["spec"]["capacity"] == {"storage": "1200Gi"}


def test_lustre_is_named_as_its_driver_wants_it() -> None:
    volume, claim = made("lustre")
    assert volume["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": LUSTRE.file_system_id,
        "readOnly": False,
        "volumeAttributes": {"dnsname": LUSTRE.dns_name, "mountname": "abcdefgh"},
    }
    assert volume["spec"]["mountOptions"] == ["noatime", "flock"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert made("lustre, read only")[0]["spec"]["csi"]["readOnly"] is True


def test_openzfs_is_nfs_in_each_namespace() -> None:
    manifests = made("openzfs")
    names = [(m["kind"], m["metadata"]["name"], m["metadata"].get("namespace")) for m in manifests]
    assert names == [
        ("PersistentVolume", "data-default", None),
        ("PersistentVolumeClaim", "data", "default"),
        ("PersistentVolume", "data-team-a", None),
        ("PersistentVolumeClaim", "data", "team-a"),
    ]
    assert manifests[0]["spec"]["nfs"] == {"server": OPENZFS.dns_name, "path": "/fsx", "readOnly": False}
    assert "nfsvers=4.2" in manifests[0]["spec"]["mountOptions"]


def test_a_bucket_is_mounted_as_it_is_asked_for() -> None:
    options = ["allow-delete", "allow-overwrite", "prefix llama/", "uid=1000"]
    assert made("bucket")[0]["spec"]["mountOptions"] == options
    assert made("bucket, read only")[0]["spec"]["mountOptions"] == ["read-only", "prefix llama/"]


def test_handles_of_buckets_are_unique() -> None:
    """Of two volumes with one handle the driver mounts one."""
    volume = Volume(bucket=BucketVolume(bucket_name="models"), namespaces=["a", "b"])
    manifests = [*claims("x", volume), *claims("y", volume)]
    handles = [m["spec"]["csi"]["volumeHandle"] for m in manifests if m["kind"] == "PersistentVolume"]
    assert len(set(handles)) == len(handles) == 4


VOLUMES = {
    "scratch": Volume(storage="scratch"),
    "home": Volume(storage="home"),
    "old": Volume(storage="old", access=READ_ONLY),
    "models": Volume(bucket=BucketVolume(bucket_name="models"), access=READ_ONLY),
}


@pytest.fixture(scope="module")
def deployed() -> Template:
    return template(storage=True, volumes=VOLUMES)


def manifests_of(template: Template) -> list[Any]:
    """What kubectl is given, references shown as text."""
    found = template.find_resources("Custom::AWSCDK-EKS-KubernetesResource").values()
    texts = [resource["Properties"]["Manifest"] for resource in found]
    joined = [
        text
        if isinstance(text, str)
        else "".join(p if isinstance(p, str) else "X" for p in text["Fn::Join"][1])
        for text in texts
    ]
    return [manifest for text in joined for manifest in json.loads(text)]


def test_each_file_system_and_bucket_is_applied(deployed: Template) -> None:
    manifests = manifests_of(deployed)
    for manifest in manifests:
        kubernetes_validate.validate(manifest, "1.33", strict=True)
    claims_made = {m["metadata"]["name"] for m in manifests if m["kind"] == "PersistentVolumeClaim"}
    assert claims_made == set(VOLUMES)


def test_129_no_claim_waits_for_nodes_or_drivers(deployed: Template) -> None:
    """Field report 129; they bind by name."""
    every = resources(deployed)
    applied = deployed.find_resources("Custom::AWSCDK-EKS-KubernetesResource")
    assert len(applied) == len(VOLUMES)
    for logical_id in applied:
        earlier = before(every, logical_id)
        assert one(every, "AWS::EKS::Cluster") in earlier
        assert not [
            name for name in earlier if every[name]["Type"] in ("AWS::EKS::Addon", "AWS::EKS::Nodegroup")
        ]


def test_claims_stay_when_they_leave_the_stack(deployed: Template) -> None:
    """A claim that a pod uses is not let go, and the deletion would wait for it."""
    deployed.all_resources("Custom::AWSCDK-EKS-KubernetesResource", {"DeletionPolicy": "Retain"})
    deployed.all_resources_properties(
        "Custom::AWSCDK-EKS-KubernetesResource", {"Overwrite": True, "ClusterName": Match.any_value()}
    )


def test_storage_that_is_not_there_is_said() -> None:
    with pytest.raises(ConstructError, match="names the storage scratch, there are: none"):
        build(volumes={"data": Volume(storage="scratch")})


def test_without_volumes_there_is_no_kubectl() -> None:
    stack = build()
    assert isinstance(stack, cdk.Stack)
    Template.from_stack(stack).resource_count_is("AWS::Lambda::Function", 0)
