"""What may go wrong in a rehearsal, as data: how it is brought about, and what must come of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.driver.standins import provide_foreign_cluster
from hyperpod_cdk.rehearsal.driver.variants import Variant, Variants
from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_cdk.spec import HyperPodSpec
from hyperpod_cdk.spec.kinds import NodeType

Troubles = Callable[[HyperPodSpec], tuple[hyperpod.Fault, ...]]
"""Gives the faults of the emulated service for a configuration."""


def _none(_: HyperPodSpec) -> tuple[hyperpod.Fault, ...]:
    return ()


def _nothing(_service: hyperpod.HyperPodService, _spec: HyperPodSpec) -> None:
    return


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command of the user, and how it must end.

    A command that fails must leave the account's clusters as they were before it.

    Args:
        title: what the user does, and what stands in the way, for people.
        deploys: makes the configuration to deploy; None destroys the stack.
        troubles: put in force before the command; those that strike a number of times must all have struck
            when it ends. Default: none.
        says: texts that the user must see as the reason why the cluster's resource failed, each in a line,
            with ``{cluster}`` for its name and ``{group}`` for :func:`first_group`. Default, for a command
            that must succeed: none.
        says_on_eks: the same where Amazon EKS orchestrates the cluster. Default: as of Slurm.
        status: of the stack, when the command has ended.
    """

    title: str
    deploys: Callable[[Variants], Variant] | None
    troubles: Troubles = _none
    says: tuple[str, ...] = ()
    says_on_eks: tuple[str, ...] = ()
    status: str

    def reasons(self, spec: HyperPodSpec) -> tuple[str, ...]:
        """What the user must see, of a configuration."""
        return self.says_on_eks or self.says if spec.cluster.orchestrator.eks else self.says


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that goes wrong while a cluster is deployed, changed or destroyed.

    When all is over, nothing may be left of the stack but what is kept on purpose, and the account's clusters
    must be as they were before it.

    Args:
        name: what the user calls it by.
        description: one line.
        steps: the user's commands.
        arrange: called before the first step. Default: does nothing.
        commands: commands that fail on every node of Slurm. Default: none.
        commands_on_eks: the same of Amazon EKS. Default: none.
    """

    name: str
    description: str
    steps: tuple[Step, ...]
    arrange: Callable[[hyperpod.HyperPodService, HyperPodSpec], None] = _nothing
    commands: tuple[CommandFault, ...] = ()
    commands_on_eks: tuple[CommandFault, ...] = ()

    def strikes(self, spec: HyperPodSpec) -> tuple[CommandFault, ...]:
        """Commands that fail on every node of a configuration."""
        return self.commands_on_eks if spec.cluster.orchestrator.eks else self.commands


def first_group(spec: HyperPodSpec) -> str:
    """Give the name of the group without which there is no cluster: the controller's, else the first."""
    groups = spec.cluster.instance_groups
    controllers = (g for g in groups if g.slurm_config and g.slurm_config.node_type == NodeType.CONTROLLER)
    return next(controllers, groups[0]).instance_group_name


_CREATE = Step(title="deploy", deploys=Variants.destroyable, status="CREATE_COMPLETE")
_DESTROY = Step(title="destroy", deploys=None, status="DELETE_COMPLETE")
_BUSY_TIMES = 3
_LOCKED = "dpkg: error: dpkg frontend lock was locked by another process with pid 4242"
_LIFECYCLE = Fault(
    name="lifecycle",
    description="the set-up of every node fails",
    # an upgrade that runs by itself holds the packages' lock: every mode's scripts meet it
    commands=(
        CommandFault(
            command="dpkg",
            contains="--set-selections",
            exit_code=2,
            output=_LOCKED,
        ),
    ),
    # what lies on the disk that is moved comes up no more
    commands_on_eks=(
        CommandFault(command="systemctl", contains="start containerd", output="Job for containerd failed."),
    ),
    steps=(
        Step(
            title="deploy, with a command failing on every node",
            deploys=Variants.destroyable,
            says=(_LOCKED, "instance group {group}: Failed"),
            says_on_eks=("Job for containerd failed.", "the service gave up on nodes"),
            status="ROLLBACK_COMPLETE",
        ),
    ),
)

_CAPACITY = Fault(
    name="capacity",
    description="AWS has no instance for the controller, or the first group",
    steps=(
        Step(
            title="deploy, with no capacity for the group without which there is no cluster",
            deploys=Variants.destroyable,
            troubles=lambda spec: (hyperpod.InsufficientCapacity(group=first_group(spec)),),
            says=("do not have sufficient capacity", "instance group {group}: Failed, 0 of"),
            says_on_eks=("do not have sufficient capacity", "{group} 0 of 1"),
            status="ROLLBACK_COMPLETE",
        ),
    ),
)

_CONFLICT = Fault(
    name="conflict",
    description="requests of others keep the cluster busy while it is changed and destroyed",
    steps=(
        _CREATE,
        Step(
            title="scale a group up, with the cluster busy at first",
            deploys=Variants.scaled,
            troubles=lambda _: (hyperpod.Conflict(operation="UpdateCluster", times=_BUSY_TIMES),),
            status="UPDATE_COMPLETE",
        ),
        Step(
            title="destroy, with the cluster busy at first",
            deploys=None,
            troubles=lambda _: (hyperpod.DeleteConflict(times=_BUSY_TIMES),),
            status="DELETE_COMPLETE",
        ),
    ),
)

_FOREIGN_CLUSTER = Fault(
    name="foreign-cluster",
    description="somebody else has made a cluster of the same name",
    arrange=provide_foreign_cluster,
    steps=(
        Step(
            title="deploy, with somebody else's cluster of the same name there",
            deploys=Variants.destroyable,
            says=("a cluster {cluster} exists and is not this stack's",),
            status="ROLLBACK_COMPLETE",
        ),
    ),
)

_ROLLBACK = Fault(
    name="rollback",
    description="the service rolls an update back that it has accepted",
    steps=(
        _CREATE,
        Step(
            title="scale a group up, with the service rolling it back",
            deploys=Variants.scaled,
            troubles=lambda _: (hyperpod.UpdateRollsBack(reason="Configuration drift detected."),),
            says=("the service did not keep", "Configuration drift detected."),
            status="UPDATE_ROLLBACK_COMPLETE",
        ),
        _DESTROY,
    ),
)

FAULTS: Mapping[str, Fault] = {
    fault.name: fault for fault in (_CAPACITY, _CONFLICT, _FOREIGN_CLUSTER, _LIFECYCLE, _ROLLBACK)
}
"""Every fault, by name."""
