"""Settings of slurm.conf by the number of compute nodes.

Sources: Google's cluster-toolkit and slurm-gcp (TreeWidth 128, MessageTimeout 60, SlurmdTimeout 600,
UnkillableStepTimeout 600, MaxJobCount 20000), OCI's oci-hpc (TreeWidth 64), read in November 2026.
slurm.conf(5) wants UnkillableStepTimeout at five times MessageTimeout or more. Where a group begins is our
choice: Slurm's own defaults (MessageTimeout 10, SlurmdTimeout 300, UnkillableStepTimeout 60) hold for a small
cluster. ResumeTimeout: DG sagemaker-hyperpod-faq-slurm.html.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class SlurmScale:
    """What fits clusters of up to so many compute nodes."""

    nodes: int
    settings: Mapping[str, str] = field(default_factory=dict)


_LARGEST = 2**31
# A P5 takes longer to boot than Slurm's 60 s, and is marked down meanwhile: the service's FAQ sets 300.
ALWAYS = {"ResumeTimeout": "300"}
SCALES = (
    SlurmScale(nodes=64, settings=ALWAYS),
    SlurmScale(
        nodes=512,
        settings={**ALWAYS, "MessageTimeout": "60", "TreeWidth": "64", "UnkillableStepTimeout": "300"},
    ),
    SlurmScale(
        nodes=_LARGEST,
        settings={
            **ALWAYS,
            "MaxJobCount": "20000",
            "MessageTimeout": "60",
            "SlurmdTimeout": "600",
            "TreeWidth": "128",
            "UnkillableStepTimeout": "600",
        },
    ),
)
"""From small to large."""


def for_nodes(nodes: int) -> Mapping[str, str]:
    """The settings for a number of compute nodes, 0 or more."""
    return next(scale.settings for scale in SCALES if nodes <= scale.nodes)
