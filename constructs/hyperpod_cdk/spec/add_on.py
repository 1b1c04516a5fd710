"""An add-on of Amazon EKS: which version, and how it is set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class AddOn:
    """An add-on of Amazon EKS."""

    version: str | None = None
    """Such as ``v1.3.0-eksbuild.1``. Default: the one that Amazon EKS takes for the Kubernetes version."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """As in the add-on's own schema. Default: the add-on's."""
