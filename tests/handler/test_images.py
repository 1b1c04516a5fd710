"""Images are looked at before CreateCluster, and what can not be looked at stops nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import FAILED_CREATE, Stack
from tests.handler.conftest import Calls
from tests.handler.images import forget_images, put_image
from tests.handler.samples import cluster, group, properties

IMAGE, OTHER = "ami-0123456789abcdef0", "ami-0fedcba9876543210"
REQUEST = cluster(
    group("controller", "Controller", ImageId=IMAGE),
    group("compute", ImageId=IMAGE),
    group("gpu", ImageId=OTHER),
)


@pytest.fixture(autouse=True)
def _no_images() -> Iterator[None]:
    yield
    forget_images()


def test_images_that_are_there(stack: Stack, aws: Aws, calls: Calls) -> None:
    put_image(aws, IMAGE)
    put_image(aws, OTHER)
    assert stack.create(REQUEST).ok
    assert calls.names.count("DescribeImages") == 1


def test_an_image_that_is_not_there(stack: Stack, aws: Aws, calls: Calls) -> None:
    put_image(aws, IMAGE)
    response = stack.create(REQUEST)
    assert response.physical_id == FAILED_CREATE
    assert f"InstanceGroups[gpu].ImageId: image {OTHER} is not there" in response.reason
    assert IMAGE not in response.reason
    assert calls.mutating == []


def test_images_in_other_states_are_told_together(stack: Stack, aws: Aws, calls: Calls) -> None:
    put_image(aws, IMAGE, state="pending")
    put_image(aws, OTHER, state="failed")
    response = stack.create(REQUEST)
    assert f"InstanceGroups[controller].ImageId: image {IMAGE} is pending" in response.reason
    assert f"InstanceGroups[gpu].ImageId: image {OTHER} is failed" in response.reason
    assert calls.mutating == []


def test_an_old_image_is_a_doubt_in_the_log(
    stack: Stack, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    put_image(aws, IMAGE, made_on=datetime(2025, 12, 31, tzinfo=UTC))
    put_image(aws, OTHER)
    assert stack.create(REQUEST).ok
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "too old" in line)
    assert IMAGE in line and OTHER not in line


def test_an_image_that_shows_late(
    stack: Stack, aws: Aws, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_image(aws, IMAGE)
    looks: list[Any] = []
    describe = aws.ec2.describe_images

    def late(**arguments: Any) -> Any:
        looks.append(arguments)
        if len(looks) == 2:
            put_image(aws, OTHER)
        return describe(**arguments)

    monkeypatch.setattr(aws.ec2, "describe_images", late)
    assert stack.create(REQUEST).ok
    assert len(looks) == 2


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}, "DescribeImages"),
        ClientError({"Error": {"Code": "RequestLimitExceeded", "Message": "slow"}}, "DescribeImages"),
        ConnectTimeoutError(endpoint_url="https://ec2"),
    ],
    ids=["denied", "throttled", "no answer"],
)
def test_what_can_not_be_looked_at_stops_nothing(
    stack: Stack, aws: Aws, service: HyperPodService, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(**_: Any) -> Any:
        raise error

    monkeypatch.setattr(aws.ec2, "describe_images", fail)
    assert stack.create(REQUEST).ok
    assert "ml" in service.clusters


def test_a_cluster_without_images_asks_nothing(stack: Stack, calls: Calls) -> None:
    default = cluster(group("controller", "Controller"), group("compute", ImageId="default"))
    assert stack.create(default).ok
    assert "DescribeImages" not in calls.names


def test_a_second_delivery_of_a_create_asks_nothing(stack: Stack, aws: Aws, calls: Calls) -> None:
    """The cluster that the first has made is taken over, whatever has become of its image since."""
    put_image(aws, IMAGE)
    put_image(aws, OTHER)
    event = stack.event("Create", properties(REQUEST))
    assert index.on_event(event)["PhysicalResourceId"] == "ml"
    forget_images()
    calls.clear()
    assert index.on_event(event)["PhysicalResourceId"] == "ml"
    assert calls.mutating == []
    assert "DescribeImages" not in calls.names
