"""Refusals about lifecycle scripts.

docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import Rule, configures_slurm, groups, is_eks
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

_TRIGGERS = ("OnCreate", "OnInitComplete")


def one_trigger(request: Spec) -> Iterator[str]:
    """OnCreate or OnInitComplete, with SourceS3Uri."""
    for group in groups(request):
        config = group.get("LifeCycleConfig")
        if config is None:
            continue
        triggers = [trigger for trigger in _TRIGGERS if trigger in config]
        name = group["InstanceGroupName"]
        if len(triggers) == 2:
            yield f"OnCreate and OnInitComplete of instance group '{name}' are mutually exclusive."
        elif not triggers or not config.get("SourceS3Uri"):
            yield (
                f"LifeCycleConfig of instance group '{name}' is incomplete: it must have SourceS3Uri and one "
                "of OnCreate and OnInitComplete."
            )


def scripts_are_given(request: Spec) -> Iterator[str]:
    """Only HyperPod's own Slurm does without a script; Amazon EKS needs OnCreate."""
    if configures_slurm(request):
        return
    for group in groups(request):
        name = group["InstanceGroupName"]
        if "LifeCycleConfig" not in group:
            yield f"LifeCycleConfig is required for instance group '{name}'."
        elif is_eks(request) and "OnCreate" not in group["LifeCycleConfig"]:
            yield f"LifeCycleConfig of instance group '{name}' must have OnCreate with Amazon EKS."


LIFECYCLE_RULES: tuple[Rule, ...] = (one_trigger, scripts_are_given)
