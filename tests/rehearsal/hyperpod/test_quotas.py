"""Quotas: each one, at its limit and above."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, Quotas
from hyperpod_cdk.rehearsal.hyperpod.errors import LimitExceededError
from tests.rehearsal.hyperpod.samples import Account, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]
QUOTAS = {
    "cluster": (lambda limit: Quotas(instances_per_cluster=limit), 3, "per SageMaker HyperPod cluster' is 2"),
    "account": (lambda limit: Quotas(total_instances=limit), 3, "across SageMaker HyperPod clusters' is 2"),
    "type": (
        lambda limit: Quotas(per_type={"ml.c5.large": limit}),
        3,
        "'ml.c5.large for cluster usage' is 2 Instances, with current utilization of 0 Instances and a "
        "request delta of 3 Instances",
    ),
    "volume": (lambda limit: Quotas(ebs_gib_per_instance=limit), 500, "EBS volume in GB"),
}


def request_of(account: Account) -> dict[str, Any]:
    storage = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    compute = account.group("compute", count=2, InstanceStorageConfigs=storage)
    return account.cluster(account.group("controller", "Controller"), compute)


@pytest.mark.parametrize(("quotas", "limit", "text"), QUOTAS.values(), ids=QUOTAS)
def test_quota(account: Account, service: HyperPodService, quotas: Any, limit: int, text: str) -> None:
    service.quotas = quotas(limit - 1)
    with pytest.raises(LimitExceededError) as caught:
        service.call("CreateCluster", request_of(account))
    assert text in caught.value.message
    service.quotas = quotas(limit)
    assert service.call("CreateCluster", request_of(account))


def test_other_clusters_count(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    in_service()
    service.quotas = Quotas(total_instances=5)
    code, message = refused(sagemaker.create_cluster, **account.cluster(ClusterName="second"))
    assert code == "ResourceLimitExceeded"
    assert "current utilization of 3 Instances and a request delta of 3" in message


def test_update(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    in_service()
    service.quotas = Quotas(instances_per_cluster=1)
    groups = [account.group("compute", count=3)]
    code, _ = refused(sagemaker.update_cluster, ClusterName="ml", InstanceGroups=groups)
    assert code == "ResourceLimitExceeded"
    fewer_but_still_too_many = [account.group("compute", count=1)]
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=fewer_but_still_too_many)
    assert status(sagemaker) == "Updating"
