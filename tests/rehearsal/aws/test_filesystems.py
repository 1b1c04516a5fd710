"""FSx: file systems, what a stack learns of them, and the network that they hold on to."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer

NETWORK = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"},
    },
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "of the file system"},
    },
}
OUTPUTS = {
    "Dns": {"Value": {"Fn::GetAtt": ["Fs", "DNSName"]}},
    "Arn": {"Value": {"Fn::GetAtt": ["Fs", "ResourceARN"]}},
}


def file_system(
    kind: str, *, capacity: int = 1200, policy: str = "Delete", **configuration: Any
) -> dict[str, Any]:
    name = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}[kind]
    return {
        "Type": "AWS::FSx::FileSystem",
        "DeletionPolicy": policy,
        "Properties": {
            "FileSystemType": kind,
            "StorageCapacity": capacity,
            "SubnetIds": [{"Ref": "Subnet"}],
            "SecurityGroupIds": [{"Ref": "Group"}],
            "Tags": [{"Key": "Name", "Value": "a"}],
            name: configuration,
        },
    }


def lustre(*, capacity: int = 1200, policy: str = "Delete", **more: Any) -> dict[str, Any]:
    settings = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, **more}
    return file_system("LUSTRE", capacity=capacity, policy=policy, **settings)


def described(aws: EmbeddedAws, fs_id: str) -> dict[str, Any]:
    (found,) = aws.client("fsx").describe_file_systems(FileSystemIds=[fs_id])["FileSystems"]
    return dict(found)


def test_lustre_is_available_with_a_mount_name(aws: EmbeddedAws, stack: Deployer) -> None:
    mount = {"Mount": {"Value": {"Fn::GetAtt": ["Fs", "LustreMountName"]}}}
    created = stack.create({**NETWORK, "Fs": lustre()}, Outputs={**OUTPUTS, **mount})
    fs_id = created.id_of("Fs")
    found = described(aws, fs_id)
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["VpcId"] == created.id_of("Vpc")
    assert found["LustreConfiguration"]["PerUnitStorageThroughput"] == 250
    assert created.outputs == {
        "Dns": f"{fs_id}.fsx.us-west-2.amazonaws.com",
        "Arn": f"arn:aws:fsx:us-west-2:123456789012:file-system/{fs_id}",
        "Mount": found["LustreConfiguration"]["MountName"],
    }
    assert stack.delete().status == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match="does not exist"):
        described(aws, fs_id)


def test_openzfs_has_a_root_volume(aws: EmbeddedAws, stack: Deployer) -> None:
    zfs = file_system("OPENZFS", capacity=64, DeploymentType="SINGLE_AZ_1", ThroughputCapacity=64)
    root = {"Root": {"Value": {"Fn::GetAtt": ["Fs", "RootVolumeId"]}}}
    created = stack.create({**NETWORK, "Fs": zfs}, Outputs={**OUTPUTS, **root})
    configuration = described(aws, created.id_of("Fs"))["OpenZFSConfiguration"]
    assert created.outputs["Root"] == configuration["RootVolumeId"]


def test_scratch_has_the_fixed_mount_name(aws: EmbeddedAws, stack: Deployer) -> None:
    created = stack.create({**NETWORK, "Fs": file_system("LUSTRE", DeploymentType="SCRATCH_1")})
    assert described(aws, created.id_of("Fs"))["LustreConfiguration"]["MountName"] == "fsx"


@pytest.mark.parametrize(
    ("changed", "in_place"),
    [
        (lustre(capacity=2400), True),
        (lustre(PerUnitStorageThroughput=500), True),
        (lustre(DeploymentType="SCRATCH_2"), False),
    ],
)
def test_change_in_place_or_by_replacement(
    aws: EmbeddedAws, stack: Deployer, changed: dict[str, Any], in_place: bool
) -> None:
    before = stack.create({**NETWORK, "Fs": lustre()}).id_of("Fs")
    updated = stack.update({**NETWORK, "Fs": changed})
    after = updated.id_of("Fs")
    assert (after == before) is in_place
    found, wanted = described(aws, after), changed["Properties"]
    assert found["StorageCapacity"] == wanted["StorageCapacity"]
    for name, value in wanted["LustreConfiguration"].items():
        assert found["LustreConfiguration"][name] == value


def test_change_that_fsx_refuses_is_refused(stack: Deployer) -> None:
    stack.create({**NETWORK, "Fs": lustre()})
    updated = stack.update({**NETWORK, "Fs": lustre(EfaEnabled=True)})
    assert ("UPDATE_FAILED", "FSx can not change EfaEnabled") in updated.events("Fs")


def test_data_repository_association(aws: EmbeddedAws, stack: Deployer) -> None:
    def resources(events: list[str]) -> dict[str, Any]:
        association = {
            "FileSystemId": {"Ref": "Fs"},
            "FileSystemPath": "/data",
            "DataRepositoryPath": "s3://example/data",
            "BatchImportMetaDataOnCreate": True,
            "S3": {"AutoImportPolicy": {"Events": events}},
        }
        linked = {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": association}
        return {**NETWORK, "Fs": lustre(), "Link": linked}

    created = stack.create(resources(["NEW"]))
    fsx, link = aws.client("fsx"), created.id_of("Link")
    wanted = [{"Name": "file-system-id", "Values": [created.id_of("Fs")]}]
    (found,) = fsx.describe_data_repository_associations(Filters=wanted)["Associations"]
    assert (found["AssociationId"], found["Lifecycle"]) == (link, "AVAILABLE")
    updated = stack.update(resources(["NEW", "CHANGED"]))
    assert updated.id_of("Link") == link
    (found,) = fsx.describe_data_repository_associations(AssociationIds=[link])["Associations"]
    assert found["S3"]["AutoImportPolicy"]["Events"] == ["NEW", "CHANGED"]
    assert stack.delete().order("DELETE_COMPLETE")[:2] == ["Link", "Fs"]


def test_kept_file_system_keeps_its_subnet_and_group(stack: Deployer) -> None:
    stack.create({**NETWORK, "Fs": lustre(policy="Retain")})
    deleted = stack.delete()
    assert deleted.status == "DELETE_FAILED"
    for name in ("Subnet", "Group"):
        assert "Primary network interface for fs-" in deleted.events(name)[-1][1]


def test_tags(aws: EmbeddedAws, stack: Deployer) -> None:
    arn = stack.create({**NETWORK, "Fs": lustre()}, Outputs=OUTPUTS).outputs["Arn"]
    fsx = aws.client("fsx")
    fsx.tag_resource(ResourceARN=arn, Tags=[{"Key": "More", "Value": "b"}, {"Key": "Name", "Value": "c"}])
    fsx.untag_resource(ResourceARN=arn, TagKeys=["More"])
    assert fsx.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "Name", "Value": "c"}]
