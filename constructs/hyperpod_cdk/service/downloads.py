"""What nodes may lack and download: pinned versions, each with the checksum that it must have.

Checksums as published with the releases: those of node_exporter 1.9.1 stand alike in eight public projects,
of prometheus 3.7.1 in one, of mountpoint-s3 1.24.0 for x86_64 in four, and for arm64 in one of these, the
package aws-mountpoint-s3-bin 1.24.0 of Arch Linux, whose other checksum is the same as theirs (2026-11). What
has none (Enroot, whose releases publish none) is downloaded only where the user gives one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PROCESSORS = ("amd64", "arm64")
NAMES = ("node-exporter", "prometheus", "mount-s3", "enroot", "enroot-caps")
"""Everything that a node may ask for."""
_GITHUB = "https://github.com/prometheus"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file of a certain content."""

    url: str
    sha256: str

    @property
    def file(self) -> str:
        """Its name."""
        return self.url.rpartition("/")[2]


def _release(project: str, version: str, processor: str) -> str:
    file = f"{project}-{version}.linux-{processor}.tar.gz"
    return f"{_GITHUB}/{project}/releases/download/v{version}/{file}"


ARTIFACTS: Mapping[str, Artifact] = {
    "node-exporter-amd64": Artifact(
        url=_release("node_exporter", "1.9.1", "amd64"),
        sha256="becb950ee80daa8ae7331d77966d94a611af79ad0d3307380907e0ec08f5b4e8",
    ),
    "node-exporter-arm64": Artifact(
        url=_release("node_exporter", "1.9.1", "arm64"),
        sha256="848f139986f63232ced83babe3cad1679efdbb26c694737edc1f4fbd27b96203",
    ),
    "prometheus-amd64": Artifact(
        url=_release("prometheus", "3.7.1", "amd64"),
        sha256="a2e8a89c09b14b2277e6151e87fc8ed18858486cbf89372656d71fcd666b51da",
    ),
    "prometheus-arm64": Artifact(
        url=_release("prometheus", "3.7.1", "arm64"),
        sha256="7ede3f3f0541b9bfd2ccca9cef57af80554f131b8e7af8900896c6e49ed2d4ef",
    ),
    "mount-s3-amd64": Artifact(
        url="https://s3.amazonaws.com/mountpoint-s3-release/1.24.0/x86_64/mount-s3-1.24.0-x86_64.tar.gz",
        sha256="a99bea20510eaabaf9d7cbfe95ab221a11005cacaa77cfc311a2912bbbdbfd72",
    ),
    "mount-s3-arm64": Artifact(
        url="https://s3.amazonaws.com/mountpoint-s3-release/1.24.0/arm64/mount-s3-1.24.0-arm64.tar.gz",
        sha256="9f97026c9feabd0e4d128206f1846ee317e6c4f21846914dfe4268d110c892c4",
    ),
}
"""By name and processor."""
