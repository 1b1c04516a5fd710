"""What tests change in the account, each with its way back."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from typing import Any
from unittest.mock import patch

from botocore.exceptions import ClientError

from hyperpod_cdk.preflight import aws
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.service.endpoints import NODE_SERVICES
from tests.preflight.account import PLAN, REGION, Account


def patched(
    account: Account,
    client: str,
    operation: str,
    code: str,
    *,
    status: int = 400,
    arguments: dict[str, Any] | None = None,
) -> None:
    """Let the service answer an operation with an error, only with these arguments if some are given."""

    def is_meant(call: Call) -> bool:
        named = (call.api.client, call.api.operation) == (client, operation)
        return named and arguments in (None, call.arguments)

    _refuse(account, is_meant, code, status)


def every_call(account: Account, code: str) -> None:
    """Let every call be answered with an error."""
    _refuse(account, lambda _: True, code, 400)


def _refuse(account: Account, is_meant: Callable[[Call], bool], code: str, status: int) -> None:
    ask = aws._ask

    def refuse(client: Any, call: Call) -> Any:
        if not is_meant(call):
            return ask(client, call)
        answer = {
            "Error": {"Code": code, "Message": "as the test wants it"},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }
        raise ClientError(answer, call.api.operation)

    stack = ExitStack()
    stack.enter_context(patch.object(aws, "_ask", refuse))
    account.undo.append(stack.close)


def change_quota(account: Account, name: str, value: float) -> None:
    """Let the account's own value of a quota be another."""
    applied = account.aws.quotas.applied
    before = applied[name]
    applied[name] = value
    account.undo.append(lambda: applied.__setitem__(name, before))


def without_own_quota(account: Account, name: str) -> None:
    """Let the account have no value of its own for a quota: the default holds."""
    applied = account.aws.quotas.applied
    value = applied.pop(name)
    account.undo.append(lambda: applied.update({name: value}))


def change_plan(account: Account, block: dict[str, Any] | None = None, **members: Any) -> None:
    """Let the training plan, or its one block of capacity, be different."""
    plan = without_plan(account)
    plan.update(members)
    plan["ReservedCapacitySummaries"][0].update(block or {})
    account.hyperpod.training_plans[PLAN] = plan


def without_plan(account: Account) -> dict[str, Any]:
    """Let there be no training plan; gives a copy of it."""
    plans = account.hyperpod.training_plans
    plan = plans.pop(PLAN)
    account.undo.append(lambda: plans.update({PLAN: plan}))
    return deepcopy(plan)


def without_way_to_s3(account: Account) -> None:
    """Let a closed subnet have every endpoint that nodes need but that of S3."""
    account.close()
    interface_endpoints(account)
    account.without_s3_endpoint()


def foreign_cluster(account: Account) -> None:
    """Let somebody else have a cluster of the spec's name."""
    other_cluster(account, name="full", instance_type="ml.t3.medium")


def interface_endpoints(account: Account) -> None:
    """Endpoints of all that nodes call, with private DNS."""
    ec2 = account.client("ec2")
    made = [
        ec2.create_vpc_endpoint(
            VpcId=account.vpc,
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            VpcEndpointType="Interface",
            PrivateDnsEnabled=True,
            SubnetIds=[account.subnet],
        )["VpcEndpoint"]["VpcEndpointId"]
        for service in NODE_SERVICES
    ]
    account.undo.append(lambda: ec2.delete_vpc_endpoints(VpcEndpointIds=made))


def groups_of_cluster(account: Account, **compute: Any) -> list[dict[str, Any]]:
    """A controller, and a group of compute nodes."""
    role = {"ExecutionRole": account.role}
    return [
        {
            "InstanceGroupName": "controller",
            "InstanceType": "ml.t3.medium",
            "InstanceCount": 1,
            "SlurmConfig": {"NodeType": "Controller"},
            **role,
        },
        {
            "InstanceGroupName": "compute",
            "InstanceCount": 1,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev2"]},
            **role,
            **compute,
        },
    ]


def other_cluster(
    account: Account, *, name: str = "other", count: int = 1, instance_type: str = "ml.c5.xlarge"
) -> None:
    """Let the account have another cluster, not of the stack."""
    service = account.hyperpod
    request = {
        "ClusterName": name,
        "InstanceGroups": groups_of_cluster(account, InstanceType=instance_type, InstanceCount=count),
        "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}},
    }
    with patch.object(service, "check_references", new=False):
        service.call("CreateCluster", request)
    account.undo.append(lambda: service.clusters.pop(name))


def deploy(account: Account, resources: dict[str, Any]) -> None:
    """Let the stack of the specs be there, with these resources."""
    cloudformation, service = account.client("cloudformation"), account.hyperpod
    often = {"Delay": 0.1, "MaxAttempts": 200}
    service.clock.speed = 5000.0
    with patch.object(service, "check_references", new=False):
        template = json.dumps({"Resources": resources})
        cloudformation.create_stack(StackName="full", TemplateBody=template)
        cloudformation.get_waiter("stack_create_complete").wait(StackName="full", WaiterConfig=often)

    def delete() -> None:
        cloudformation.delete_stack(StackName="full")
        cloudformation.get_waiter("stack_delete_complete").wait(StackName="full", WaiterConfig=often)
        service.clock.speed = 0.0

    account.undo.append(delete)


def deploy_cluster(account: Account, **compute: Any) -> None:
    """Let the stack have its cluster."""
    cluster = {
        "ClusterName": "full",
        "InstanceGroups": groups_of_cluster(account, **compute),
        "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}},
    }
    deploy(account, {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": cluster}})


def deploy_lustre(account: Account, **members: Any) -> None:
    """Let the stack have the file system that the specs call ``new``, under the id that CDK gives it."""
    file_system = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 1200,
        "StorageType": "SSD",
        "SubnetIds": [account.subnet],
        "KmsKeyId": account.key,
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        **members,
    }
    deploy(account, {"Storagenew0A1B2C3D": {"Type": "AWS::FSx::FileSystem", "Properties": file_system}})


def deploy_lustre_without_efa(account: Account) -> None:
    """Let the stack have its file system, without EFA."""
    configuration = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125, "EfaEnabled": False}
    deploy_lustre(account, LustreConfiguration=configuration)


def without_plan_zone_id(account: Account) -> None:
    """Let the training plan tell its zone by name alone, as older ones do."""
    change_plan(account, block={"AvailabilityZone": account.zone_name})
    del account.hyperpod.training_plans[PLAN]["ReservedCapacitySummaries"][0]["AvailabilityZoneId"]
