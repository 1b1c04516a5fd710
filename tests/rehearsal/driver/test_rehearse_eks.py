"""One configuration of Amazon EKS, deployed and destroyed by the real CDK CLI, helm and kubectl."""

from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.driver import eks_checks
from hyperpod_cdk.rehearsal.driver.leftovers import inventory
from hyperpod_cdk.rehearsal.driver.outcome import Stage
from hyperpod_cdk.rehearsal.driver.run import prepared

CONFIG = Path("clusters/eks-minimal.yaml").resolve()


def test_it_is_deployed_used_and_destroyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperpod_cdk.rehearsal.driver.run.LOGS", tmp_path / "logs")
    with prepared(CONFIG, fault=None, stage=Stage()) as rehearsal:
        rehearsal.bootstrap()
        before = inventory(rehearsal.aws.client)
        variant = rehearsal.variants.destroyable()
        rehearsal.toolkit.deploy(variant.path)
        cluster = rehearsal.expect_cluster(variant)
        stack = rehearsal.stack(variant)
        assert eks_checks.expect_order(stack, stack.events, deleting=False) >= 11
        plane = eks_checks.control_plane(rehearsal.service.account.eks, cluster.description)
        assert plane is not None
        # what the real helm has applied, and what came of it
        agents = plane.api.objects("daemonsets", group="apps", namespace="aws-hyperpod")
        assert "health-monitoring-agent" in {one["metadata"]["name"] for one in agents}
        assert plane.api.requests[0] == "POST /api/v1/namespaces/kube-system/secrets", (
            "helm's own note comes first"
        )
        # the nodes' scripts have run
        logs = rehearsal.aws.client("logs")
        (group,) = logs.describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/")["logGroups"]
        streams = logs.describe_log_streams(logGroupName=group["logGroupName"])["logStreams"]
        assert len(streams) == 2
        page = logs.get_log_events(
            logGroupName=group["logGroupName"], logStreamName=streams[0]["logStreamName"]
        )
        assert any("/var/lib/containerd lies on" in event["message"] for event in page["events"])

        known = len(stack.events)
        rehearsal.toolkit.destroy()
        assert eks_checks.expect_order(stack, stack.events[known:], deleting=True) >= 11
        rehearsal.expect_nothing_left(before, variant)
        rehearsal.expect_no_failures()
