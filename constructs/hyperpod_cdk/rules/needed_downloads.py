"""Which downloads the nodes of a spec may ask for: for their configuration, rules, and the bundle."""

from collections.abc import Iterable, Iterator, Mapping

from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import instance_types
from hyperpod_cdk.service.downloads import ARTIFACTS, PROCESSORS, Artifact
from hyperpod_cdk.spec import Cluster, Lifecycle

ENROOT = ("enroot", "enroot-caps")


def names(lifecycle: Lifecycle) -> list[str]:
    """Names, without processor, of what the nodes can not do without."""
    return [
        *(["node-exporter", "prometheus"] if lifecycle.monitoring else []),
        *(["mount-s3"] if lifecycle.bucket_mounts else []),
    ]


def artifacts(lifecycle: Lifecycle) -> Mapping[str, Artifact]:
    """Everything with a checksum that a node of this spec may use, by name and processor."""
    wanted = (*names(lifecycle), *(ENROOT if lifecycle.containers else ()))
    own = {
        name: Artifact(url=one.url, sha256=one.sha256) for name, one in lifecycle.downloads.overrides.items()
    }
    known = {**ARTIFACTS, **own}
    return {
        full: known[full]
        for name in wanted
        for processor in PROCESSORS
        if (full := f"{name}-{processor}") in known
    }


def processors(cluster: Cluster) -> list[str]:
    """The processors of the cluster's nodes; an instance type that is not known counts as amd64."""
    return sorted({processor(name) for group in cluster.instance_groups for name in group.instance_types})


def processor(instance_type: str) -> str:
    """``amd64`` or ``arm64``."""
    known = None if unresolved(instance_type) else instance_types.find(instance_type)
    return "arm64" if known is not None and known.architecture == "arm64" else "amd64"


def missing(lifecycle: Lifecycle, cluster: Cluster) -> Iterator[str]:
    """What the nodes can not do without and has no checksum, by name and processor."""
    yield from _unknown(names(lifecycle), lifecycle, cluster)


def missing_enroot(lifecycle: Lifecycle, cluster: Cluster) -> Iterator[str]:
    """What of Enroot has no checksum, by name and processor, where no node may be without containers."""
    containers = lifecycle.containers
    if containers is not None and containers.enroot and containers.required:
        yield from _unknown(ENROOT, lifecycle, cluster)


def _unknown(wanted: Iterable[str], lifecycle: Lifecycle, cluster: Cluster) -> Iterator[str]:
    known = artifacts(lifecycle)
    for name in wanted:
        for one in processors(cluster):
            if f"{name}-{one}" not in known:
                yield f"{name}-{one}"
