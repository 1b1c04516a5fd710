"""What stops a group whose nodes never come up."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BootstrapGuard:
    """Sets a group's count to the nodes that run, once too many of its nodes have failed to start.

    Continuous provisioning replaces a node whose scripts fail, over and over, and bills each try. The guard
    says what it did in an event (source ``hyperpod-cdk``) and in its log, with the failing node's last lines.
    The next deployment sets the count that is asked for again.
    """

    max_failures: int = 3
    """Nodes of one group that may fail within the window, 1-50."""
    window_minutes: int = 60
    """5-1440 minutes."""
