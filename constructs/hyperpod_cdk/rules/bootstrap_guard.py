"""HP417 and HP418: what stops groups whose nodes keep failing."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import is_continuous
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_GUARD = "lifecycle.bootstrap_guard"
_BOUNDS = {"max_failures": (1, 50), "window_minutes": (5, 1440)}


@checks(
    Rule(
        code="HP417",
        title="a bootstrap guard without Continuous provisioning",
        why="only there does the service try failed nodes again and tell of it in events; else a failed node "
        "rolls the deployment back",
        fix="use node_provisioning_mode: Continuous, or remove bootstrap_guard",
        source=f"{GUIDE}sagemaker-hyperpod-cluster-events-reference.html",
    )
)
def guard_needs_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.lifecycle.bootstrap_guard is None or unresolved(spec.cluster.node_provisioning_mode):
        return
    if not is_continuous(spec):
        given = spec.cluster.node_provisioning_mode
        yield rule.finding(_GUARD, "needs Continuous provisioning", given=given, allowed="Continuous")


@checks(
    Rule(
        code="HP418",
        title="a bootstrap guard that would act at once, or never",
        why="a node or two fail in any large cluster, and a window that is too short or too long counts "
        "nothing, or what is long put right",
        fix="use 1 to 50 failures within 5 to 1440 minutes",
        source="hyperpod_cdk.spec.BootstrapGuard",
    )
)
def guard_bounds(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    guard = spec.lifecycle.bootstrap_guard
    for field, (lowest, highest) in _BOUNDS.items() if guard is not None else ():
        value = getattr(guard, field)
        if not unresolved(value) and not lowest <= value <= highest:
            yield rule.finding(
                f"{_GUARD}.{field}",
                "is out of range",
                given=value,
                allowed=f"{lowest} to {highest}",
                nearest=(lowest if value < lowest else highest,),
            )
