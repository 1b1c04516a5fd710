"""The file systems that groups mount: existing ones, each named once."""

from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part

_NAMES = {"LUSTRE": "shared", "OPENZFS": "home"}
_PATHS = {"LUSTRE": "/fsx", "OPENZFS": "/home"}


@dataclass(kw_only=True)
class FileSystems:
    """File systems by the names that they get here."""

    notes: list[Note]
    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    def mount(self, config: Part, kind: str) -> dict[str, Any]:
        """A mount of what an FSx member of a group names.

        Args:
            config: FsxLustreConfig or FsxOpenZfsConfig.
            kind: ``LUSTRE`` or ``OPENZFS``.
        """
        place = {"dns_name": config.take("DnsName")}
        fill(place, config, {"dns_name": "DnsName"}, self.notes)
        name = self.add(kind, place["dns_name"], config.take("MountName") if kind == "LUSTRE" else None)
        mount = {"storage": name}
        path = config.take("MountPath")
        if path:
            return {**mount, "mount_path": path}
        text = f"the service's own path, {_PATHS[kind]}, is written out in the request"
        self.notes.append(Note(kind=Kind.CHANGED, path=f"{config.path}.MountPath", text=text))
        return mount

    def add(self, kind: str, dns_name: Any, mount_name: Any) -> str:
        """The name of a file system; one that was there before keeps the name that it got."""
        existing = {"dns_name": dns_name} | ({"mount_name": mount_name} if mount_name is not None else {})
        content = {"file_system_type": kind, "existing": existing}
        for name, known in self.found.items():
            if known == content:
                return name
        base, number = _NAMES[kind], 1
        name = base
        while name in self.found:
            number += 1
            name = f"{base}-{number}"
        self.found[name] = content
        return name

    def region(self) -> str | None:
        """The Region that the file systems' DNS names tell, ``fs-….fsx.<region>.amazonaws.com``."""
        for content in self.found.values():
            labels = str(content["existing"]["dns_name"]).split(".")
            if len(labels) > 3 and labels[1] == "fsx":
                return labels[2]
        return None
