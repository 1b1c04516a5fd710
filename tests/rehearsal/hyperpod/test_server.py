"""The service behind moto's server: threads, running time, set-up in the background, reset."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
import requests
from moto.server import ThreadedMotoServer

from hyperpod_cdk.rehearsal import hyperpod
from tests.rehearsal.hyperpod.samples import REGION, Account, counts, nodes, status


@pytest.fixture
def endpoint(aws: None) -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def remote(endpoint: str) -> Any:
    return boto3.client("sagemaker", region_name=REGION, endpoint_url=endpoint)


@pytest.fixture
def accepting(service: hyperpod.HyperPodService) -> hyperpod.HyperPodService:
    service.node_setup = lambda setup: hyperpod.NodeSetupResult()
    return service


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in 20 seconds"


def test_time_runs(account: Account, accepting: hyperpod.HyperPodService, remote: Any) -> None:
    accepting.clock.speed = 3000
    remote.create_cluster(**account.cluster())
    wait_until(lambda: status(remote) == "InService")
    remote.delete_cluster(ClusterName="ml")
    wait_until(lambda: not remote.list_clusters()["ClusterSummaries"])


def test_set_up_in_the_background(account: Account, service: hyperpod.HyperPodService, remote: Any) -> None:
    go_on, running = threading.Event(), threading.Semaphore(0)

    def slow(setup: hyperpod.NodeSetup) -> hyperpod.NodeSetupResult:
        running.release()
        go_on.wait(20)
        return hyperpod.NodeSetupResult()

    service.node_setup, service.setup_threads, service.clock.speed = slow, 2, 3000
    remote.create_cluster(**account.cluster())
    wait_until(lambda: status(remote) == "Creating" and running.acquire(blocking=False))
    service.clock.advance(5000)
    assert (status(remote), counts(remote)["compute"]) == ("Creating", (0, 2))
    go_on.set()
    wait_until(lambda: status(remote) == "InService")
    assert len(nodes(remote)) == 3
    service.close()


def test_requests_at_the_same_time(
    account: Account, accepting: hyperpod.HyperPodService, endpoint: str
) -> None:
    outcomes: list[str] = []

    def create() -> None:
        client = boto3.session.Session().client("sagemaker", region_name=REGION, endpoint_url=endpoint)
        try:
            client.create_cluster(**account.cluster())
            outcomes.append("made")
        except client.exceptions.ResourceInUse:
            outcomes.append("in use")

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["in use", "in use", "in use", "made"]


def test_reset_takes_everything_away(
    account: Account, accepting: hyperpod.HyperPodService, remote: Any, endpoint: str
) -> None:
    accepting.faults.add(hyperpod.Throttle(operation="ListClusters", times=None))
    accepting.check_references = False
    remote.create_cluster(**account.cluster())
    requests.post(f"{endpoint}/moto-api/reset", timeout=10)
    assert remote.list_clusters()["ClusterSummaries"] == []
    fresh = hyperpod.service(region=REGION)
    assert fresh is not accepting
    assert fresh.faults.active() == ()


def test_installing_twice_changes_nothing(account: Account, sagemaker: Any) -> None:
    hyperpod.install()
    hyperpod.install()
    arn = sagemaker.create_cluster(**account.cluster())["ClusterArn"]
    assert sagemaker.describe_cluster(ClusterName="ml")["ClusterArn"] == arn


def test_accounts_and_regions_are_apart(account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())
    assert set(hyperpod.service(region=REGION).clusters) == {"ml"}
    assert hyperpod.service("111122223333", REGION).clusters == {}
    assert hyperpod.service(region="us-east-1").clusters == {}
