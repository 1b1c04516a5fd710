"""HP32x: FSx for OpenZFS."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import new_openzfs, zone_ids
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.subnets import as_network
from hyperpod_cdk.spec import HyperPodSpec, OpenZfsDeploymentType

_MULTI_AZ = OpenZfsDeploymentType.MULTI_AZ_1
_FIRST_GENERATION = (OpenZfsDeploymentType.SINGLE_AZ_1, OpenZfsDeploymentType.SINGLE_AZ_HA_1)


@checks(
    Rule(
        code="HP320",
        title="an OpenZFS capacity out of range",
        why="the file system fails to be created",
        fix="use 64 to 524288 GiB",
        source=fsx.CAPACITY_SOURCE,
    )
)
def openzfs_capacity(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    low, high = fsx.OPENZFS_CAPACITY_GIB
    for path, openzfs in new_openzfs(spec):
        capacity = openzfs.capacity_gib
        if not unresolved(capacity) and not low <= capacity <= high:
            yield rule.finding(
                f"{path}.capacity_gib",
                "is out of range",
                given=capacity,
                allowed=f"{low} to {high} GiB",
                nearest=(low if capacity < low else high,),
            )


@checks(
    Rule(
        code="HP321",
        title="an OpenZFS throughput that does not exist",
        why="each generation of file servers has its own steps",
        fix="use one of the allowed values",
        source=fsx.OPENZFS_SOURCE,
    )
)
def openzfs_throughput(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        given = openzfs.throughput_capacity
        steps = fsx.OPENZFS_THROUGHPUT.get(openzfs.deployment_type)
        if given is None or steps is None or unresolved(given) or given in steps:
            continue
        below = [step for step in steps if step < given][-1:]
        above = [step for step in steps if step > given][:1]
        yield rule.finding(
            f"{path}.throughput_capacity",
            f"is no throughput of {openzfs.deployment_type}",
            given=given,
            allowed=f"{', '.join(map(str, steps))} MB/s",
            nearest=(*below, *above),
        )


@checks(
    Rule(
        code="HP322",
        title="an OpenZFS file system in the wrong number of zones",
        why="MULTI_AZ_1 has a server in each of two zones, every other type is in one",
        fix="name two different zones of the network for MULTI_AZ_1, and at most one otherwise",
        source=fsx.OPENZFS_SOURCE,
    )
)
def openzfs_zones(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        zones = openzfs.availability_zone_ids
        if unresolved(zones, openzfs.deployment_type):
            continue
        count = 2 if openzfs.deployment_type == _MULTI_AZ else 1
        if zones and len(set(zones)) != count:
            message = f"names {len(set(zones))} zones, and {openzfs.deployment_type} is in {count}"
            yield rule.finding(f"{path}.availability_zone_ids", message, given=list(zones))
        elif not zones and count == 2 and 0 < _known_zones(spec) < count:
            message = "MULTI_AZ_1 needs two zones, and the network names one"
            yield rule.finding(f"{path}.deployment_type", message, given=openzfs.deployment_type)


@checks(
    Rule(
        code="HP323",
        title="an endpoint range that can not be",
        why="only MULTI_AZ_1 has floating addresses, which lie outside every subnet",
        fix="use a /28 or wider outside the VPC's subnets, or leave it to the service",
        source=fsx.OPENZFS_SOURCE,
    )
)
def openzfs_endpoint_range(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        given = openzfs.endpoint_ip_address_range
        if given is None or unresolved(given, openzfs.deployment_type):
            continue
        where = f"{path}.endpoint_ip_address_range"
        if openzfs.deployment_type != _MULTI_AZ:
            yield rule.finding(where, f"is for MULTI_AZ_1, not {openzfs.deployment_type}", given=given)
        elif as_network(given) is None:
            yield rule.finding(where, "is no address range", given=given, allowed="such as 198.19.255.0/28")


@checks(
    Rule(
        code="HP324",
        title="fewer IOPS than the capacity brings",
        why="every file system has 3 IOPS for each GiB; less can not be provisioned",
        fix="raise disk_iops, or leave it out",
        source=f"{fsx.API_REFERENCE}API_DiskIopsConfiguration.html",
    )
)
def openzfs_iops(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        iops, capacity = openzfs.disk_iops, openzfs.capacity_gib
        if iops is None or unresolved(iops, capacity):
            continue
        least = fsx.OPENZFS_IOPS_PER_GIB * capacity
        if iops < least:
            message = f"is below what {capacity} GiB have"
            yield rule.finding(
                f"{path}.disk_iops", message, given=iops, allowed=f"at least {least}", nearest=(least,)
            )


@checks(
    Rule(
        code="HP325",
        title="an OpenZFS record size that does not exist",
        why="records are powers of two",
        fix="use one of the allowed sizes, or leave it at 128",
        source=f"{fsx.API_REFERENCE}API_OpenZFSCreateRootVolumeConfiguration.html",
    )
)
def openzfs_record_size(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    sizes = fsx.OPENZFS_RECORD_SIZES_KIB
    for path, openzfs in new_openzfs(spec):
        given = openzfs.record_size_kib
        if given is None or unresolved(given) or given in sizes:
            continue
        yield rule.finding(
            f"{path}.record_size_kib",
            "is no record size",
            given=given,
            allowed=f"{', '.join(map(str, sizes))} KiB",
            nearest=sorted(sizes, key=lambda size: abs(size - given))[:1],
        )


@checks(
    Rule(
        code="HP326",
        title="more IOPS than the sources promise",
        why="the API's page says 200,000 at most, templates of AWS go to 400,000 for the second generation",
        fix="lower disk_iops, or acknowledge this",
        source=f"{fsx.API_REFERENCE}API_DiskIopsConfiguration.html",
        severity=Severity.WARNING,
    )
)
def openzfs_many_iops(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        iops = openzfs.disk_iops
        most = fsx.OPENZFS_IOPS[openzfs.deployment_type not in _FIRST_GENERATION]
        if iops is not None and not unresolved(iops, openzfs.deployment_type) and iops > most:
            message = f"are more than {openzfs.deployment_type} surely has"
            yield rule.finding(
                f"{path}.disk_iops", message, given=iops, allowed=f"up to {most} to be safe", nearest=(most,)
            )


@checks(
    Rule(
        code="HP327",
        title="an OpenZFS deployment type that the Region does not have",
        why="the file system fails to be created; large Regions have the second generation, small the first",
        fix="use a deployment type of the other generation, or acknowledge this when the Region has it since",
        source="https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/available-aws-regions.html",
        severity=Severity.WARNING,
    )
)
def openzfs_in_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, openzfs in new_openzfs(spec):
        if spec.region in fsx.OPENZFS_NOT_IN.get(openzfs.deployment_type, ()):
            where, given = f"{path}.deployment_type", openzfs.deployment_type
            yield rule.finding(where, f"was not to be had in {spec.region}", given=given)


@checks(
    Rule(
        code="HP328",
        title="an endpoint range inside the new VPC",
        why="it must lie outside every subnet, and the network's subnets begin at its front and at its end",
        fix="use a range outside network.cidr, such as 198.19.255.0/28, or leave it to the service",
        source=fsx.OPENZFS_SOURCE,
        severity=Severity.WARNING,
    )
)
def openzfs_endpoints_inside(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    vpc = None if unresolved(spec.network.cidr) else as_network(spec.network.cidr)
    if spec.network.existing is not None or vpc is None:
        return
    for path, openzfs in new_openzfs(spec):
        given = openzfs.endpoint_ip_address_range
        inner = None if given is None or unresolved(given) else as_network(given)
        if inner is not None and inner.overlaps(vpc):
            where = f"{path}.endpoint_ip_address_range"
            yield rule.finding(where, f"overlaps {spec.network.cidr}, the network's own range", given=given)


def _known_zones(spec: HyperPodSpec) -> int:
    """How many zones the network names; 0 where some are yet unknown."""
    zones = zone_ids(spec)
    existing = spec.network.existing
    unnamed = existing is not None and any(one.availability_zone_id is None for one in existing.subnets)
    return 0 if unnamed or unresolved(zones) else len(set(zones))
