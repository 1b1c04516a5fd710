"""A rehearsal in which something goes wrong: what the user sees, and what must hold all the same."""

from collections.abc import Sequence

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.driver import checks
from hyperpod_cdk.rehearsal.driver.faults import Fault, Step, first_group
from hyperpod_cdk.rehearsal.driver.leftovers import inventory
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.driver.play import CLUSTER_TYPES, Rehearsal
from hyperpod_cdk.rehearsal.driver.variants import Variant

_NEEDS_NODES = ("AWS::CloudFormation::WaitCondition",)
"""On Amazon EKS a cluster is in service before its nodes are, and what comes after it waits for one."""


def play_fault(rehearsal: Rehearsal, fault: Fault) -> None:
    """Deploy, change and destroy with something going wrong.

    Args:
        rehearsal: made for the same fault.
        fault: what goes wrong.

    Raises:
        RehearsalError: the user does not see what they should, or something is not as it should be.
    """
    stage, client = rehearsal.stage, rehearsal.aws.client
    stage.say(f"the fault {fault.name}: {fault.description}", style="bold")
    rehearsal.bootstrap()
    variant = rehearsal.variants.destroyable()
    fault.arrange(rehearsal.service, variant.spec)
    clusters, before = checks.living_clusters(client), inventory(client)
    for step in fault.steps:
        variant = _take(rehearsal, fault, step, variant)
    checks.expect_clusters(client, clusters)
    stage.say(f"the account's clusters are what they were before: {', '.join(clusters) or 'none'}")
    rehearsal.expect_nothing_left(before, variant)
    unanswered = rehearsal.aws.unanswered()
    if unanswered:
        raise RehearsalError("the embedded AWS could not answer:\n" + "\n".join(unanswered))


def _take(rehearsal: Rehearsal, fault: Fault, step: Step, current: Variant) -> Variant:
    """Take a step, and give the configuration that is deployed after it."""
    wanted = step.deploys(rehearsal.variants) if step.deploys else current
    troubles = step.troubles(wanted.spec)
    rehearsal.service.faults.add(*troubles)
    failures = len(rehearsal.aws.failures())
    clusters = checks.living_clusters(rehearsal.aws.client)
    with rehearsal.stage.act(step.title):
        succeeded = _command(rehearsal, step, wanted)
    if succeeded and step.says:
        raise RehearsalError(f"{step.title}: succeeded, and should not have{_unmet(fault, wanted)}")
    if not succeeded and not step.says:
        raise RehearsalError(f"{step.title}: failed, and should not have")
    _expect_stack(rehearsal, step, wanted)
    if step.says:
        _expect_reason(rehearsal, step, wanted, failures)
        checks.expect_clusters(rehearsal.aws.client, clusters)
        rehearsal.stage.say("after the rollback the account's clusters are what they were before the step")
        return current
    _expect_success(rehearsal, step, wanted, troubles, failures)
    return wanted


def _unmet(fault: Fault, variant: Variant) -> str:
    commands = ", ".join(dict.fromkeys(command.command for command in fault.strikes(variant.spec)))
    return f": no node's script ran {commands}. Scripts of your own may do without it" if commands else ""


def _command(rehearsal: Rehearsal, step: Step, wanted: Variant) -> bool:
    if step.deploys:
        return rehearsal.toolkit.deploy(wanted.path, may_fail=bool(step.says))
    rehearsal.toolkit.destroy()
    return True


def _expect_stack(rehearsal: Rehearsal, step: Step, variant: Variant) -> None:
    stack = rehearsal.stack(variant)
    if stack.status != step.status:
        raise RehearsalError(f"the stack is {stack.status}, not {step.status}: {stack.status_reason}")
    rehearsal.stage.say(f"the stack is {stack.status}")


def _expect_reason(rehearsal: Rehearsal, step: Step, variant: Variant, failures: int) -> None:
    """Show the reason for the cluster's failure, and require what it must say, there and on the terminal."""
    stage = rehearsal.stage
    types = (*CLUSTER_TYPES, *(_NEEDS_NODES if variant.spec.cluster.orchestrator.eks else ()))
    failed = [e for e in rehearsal.aws.failures()[failures:] if e.ResourceType in types]
    if not failed:
        raise RehearsalError("the command failed, but not for the cluster: see its log")
    reason = str(failed[0].ResourceStatusReason)
    stage.console.print()
    stage.say("what the user sees, as the reason of the failed resource:", style="bold")
    stage.console.print(reason, markup=False, highlight=False, soft_wrap=True)
    names = {"cluster": variant.spec.cluster.cluster_name, "group": first_group(variant.spec)}
    wanted = [text.format(**names) for text in step.reasons(variant.spec)]
    # the CLI breaks lines where its columns end
    terminal = " ".join(rehearsal.toolkit.output.split())
    missing = [text for text in wanted if text not in reason or text not in terminal]
    if missing:
        raise RehearsalError(f"the reason, or what the terminal shows of it, lacks: {'; '.join(missing)}")
    stage.say(f"in one line: {in_one_line(reason, wanted)}", style="bold")


def in_one_line(reason: str, wanted: Sequence[str]) -> str:
    """Give the lines of a reason that matter, as one.

    Args:
        reason: why a resource failed.
        wanted: texts in it; of several lines with the same text the last one tells most.
    """
    lines = reason.splitlines()
    told = dict.fromkeys(next(line for line in reversed(lines) if text in line) for text in wanted)
    return "; ".join(told)


def _expect_success(
    rehearsal: Rehearsal, step: Step, variant: Variant, troubles: tuple[hyperpod.Fault, ...], failures: int
) -> None:
    unspent = [trouble for trouble in troubles if trouble in rehearsal.service.faults.active()]
    if unspent:
        raise RehearsalError(f"{step.title}: this never happened, or not often enough: {unspent}")
    failed = rehearsal.aws.failures()[failures:]
    if failed:
        raise RehearsalError(f"{step.title}: {failed[0].LogicalResourceId}: {failed[0].ResourceStatusReason}")
    if step.deploys:
        rehearsal.expect_cluster(variant)
    for trouble in troubles:
        met = f"the service answered with {type(trouble).__name__}, {trouble.times} times"
        rehearsal.stage.say(f"in one line: {step.title}: {step.status}, though {met}", style="bold")
