"""Two scanners of IAM policies over what EKS services may do: what they report is fixed, or explained."""

import json
from typing import Any

import aws_cdk as cdk
import parliament
import pytest
from policy_sentry.shared.iam_data import get_service_prefix_data

from hyperpod_cdk.spec.eks_inference import Inference
from hyperpod_cdk.spec.eks_observability import Grafana, Observability
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume
from tests.unit.access.test_policy_scanners import Resolved, by_cloudsplaining, by_parliament
from tests.unit.eks.services import build

KEY = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
EXPECTED = {
    ("InferenceLoadBalancingPolicy", "RESOURCE_MISMATCH"): (
        "the controller makes application and network load balancers, and none of a gateway"
    ),
}
"""Findings and why they stand, by policy and finding."""


@pytest.fixture(scope="module", autouse=True)
def _reference_of_today() -> None:
    """Give parliament the service authorization reference that came with cloudsplaining, which is newer."""
    for service in parliament.iam_definition:
        if service["prefix"] not in ("aps", "elasticloadbalancing", "fsx", "ec2", "logs"):
            continue
        reference = get_service_prefix_data(service["prefix"])
        service.update(
            privileges=[
                {
                    **privilege,
                    "resource_types": [
                        {**kind, "resource_type": f"{kind['resource_type']}{'*' if kind['required'] else ''}"}
                        for kind in privilege["resource_types"].values()
                    ],
                }
                for privilege in reference["privileges"].values()
            ],
            resources=list(reference["resources"].values()),
            conditions=list(reference["conditions"].values()),
        )


@pytest.fixture(scope="module")
def policies() -> list[tuple[str, dict[str, Any]]]:
    stack = build(
        storage=True,
        volumes={
            "scratch": Volume(storage="scratch"),
            "data": Volume(bucket=BucketVolume(bucket_name="data", allow_delete=True, kms_key_arn=KEY)),
        },
        observability=Observability(grafana=Grafana(), logging=True),
        inference=Inference(gated_models=True, gateway=True, model_buckets=["models"]),
    )
    app = cdk.App.of(stack)
    assert isinstance(app, cdk.App)
    found = Resolved(app.synth().stacks[0].template).policies()
    return [
        (name.removeprefix("Services"), document) for name, document in found if name.startswith("Services")
    ]


def test_neither_scanner_reports_more_than_is_explained(policies: list[tuple[str, dict[str, Any]]]) -> None:
    assert len(policies) == 6
    found = {
        (name, finding)
        for name, document in policies
        for finding in by_parliament(document) | by_cloudsplaining(document)
    }
    assert found == set(EXPECTED)


def test_only_what_takes_no_resource_is_allowed_everywhere(
    policies: list[tuple[str, dict[str, Any]]],
) -> None:
    everywhere = {
        action
        for _, document in policies
        for statement in document["Statement"]
        if "*" in statement["Resource"]
        for action in statement["Action"]
    }
    writes = {
        action
        for action in everywhere
        if not action.split(":")[1].startswith(("Describe", "List", "Get", "StopQuery"))
    }
    assert writes == set(), json.dumps(sorted(writes))
