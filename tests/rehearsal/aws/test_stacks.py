"""Stacks: order, updates, replacement, retention, rollback, change sets, and what is refused."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer, parameter, role

LOG_GROUP = {"Type": "AWS::Logs::LogGroup"}
NO_POLICY = "arn:aws:iam::aws:policy/NoSuchPolicy"
BROKEN = role()
BROKEN["Properties"]["ManagedPolicyArns"] = [NO_POLICY]


def log_group(name: str, days: int = 7, **definition: Any) -> dict[str, Any]:
    properties = {"LogGroupName": name, "RetentionInDays": days}
    return {"Type": "AWS::Logs::LogGroup", "Properties": properties, **definition}


def retention(aws: EmbeddedAws, name: str) -> int | None:
    groups = aws.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    return groups[0]["retentionInDays"] if groups else None


def test_resources_come_up_in_the_order_of_their_dependencies(stack: Deployer) -> None:
    resources = {
        "Last": parameter({"Fn::Sub": "${Middle} ${First.Value}"}),
        "Middle": parameter("b", DependsOn="First"),
        "First": parameter("a"),
    }
    outputs = {"Value": {"Value": {"Fn::GetAtt": ["Last", "Value"]}, "Description": "what it holds"}}
    created = stack.create(resources, Outputs=outputs)
    assert created.status == "CREATE_COMPLETE"
    assert created.order("CREATE_COMPLETE") == ["First", "Middle", "Last"]
    assert created.outputs["Value"] == f"{created.id_of('Middle')} a"
    deleted = stack.delete()
    assert deleted.status == "DELETE_COMPLETE"
    assert deleted.order("DELETE_COMPLETE") == ["Last", "Middle", "First"]


def test_unchanged_resources_are_left_alone_and_changed_ones_updated(
    aws: EmbeddedAws, stack: Deployer
) -> None:
    name = f"/test/{stack.name}"
    stack.create({"Changed": log_group(name), "Same": parameter("a")})
    updated = stack.update({"Changed": log_group(name, 14), "Same": parameter("a")})
    assert updated.status == "UPDATE_COMPLETE"
    assert updated.order("UPDATE_COMPLETE") == ["Changed"]
    assert retention(aws, name) == 14


def test_dependants_follow_a_changed_value(stack: Deployer) -> None:
    def resources(value: str) -> dict[str, Any]:
        return {"One": parameter(value), "Two": parameter({"Fn::GetAtt": ["One", "Value"]})}

    outputs = {"Two": {"Value": {"Fn::GetAtt": ["Two", "Value"]}}}
    stack.create(resources("old"), Outputs=outputs)
    updated = stack.update(resources("new"), Outputs=outputs)
    # GetAtt of an updated parameter is its new value only if the type says so; both were updated in order
    assert updated.order("UPDATE_COMPLETE") == ["One", "Two"]


def test_replacement_is_made_before_the_old_one_goes(aws: EmbeddedAws, stack: Deployer) -> None:
    old, new = f"/test/{stack.name}/old", f"/test/{stack.name}/new"
    stack.create({"Group": log_group(old)})
    updated = stack.update({"Group": log_group(new)})
    statuses = [status for status, _ in updated.events("Group")][2:]
    assert statuses == ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]
    assert updated.id_of("Group") == new
    assert (retention(aws, old), retention(aws, new)) == (None, 7)


def test_policies_keep_what_is_replaced_removed_or_deleted(aws: EmbeddedAws, stack: Deployer) -> None:
    prefix = f"/test/{stack.name}"
    keep: dict[str, Any] = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    stack.create({"A": log_group(f"{prefix}/a", **keep), "B": log_group(f"{prefix}/b", **keep)})
    stack.update({"A": log_group(f"{prefix}/a2", **keep), "C": log_group(f"{prefix}/c", **keep)})
    deleted = stack.delete()
    assert deleted.status == "DELETE_COMPLETE"
    assert deleted.order("DELETE_SKIPPED") == ["B", "A", "A", "C"]
    assert all(retention(aws, f"{prefix}/{name}") == 7 for name in ("a", "a2", "b", "c"))


def test_failed_creation_rolls_back_and_says_why(aws: EmbeddedAws, stack: Deployer) -> None:
    good, kept = f"/test/{stack.name}/good", f"/test/{stack.name}/kept"
    created = stack.create(
        {
            "Good": log_group(good),
            "Kept": log_group(kept, DeletionPolicy="Retain"),
            "KeptUnlessNew": log_group(f"{kept}2", DeletionPolicy="RetainExceptOnCreate"),
            "Bad": {**BROKEN, "DependsOn": ["Good", "Kept", "KeptUnlessNew"]},
            "Never": parameter({"Ref": "Bad"}),
        }
    )
    assert created.status == "ROLLBACK_COMPLETE"
    assert "[Bad]" in created.events(stack.name)[-2][1]
    ((_, _), (status, reason)) = created.events("Bad")[:2]
    assert status == "CREATE_FAILED"
    assert NO_POLICY in reason
    assert created.events("Never") == []
    assert (retention(aws, good), retention(aws, f"{kept}2"), retention(aws, kept)) == (None, None, 7)
    assert any(event.LogicalResourceId == "Bad" for event in aws.failures())
    with pytest.raises(ClientError, match="ROLLBACK_COMPLETE state and can not be updated"):
        stack.update({"Good": log_group(good)})


def test_half_made_resource_is_deleted_by_the_rollback(aws: EmbeddedAws, stack: Deployer) -> None:
    # the role is there when its policy is refused
    half = {**BROKEN, "Properties": {**BROKEN["Properties"], "RoleName": stack.name}}
    created = stack.create({"Half": half})
    assert created.status == "ROLLBACK_COMPLETE"
    with pytest.raises(aws.client("iam").exceptions.NoSuchEntityException):
        aws.client("iam").get_role(RoleName=stack.name)


def test_failed_update_goes_back(aws: EmbeddedAws, stack: Deployer) -> None:
    prefix = f"/test/{stack.name}"
    before = {"Same": log_group(f"{prefix}/same"), "Replaced": log_group(f"{prefix}/old")}
    stack.create(before)
    updated = stack.update(
        {
            "Same": log_group(f"{prefix}/same", 14),
            "Replaced": log_group(f"{prefix}/new"),
            "Added": log_group(f"{prefix}/added"),
            "Bad": {**BROKEN, "DependsOn": ["Same", "Replaced", "Added"]},
        }
    )
    assert updated.status == "UPDATE_ROLLBACK_COMPLETE"
    assert {name: retention(aws, f"{prefix}/{name}") for name in ("same", "old", "new", "added")} == {
        "same": 7,
        "old": 7,
        "new": None,
        "added": None,
    }
    assert updated.id_of("Replaced") == f"{prefix}/old"
    template = aws.client("cloudformation").get_template(StackName=stack.name)["TemplateBody"]
    assert set(template["Resources"]) == {"Same", "Replaced"}
    # and the stack can be updated again
    assert stack.update({"Same": log_group(f"{prefix}/same", 14)}).status == "UPDATE_COMPLETE"


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ({"Type": "AWS::Nothing::Known"}, "AWS::Nothing::Known is not emulated"),
        (
            {**LOG_GROUP, "Properties": {"Colour": "red"}},
            "AWS::Logs::LogGroup: property Colour is not emulated",
        ),
        (parameter({"Fn::GetAtt": ["Group", "Colour"]}), "AWS::Logs::LogGroup has no attribute Colour"),
        (parameter({"Fn::Cidr": ["10.0.0.0/16", 4, 8]}), "Fn::Cidr is not emulated"),
    ],
)
def test_what_is_not_emulated_fails_by_name(stack: Deployer, resource: Any, message: str) -> None:
    created = stack.create({"Group": LOG_GROUP, "Wrong": {**resource, "DependsOn": "Group"}})
    assert created.status == "ROLLBACK_COMPLETE"
    assert any(message in reason for _, reason in created.events("Wrong"))


def test_unknown_type_fails_bare(stack: Deployer) -> None:
    created = stack.create({"Wrong": {"Type": "AWS::Nothing::Known"}})
    assert ("CREATE_FAILED", "AWS::Nothing::Known is not emulated") in created.events("Wrong")


def test_conditions_and_parameters(stack: Deployer) -> None:
    template = {
        "Parameters": {"Wanted": {"Type": "String", "Default": "no"}},
        "Conditions": {"IsWanted": {"Fn::Equals": [{"Ref": "Wanted"}, "yes"]}},
        "Outputs": {"Never": {"Condition": "IsWanted", "Value": "x"}, "Given": {"Value": {"Ref": "Wanted"}}},
    }
    created = stack.create(
        {"Always": parameter("a"), "Maybe": parameter("b", Condition="IsWanted")}, **template
    )
    assert created.order("CREATE_COMPLETE") == ["Always"]
    assert created.outputs == {"Given": "no"}


def test_other_stacks_import_what_one_exports(aws: EmbeddedAws, stack: Deployer) -> None:
    name = f"shared-{stack.name}"
    outputs = {"Out": {"Value": "exported", "Export": {"Name": name}}}
    stack.create({"One": parameter("a")}, Outputs=outputs)
    other = Deployer(aws=aws, name=f"{stack.name}-other")
    imported = other.create(
        {"Two": parameter({"Fn::ImportValue": name})},
        Outputs={"In": {"Value": {"Fn::GetAtt": ["Two", "Value"]}}},
    )
    assert imported.outputs == {"In": "exported"}


def test_change_set_without_changes_says_so(aws: EmbeddedAws, stack: Deployer) -> None:
    resources = {"One": parameter("a")}
    stack.create(resources)
    cloudformation = aws.client("cloudformation")
    same = {"StackName": stack.name, "TemplateBody": json.dumps({"Resources": resources})}
    change_set = cloudformation.create_change_set(ChangeSetName="none", ChangeSetType="UPDATE", **same)
    described = cloudformation.describe_change_set(ChangeSetName=change_set["Id"])
    assert described["Status"] == "FAILED"
    assert "didn't contain changes" in described["StatusReason"]
    with pytest.raises(ClientError, match="No updates are to be performed"):
        cloudformation.update_stack(**same)


def test_change_set_lists_changes_and_is_gone_once_executed(aws: EmbeddedAws, stack: Deployer) -> None:
    stack.create({"Same": parameter("a"), "Changed": parameter("a"), "Gone": parameter("a")})
    resources = {"Same": parameter("a"), "Changed": parameter("b"), "New": parameter("a")}
    cloudformation = aws.client("cloudformation")
    cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="three",
        ChangeSetType="UPDATE",
        TemplateBody=json.dumps({"Resources": resources}),
    )
    described = cloudformation.describe_change_set(ChangeSetName="three", StackName=stack.name)
    changes = {c["ResourceChange"]["LogicalResourceId"]: c["ResourceChange"] for c in described["Changes"]}
    actions = {name: change["Action"] for name, change in changes.items()}
    assert actions == {"New": "Add", "Changed": "Modify", "Gone": "Remove"}
    cloudformation.delete_change_set(ChangeSetName="three", StackName=stack.name)
    with pytest.raises(cloudformation.exceptions.ChangeSetNotFoundException):
        cloudformation.describe_change_set(ChangeSetName="three", StackName=stack.name)


def test_protected_stack_is_not_deleted(aws: EmbeddedAws, stack: Deployer) -> None:
    stack.create({"One": parameter("a")})
    cloudformation = aws.client("cloudformation")
    protect = cloudformation.update_termination_protection
    protect(StackName=stack.name, EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        cloudformation.delete_stack(StackName=stack.name)
    protect(StackName=stack.name, EnableTerminationProtection=False)
    assert stack.delete().status == "DELETE_COMPLETE"


def test_resource_that_somebody_else_deleted_counts_as_deleted(aws: EmbeddedAws, stack: Deployer) -> None:
    name = f"/test/{stack.name}"
    stack.create({"Group": log_group(name)})
    aws.client("logs").delete_log_group(logGroupName=name)
    assert stack.delete().status == "DELETE_COMPLETE"


def test_undeletable_resource_fails_the_deletion_but_not_of_others(aws: EmbeddedAws, stack: Deployer) -> None:
    created = stack.create({"Bucket": {"Type": "AWS::S3::Bucket"}, "One": parameter("a")})
    bucket = created.id_of("Bucket")
    aws.client("s3").put_object(Bucket=bucket, Key="data", Body=b"")
    deleted = stack.delete()
    assert deleted.status == "DELETE_FAILED"
    assert deleted.order("DELETE_COMPLETE") == ["One"]
    assert "not empty" in deleted.events("Bucket")[-1][1]
    aws.client("s3").delete_object(Bucket=bucket, Key="data")
    assert stack.delete().status == "DELETE_COMPLETE"


def test_unknown_stack_is_told_in_cloudformations_words(aws: EmbeddedAws) -> None:
    with pytest.raises(ClientError, match="Stack with id nothing does not exist"):
        aws.client("cloudformation").describe_stacks(StackName="nothing")


def test_template_comes_from_s3_too(aws: EmbeddedAws, stack: Deployer) -> None:
    s3, cloudformation = aws.client("s3"), aws.client("cloudformation")
    key = f"{stack.name}.json"
    s3.put_object(Bucket="code-of-functions", Key=key, Body=json.dumps({"Resources": {"A": parameter("a")}}))
    url = f"https://code-of-functions.s3.us-west-2.amazonaws.com/{key}"
    stack_id = cloudformation.create_stack(StackName=stack.name, TemplateURL=url)["StackId"]
    assert stack.settled(stack_id).order("CREATE_COMPLETE") == ["A"]
