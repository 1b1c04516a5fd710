"""Differences and plans, without a service: what counts as a difference, and what it comes down to."""

from datetime import UTC, datetime
from typing import Any

import pytest
from handler.clients import Aws
from handler.cluster.live import Live, as_request
from handler.cluster.plan import Plan, make_plan
from handler.cluster.request import Desired

from tests.handler.samples import Request, cluster, group, regroup

KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
KEY_ARN = f"arn:aws:kms:us-west-2:123456789012:key/{KEY}"
LUSTRE = {
    "FsxLustreConfig": {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abc"}
}
ROLLING = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}


def plan(aws: Aws, new: Request, *, old: Request | None = None, live: Request) -> Plan:
    return make_plan(aws, desired=Desired(request=new), old=Desired(request=old or live), live=live)


def of_group(**members: Any) -> Request:
    return cluster(group("controller", "Controller"), group("compute", **members))


def paths(found: Plan) -> list[str]:
    return [change.path for change in found.changes]


@pytest.mark.parametrize(
    ("new", "live"),
    [
        (
            of_group(OverrideVpcConfig={"Subnets": ["a", "b"], "SecurityGroupIds": ["x", "y"]}),
            of_group(OverrideVpcConfig={"Subnets": ["b", "a"], "SecurityGroupIds": ["y", "x"]}),
        ),
        (
            of_group(OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"]),
            of_group(OnStartDeepHealthChecks=["InstanceConnectivity", "InstanceStress"]),
        ),
        (
            of_group(InstanceStorageConfigs=[LUSTRE, {"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]),
            of_group(InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, LUSTRE]),
        ),
        (
            of_group(
                AutoPatchConfig={
                    "PatchingStrategy": "WhenIdle",
                    "PatchSchedule": {"NextPatchDate": "2026-12-01T03:00:00Z"},
                }
            ),
            of_group(
                AutoPatchConfig={
                    "PatchingStrategy": "WhenIdle",
                    "PatchSchedule": {"NextPatchDate": datetime(2026, 12, 1, 3, tzinfo=UTC)},
                }
            ),
        ),
        (
            of_group(
                KubernetesConfig={
                    "Taints": [{"Key": "a", "Effect": "NoSchedule"}, {"Key": "b", "Effect": "NoExecute"}]
                }
            ),
            of_group(
                KubernetesConfig={
                    "Taints": [{"Effect": "NoExecute", "Key": "b"}, {"Effect": "NoSchedule", "Key": "a"}]
                }
            ),
        ),
        (
            of_group(ScheduledUpdateConfig={"ScheduleExpression": "cron(0 3 * * ? *)"}),
            of_group(
                ScheduledUpdateConfig={"ScheduleExpression": "cron(0 3 * * ? *)", "DeploymentConfig": ROLLING}
            ),
        ),
        (of_group(), of_group(ThreadsPerCore=2, CapacityRequirements={"OnDemand": {}}, ImageId="default")),
        (of_group(CapacityRequirements={"OnDemand": {}}), of_group()),
    ],
    ids=[
        "subnets",
        "checks",
        "storage",
        "times",
        "taints",
        "service default",
        "defaults",
        "default capacity",
    ],
)
def test_the_same_in_other_words_is_no_difference(aws: Aws, new: Request, live: Request) -> None:
    assert paths(plan(aws, new, old=new, live=live)) == []
    assert plan(aws, new, old=new, live=live).steps == ()


def test_the_priority_of_instance_types_is_a_difference(aws: Aws) -> None:
    def flexible(*types: str) -> Request:
        return regroup(
            of_group(), "compute", InstanceType=None, InstanceRequirements={"InstanceTypes": list(types)}
        )

    found = plan(
        aws, flexible("ml.p5.48xlarge", "ml.p4d.24xlarge"), live=flexible("ml.p4d.24xlarge", "ml.p5.48xlarge")
    )
    assert paths(found) == ["InstanceGroups[compute].InstanceRequirements.InstanceTypes"]
    assert found.refusals == ()


def test_a_flexible_group_takes_another_type_and_no_group_another_kind(aws: Aws) -> None:
    fixed = of_group(InstanceType="ml.p5.48xlarge")

    def flexible(*types: str) -> Request:
        return regroup(
            fixed, "compute", InstanceType=None, InstanceRequirements={"InstanceTypes": list(types)}
        )

    one, two = flexible("ml.p5.48xlarge"), flexible("ml.p5.48xlarge", "ml.p4d.24xlarge")
    found = plan(aws, two, old=one, live=one)
    assert found.refusals == ()
    assert [step.operation for step in found.steps] == ["update_cluster"]
    assert "for the life of an instance group" in "".join(plan(aws, one, old=fixed, live=fixed).refusals)
    assert "for the life of an instance group" in "".join(plan(aws, fixed, old=one, live=one).refusals)


def test_a_fixed_value_that_the_service_spells_otherwise_is_no_change(aws: Aws) -> None:
    """A key given by its id and shown by its ARN was not changed: what is fixed can not have been."""
    new = of_group(InstanceStorageConfigs=[{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY}}])
    live = of_group(
        InstanceStorageConfigs=[{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY_ARN}}]
    )
    assert paths(plan(aws, new, old=new, live=live)) == []
    other = of_group(
        InstanceStorageConfigs=[{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "other"}}]
    )
    (refusal,) = plan(aws, other, old=new, live=live).refusals
    assert "InstanceGroups[compute].InstanceStorageConfigs[EbsVolumeConfig/root]" in refusal


def test_a_member_that_the_service_does_not_show_changes_by_the_last_request(aws: Aws) -> None:
    live, old, new = of_group(), of_group(MinInstanceCount=1), of_group(MinInstanceCount=2)
    assert paths(plan(aws, new, old=old, live=live)) == ["InstanceGroups[compute].MinInstanceCount"]
    assert paths(plan(aws, old, old=old, live=live)) == []


def test_a_value_that_drifted_is_brought_back(aws: Aws) -> None:
    new, live = of_group(count=2), of_group(count=7)
    (step,) = plan(aws, new, old=new, live=live).steps
    assert step.arguments == {"InstanceGroups": new["InstanceGroups"]}


def test_an_autoscaler_decides_on_counts_until_the_request_changes_them(aws: Aws) -> None:
    def scaled(count: int) -> Request:
        return {**of_group(count=count), "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}

    assert plan(aws, scaled(2), old=scaled(2), live=scaled(40)).steps == ()
    assert paths(plan(aws, scaled(5), old=scaled(2), live=scaled(40))) == [
        "InstanceGroups[compute].InstanceCount"
    ]


@pytest.mark.parametrize(
    ("member", "value", "reset"),
    [
        ("NodeRecovery", "None", "Automatic"),
        ("TieredStorageConfig", {"Mode": "Enable"}, {"Mode": "Disable"}),
        ("AutoScaling", {"Mode": "Enable", "AutoScalerType": "Karpenter"}, {"Mode": "Disable"}),
    ],
)
def test_a_setting_that_vanished_is_reset(aws: Aws, member: str, value: Any, reset: Any) -> None:
    before = {**cluster(), member: value}
    (step,) = plan(aws, cluster(), old=before, live=before).steps
    assert step.arguments == {member: reset}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("NodeProvisioningMode", "Continuous"),
        ("VpcConfig", {"Subnets": ["a"], "SecurityGroupIds": ["x"]}),
    ],
)
def test_a_setting_that_can_not_be_reset_is_refused_when_it_vanishes(
    aws: Aws, member: str, value: Any
) -> None:
    before = {**cluster(), member: value}
    (refusal,) = plan(aws, cluster(), old=before, live=before).refusals
    assert refusal.startswith(f"{member} can not be taken away")
    never_there = plan(aws, cluster(), old=before, live=cluster())
    assert never_there.refusals == (), "a rollback of an update that was refused"


def test_the_role_goes_with_autoscaling_and_not_without(aws: Aws) -> None:
    role = {"ClusterRole": "arn:aws:iam::123456789012:role/scaler"}
    scales = {**cluster(), "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
    off = plan(aws, cluster(), old={**scales, **role}, live={**scales, **role})
    assert (off.refusals, [step.arguments for step in off.steps]) == (
        (),
        [{"AutoScaling": {"Mode": "Disable"}}],
    )
    kept_by_the_service = {**cluster(), **role, "AutoScaling": {"Mode": "Disable"}}
    assert plan(aws, cluster(), old=cluster(), live=kept_by_the_service).summary == []
    (refusal,) = plan(aws, scales, old={**scales, **role}, live={**scales, **role}).refusals
    assert refusal.startswith("ClusterRole can not be taken away")


def test_there_is_no_way_back_to_provisioning_parameters(aws: Aws) -> None:
    legacy = {member: value for member, value in cluster().items() if member != "Orchestrator"}
    legacy["InstanceGroups"] = [
        {member: value for member, value in group.items() if member != "SlurmConfig"}
        for group in cluster()["InstanceGroups"]
    ]
    refusals = plan(aws, legacy, old=cluster(), live=cluster()).refusals
    assert [refusal.split(" can not be taken away")[0] for refusal in refusals] == [
        "Orchestrator",
        "InstanceGroups[controller].SlurmConfig",
        "InstanceGroups[compute].SlurmConfig",
    ]


def test_the_accounting_database_can_be_attached_but_not_detached(aws: Aws) -> None:
    database = {
        "Endpoint": "db.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:x",
    }
    without = cluster(continuous=True)
    attached = {**without, "Orchestrator": {"Slurm": {"AccountingDatabase": database}}}
    (step,) = plan(aws, attached, live=without).steps
    assert step.arguments == {"Orchestrator": attached["Orchestrator"]}
    (refusal,) = plan(aws, without, live=attached).refusals
    assert "Orchestrator.Slurm.AccountingDatabase can not be taken away" in refusal
    assert "continue-update-rollback" in refusal


def test_a_training_plan_comes_and_goes_in_place(aws: Aws) -> None:
    arn = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan-0123456789"
    assert plan(aws, of_group(TrainingPlanArn=arn), live=of_group()).refusals == ()
    (step,) = plan(aws, of_group(), live=of_group(TrainingPlanArn=arn)).steps
    assert "TrainingPlanArn" not in step.arguments["InstanceGroups"][1]


def test_only_what_changed_is_sent(aws: Aws) -> None:
    (step,) = plan(
        aws, {**cluster(), "NodeRecovery": "None"}, live={**cluster(), "NodeRecovery": "Automatic"}
    ).steps
    assert step.arguments == {"NodeRecovery": "None"}


def test_restricted_groups_are_planned_like_others(aws: Aws) -> None:
    def restricted(name: str, count: int) -> Request:
        entry = {"InstanceGroupName": name, "InstanceType": "ml.p5.48xlarge", "InstanceCount": count}
        return {**cluster(), "RestrictedInstanceGroups": [{**entry, "ExecutionRole": "r"}]}

    (step,) = plan(aws, restricted("nova", 4), live=restricted("nova", 2)).steps
    assert step.arguments == {"RestrictedInstanceGroups": restricted("nova", 4)["RestrictedInstanceGroups"]}
    (step,) = plan(aws, restricted("nova-2", 2), live=restricted("nova", 2)).steps
    assert step.arguments["InstanceGroupsToDelete"] == ["nova"]


def test_a_long_value_is_told_in_short(aws: Aws) -> None:
    new = of_group(ExecutionRole="arn:aws:iam::123456789012:role/" + "x" * 500)
    (refusal,) = plan(aws, new, live=of_group()).refusals
    assert len(refusal) < 500


def test_a_living_cluster_is_shown_as_the_request_that_describes_it(aws: Aws) -> None:
    config = {"Labels": {"a": "b"}}
    description = {
        "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
        "ClusterName": "ml",
        "ClusterStatus": "InService",
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [
            {
                "InstanceGroupName": "compute",
                "CurrentCount": 1,
                "TargetCount": 4,
                "MinCount": 2,
                "CurrentImageId": "default",
                "DesiredImageId": "default",
                "KubernetesConfig": {"CurrentLabels": {}, "DesiredLabels": config["Labels"]},
                "InstanceRequirements": {"DesiredInstanceTypes": ["ml.p5.48xlarge"]},
                "Status": "Updating",
            },
            {"InstanceGroupName": "old", "TargetCount": 0, "Status": "Deleting"},
        ],
    }
    live = Live(description=description)
    assert live.is_losing_groups
    assert as_request(aws, live) == {
        "ClusterName": "ml",
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [
            {
                "InstanceGroupName": "compute",
                "InstanceCount": 4,
                "MinInstanceCount": 2,
                "ImageId": "default",
                "KubernetesConfig": config,
                "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge"]},
            }
        ],
    }


def test_a_patch_date_that_the_service_used_up_is_not_sent_again(aws: Aws) -> None:
    def patched(date: str) -> Request:
        schedule = {"NextPatchDate": f"2026-{date}T03:00:00Z"}
        return of_group(AutoPatchConfig={"PatchingStrategy": "WhenIdle", "PatchSchedule": schedule})

    assert paths(plan(aws, patched("11-01"), old=patched("11-01"), live=patched("12-22"))) == []
    found = plan(aws, patched("12-01"), old=patched("11-01"), live=patched("12-22"))
    assert paths(found) == ["InstanceGroups[compute].AutoPatchConfig.PatchSchedule.NextPatchDate"]
