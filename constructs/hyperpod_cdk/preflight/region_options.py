"""HP902: what the documentation names for the Region. Asks nothing, and so is never more than a doubt."""

from collections.abc import Iterator

from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import new_lustre, new_openzfs
from hyperpod_cdk.service import regions
from hyperpod_cdk.spec import LustreDeploymentType, LustreStorageType, OpenZfsDeploymentType


def _options(look: Look, rule: Rule) -> Iterator[Finding]:
    region = look.aws.region
    if region not in regions.HYPERPOD:
        yield rule.finding(
            "region",
            "is not among the Regions of HyperPod",
            given=region,
            allowed=", ".join(sorted(regions.HYPERPOD)),
        )
    yield from _lustre(look, rule)
    for path, openzfs in new_openzfs(look.spec):
        if (
            openzfs.deployment_type == OpenZfsDeploymentType.SINGLE_AZ_HA_2
            and region not in regions.OPENZFS_SINGLE_AZ_HA_2
        ):
            yield rule.finding(
                f"{path}.deployment_type", f"is not named for {region}", given=openzfs.deployment_type
            )


def _lustre(look: Look, rule: Rule) -> Iterator[Finding]:
    region = look.aws.region
    throughput = regions.LUSTRE_THROUGHPUT.get(region)
    for path, lustre in new_lustre(look.spec):
        if (
            lustre.deployment_type == LustreDeploymentType.PERSISTENT_2
            and region in regions.WITHOUT_LUSTRE_PERSISTENT_2
        ):
            yield rule.finding(
                f"{path}.deployment_type", f"is not named for {region}", given=lustre.deployment_type
            )
        if (
            lustre.storage_type == LustreStorageType.INTELLIGENT_TIERING
            and region in regions.WITHOUT_LUSTRE_TIERING
        ):
            yield rule.finding(
                f"{path}.storage_type", f"is not named for {region}", given=lustre.storage_type
            )
        if throughput and lustre.efa_enabled:
            yield rule.finding(f"{path}.efa_enabled", f"is not named for {region}", given=True)
        given = lustre.per_unit_storage_throughput
        if throughput and given is not None and given not in throughput:
            yield rule.finding(
                f"{path}.per_unit_storage_throughput",
                f"is not named for {region}",
                given=given,
                allowed=" or ".join(map(str, throughput)),
            )


CHECKS = (
    Check(
        name="region-options",
        rule=Rule(
            code="HP902",
            title="an option that AWS does not name for the Region",
            why="what is not offered there can not be made; the list that this is held to may have aged",
            fix="look at the service's page of Regions, and choose another Region or option",
            source=regions.HYPERPOD_SOURCE,
            severity=Severity.WARNING,
        ),
        apis=(),
        find=_options,
    ),
)
