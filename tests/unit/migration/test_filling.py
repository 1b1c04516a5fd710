"""No configuration with a placeholder can be deployed."""

from copy import deepcopy
from typing import Any

import pytest

from hyperpod_cdk.commands.storing import findings_of
from hyperpod_cdk.migration import Kind, Sources, migrate
from hyperpod_cdk.migration.filling import PLACEHOLDER
from hyperpod_cdk.rules import errors
from tests.unit.migration.samples import BY_API, LEGACY, MULTI_HEAD


def without(*steps: str | int) -> dict[str, Any]:
    """BY_API without one member."""
    request = deepcopy(BY_API)
    part: Any = request
    for step in steps[:-1]:
        part = part[step]
    del part[steps[-1]]
    return request


GROUP = ("InstanceGroups", 2)
UPDATE = (*GROUP, "ScheduledUpdateConfig")
MEMBERS: tuple[tuple[str | int, ...], ...] = (
    (*GROUP, "InstanceGroupName"),
    (*GROUP, "InstanceType"),
    (*GROUP, "InstanceCount"),
    (*GROUP, "InstanceStorageConfigs", 0, "FsxLustreConfig", "DnsName"),
    (*GROUP, "InstanceStorageConfigs", 1, "EbsVolumeConfig", "VolumeKmsKeyId"),
    (*UPDATE, "DeploymentConfig", "RollingUpdatePolicy", "MaximumBatchSize", "Type"),
    (*UPDATE, "DeploymentConfig", "RollingUpdatePolicy", "MaximumBatchSize", "Value"),
    (*UPDATE, "DeploymentConfig", "RollingUpdatePolicy", "MaximumBatchSize"),
    ("InstanceGroups", 0, "LifeCycleConfig", "SourceS3Uri"),
    ("Orchestrator", "Slurm", "AccountingDatabase", "Endpoint"),
    ("Orchestrator", "Slurm", "AccountingDatabase", "SecretArn"),
)


@pytest.mark.parametrize("steps", MEMBERS, ids=lambda steps: ".".join(map(str, steps)))
def test_a_missing_member_is_told_and_refused(steps: tuple[str | int, ...]) -> None:
    made = migrate(Sources(request=without(*steps)))
    (missing,) = {note.path.rsplit(".", 1)[0] for note in made.notes if note.kind is Kind.MISSING}
    assert missing
    assert PLACEHOLDER in made.text
    line = 1 + next(
        i for i, text in enumerate(made.text.splitlines()) if text.endswith("# no source says it")
    )
    faults = errors(findings_of(made.text, name="x.yaml"))
    assert line in {one.position.line for one in faults if one.position}


@pytest.mark.parametrize("key", list(MULTI_HEAD["slurm_configurations"]))
def test_several_controllers_need_all_of_their_settings(key: str) -> None:
    heads = {name: value for name, value in MULTI_HEAD["slurm_configurations"].items() if name != key}
    made = migrate(Sources(request=LEGACY, provisioning={**MULTI_HEAD, "slurm_configurations": heads}))
    assert [note.path for note in made.notes if note.kind is Kind.MISSING] == [
        f"provisioning_parameters.slurm_configurations.{key}"
    ]
    assert not made.is_complete
