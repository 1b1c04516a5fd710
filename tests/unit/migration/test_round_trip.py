"""The request that a migrated configuration yields is the one that was migrated, but for what was told."""

from typing import Any

import pytest
from hypothesis import assume, given, settings

from hyperpod_cdk.cluster.request import provisioning_parameters
from hyperpod_cdk.config import read_text
from hyperpod_cdk.migration import Kind, Migration, Sources, migrate
from hyperpod_cdk.migration.filling import PLACEHOLDER
from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.spec import HyperPodSpec
from tests.handler.maximal import REQUEST
from tests.unit.migration.requests import Request, differences, request_of, requests, resolved
from tests.unit.migration.samples import BY_API, LEGACY, MULTI_HEAD, ON_EKS, PROVISIONING


def spec_of(made: Migration) -> HyperPodSpec:
    """The spec of the YAML that was made."""
    return read_text(made.text, file="migrated.yaml").spec


def is_told(path: str, made: Migration) -> bool:
    """Whether a note is about the path, something in it, or what it is in."""
    return any(_holds(note.path, path) or _holds(path, note.path) for note in made.notes)


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


@pytest.mark.parametrize("request_", [BY_API, LEGACY, ON_EKS], ids=["by-api", "legacy", "on-eks"])
def test_a_whole_request_comes_back_member_for_member(request_: Request) -> None:
    provisioning = PROVISIONING if request_ is LEGACY else None
    made = migrate(Sources(request=request_, provisioning=provisioning))
    assert made.is_complete
    spec = spec_of(made)
    assert errors(check(spec)) == []
    untold = [path for path in differences(request_, request_of(spec)) if not is_told(path, made)]
    assert untold == []
    assert {note.path for note in made.notes} <= {
        "InstanceGroups[2].InstanceStorageConfigs[0].FsxLustreConfig.MountPath",
        # equal, but the stack installs what the tag speaks of
        "Tags",
    }


@pytest.mark.parametrize("content", [PROVISIONING, MULTI_HEAD], ids=["one-head", "multi-head"])
def test_provisioning_parameters_come_back_key_for_key(content: dict[str, Any]) -> None:
    made = migrate(Sources(request=LEGACY, provisioning=content))
    assert made.is_complete
    assert provisioning_parameters(resolved(spec_of(made))) == content


@settings(max_examples=100, deadline=None)
@given(requests() | requests(eks=True))
def test_nothing_is_lost_in_silence(request_: Request) -> None:
    made = migrate(Sources(request=request_))
    assume(PLACEHOLDER not in made.text)
    back = request_of(spec_of(made))
    untold = [path for path in differences(request_, back) if not is_told(path, made)]
    assert untold == []


@settings(max_examples=100, deadline=None)
@given(requests() | requests(eks=True))
def test_what_is_called_lost_is_not_in_the_request(request_: Request) -> None:
    made = migrate(Sources(request=request_))
    assume(PLACEHOLDER not in made.text)
    differing = differences(request_, request_of(spec_of(made)))
    said = differences(request_, {})
    lost = [note.path for note in made.notes if note.kind is Kind.LOST]
    with_content = [path for path in lost if any(_holds(path, one) for one in said)]
    assert [path for path in with_content if not any(_holds(path, one) for one in differing)] == []


def lost(orchestrator: str) -> list[str]:
    """What of a request with every member that there is has no place."""
    chosen = {orchestrator: REQUEST["Orchestrator"][orchestrator]}
    made = migrate(Sources(request={**REQUEST, "Orchestrator": chosen}))
    return [note.path for note in made.notes if note.kind is Kind.LOST]


def test_what_a_configuration_has_no_place_for() -> None:
    """The whole list: a member that botocore learns, or the spec, changes it."""
    assert lost("Slurm") == [
        "InstanceGroups[0].InstanceRequirements",
        "InstanceGroups[0].AutoPatchConfig",
        "InstanceGroups[0].KubernetesConfig",
        # both kinds at once, which no request has
        "InstanceGroups[0].CapacityRequirements",
        "RestrictedInstanceGroups",
        "RestrictedInstanceGroupsConfig",
        "TieredStorageConfig",
        "ClusterRole",
        "AutoScaling",
    ]
    assert lost("Eks") == [
        "InstanceGroups[0].InstanceStorageConfigs[1]",
        "InstanceGroups[0].InstanceStorageConfigs[2]",
        "InstanceGroups[0].SlurmConfig",
        "InstanceGroups[0].CapacityRequirements",
        "RestrictedInstanceGroups[0].InstanceStorageConfigs[1]",
        "RestrictedInstanceGroups[0].InstanceStorageConfigs[2]",
    ]
