"""Who the node is: peers' failure modes 10 and 11, field reports 1 and 27."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import config, facts, provisioning
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.reading import Reader
from tests.lifecycle.helpers import (
    LUSTRE,
    OPENZFS,
    bench,
    node_config,
    provisioning_parameters,
    resource_config,
)


def cluster(document: dict[str, Any] | None = None) -> facts.Cluster:
    return facts.cluster_of(Reader(document or resource_config(), "resource_config.json"))


def test_any_local_address_counts() -> None:
    found = facts.find_instance(cluster(), frozenset({"127.0.0.1", "192.168.9.9", "10.1.0.6"}))
    assert (found.name, found.group, found.instance_id) == ("compute-1", "compute", "i-00000000000000006")


def test_the_agents_address_counts_when_the_other_is_not_up_yet() -> None:
    assert facts.find_instance(cluster(), frozenset({"127.0.0.1", "172.16.0.5"})).name == "login-1"


def test_an_address_in_the_vpc_counts_before_one_in_the_services_network() -> None:
    document = resource_config()
    document["InstanceGroups"][0]["Instances"][0]["AgentIpAddress"] = "10.1.0.6"
    assert facts.find_instance(cluster(document), frozenset({"10.1.0.6"})).name == "compute-1"


def test_10_an_unknown_node_is_no_compute_node() -> None:
    with pytest.raises(NotYetError, match=r"has one of this node's addresses 10\.9\.9\.9.*lists 4 instances"):
        facts.find_instance(cluster(), frozenset({"10.9.9.9"}))


def test_two_entries_with_the_same_address_are_an_error() -> None:
    document = resource_config()
    for entry in document["InstanceGroups"][2]["Instances"]:
        entry["CustomerIpAddress"] = "10.1.0.6"
    with pytest.raises(NodeError, match="several instances: compute-1, compute-2"):
        facts.find_instance(cluster(document), frozenset({"10.1.0.6"}))


def test_groups_without_instances_are_fine() -> None:
    document = resource_config()
    document["InstanceGroups"].append({"Name": "later", "InstanceType": "ml.p5.48xlarge", "Instances": None})
    document["InstanceGroups"].append({"Name": "never", "InstanceType": "ml.p5.48xlarge"})
    assert len(cluster(document).instances) == 4


@pytest.mark.parametrize(
    ("partition", "region", "suffix"),
    [
        ("aws", "us-west-2", "amazonaws.com"),
        ("aws-us-gov", "us-gov-west-1", "amazonaws.com"),
        ("aws-cn", "cn-north-1", "amazonaws.com.cn"),
    ],
)
def test_region_and_names_of_every_partition(partition: str, region: str, suffix: str) -> None:
    document = resource_config()
    document["ClusterConfig"]["ClusterArn"] = f"arn:{partition}:sagemaker:{region}:123456789012:cluster/abc"
    assert (cluster(document).region, cluster(document).dns_suffix) == (region, suffix)


@pytest.mark.parametrize("member", ["InstanceName", "InstanceId"])
def test_a_node_that_is_still_being_made_stops_no_other(member: str) -> None:
    document = resource_config()
    document["InstanceGroups"][2]["Instances"][1][member] = None
    assert facts.find_instance(cluster(document), frozenset({"10.1.0.6"})).name == "compute-1"
    with pytest.raises(NotYetError, match=r"this node's entry in resource_config\.json has no InstanceName"):
        facts.find_instance(cluster(document), frozenset({"10.1.0.7"}))


def test_a_half_written_file_is_waited_for(tmp_path: Path) -> None:
    node = bench(tmp_path)
    whole = node.read(facts.DEFAULT_PATH)
    node.context.root.write(facts.DEFAULT_PATH, whole[: len(whole) // 2])
    with pytest.raises(NotYetError, match=r"resource_config.json: not JSON: .* in line \d+, column \d+"):
        facts.read_cluster(node.context.root, {})


def test_a_missing_file_is_waited_for(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.context.root.path(facts.DEFAULT_PATH).unlink()
    with pytest.raises(NotYetError, match=r"resource_config\.json is missing or empty"):
        facts.read_cluster(node.context.root, {})


def describe(
    document: dict[str, Any], *, group: str = "compute", hook: str = "on_create", path: Path
) -> facts.Node:
    node = bench(path, group=group)
    settings = config.parse(Reader(document, "config.json"))
    seen = node.context.node
    return facts.describe(
        seen.cluster, seen.instance, settings, hook=hook, root=node.context.root, directory=path
    )


@pytest.mark.parametrize(("group", "node_type"), [("controller", "Controller"), ("login", "Login")])
def test_1_api_mode_needs_no_provisioning_parameters(tmp_path: Path, group: str, node_type: str) -> None:
    found = describe(node_config("extension"), group=group, hook="on_init_complete", path=tmp_path)
    assert (found.node_type, found.mode, found.controller_groups) == (node_type, "extension", ("controller",))


@pytest.mark.parametrize(
    ("mode", "hook"), [("extension", "on_create"), ("custom", "on_init_complete"), ("ami", "on_create")]
)
def test_the_wrong_hook_is_refused(tmp_path: Path, mode: str, hook: str) -> None:
    with pytest.raises(NodeError, match=rf"is in {mode} mode, which starts .* but {hook}\.sh was started"):
        describe(node_config(mode), hook=hook, path=tmp_path)


def test_11_a_group_without_node_type_is_no_compute_node(tmp_path: Path) -> None:
    document = node_config()
    document["groups"]["compute"]["node_type"] = None
    with pytest.raises(NodeError, match=r'groups with a node type has \["controller", "login"\]'):
        describe(document, path=tmp_path)


@pytest.mark.parametrize("member", ["mode_by_group", "groups"])
def test_11_a_group_the_deployment_does_not_know_is_an_error(tmp_path: Path, member: str) -> None:
    document = node_config()
    del document[member]["compute"]
    with pytest.raises(NodeError, match=rf"does not know the instance group compute: {member}.* has"):
        describe(document, path=tmp_path)


@pytest.mark.parametrize(
    ("group", "node_type"), [("controller", "Controller"), ("login", "Login"), ("compute", "Compute")]
)
def test_legacy_mode_takes_the_type_from_the_form(tmp_path: Path, group: str, node_type: str) -> None:
    document = node_config("legacy", mounts=[])
    for entry in document["groups"].values():
        entry["node_type"] = None
    form = json.dumps(provisioning_parameters())
    (tmp_path / provisioning.NAME).write_text(form)
    found = describe(document, group=group, path=tmp_path)
    assert (found.node_type, found.mode) == (node_type, "legacy")
    assert [(mount.mount_path, mount.mount_name) for mount in found.mounts] == [("/fsx", "abcdefgh")]


def test_11_legacy_mode_does_not_make_an_unnamed_group_compute(tmp_path: Path) -> None:
    (tmp_path / provisioning.NAME).write_text(json.dumps(provisioning_parameters(worker_groups=[])))
    with pytest.raises(NodeError, match="does not name the instance group compute; it names"):
        describe(node_config("legacy"), path=tmp_path)


def test_legacy_mode_without_the_form_says_where_it_was_sought(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="neither beside the scripts nor in /opt/ml/config"):
        describe(node_config("legacy"), path=tmp_path)


@pytest.mark.parametrize(
    ("listed", "paths"),
    [
        ({}, ["/fsx", "/home"]),
        ({"compute": [{**LUSTRE, "mount_path": "/scratch"}]}, ["/scratch"]),
        ({"login": [LUSTRE]}, []),
    ],
)
def test_legacy_mounts_are_config_jsons_where_it_has_any(
    tmp_path: Path, listed: dict[str, Any], paths: list[str]
) -> None:
    form = provisioning_parameters(fsx_openzfs_dns_name=OPENZFS["dns_name"])
    (tmp_path / provisioning.NAME).write_text(json.dumps(form))
    document = node_config("legacy", mounts=[])
    for group, mounts in listed.items():
        document["groups"][group]["mounts"] = mounts
    assert [mount.mount_path for mount in describe(document, path=tmp_path).mounts] == paths


def test_a_form_in_another_encoding_is_told(tmp_path: Path) -> None:
    # as PowerShell writes it
    form = json.dumps(provisioning_parameters())
    (tmp_path / provisioning.NAME).write_text(form, encoding="utf-16")
    with pytest.raises(NodeError, match=r"provisioning_parameters\.json: not JSON"):
        describe(node_config("legacy"), path=tmp_path)


def test_the_services_copy_of_the_form_is_found(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="legacy", legacy=provisioning_parameters())
    (node.context.directory / provisioning.NAME).unlink()
    assert node.context.node.node_type == "Compute"
    settings = node.context.config
    again = facts.describe(
        node.context.node.cluster,
        node.context.node.instance,
        settings,
        hook="on_create",
        root=node.context.root,
        directory=node.context.directory,
    )
    assert again.node_type == "Compute"
