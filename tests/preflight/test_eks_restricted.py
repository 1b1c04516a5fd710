"""Restricted groups: their nodes that are there already count once, as those of others do."""

from typing import Any

import pytest

from hyperpod_cdk.spec import EnvironmentConfig, SharedLustre
from tests.preflight.fake import told
from tests.preflight.test_eks_arithmetic import group, spec

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"
CLUSTER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc"


def own_cluster(count: int, **members: Any) -> dict[str, Any]:
    """Answers of an account whose one cluster is the stack's, with a restricted group alone."""
    nodes = {
        "InstanceGroupName": "secret",
        "InstanceType": "ml.p5.48xlarge",
        "CurrentCount": count,
        "TrainingPlanArn": PLAN,
        **members,
    }
    return {
        "list_clusters": [{"ClusterName": "ml"}],
        "describe_cluster": {
            "ClusterName": "ml",
            "ClusterArn": CLUSTER,
            "RestrictedInstanceGroups": [nodes],
        },
        "list_stack_resources": [
            {"ResourceType": "Custom::HyperPodCluster", "PhysicalResourceId": "ml"},
        ],
    }


def restricted(count: int) -> Any:
    return spec(
        group(
            "secret",
            count,
            "ml.p5.48xlarge",
            training_plan_arn=PLAN,
            environment_config=EnvironmentConfig(
                fsx_lustre_config=SharedLustre(size_in_gib=2048, per_unit_storage_throughput=125)
            ),
        )
    )


# a P5 takes 81 addresses
@pytest.mark.parametrize(("wanted", "free", "faults"), [(2, 0, 0), (3, 80, 1), (3, 81, 0), (4, 161, 1)])
def test_their_nodes_have_their_addresses(wanted: int, free: int, faults: int) -> None:
    subnets = [
        {
            "SubnetId": one,
            "VpcId": "vpc-1",
            "AvailabilityZoneId": "usw2-az4",
            "AvailableIpAddressCount": count,
        }
        for one, count in (("subnet-a", free), ("subnet-b", 0))
    ]
    found = told("free-addresses", restricted(wanted), describe_subnets=subnets, **own_cluster(2))
    assert len(found) == faults


@pytest.mark.parametrize(("wanted", "faults"), [(2, 0), (3, 1)])
def test_their_nodes_are_of_the_training_plan(wanted: int, faults: int) -> None:
    block = {"InstanceType": "ml.p5.48xlarge", "AvailabilityZoneId": "usw2-az4"}
    plan = {
        "TrainingPlanArn": PLAN,
        "TrainingPlanName": "plan",
        "Status": "Active",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 0,
        "ReservedCapacitySummaries": [block],
    }
    found = told("training-plan", restricted(wanted), describe_training_plan=plan, **own_cluster(2))
    assert len(found) == faults


@pytest.mark.parametrize(
    ("name", "limit", "faults"), [("other", 3, 1), ("other", 4, 0), ("ml", 2, 0), ("ml", 1, 1)]
)
def test_file_systems_of_other_clusters_count(name: str, limit: float, faults: int) -> None:
    lustre = {"EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 2048}}}
    answers = own_cluster(1, **lustre)
    answers["list_clusters"] = [{"ClusterName": name}]
    answers["describe_cluster"] = {
        **answers["describe_cluster"],
        "ClusterName": name,
        "ClusterArn": CLUSTER if name == "ml" else f"{CLUSTER}2",
    }
    quota = {
        "QuotaName": "Maximum total FSx Lustre capacity in TiB across HyperPod restricted instance groups",
        "Value": limit,
    }
    found = told(
        "quota-restricted-file-systems", restricted(1), get_service_quota={"Quota": quota}, **answers
    )
    assert len(found) == faults
