"""FSx: which settings go together. Read in October and November 2026; the source stands at each table."""

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_cdk.spec import LustreDeploymentType as Lustre
from hyperpod_cdk.spec import LustreStorageType as Storage
from hyperpod_cdk.spec import OpenZfsDeploymentType as OpenZfs

CLOUDFORMATION = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
LUSTRE_SOURCE = f"{CLOUDFORMATION}aws-properties-fsx-filesystem-lustreconfiguration.html"
CAPACITY_SOURCE = f"{CLOUDFORMATION}aws-resource-fsx-filesystem.html"
OPENZFS_SOURCE = f"{CLOUDFORMATION}aws-properties-fsx-filesystem-openzfsconfiguration.html"
LUSTRE_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/"
API_REFERENCE = "https://docs.aws.amazon.com/fsx/latest/APIReference/"


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Numbers that something comes in: a few single ones, then the multiples of a step."""

    step: int
    singles: tuple[int, ...] = ()
    maximum: int | None = None

    def __contains__(self, value: int) -> bool:
        if value in self.singles:
            return True
        return value >= self.step and value % self.step == 0 and value <= (self.maximum or value)

    def __str__(self) -> str:
        end = f" up to {self.maximum}" if self.maximum else ""
        multiples = f"a multiple of {self.step}{end}"
        return f"{', '.join(map(str, self.singles))} or {multiples}" if self.singles else multiples

    def nearest(self, value: float) -> tuple[int, ...]:
        """The closest number below and the closest above, as far as there are any."""
        highest = self.maximum or int(value // self.step + 1) * self.step
        steps = (int(value // self.step) * self.step, int(value // self.step + 1) * self.step, highest)
        known = sorted({*self.singles, self.step, *(one for one in steps if self.step <= one <= highest)})
        below = [one for one in known if one <= value][-1:]
        return (*below, *[one for one in known if one > value][:1])


# CAPACITY_SOURCE: GiB by deployment and storage type
LUSTRE_CAPACITY: Mapping[tuple[Lustre, Storage], Steps] = {
    (Lustre.SCRATCH_1, Storage.SSD): Steps(singles=(1200, 2400), step=3600),
    (Lustre.SCRATCH_2, Storage.SSD): Steps(singles=(1200,), step=2400),
    (Lustre.PERSISTENT_1, Storage.SSD): Steps(singles=(1200,), step=2400),
    (Lustre.PERSISTENT_2, Storage.SSD): Steps(singles=(1200,), step=2400),
}
# CAPACITY_SOURCE: GiB of PERSISTENT_1 on HDD, by MB/s for each TiB
LUSTRE_HDD_CAPACITY: Mapping[int, Steps] = {12: Steps(step=6000), 40: Steps(step=1800)}
# LUSTRE_GUIDE efa-file-systems.html: GiB of PERSISTENT_2 on SSD with EFA, by MB/s for each TiB
LUSTRE_EFA_CAPACITY: Mapping[int, Steps] = {
    125: Steps(step=38400),
    250: Steps(step=19200),
    500: Steps(step=9600),
    1000: Steps(step=4800),
}
# LUSTRE_GUIDE configure-efa-clients.html: over all clients of a file system, one for each EFA device that
# carries Lustre
LUSTRE_EFA_CONNECTIONS = 1024
# the same page, and lifecycle_scripts/hyperpod_node/lustre_efa.py: devices of a node that carry Lustre
LUSTRE_EFA_INTERFACES: Mapping[str, int] = {
    "ml.p5.48xlarge": 8,
    "ml.p5e.48xlarge": 8,
    "ml.p5en.48xlarge": 8,
    "ml.p6-b200.48xlarge": 8,
    "ml.p6-b300.48xlarge": 16,
    "ml.p6e-gb200.36xlarge": 8,
}
LUSTRE_EFA_INTERFACES_OF_OTHERS = 2
# LUSTRE_SOURCE: MB/s for each TiB; the first is the spec's default, an empty tuple means that none is given
LUSTRE_THROUGHPUT: Mapping[tuple[Lustre, Storage], tuple[int, ...]] = {
    (Lustre.SCRATCH_1, Storage.SSD): (),
    (Lustre.SCRATCH_2, Storage.SSD): (),
    (Lustre.PERSISTENT_1, Storage.SSD): (50, 100, 200),
    (Lustre.PERSISTENT_1, Storage.HDD): (12, 40),
    (Lustre.PERSISTENT_2, Storage.SSD): (125, 250, 500, 1000),
    (Lustre.PERSISTENT_2, Storage.INTELLIGENT_TIERING): (),
}
# LUSTRE_SOURCE: MB/s of an Intelligent-Tiering file system. 1000 and 2000 are in the API's own description
# (botocore 1.44.8), while its lower bound and the pages still begin at 4000
LUSTRE_TIERING_THROUGHPUT = Steps(singles=(1000, 2000), step=4000, maximum=2_000_000)
# API's description of LustreReadCacheConfiguration, botocore 1.44.8: GiB for every 1000 MB/s
LUSTRE_READ_CACHE_GIB = (8, 32_768)
# CAPACITY_SOURCE: versions by deployment type
LUSTRE_VERSIONS: Mapping[Lustre, tuple[str, ...]] = {
    Lustre.SCRATCH_1: ("2.10", "2.12", "2.15"),
    Lustre.SCRATCH_2: ("2.10", "2.12", "2.15"),
    Lustre.PERSISTENT_1: ("2.10", "2.12", "2.15"),
    Lustre.PERSISTENT_2: ("2.12", "2.15"),
}
# API_REFERENCE API_CreateFileSystemLustreMetadataConfiguration.html
LUSTRE_METADATA_VERSION = "2.15"
LUSTRE_METADATA_IOPS: Mapping[Storage, Steps] = {
    Storage.SSD: Steps(singles=(1500, 3000, 6000), step=12000, maximum=192_000),
    Storage.INTELLIGENT_TIERING: Steps(singles=(1500, 3000, 6000), step=12000, maximum=192_000),
}
# of those, what older pages know for Intelligent-Tiering too; the first is the spec's default
LUSTRE_TIERING_IOPS = (6000, 12000)
# LUSTRE_GUIDE managing-metadata-performance.html: IOPS of mode AUTOMATIC up to a capacity, GiB; above, 12000
# for each 24000 GiB
_AUTOMATIC_IOPS = ((1200, 1500), (2400, 3000), (9600, 6000), (45600, 12000))
# LUSTRE_GUIDE using-fsx-lustre.html, Regions of HyperPod's partition that lack something
LUSTRE_NOT_PERSISTENT_2 = ("me-south-1", "me-central-1")
LUSTRE_FEW_TIERS: Mapping[str, tuple[int, ...]] = {"il-central-1": (125, 250), "mx-central-1": (125, 250)}
# CLOUDFORMATION aws-resource-fsx-datarepositoryassociation.html
LUSTRE_ASSOCIATIONS = 8

# OPENZFS_SOURCE: MB/s by deployment type, in two generations; the first is the spec's default
_OPENZFS_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_OPENZFS_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
OPENZFS_THROUGHPUT: Mapping[OpenZfs, tuple[int, ...]] = {
    OpenZfs.SINGLE_AZ_1: _OPENZFS_FIRST,
    OpenZfs.SINGLE_AZ_HA_1: _OPENZFS_FIRST,
    OpenZfs.SINGLE_AZ_2: _OPENZFS_SECOND,
    OpenZfs.SINGLE_AZ_HA_2: _OPENZFS_SECOND,
    OpenZfs.MULTI_AZ_1: _OPENZFS_SECOND,
}
# OPENZFS_SOURCE: capacity, GiB
OPENZFS_CAPACITY_GIB = (64, 524_288)
# API_REFERENCE API_DiskIopsConfiguration.html: at least as many IOPS for each GiB
OPENZFS_IOPS_PER_GIB = 3
# at most as many: that page says 200,000 for each pair of servers, templates of AWS take up to 400,000
OPENZFS_IOPS = (200_000, 400_000)
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/available-aws-regions.html: Regions of HyperPod
_LARGE_REGIONS = frozenset(
    {
        "us-east-1",
        "us-east-2",
        "us-west-2",
        "ap-northeast-1",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-south-1",
    }
)
_SECOND_MISSING = frozenset({"ap-southeast-3", "ap-southeast-4"})
OPENZFS_NOT_IN: Mapping[OpenZfs, frozenset[str]] = {
    OpenZfs.SINGLE_AZ_HA_1: _LARGE_REGIONS,
    OpenZfs.SINGLE_AZ_2: _SECOND_MISSING,
    OpenZfs.SINGLE_AZ_HA_2: _SECOND_MISSING,
}
# API_REFERENCE API_OpenZFSCreateRootVolumeConfiguration.html: KiB, SSD storage
OPENZFS_RECORD_SIZES_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/: addresses that a file system takes of its subnet
OPENZFS_ADDRESSES: Mapping[OpenZfs, int] = {
    OpenZfs.SINGLE_AZ_1: 1,
    OpenZfs.SINGLE_AZ_2: 1,
    OpenZfs.SINGLE_AZ_HA_1: 3,
    OpenZfs.SINGLE_AZ_HA_2: 3,
    OpenZfs.MULTI_AZ_1: 3,
}
# LUSTRE_GUIDE limit-access-security-groups.html, 2026-10: protocol, first and last port, between servers, and
# between servers and clients, both ways
LUSTRE_PORTS = (("tcp", 988, 988), ("tcp", 1018, 1023))
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html, 2026-10: from clients
OPENZFS_PORTS = tuple(
    (protocol, first, last)
    for protocol in ("tcp", "udp")
    for first, last in ((111, 111), (2049, 2049), (20001, 20003))
)


def automatic_metadata_iops(capacity_gib: int) -> int:
    """IOPS that mode AUTOMATIC gives an SSD file system, and below which none can be provisioned."""
    few = [iops for capacity, iops in _AUTOMATIC_IOPS if capacity_gib <= capacity]
    return few[0] if few else max(capacity_gib // 24000, 1) * 12000
