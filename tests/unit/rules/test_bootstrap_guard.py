"""Rules of the bootstrap guard (HP417, HP418)."""

from typing import Any

import pytest

from hyperpod_cdk.spec import BootstrapGuard, NodeProvisioningMode
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

GUARD = "lifecycle.bootstrap_guard"
MODE = "cluster.node_provisioning_mode"
ALL_AT_ONCE = {MODE: NodeProvisioningMode.ALL_AT_ONCE}


def guard(**members: Any) -> dict[str, Any]:
    return {GUARD: BootstrapGuard(**members)}


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP417", guard(), []),
    ("HP417", ALL_AT_ONCE, []),
    ("HP417", {**guard(), **ALL_AT_ONCE}, [GUARD]),
    ("HP417", {**guard(), MODE: TEXT_TOKEN}, []),
    ("HP418", guard(max_failures=1, window_minutes=5), []),
    ("HP418", guard(max_failures=0, window_minutes=5), [f"{GUARD}.max_failures"]),
    ("HP418", guard(max_failures=50, window_minutes=1440), []),
    ("HP418", guard(max_failures=50, window_minutes=1441), [f"{GUARD}.window_minutes"]),
    ("HP418", guard(max_failures=51, window_minutes=4), [f"{GUARD}.max_failures", f"{GUARD}.window_minutes"]),
    ("HP418", guard(max_failures=NUMBER_TOKEN), []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]
