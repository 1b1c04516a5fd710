"""Files in every form that they come in, and those that are no use."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from hyperpod_cdk.config import read_text
from hyperpod_cdk.migration import Kind, SourceError, Sources, migrate, read_sources
from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.spec import LifecycleMode, NodeType
from tests.unit.migration.samples import BY_API, LEGACY, PROVISIONING, ROLE

TEMPLATE = f"""\
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Name: {{Type: String, Default: from-template}}
  Subnets:
    Type: List<AWS::EC2::Subnet::Id>
    Default: subnet-0a1b2c3d4e5f60001, subnet-0a1b2c3d4e5f60002
  Count: {{Type: Number}}
Resources:
  Role: {{Type: AWS::IAM::Role, Properties: {{}}}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: !Ref Name
      NodeProvisioningMode: Continuous
      VpcConfig:
        Subnets: !Ref Subnets
        SecurityGroupIds: [!GetAtt Group.GroupId]
      InstanceGroups:
        - InstanceGroupName: controller
          InstanceType: ml.m5.large
          InstanceCount: "1"
          ExecutionRole: !GetAtt Role.Arn
          SlurmConfig: {{NodeType: Controller}}
          LifeCycleConfig:
            SourceS3Uri: !Sub "s3://scripts-${{AWS::Region}}/src/"
            OnCreate: on_create.sh
        - InstanceGroupName: workers
          InstanceType: ml.m5.large
          InstanceCount: !Ref Count
          ExecutionRole: {ROLE}
          SlurmConfig: {{NodeType: Compute, PartitionNames: [cpu]}}
"""


def stored(folder: Path, name: str, content: Any) -> Path:
    """A file with the content, as text or as JSON."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_request_and_its_provisioning_parameters_in_any_order(tmp_path: Path) -> None:
    files = [
        stored(tmp_path, "provisioning_parameters.json", PROVISIONING),
        stored(tmp_path, "cluster-config.json", LEGACY),
    ]
    there, back = read_sources(files), read_sources(files[::-1])
    assert (there.request, there.provisioning) == (back.request, back.provisioning) == (LEGACY, PROVISIONING)
    spec = read_text(migrate(there).text, file="x.yaml").spec
    assert spec.lifecycle.mode is LifecycleMode.LEGACY
    types = [one.slurm_config.node_type for one in spec.cluster.instance_groups if one.slurm_config]
    assert types == [NodeType.CONTROLLER, NodeType.LOGIN, NodeType.COMPUTE, NodeType.COMPUTE]


def test_provisioning_parameters_alone_leave_types_and_counts_to_be_filled_in(tmp_path: Path) -> None:
    made = migrate(read_sources([stored(tmp_path, "p.json", PROVISIONING)]))
    missing = [note.path for note in made.notes if note.kind is Kind.MISSING]
    assert not made.is_complete
    assert {"provisioning_parameters.controller_group", "provisioning_parameters.worker_groups[1]"} <= set(
        missing
    )
    data = YAML(typ="safe", pure=True).load(made.text)
    types = {group["instance_type"] for group in data["cluster"]["instance_groups"]}
    assert types == {"<fill in>"}, "nothing that could be deployed by mistake"


def test_a_template_with_parameters(tmp_path: Path) -> None:
    path = stored(tmp_path, "template.yaml", TEMPLATE)
    sources = read_sources([path], parameters={"Count": "6"}, region="eu-west-1")
    spec = read_text(migrate(sources).text, file="x.yaml").spec
    controller, workers = spec.cluster.instance_groups
    assert spec.cluster.cluster_name == "from-template"
    assert (controller.instance_count, workers.instance_count) == (1, 6)
    assert controller.life_cycle_config
    assert controller.life_cycle_config.source_s3_uri == "s3://scripts-eu-west-1/src/"
    assert spec.network.existing
    assert [one.subnet_id for one in spec.network.existing.subnets] == [
        "subnet-0a1b2c3d4e5f60001",
        "subnet-0a1b2c3d4e5f60002",
    ]


def test_what_only_a_deployment_knows_is_named(tmp_path: Path) -> None:
    made = migrate(read_sources([stored(tmp_path, "template.yaml", TEMPLATE)]))
    missing = {note.path: note.text for note in made.notes if note.kind is Kind.MISSING}
    assert {
        "VpcConfig.SecurityGroupIds[0]",
        "InstanceGroups[0].ExecutionRole",
        "InstanceGroups[0].LifeCycleConfig.SourceS3Uri",
        "InstanceGroups[1].InstanceCount",
    } <= set(missing)
    assert "Ref: Count" in missing["InstanceGroups[1].InstanceCount"]


def test_a_template_with_several_clusters_wants_a_choice(tmp_path: Path) -> None:
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": LEGACY}
    path = stored(tmp_path, "t.json", {"Resources": {"One": cluster, "Two": cluster}})
    with pytest.raises(SourceError, match="name one of One, Two with --resource"):
        read_sources([path])
    with pytest.raises(SourceError, match="no cluster has the logical id Three; there are: One, Two"):
        read_sources([path], resource="Three")
    assert read_sources([path], resource="Two").request == LEGACY


@pytest.mark.parametrize("wrap", [{}, {"Type": "AWS::SageMaker::Cluster"}])
def test_a_resource_or_its_properties_alone(tmp_path: Path, wrap: dict[str, str]) -> None:
    content = {**wrap, "Properties": BY_API} if wrap else BY_API
    assert read_sources([stored(tmp_path, "x.json", content)]).request == BY_API


def snake(value: Any) -> Any:
    """The same in snake case."""
    if isinstance(value, dict):
        return {
            re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower(): snake(item) for key, item in value.items()
        }
    return [snake(item) for item in value] if isinstance(value, list) else value


def test_requests_in_snake_case_and_with_a_comma_too_many(tmp_path: Path) -> None:
    api = {**BY_API, "InstanceGroups": BY_API["InstanceGroups"][:3]}
    assert set(snake(api)["instance_groups"][0]) >= {"life_cycle_config", "instance_storage_configs"}
    assert read_sources([stored(tmp_path, "config.yaml", snake(api))]).request == api
    both = read_sources([stored(tmp_path, "both.yaml", {**api, "tags": {"a": "b"}})])
    assert [note.path for note in migrate(both).notes if note.kind is Kind.LOST] == ["tags"]
    text = json.dumps(LEGACY).removesuffix("}") + ",}"
    with pytest.raises(ValueError, match="property name"):
        json.loads(text)
    assert read_sources([stored(tmp_path, "wizard.json", text)]).request == LEGACY


def described() -> dict[str, Any]:
    """What `aws sagemaker describe-cluster` tells of the cluster of BY_API."""
    groups = []
    for group in BY_API["InstanceGroups"]:
        renamed = {"InstanceCount": "TargetCount", "MinInstanceCount": "MinCount"}
        shown = {renamed.get(key, key): value for key, value in group.items() if not key.startswith("Image")}
        groups.append({**shown, "CurrentCount": 0, "Status": "Creating", "CurrentImageId": "ami-0123"})
    rest = {key: value for key, value in BY_API.items() if key != "Tags"}
    arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdef012345"
    return {**rest, "ClusterArn": arn, "ClusterStatus": "InService", "InstanceGroups": groups}


def test_a_living_cluster_and_its_tags(tmp_path: Path) -> None:
    tags = {"Tags": BY_API["Tags"]}
    sources = read_sources([stored(tmp_path, "d.json", described()), stored(tmp_path, "t.json", tags)])
    expected = {
        **BY_API,
        "InstanceGroups": [
            {key: value for key, value in group.items() if not key.startswith("Image")}
            for group in BY_API["InstanceGroups"]
        ],
    }
    assert sources.request == expected
    assert sources.region == "us-west-2"
    made = migrate(sources)
    assert made.is_complete
    told = {note.path for note in made.notes if note.kind is Kind.STATE}
    assert {"ClusterStatus", "InstanceGroups[0].CurrentCount", "InstanceGroups[3].CurrentImageId"} <= told
    assert "Tags" not in told
    untagged = migrate(read_sources([tmp_path / "d.json"]))
    assert "Tags" in {note.path for note in untagged.notes if note.kind is Kind.STATE}


def test_slurm_by_the_api_makes_provisioning_parameters_idle() -> None:
    made = migrate(Sources(request=BY_API, provisioning=PROVISIONING))
    (note,) = [note for note in made.notes if note.kind is Kind.LOST]
    assert note.path == "provisioning_parameters"
    assert "refuses both" in note.text


def test_own_scripts_take_the_place_of_those_in_s3() -> None:
    workers = [{"instance_group_name": "worker-group-1", "partition_name": "ml.p5.48xlarge"}]
    workers += PROVISIONING["worker_groups"][1:]
    provisioning = {**PROVISIONING, "worker_groups": workers}
    made = migrate(Sources(request=LEGACY, provisioning=provisioning), own_scripts=True)
    spec = read_text(made.text, file="x.yaml").spec
    assert spec.lifecycle.mode is LifecycleMode.EXTENSION
    assert all(group.life_cycle_config is None for group in spec.cluster.instance_groups)
    assert str(spec.cluster.orchestrator.slurm.slurm_config_strategy) == "Merge"
    lost = [note.path for note in made.notes if note.kind is Kind.LOST]
    assert lost == [f"InstanceGroups[{index}].LifeCycleConfig" for index in range(4)]
    assert errors(check(spec)) == []
    slurm = spec.cluster.instance_groups[2].slurm_config
    assert slurm
    assert list(slurm.partition_names) == ["ml-p5-48xlarge"]
    assert "InstanceGroups[2].SlurmConfig.PartitionNames" in {note.path for note in made.notes}
    heads = {**PROVISIONING, "slurm_configurations": {"slurm_database_user": "admin"}}
    with pytest.raises(SourceError, match="several controllers"):
        migrate(Sources(request=LEGACY, provisioning=heads), own_scripts=True)


def test_a_cluster_on_eks_is_refused() -> None:
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/x"
    with pytest.raises(SourceError, match="EKS"):
        migrate(Sources(request={**BY_API, "Orchestrator": {"Eks": {"ClusterArn": arn}}}))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", "{", r"a\.json:1:2: is neither JSON nor YAML"),
        ("a.yaml", "a: [", r"a\.yaml:1:5: is neither JSON nor YAML"),
        ("a.json", "[]", "holds no mapping"),
        ("a.json", {"a": 1}, r"nothing that can be migrated \(its keys: a\)"),
        ("a.json", {"Resources": {}}, "has no resource of the type AWS::SageMaker::Cluster"),
        ("a.json", {"InstanceGroups": []}, "no instance group"),
    ],
)
def test_files_of_no_use(tmp_path: Path, name: str, content: Any, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        migrate(read_sources([stored(tmp_path, name, content)]))


def test_unreadable_files_and_the_same_twice(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere\.json: no such file"):
        read_sources([tmp_path / "nowhere.json"])
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="is not UTF-8"):
        read_sources([tmp_path / "b"])
    path = stored(tmp_path, "r.json", LEGACY)
    with pytest.raises(SourceError, match="says again what"):
        read_sources([path, path])
