"""The picture of the architecture, drawn from a configuration."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, LustreFileSystem

Content = tuple[str, str, tuple[str, ...]]
_WIDTH = 960
_LINE = 18
_COLOURS = {
    "frame": ("#f8fafc", "#94a3b8"),
    "deploy": ("#ede9fe", "#7c3aed"),
    "node": ("#dbeafe", "#2563eb"),
    "storage": ("#dcfce7", "#16a34a"),
    "access": ("#fef3c7", "#d97706"),
}
_ENDPOINTS = "S3 gateway endpoint · flow logs · EFA security group"
_DEPLOY = (
    ("deploy", "cdk deploy", ("one YAML file,", "every rule checked at synth")),
    ("deploy", "custom resource", ("creates, updates, deletes;", "waits, owns, explains")),
    ("access", "execution roles", ("one for each instance group", "least privilege")),
    ("access", "lifecycle bucket", ("node scripts under the", "hash of their content")),
)
_GAP = 20


@dataclass(frozen=True, kw_only=True)
class Box:
    """A box with a heading and lines of text."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    heading: str
    lines: tuple[str, ...] = ()

    def svg(self) -> str:
        """The box as SVG elements."""
        fill, stroke = _COLOURS[self.kind]
        parts = [
            f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="8" '
            f'fill="{fill}" stroke="{stroke}"/>',
            _text(self.x + 12, self.y + 22, self.heading, bold=True),
        ]
        parts += [
            _text(self.x + 12, self.y + 24 + _LINE * (i + 1), line) for i, line in enumerate(self.lines)
        ]
        return "\n".join(parts)

    @property
    def middle(self) -> int:
        """Height of its centre."""
        return self.y + self.height // 2


def draw(spec: HyperPodSpec) -> str:
    """The architecture of a configuration, as an SVG document."""
    groups = list(_stacked(_group_content(spec), x=290, y=80, width=290))
    storage = list(_stacked(_storage_content(spec), x=670, y=80, width=250))
    deploy = list(_stacked(_DEPLOY, x=20, y=20, width=200))
    bottom = max(box.y + box.height for box in [*groups, *storage, *deploy]) + 20
    vpc = Box(
        x=250,
        y=20,
        width=_WIDTH - 270,
        height=bottom - 20,
        kind="frame",
        heading=f"VPC · private subnets in {', '.join(_zones(spec))}",
        lines=(_ENDPOINTS,),
    )
    arrows = [
        _arrow(deploy[0].x + 100, deploy[0].y + deploy[0].height, deploy[1].x + 100, deploy[1].y),
        *(_arrow(box.x + box.width, box.middle, vpc.x, box.middle) for box in deploy[1:]),
        *(
            _arrow(group.x + group.width, group.middle, box.x, box.middle)
            for group, box in _mounts(spec, groups, storage)
        ),
    ]
    height = bottom + 20
    body = "\n".join([vpc.svg(), *(box.svg() for box in [*deploy, *groups, *storage]), *arrows])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" font-size="13">\n'
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L10 5L0 10z" fill="#475569"/></marker></defs>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _zones(spec: HyperPodSpec) -> list[str]:
    return list(spec.network.availability_zone_ids) or ["existing subnets"]


def _stacked(content: Iterable[Content], *, x: int, y: int, width: int) -> Iterable[Box]:
    for kind, heading, lines in content:
        height = 36 + _LINE * len(lines)
        yield Box(x=x, y=y, width=width, height=height, kind=kind, heading=heading, lines=lines)
        y += height + _GAP


def _group_content(spec: HyperPodSpec) -> Iterable[Content]:
    for group in spec.cluster.instance_groups:
        yield (
            "node",
            _heading(group),
            (f"{group.instance_count} x {group.instance_type}", *_details(group)),
        )


def _heading(group: InstanceGroup) -> str:
    node_type = group.slurm_config.node_type if group.slurm_config else "nodes"
    return f"{group.instance_group_name} ({node_type})"


def _details(group: InstanceGroup) -> Iterable[str]:
    if group.slurm_config and group.slurm_config.partition_names:
        yield f"partition {', '.join(group.slurm_config.partition_names)}"
    if group.on_start_deep_health_checks:
        yield "deep health checks at start"


def _storage_content(spec: HyperPodSpec) -> Iterable[Content]:
    for name, file_system in spec.storage.items():
        lustre = file_system if isinstance(file_system, LustreFileSystem) else None
        linked = lustre and lustre.data_repository_associations
        lines = (
            "FSx for Lustre" if lustre else "FSx for OpenZFS",
            "existing" if file_system.existing else str(file_system.deployment_type),
            *(["linked to an S3 bucket"] if linked else []),
        )
        yield "storage", name, lines


def _mounts(spec: HyperPodSpec, groups: list[Box], storage: list[Box]) -> Iterable[tuple[Box, Box]]:
    by_name = {box.heading: box for box in storage}
    for group, box in zip(spec.cluster.instance_groups, groups, strict=True):
        for mount in group.mounts:
            if mount.storage in by_name:
                yield box, by_name[mount.storage]


def _text(x: int, y: int, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="#0f172a"{weight}>{escape(text)}</text>'


def _arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#475569" stroke-width="1.5" '
        'marker-end="url(#tip)"/>'
    )
