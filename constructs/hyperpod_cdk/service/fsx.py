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
# LUSTRE_SOURCE: MB/s for each TiB; the first is the spec's default, an empty tuple means that none is given
LUSTRE_THROUGHPUT: Mapping[tuple[Lustre, Storage], tuple[int, ...]] = {
    (Lustre.SCRATCH_1, Storage.SSD): (),
    (Lustre.SCRATCH_2, Storage.SSD): (),
    (Lustre.PERSISTENT_1, Storage.SSD): (50, 100, 200),
    (Lustre.PERSISTENT_1, Storage.HDD): (12, 40),
    (Lustre.PERSISTENT_2, Storage.SSD): (125, 250, 500, 1000),
    (Lustre.PERSISTENT_2, Storage.INTELLIGENT_TIERING): (),
}
# LUSTRE_SOURCE: MB/s of an Intelligent-Tiering file system
LUSTRE_TIERING_THROUGHPUT = Steps(step=4000, maximum=2_000_000)
# API_REFERENCE API_LustreReadCacheConfiguration.html: GiB for every 4000 MB/s
LUSTRE_READ_CACHE_GIB = (32, 131_072)
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
    Storage.INTELLIGENT_TIERING: Steps(singles=(6000,), step=12000, maximum=12000),
}
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
