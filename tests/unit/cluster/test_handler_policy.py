"""What the handler may do, and to which clusters."""

import json
from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from policy_sentry.querying.actions import get_action_data

from hyperpod_cdk.cluster.handler import ownership
from hyperpod_cdk.cluster.handler_policy import OWNERSHIP_TAGS, policies

MAX_POLICY = 6144
MAX_POLICIES = 10
"""Of a role; https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html."""

HERE = "us-gov-west-1:111122223333"
CLUSTERS = f"arn:aws-us-gov:sagemaker:{HERE}:cluster/*"
STACK_ID = f"arn:aws-us-gov:cloudformation:{HERE}:stack/{'s' * 128}/11112222-3333-4444-5555-666677778888"
PSEUDO = {
    "${AWS::Partition}": "aws-us-gov",
    "${AWS::StackId}": STACK_ID,
}


def group(name: str = "gpu", **members: Any) -> dict[str, Any]:
    """An instance group of a request."""
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.p5.48xlarge",
        "ExecutionRole": f"arn:aws-us-gov:iam::111122223333:role/{name}",
        **members,
    }


def request(*groups: dict[str, Any]) -> dict[str, Any]:
    """A request."""
    return {
        "ClusterName": "training",
        "InstanceGroups": list(groups or [group()]),
        "VpcConfig": {"Subnets": ["subnet-0a", "subnet-0b"], "SecurityGroupIds": ["sg-0a"]},
    }


def documents(of: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Policy documents by name, with values in the place of pseudo parameters."""
    env = cdk.Environment(account="111122223333", region="us-gov-west-1")
    stack = cdk.Stack(cdk.App(), "Stack", env=env)
    found = policies(of, stack=stack, logical_id="Cluster12345678")
    made = {
        name: stack.resolve(iam.PolicyDocument(statements=statements).to_json())
        for name, statements in found.items()
    }
    return {name: plain(document) for name, document in made.items()}


def plain(value: Any) -> Any:
    """A resolved value without references."""
    match value:
        case {"Ref": name}:
            return PSEUDO[f"${{{name}}}"]
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(plain(part) for part in parts)
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
    return value


def statements(of: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """All statements by their id; actions and resources as lists."""
    found = {}
    for document in documents(of or request()).values():
        for statement in document["Statement"]:
            for part in ("Action", "Resource"):
                if isinstance(statement[part], str):
                    statement[part] = [statement[part]]
            assert statement["Sid"] not in found
            found[statement["Sid"]] = statement
    return found


def allowing(action: str) -> Iterator[dict[str, Any]]:
    """Statements that allow an action."""
    return (s for s in statements().values() if s["Effect"] == "Allow" and action in s["Action"])


def owner(key: str) -> dict[str, Any]:
    """The condition that a cluster is, or becomes, the custom resource's."""
    return {
        "StringEquals": {
            f"{key}/hyperpod-cdk:stack-id": STACK_ID,
            f"{key}/hyperpod-cdk:logical-id": "Cluster12345678",
        }
    }


def test_the_ownership_tags_are_the_handlers() -> None:
    assert OWNERSHIP_TAGS == (ownership.STACK_TAG, ownership.LOGICAL_TAG)


def test_a_cluster_is_made_with_our_tags_only() -> None:
    (statement,) = allowing("sagemaker:CreateCluster")
    assert statement["Condition"] == owner("aws:RequestTag")
    assert statement["Action"] == ["sagemaker:AddTags", "sagemaker:CreateCluster"]


@pytest.mark.parametrize(
    "action",
    [
        "BatchAddClusterNodes",
        "BatchDeleteClusterNodes",
        "DeleteCluster",
        "DeleteTags",
        "UpdateCluster",
        "UpdateClusterSoftware",
    ],
)
def test_only_clusters_with_our_tags_are_changed(action: str) -> None:
    (statement,) = allowing(f"sagemaker:{action}")
    assert statement["Condition"] == owner("aws:ResourceTag")
    assert statement["Resource"] == [CLUSTERS]


def test_tags_go_on_a_new_cluster_and_on_ours() -> None:
    conditions = [statement["Condition"] for statement in allowing("sagemaker:AddTags")]
    assert conditions == [owner("aws:RequestTag"), owner("aws:ResourceTag")]


@pytest.mark.parametrize("action", ["DescribeCluster", "ListTags"])
def test_every_cluster_can_be_looked_at(action: str) -> None:
    """Else the handler could not tell a name that is another's."""
    (statement,) = allowing(f"sagemaker:{action}")
    assert "Condition" not in statement
    assert statement["Resource"] == [CLUSTERS]


def test_nothing_that_a_deletion_needs_follows_from_the_request() -> None:
    """A replaced cluster is deleted under the policies of its successor."""
    needed = {
        "ec2:DescribeNetworkInterfaces",
        "sagemaker:DeleteCluster",
        "sagemaker:DescribeCluster",
        "sagemaker:ListTags",
    }

    def of(what: dict[str, Any]) -> dict[str, Any]:
        found = statements(what)
        return {sid: found[sid] for sid in found if needed & set(found[sid]["Action"])}

    other = request(group("cpu", InstanceType="ml.c5.xlarge"))
    other["VpcConfig"] = {"Subnets": ["subnet-0c"], "SecurityGroupIds": ["sg-0c"]}
    assert of(other) == of(request())
    assert {statement["Effect"] for statement in of(other).values()} == {"Allow"}


def test_nodes_are_of_the_requests_kinds_and_in_its_places() -> None:
    override = {"Subnets": ["subnet-0b", "subnet-0c"], "SecurityGroupIds": ["sg-0c"]}
    flexible = {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.c5.xlarge"]}}
    flexible_group = {key: value for key, value in group("cpu", **flexible).items() if value is not None}
    found = statements(request(group(OverrideVpcConfig=override), flexible_group))
    bounds = {sid: statement for sid, statement in found.items() if statement["Effect"] == "Deny"}
    assert {
        sid: statement["Condition"]["ForAnyValue:StringNotEquals"] for sid, statement in bounds.items()
    } == {
        "OtherInstanceTypes": {"sagemaker:InstanceTypes": ["ml.p5.48xlarge", "ml.c5.xlarge"]},
        "OtherSubnets": {"sagemaker:VpcSubnets": ["subnet-0b", "subnet-0c", "subnet-0a"]},
        "OtherSecurityGroups": {"sagemaker:VpcSecurityGroupIds": ["sg-0c", "sg-0a"]},
    }
    for statement in bounds.values():
        assert statement["Action"] == ["sagemaker:CreateCluster", "sagemaker:UpdateCluster"]
        assert statement["Resource"] == [CLUSTERS]


def test_every_condition_is_on_a_key_that_its_actions_have() -> None:
    """One that an action lacks would allow nothing, or refuse nothing."""
    plan = f"arn:aws-us-gov:sagemaker:{HERE}:training-plan/spring"
    for statement in statements(request(group(TrainingPlanArn=plan, ImageId="ami-0a"))).values():
        keys = {key for operator in statement.get("Condition", {}).values() for key in operator}
        for action in statement["Action"] if keys else ():
            assert {generic(key) for key in keys} <= keys_of(action), (statement["Sid"], action)


def generic(key: str) -> str:
    """A condition key as the reference writes it."""
    return f"{key.split('/', maxsplit=1)[0]}/${{TagKey}}" if "Tag/" in key else key


def keys_of(action: str) -> set[str]:
    """Condition keys of an action, in the service authorization reference."""
    service, name = action.split(":")
    found = get_action_data(service, name)
    assert isinstance(found, dict)
    return {key for entry in found[service] for key in entry["condition_keys"]}


def test_the_one_service_linked_role_can_be_made() -> None:
    statement = statements()["CreateServiceLinkedRole"]
    assert statement["Resource"] == [
        "arn:aws-us-gov:iam::111122223333:role/aws-service-role/hyperpod.sagemaker.amazonaws.com/"
        "AWSServiceRoleForSageMakerHyperPod"
    ]
    assert statement["Condition"] == {
        "StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}
    }


def test_a_training_plan_comes_with_its_reserved_capacity() -> None:
    """Field report 32; both resources: training-plan-iam-permissions.html."""
    plan = f"arn:aws-us-gov:sagemaker:{HERE}:training-plan/spring"
    statement = statements(request(group("a", TrainingPlanArn=plan), group("b", TrainingPlanArn=plan)))[
        "UseTrainingPlans"
    ]
    assert statement["Resource"] == [plan, f"arn:aws-us-gov:sagemaker:{HERE}:reserved-capacity/*"]
    assert statement["Action"] == ["sagemaker:CreateCluster", "sagemaker:UpdateCluster"]
    assert "UseTrainingPlans" not in statements()


def test_images_are_shared_only_where_a_group_has_its_own() -> None:
    """Any image: an update from one to another names both."""
    found = statements(request(group(ImageId="ami-0a")))
    assert found["ShareImages"]["Resource"] == [
        "arn:aws-us-gov:ec2:us-gov-west-1::image/*",
        "arn:aws-us-gov:ec2:us-gov-west-1::snapshot/*",
    ]
    assert not {"ReadImages", "ShareImages"} & set(statements())


@pytest.mark.parametrize("places", [50, 51])
def test_the_largest_cluster_fits_its_policies(places: int) -> None:
    """100 groups, each of its own kind; beyond 50 different places a bound is left out."""
    largest = request(
        *(
            group(
                f"g{'x' * 55}{i}",
                InstanceType=f"ml.p6e-gb200.36xlarge{i % places:02}",
                OverrideVpcConfig={
                    "Subnets": [f"subnet-{i % places:017x}"],
                    "SecurityGroupIds": [f"sg-{i % places:017x}"],
                },
                TrainingPlanArn=f"arn:aws-us-gov:sagemaker:{HERE}:training-plan/{'p' * 60}{i:03}",
            )
            for i in range(100)
        )
    )
    largest["VpcConfig"] = largest["InstanceGroups"][0]["OverrideVpcConfig"]
    made = documents(largest)
    sizes = {name: len(json.dumps(document, separators=(",", ":"))) for name, document in made.items()}
    assert {name: size for name, size in sizes.items() if size > MAX_POLICY} == {}
    # one more is that of the logs
    assert len(made) + 1 <= MAX_POLICIES
    assert ("Bounds" in made) is (places == 50)
