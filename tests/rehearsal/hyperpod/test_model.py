"""The service checks a request against botocore's model though the client has checked nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.hyperpod.samples import Account

Post = Callable[[str, Any], tuple[int, dict[str, Any]]]
ROLE = "arn:aws:iam::123456789012:role/x"


def group(**members: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": "g",
        "InstanceType": "ml.c5.large",
        "InstanceCount": 1,
        "ExecutionRole": ROLE,
        **members,
    }


BREACHES = {
    "required member": ({"ClusterName": None}, "at 'clusterName' failed", "must not be null"),
    "pattern": ({"ClusterName": "ml_cluster"}, "'ml_cluster' at 'clusterName'", "regular expression pattern"),
    "trailing newline": ({"ClusterName": "ml\n"}, "at 'clusterName'", "regular expression pattern"),
    "string too long": ({"ClusterName": "a" * 64}, "at 'clusterName'", "length less than or equal to 63"),
    "list too short": ({"InstanceGroups": []}, "at 'instanceGroups'", "length greater than or equal to 1"),
    "list too long": ({"Tags": [{"Key": "k", "Value": "v"}] * 51}, "at 'tags'", "less than or equal to 50"),
    "enum": ({"NodeRecovery": "Sometimes"}, "at 'nodeRecovery'", "enum value set: [Automatic, None]"),
    "nested enum": (
        {"InstanceGroups": [group(), group(SlurmConfig={"NodeType": "Worker"})]},
        "'Worker' at 'instanceGroups.2.member.slurmConfig.nodeType'",
        "[Controller, Login, Compute]",
    ),
    "number too large": (
        {"InstanceGroups": [group(ThreadsPerCore=3)]},
        "at 'instanceGroups.1.member.threadsPerCore'",
        "value less than or equal to 2",
    ),
    "number too small": (
        {"InstanceGroups": [group(InstanceCount=-1)]},
        "at 'instanceGroups.1.member.instanceCount'",
        "value greater than or equal to 0",
    ),
    "nested required member": (
        {"InstanceGroups": [{"InstanceGroupName": "g", "InstanceCount": 1}]},
        "at 'instanceGroups.1.member.executionRole'",
        "must not be null",
    ),
    "unknown member": ({"Cluster": "x"}, "Unknown member 'Cluster'", "ClusterName"),
    "unknown nested member": (
        {"InstanceGroups": [group(OverrideVpc={})]},
        "Unknown member 'OverrideVpc' at 'instanceGroups.1.member'",
        "OverrideVpcConfig",
    ),
    "two partitions": (
        {"InstanceGroups": [group(SlurmConfig={"NodeType": "Compute", "PartitionNames": ["a", "b"]})]},
        "at 'instanceGroups.1.member.slurmConfig.partitionNames'",
        "less than or equal to 1",
    ),
    "file system id for a DNS name": (
        {
            "InstanceGroups": [
                group(InstanceStorageConfigs=[{"FsxOpenZfsConfig": {"DnsName": "fs-0123456789abcdef0"}}])
            ]
        },
        "fsxOpenZfsConfig.dnsName",
        "pattern",
    ),
    "unicode tag": ({"Tags": [{"Key": "größe", "Value": "*"}]}, "'*' at 'tags.1.member.value'", "pattern"),
}


def request(**members: Any) -> dict[str, Any]:
    return {"ClusterName": "ml", "InstanceGroups": [group()], **members}


@pytest.mark.parametrize(("members", "where", "what"), BREACHES.values(), ids=BREACHES)
def test_breach(post: Post, members: dict[str, Any], where: str, what: str) -> None:
    status, answer = post("CreateCluster", request(**members))
    assert (status, answer["__type"]) == (400, "ValidationException")
    assert answer["message"].startswith("1 validation error detected: ")
    assert where in answer["message"]
    assert what in answer["message"]


def test_all_breaches_at_once(post: Post) -> None:
    _, answer = post("CreateCluster", request(ClusterName="a_b", NodeRecovery="x"))
    assert answer["message"].startswith("2 validation errors detected: ")
    assert answer["message"].count("failed to satisfy constraint") == 2


WRONG_TYPES = {
    "string for integer": {"InstanceGroups": [group(InstanceCount="2")]},
    "boolean for integer": {"InstanceGroups": [group(InstanceCount=True)]},
    "float for integer": {"InstanceGroups": [group(InstanceCount=1.5)]},
    "structure for list": {"InstanceGroups": group()},
    "list for structure": {"VpcConfig": []},
    "integer for string": {"ClusterName": 5},
    "string for boolean": {
        "InstanceGroups": [group(InstanceStorageConfigs=[{"EbsVolumeConfig": {"RootVolume": "true"}}])]
    },
}


@pytest.mark.parametrize("members", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_type(post: Post, members: dict[str, Any]) -> None:
    status, answer = post("CreateCluster", request(**members))
    assert (status, answer["__type"]) == (400, "SerializationException")


@pytest.mark.parametrize("body", ["{", "[]", '"x"'])
def test_body_is_no_request(post: Post, body: str) -> None:
    status, answer = post("CreateCluster", body)
    assert (status, answer["__type"]) == (400, "SerializationException")


def test_null_is_absent(account: Account, post: Post) -> None:
    assert post("CreateCluster", account.cluster(NodeRecovery=None))[0] == 200
    assert "NodeRecovery" not in post("DescribeCluster", {"ClusterName": "ml"})[1]


def test_vpc_config_and_tags_are_no_members_of_an_update(account: Account, post: Post) -> None:
    _, answer = post("UpdateCluster", {"ClusterName": "ml", "VpcConfig": account.vpc_config, "Tags": []})
    assert answer["__type"] == "ValidationException"
    assert "Unknown member 'VpcConfig'" in answer["message"]
    assert "Unknown member 'Tags'" in answer["message"]


def test_letters_of_any_script_in_a_tag(account: Account, post: Post) -> None:
    tags = [{"Key": "größe", "Value": "大 é_-.:/=+@"}]
    assert post("CreateCluster", account.cluster(Tags=tags))[0] == 200
