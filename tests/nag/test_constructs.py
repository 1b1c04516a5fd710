"""cdk-nag over constructs used alone, in settings that no example has."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from cdk_nag import AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks

from hyperpod_cdk import nag
from hyperpod_cdk.access import ExecutionRole
from hyperpod_cdk.lifecycle import LifecycleBucket, LifecycleScripts
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import LustreFileSystem, NatGateways, RemovalPolicy
from hyperpod_cdk.storage import LustreStorage, OpenZfsStorage

PACKS = (AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks)
KNOWN = cdk.Environment(account="111122223333", region="us-west-2")
CONTEXT = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]

SETTINGS: dict[str, dict[str, Any]] = {
    "as they come": {},
    "a known account with the recommended flags": {"env": KNOWN, "context": CONTEXT},
    "a key, no internet, nothing kept": {
        "with_key": True,
        "nat_gateways": NatGateways.NONE,
        "removal_policy": RemovalPolicy.DESTROY,
        "context": CONTEXT,
    },
    "EFA": {"lustre": LustreFileSystem(efa_enabled=True)},
}


def build(
    *,
    env: cdk.Environment | None = None,
    context: dict[str, Any] | None = None,
    with_key: bool = False,
    nat_gateways: NatGateways = NatGateways.ONE,
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    lustre: LustreFileSystem | None = None,
) -> cdk.App:
    """An app with one of each construct."""
    app = cdk.App(context=context)
    stack = cdk.Stack(app, "S", env=env)
    key = kms.Key(stack, "Key", enable_key_rotation=True) if with_key else None
    network = HyperPodNetwork(
        stack,
        "Network",
        availability_zone_ids=["usw2-az4", "usw2-az1"],
        nat_gateways=nat_gateways,
        encryption_key=key,
    )
    LustreStorage(
        stack, "Lustre", network=network, file_system=lustre or LustreFileSystem(), encryption_key=key
    )
    OpenZfsStorage(stack, "Zfs", network=network, encryption_key=key)
    bucket = LifecycleBucket(stack, "Bucket", encryption_key=key, removal_policy=removal_policy)
    role = ExecutionRole(
        stack, "Role", lustre=True, lifecycle_bucket=bucket.bucket, volume_keys=[key] if key else []
    )
    role.grant_ecr_pull()
    LifecycleScripts(stack, "Scripts", bucket=bucket, config={"region": stack.region}, encryption_key=key)
    return app


def findings(app: cdk.App) -> set[tuple[str, str]]:
    """(rule, construct path) of everything that cdk-nag finds."""
    cdk.Validations.of(app).add_plugins(*[pack(app) for pack in PACKS])
    try:
        app.synth()
    except RuntimeError as failed:
        if "ValidationFailed" not in str(failed):
            raise
    report = json.loads((Path(app.outdir) / "validation-report.json").read_text())
    return {
        (violation["ruleName"], construct["constructPath"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_finding_is_acknowledged(setting: str) -> None:
    assert findings(build(**SETTINGS[setting])) == set()


class Recorder:
    """Stands in for CDK's Validations: notes what would be acknowledged, and lets it be found."""

    def __init__(self) -> None:
        self.noted: set[tuple[str, str]] = set()
        self._path = ""

    def of(self, construct: Any) -> "Recorder":
        self._path = construct.node.path
        return self

    def acknowledge(self, *rules: cdk.Acknowledgment) -> None:
        self.noted |= {(rule.id, self._path) for rule in rules}


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_acknowledgement_is_needed(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(nag, "Validations", recorder)
    found = findings(build(**SETTINGS[setting]))
    assert {entry for entry in recorder.noted if not _needed(*entry, found=found)} == set()


def _needed(rule: str, path: str, *, found: set[tuple[str, str]]) -> bool:
    return any(rule == name and f"{place}/".startswith(f"{path}/") for name, place in found)
