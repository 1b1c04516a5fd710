"""What a destroyed stack leaves: kept on purpose, or by mistake."""

from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import Created
from hyperpod_cdk.rehearsal.aws.stacks.records import Resource, Stack
from hyperpod_cdk.rehearsal.driver.leftovers import KINDS, Leftover, inventory, leftovers


def stack_that_kept(name: str, *, type_: str = "AWS::S3::Bucket") -> Stack:
    stack = Stack(name="stack", stack_id="arn")
    kept = Resource(
        logical_id="Data",
        type=type_,
        properties={},
        definition={},
        created=Created(physical_id=name),
    )
    stack.set_resource_status(kept, "DELETE_SKIPPED")
    return stack


def test_only_what_is_new_is_left_over_and_purpose_is_told() -> None:
    before = {"bucket": frozenset({"old"}), "log group": frozenset[str]()}
    after = {
        "bucket": frozenset({"old", "kept", "forgotten"}),
        "log group": frozenset({"/aws/sagemaker/Clusters/c/1", "/aws/lambda/f"}),
    }
    found = leftovers(before, after, stack_that_kept("kept"))
    reasons = {(item.kind, item.name): item.reason for item in found}
    assert reasons == {
        ("bucket", "kept"): "DeletionPolicy of Data",
        ("bucket", "forgotten"): "",
        ("log group", "/aws/sagemaker/Clusters/c/1"): "HyperPod keeps the logs of a cluster's nodes",
        ("log group", "/aws/lambda/f"): "",
    }
    assert all(isinstance(item, Leftover) for item in found)


def test_what_is_kept_and_nowhere_listed_is_told_too() -> None:
    stack = stack_that_kept("g-1", type_="AWS::Grafana::Workspace")
    found = leftovers({"bucket": frozenset()}, {"bucket": frozenset()}, stack)
    assert found == [Leftover(kind="AWS::Grafana::Workspace", name="g-1", reason="DeletionPolicy of Data")]
    gone_with_its_cluster = stack_that_kept("claim", type_="Custom::AWSCDK-EKS-KubernetesResource")
    assert leftovers({}, {}, gone_with_its_cluster) == []


class Answers:
    """A client whose every list holds what comes with others, and one entry more."""

    entries: dict[str, Any] = {
        "describe_security_groups": [
            {"GroupId": "sg-1", "GroupName": "default"},
            {"GroupId": "sg-2", "GroupName": "own"},
        ],
        "describe_route_tables": [
            {"RouteTableId": "rtb-1", "Associations": [{"Main": True}]},
            {"RouteTableId": "rtb-2", "Associations": [{"Main": False}]},
        ],
        "describe_network_interfaces": [
            {"NetworkInterfaceId": "eni-1", "Description": "Primary network interface for fs-1"},
            {"NetworkInterfaceId": "eni-2"},
        ],
        "describe_nat_gateways": [
            {"NatGatewayId": "nat-1", "State": "deleted"},
            {"NatGatewayId": "nat-2", "State": "available"},
        ],
        "list_compute_quotas": [
            {"ComputeQuotaArn": "quota-1", "Status": "Deleted"},
            {"ComputeQuotaArn": "quota-2", "Status": "DeleteFailed"},
        ],
        "list_keys": [{"KeyId": "going"}, {"KeyId": "staying"}],
    }

    asked: list[tuple[str, dict[str, str]]] = []

    def __init__(self, service: str) -> None:
        self._service = service

    def describe_key(self, **key: str) -> Any:
        return {"KeyMetadata": {"KeyState": "PendingDeletion" if key["KeyId"] == "going" else "Enabled"}}

    def __getattr__(self, operation: str) -> Any:
        (kind,) = (
            kind for kind in KINDS.values() if (kind.service, kind.operation) == (self._service, operation)
        )
        listed = ["plane"] if kind.service == "eks" else self.entries.get(operation, [])
        if kind.key and kind.service == "eks":
            listed = [{kind.key: "a-1"}]

        def answer(**arguments: str) -> Any:
            self.asked.append((operation, arguments))
            return {kind.entries: listed}

        return answer


def test_what_comes_with_others_is_not_counted() -> None:
    found = inventory(Answers)
    assert {kind: set(names) for kind, names in found.items() if names} == {
        "security group": {"sg-2"},
        "route table": {"rtb-2"},
        "network interface": {"eni-2"},
        "NAT gateway": {"nat-2"},
        "KMS key": {"staying"},
        "compute quota": {"quota-2"},
        "EKS cluster": {"plane"},
        # of each cluster
        "add-on": {"plane/plane"},
        "access entry": {"plane/plane"},
        "pod identity": {"plane/a-1"},
    }
    assert ("list_addons", {"clusterName": "plane"}) in Answers.asked
    assert ("list_policies", {"Scope": "Local"}) in Answers.asked, "AWS's own are a thousand"
