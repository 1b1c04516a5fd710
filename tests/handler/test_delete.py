"""Delete (field reports 12, 13, 39, 44, 45, 46, 55)."""

from dataclasses import replace
from typing import Any

import pytest
from handler import index
from handler.clients import Aws, Clients
from handler.cluster.interfaces import lingers
from moto.ec2.models import ec2_backends

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    DeleteConflict,
    DeleteFails,
    HyperPodService,
    LingeringInterfaces,
    RoleNotAssumable,
    Throttle,
)
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler.cloudformation import Delivery, Framework, Stack
from tests.handler.conftest import Calls, invocation
from tests.handler.samples import Request, cluster, properties

REQUEST = cluster()


@pytest.fixture
def made(stack: Stack, calls: Calls) -> Stack:
    assert stack.create(REQUEST).ok
    calls.clear()
    return stack


@pytest.fixture
def vpc(aws: Aws) -> Request:
    """A VpcConfig whose subnet and security group exist."""
    vpc_id = aws.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = aws.ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    group = aws.ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc_id)["GroupId"]
    return {"Subnets": [subnet], "SecurityGroupIds": [group]}


def interfaces(aws: Aws, vpc: Request) -> list[str]:
    found = aws.ec2.describe_network_interfaces(
        Filters=[{"Name": "group-id", "Values": vpc["SecurityGroupIds"]}]
    )["NetworkInterfaces"]
    return [interface["Description"] for interface in found]


def add_interface(aws: Aws, vpc: Request, description: str) -> str:
    answer = aws.ec2.create_network_interface(
        SubnetId=vpc["Subnets"][0], Groups=vpc["SecurityGroupIds"], Description=description
    )
    return str(answer["NetworkInterface"]["NetworkInterfaceId"])


def test_12_on_event_asks_and_returns_at_once(made: Stack, service: HyperPodService, calls: Calls) -> None:
    before = service.clock.elapsed()
    answer = index.on_event(made.event("Delete", properties(REQUEST), physical_id="ml"))
    assert answer["PhysicalResourceId"] == "ml"
    assert service.clock.elapsed() == before
    assert calls.mutating == ["DeleteCluster"]


def test_a_cluster_is_gone_when_delete_is_done(made: Stack, service: HyperPodService) -> None:
    assert made.delete().ok
    assert not service.clusters


def test_13_deleting_what_is_gone_succeeds(made: Stack, service: HyperPodService, calls: Calls) -> None:
    event = made.event("Delete", properties(REQUEST), physical_id="ml")
    assert made.framework.run(event).ok
    calls.clear()
    assert made.framework.run(event).ok
    assert calls.mutating == []


@pytest.mark.parametrize("status", ["Creating", "Updating", "SystemUpdating", "RollingBack"])
def test_13_a_busy_cluster_is_asked_again_until_it_goes(
    made: Stack, service: HyperPodService, calls: Calls, status: str
) -> None:
    made_cluster = service.clusters["ml"]
    made_cluster.status = ClusterStatus(status)

    def calm_down(number: int) -> None:
        if number == 3:
            made_cluster.status = ClusterStatus.IN_SERVICE

    made.framework.before_poll = calm_down
    assert made.delete().ok
    assert not service.clusters
    assert calls.mutating == ["DeleteCluster"] * 4


@pytest.mark.parametrize(
    "fault",
    [
        DeleteConflict(times=3),
        DeleteFails(times=1),
        Throttle(operation="DeleteCluster", times=3),
        AccessDenied(operation="DeleteCluster", times=3),
    ],
)
def test_13_what_stands_in_the_way_is_waited_for(made: Stack, service: HyperPodService, fault: Any) -> None:
    service.faults.add(fault)
    assert made.delete().ok
    assert not service.clusters


def test_46_a_cluster_of_another_is_not_touched(
    made: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    for event in (
        Stack(framework=framework, logical_id="Other").event("Delete", properties(REQUEST), physical_id="ml"),
        Stack(framework=framework, stack_id="arn:aws:cloudformation:us-west-2:123456789012:stack/x/1").event(
            "Delete", properties(REQUEST), physical_id="ml"
        ),
    ):
        assert framework.run(event).ok
    assert calls.mutating == []
    assert service.clusters["ml"].status is ClusterStatus.IN_SERVICE


@pytest.mark.parametrize("tag", ["hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id"])
def test_46_a_cluster_that_lost_a_tag_of_ours_is_not_left_behind_in_silence(
    made: Stack, service: HyperPodService, calls: Calls, tag: str
) -> None:
    """500 GPUs would go on, and the stack be gone: the deletion fails and says what to do."""
    live = service.clusters["ml"]
    taken = [one for one in live.tags if one["Key"] == tag]
    live.tags = [one for one in live.tags if one["Key"] != tag]
    response = made.delete()
    assert not response.ok
    assert f"its tag {tag} was taken away" in response.reason
    assert "delete the cluster by hand, or put the tag back" in response.reason
    assert live.arn in response.reason
    assert calls.mutating == []
    live.tags += taken
    assert made.delete().ok
    assert not service.clusters


def test_46_one_that_lost_a_tag_and_is_deleted_by_hand_ends_the_wait(
    made: Stack, service: HyperPodService, aws: Aws
) -> None:
    service.clusters["ml"].tags = service.clusters["ml"].tags[1:]
    aws.sagemaker.delete_cluster(ClusterName="ml")
    assert made.delete().ok


@pytest.mark.parametrize("found", ["gone", "Deleting"])
def test_13_tags_that_went_before_their_cluster_do_not_fail_the_deletion(
    made: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    """It goes between DescribeCluster and ListTags, which calls what is gone an invalid request."""
    event = made.event("Delete", properties(REQUEST), physical_id="ml")
    event |= index.on_event(event)

    def invalid(**arguments: Any) -> None:
        if found == "gone":
            service.clusters.clear()
        error = {"Error": {"Code": "ValidationException", "Message": "Invalid resource"}}
        raise aws.sagemaker.exceptions.ClientError(error, "ListTags")

    monkeypatch.setattr(aws.sagemaker, "list_tags", invalid)
    assert index.is_complete(event) == {"IsComplete": found == "gone"}


def test_13_tags_that_can_not_be_read_of_a_living_cluster_fail_the_deletion(
    made: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    def invalid(**arguments: Any) -> None:
        error = {"Error": {"Code": "ValidationException", "Message": "Invalid resource"}}
        raise aws.sagemaker.exceptions.ClientError(error, "ListTags")

    monkeypatch.setattr(aws.sagemaker, "list_tags", invalid)
    assert "Invalid resource" in made.delete().reason
    assert set(service.clusters) == {"ml"}


@pytest.mark.parametrize(
    "physical_id",
    [
        "ml-stack-Cluster-1A2B3C4D5E6F",
        "9b6d2f0e-0000-4000-8000-000000000001",
        "AWSCDK::CustomResourceProviderFramework::MISSING_PHYSICAL_ID",
        "x" * 300,
    ],
)
def test_45_a_made_up_id_still_finds_our_cluster_and_no_other(
    made: Stack, framework: Framework, service: HyperPodService, physical_id: str
) -> None:
    other = Stack(framework=framework, logical_id="Other")
    assert framework.run(other.event("Delete", properties(REQUEST), physical_id=physical_id)).ok
    assert set(service.clusters) == {"ml"}
    response = framework.run(made.event("Delete", properties(REQUEST), physical_id=physical_id))
    assert response.ok
    assert response.physical_id == physical_id
    assert not service.clusters


def test_46_what_the_properties_name_is_spared_while_the_physical_id_names_another_of_ours(
    made: Stack, service: HyperPodService
) -> None:
    """CloudFormation sends a Delete with the properties of what goes. If it ever did not, two would go."""
    renamed = {**REQUEST, "ClusterName": "ml-2"}
    assert made.framework.run(made.event("Update", properties(renamed), properties(REQUEST), "ml")).ok
    assert set(service.clusters) == {"ml", "ml-2"}
    assert made.framework.run(made.event("Delete", properties(renamed), physical_id="ml")).ok
    assert set(service.clusters) == {"ml-2"}


@pytest.mark.parametrize(
    "past",
    [
        {},
        {"Format": "1"},
        {"Format": "99", "Request": {"ClusterName": "ml", "Retired": "x"}},
        {"Request": "not an object"},
        {"Request": {"ClusterName": ["ml"]}},
        {"Format": "1", "Request": {"ClusterName": "ml", "InstanceGroups": [{"InstanceCount": "many"}]}},
    ],
)
def test_55_any_properties_can_be_deleted(
    made: Stack, framework: Framework, service: HyperPodService, past: Request
) -> None:
    assert framework.run(made.event("Delete", past, physical_id="ml")).ok
    assert not service.clusters


def test_39_delete_waits_for_the_interfaces_of_the_cluster(
    stack: Stack, service: HyperPodService, aws: Aws, vpc: Request
) -> None:
    service.faults.add(LingeringInterfaces(seconds=900))
    assert stack.create({**REQUEST, "VpcConfig": vpc}).ok
    assert len(interfaces(aws, vpc)) == 3
    response = stack.delete()
    assert response.ok
    assert interfaces(aws, vpc) == []
    assert response.polls >= 15
    aws.ec2.delete_security_group(GroupId=vpc["SecurityGroupIds"][0])


def test_39_also_when_the_cluster_was_gone_before_delete_came(
    stack: Stack, service: HyperPodService, aws: Aws, vpc: Request
) -> None:
    assert stack.create({**REQUEST, "VpcConfig": vpc}).ok
    service.clusters.clear()
    interface = add_interface(aws, vpc, "ENI managed by SageMaker for cluster ml")
    event = stack.event("Delete", stack.current, physical_id="ml")
    event |= index.on_event(event)
    assert index.is_complete(event) == {"IsComplete": False}
    ec2_backends["123456789012"]["us-west-2"].enis.pop(interface)
    service.clock.advance(700)
    assert index.is_complete(event) == {"IsComplete": True}


def test_39_interfaces_of_others_in_the_same_group_do_not_block(
    stack: Stack, service: HyperPodService, aws: Aws, vpc: Request
) -> None:
    add_interface(aws, vpc, "AWS Lambda VPC ENI-ml-tools")
    add_interface(aws, vpc, "Primary network interface")
    assert stack.create({**REQUEST, "VpcConfig": vpc}).ok
    response = stack.delete()
    assert response.ok
    assert response.polls < 12
    assert len(interfaces(aws, vpc)) == 2


@pytest.mark.parametrize(
    ("description", "minutes"),
    [("ENI managed by SageMaker", 10), ("ENI managed by SageMaker for cluster {arn}", 40)],
    ids=["of SageMaker, of no cluster", "of the cluster"],
)
def test_39_an_interface_that_never_goes_blocks_for_a_while(
    stack: Stack, service: HyperPodService, aws: Aws, vpc: Request, *, description: str, minutes: int
) -> None:
    assert stack.create({**REQUEST, "VpcConfig": vpc}).ok
    add_interface(aws, vpc, description.format(arn=service.clusters["ml"].arn))
    response = stack.delete()
    assert response.ok
    assert response.polls == pytest.approx(minutes, abs=1)


def test_39_interfaces_of_more_security_groups_than_a_filter_takes(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def describe(**arguments: Any) -> Request:
        asked.append(arguments["Filters"][0]["Values"])
        last = {"Description": "cluster ml"} if "sg-499" in asked[-1] else {"Description": ""}
        return {"NetworkInterfaces": [last]}

    monkeypatch.setattr(aws.ec2, "describe_network_interfaces", describe)
    groups = [f"sg-{number}" for number in range(500)]
    assert lingers(aws, security_groups=groups, names=["ml"], waited=0)
    assert [name for some in asked for name in some] == groups
    assert max(map(len, asked)) <= 200


def test_39_interfaces_that_can_not_be_seen_do_not_fail_the_deletion(
    stack: Stack, aws: Aws, vpc: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.create({**REQUEST, "VpcConfig": vpc}).ok

    def denied(**arguments: Any) -> None:
        raise aws.ec2.exceptions.ClientError({"Error": {"Code": "UnauthorizedOperation"}}, "Describe")

    monkeypatch.setattr(aws.ec2, "describe_network_interfaces", denied)
    assert stack.delete().ok


def test_a_cluster_made_anew_by_another_ends_the_wait(made: Stack, service: HyperPodService) -> None:
    """Between two polls the cluster went, and somebody took its name."""
    event = made.event("Delete", properties(REQUEST), physical_id="ml")
    event |= index.on_event(event)
    service.clusters["ml"].tags = []
    service.clusters["ml"].status = ClusterStatus.CREATING
    assert index.is_complete(event) == {"IsComplete": True}
    assert "ml" in service.clusters


@pytest.mark.parametrize("known", ["ml", "Cluster-1ABCDEFGHIJKL"])
def test_57_a_deletion_delivered_twice_spares_a_later_cluster_of_the_same_name(
    made: Stack, service: HyperPodService, known: str
) -> None:
    event = made.event("Delete", made.current, physical_id=known)
    again = {**event, **index.on_event(event)}
    assert made.framework.run(event).ok
    made.physical_id, made.current = "", {}
    assert made.create(REQUEST).ok
    index.is_complete(again)
    assert service.clusters["ml"].status.value == "InService"


def test_45_a_create_that_still_asks_when_its_delete_comes_leaves_no_orphan(
    stack: Stack, service: HyperPodService, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another resource fails while on_event waits for IAM: CloudFormation sends the Delete at once."""
    deletion = stack.event("Delete", properties(REQUEST), physical_id="Cluster-1ABCDEFGHIJKL")
    deliveries: list[Delivery] = []

    def sleep(seconds: float) -> None:
        if not deliveries:
            deliveries.append(stack.framework.begin(deletion))
            stack.framework.poll(deliveries[0])
        service.clock.advance(seconds)

    service.faults.add(RoleNotAssumable(times=3))
    patient = replace(invocation(clients), sleep=sleep)
    monkeypatch.setattr(index, "_aws", lambda: replace(patient, started=patient.now()))
    index.on_event(stack.event("Create", properties(REQUEST)))
    assert set(service.clusters) == {"ml"}
    while deliveries[0].response is None:
        service.clock.advance(20)
        stack.framework.poll(deliveries[0])
    assert deliveries[0].response.ok
    assert not service.clusters
