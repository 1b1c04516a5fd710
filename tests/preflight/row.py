"""A condition that is made false, and what then fails."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.spec import HyperPodSpec
from tests.preflight import specs
from tests.preflight.account import Account

Change = Callable[[Account], Any]
Spec = Callable[[Account], HyperPodSpec]


@dataclass(frozen=True)
class Row:
    """What is changed, and which check then finds how many faults."""

    check: str
    title: str
    change: Change = lambda _: None
    spec: Spec = specs.existing
    more: Callable[[Account], dict[str, Any]] = field(default=lambda _: {})
    findings: int = 1
