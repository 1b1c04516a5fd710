"""Task governance: what names may be, what instances have, and where CloudFormation has the policy's type."""

from hyperpod_cdk.service.instance_types import find

MAX_NAME = 40
"""Characters of a team's or priority class's name. The API's patterns mean as many, and let more through; a
team's stands in the label ``kueue.x-k8s.io/queue-name: hyperpod-ns-<team>-localqueue`` of each job, of which
Kubernetes takes 63 characters (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/)."""

POLICY_REGIONS = frozenset(
    {
        *("ap-northeast-1", "ap-south-1", "eu-central-1", "eu-north-1", "eu-south-2", "me-south-1"),
        *("us-east-1", "us-west-1", "us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isob-west-1"),
        *("us-isof-east-1", "us-isof-south-1", "eu-isoe-west-1", "eusc-de-east-1"),
    }
)
"""Regions that have AWS::SageMaker::ClusterSchedulerConfig: CloudFormation's schemas in cfn-lint 1.58.0
(2026-11), which the CDK asks at synth, too."""


def instances(
    instance_type: str,
    *,
    count: int | None = None,
    accelerators: int | None = None,
    vcpu: float | None = None,
    memory_in_gib: float | None = None,
) -> float:
    """How many instances an allocation takes up, by the part of which it takes most.

    Args:
        instance_type: ``ml.…``; of one that is not known, only whole instances count.
        count: whole instances.
        accelerators: accelerators.
        vcpu: vCPUs.
        memory_in_gib: memory in GiB.
    """
    known = find(instance_type)
    parts = [float(count or 0)]
    if known is not None:
        of_one = ((accelerators, known.accelerators), (vcpu, known.vcpus), (memory_in_gib, known.memory_gib))
        parts += [asked / there for asked, there in of_one if asked and there]
    return max(parts)
