"""Slurm's own configuration, beside what the service writes in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class SlurmSettings:
    """What the scripts add to slurm.conf, in a file of their own that it includes.

    Lines that the service writes stay as they are; TaskPlugin and permit_job_expansion, which auto-resume
    needs, can not be changed.
    """

    conf: Mapping[str, str] = field(default_factory=dict)
    """Further settings by name, such as ``DefMemPerCPU: "4000"``; they come last, and the last one counts."""
    size_profile: bool = True
    """Time limits and fan-out of messages by the number of nodes, where slurm.conf has none of its own."""
    epilog: bool = True
    """Remove a user's shared memory and semaphores from a node when nothing of the user runs there."""
    pam_slurm_adopt: bool = False
    """Let users log in to a compute node only while a job of theirs runs there; ``ubuntu`` and those with
    ``sudo`` always may."""
