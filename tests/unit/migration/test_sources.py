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
from hyperpod_cdk.spec import AddOn, EnvironmentConfig, LifecycleMode, NodeType
from tests.unit.migration.samples import BY_API, LEGACY, ON_EKS, PROVISIONING, ROLE

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


def test_groups_that_only_the_sample_names_are_no_groups() -> None:
    """The samples have a login group; the request, or the cluster that is there, tells what there is."""
    controller, _, worker, _ = LEGACY["InstanceGroups"]
    made = migrate(
        Sources(request={**LEGACY, "InstanceGroups": [controller, worker]}, provisioning=PROVISIONING)
    )
    spec = read_text(made.text, file="x.yaml").spec
    names = [group.instance_group_name for group in spec.cluster.instance_groups]
    assert names == ["controller-machine", "worker-group-1"]
    assert made.is_complete
    told = {note.path: str(note) for note in made.notes if "left out" in note.text}
    assert list(told) == [
        "provisioning_parameters.login_group",
        "provisioning_parameters.worker_groups[1]",
    ]
    assert "no group login-group" in told["provisioning_parameters.login_group"]


def test_a_controller_that_no_request_has_is_to_be_filled_in() -> None:
    made = migrate(
        Sources(request={**LEGACY, "InstanceGroups": LEGACY["InstanceGroups"][1:]}, provisioning=PROVISIONING)
    )
    (note,) = [note for note in made.notes if note.kind is Kind.MISSING]
    assert note.path == "provisioning_parameters.controller_group"


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"Orchestrator": {"Eks": {}}}, "cluster_arn is needed"),
        ({"RestrictedInstanceGroups": [], "InstanceGroups": []}, "no instance group"),
    ],
)
def test_what_a_request_for_eks_needs(content: dict[str, Any], reason: str) -> None:
    request = {**ON_EKS, **content}
    if "needed" in reason:
        (note,) = [note for note in migrate(Sources(request=request)).notes if note.kind is Kind.MISSING]
        assert (note.path, reason in note.text) == ("Orchestrator.Eks.ClusterArn", True)
    else:
        with pytest.raises(SourceError, match=reason):
            migrate(Sources(request=request))


@pytest.mark.parametrize("value", ["EKS", [], {"Eks": []}, {"Eks": "x"}, {"Eks": {"ClusterArn": 1}}])
def test_what_is_no_orchestrator_is_told(value: Any) -> None:
    made = migrate(Sources(request={**ON_EKS, "Orchestrator": value, "InstanceGroups": ["x", {}]}))
    assert not made.is_complete


def test_restricted_groups_alone_are_a_cluster(tmp_path: Path) -> None:
    request = {key: value for key, value in ON_EKS.items() if key != "InstanceGroups"}
    made = migrate(read_sources([stored(tmp_path, "nova.json", request)]))
    (group,) = read_text(made.text, file="x.yaml").spec.cluster.instance_groups
    assert group.environment_config == EnvironmentConfig()


def test_the_tag_of_the_training_operator_decides_on_it() -> None:
    made = migrate(Sources(request=ON_EKS))
    spec = read_text(made.text, file="x.yaml").spec
    assert spec.cluster.orchestrator.eks
    assert spec.cluster.orchestrator.eks.training_operator == AddOn()
    assert spec.cluster.tags == {"team": "research"}
    assert "training_operator: null" in next(note.text for note in made.notes if note.path == "Tags")
    for tags in ([], [{"Key": "SageMaker", "Value": "false"}]):
        spec = read_text(migrate(Sources(request={**ON_EKS, "Tags": tags})).text, file="x.yaml").spec
        assert spec.cluster.orchestrator.eks
        assert spec.cluster.orchestrator.eks.training_operator is None
        assert dict(spec.cluster.tags) == {one["Key"]: one["Value"] for one in tags}


def test_a_node_for_the_training_operator_is_told() -> None:
    groups = [{**group, "MinInstanceCount": None} for group in ON_EKS["InstanceGroups"]]
    groups[0]["InstanceCount"] = 0
    path = "InstanceGroups[1].MinInstanceCount"
    request = {**ON_EKS, "InstanceGroups": groups}
    assert path in {note.path for note in migrate(Sources(request=request)).notes}
    changes: tuple[dict[str, Any], ...] = (
        {"Tags": []},
        {"NodeProvisioningMode": None},
        {"InstanceGroups": ON_EKS["InstanceGroups"]},
    )
    for change in changes:
        made = migrate(Sources(request={**request, **change}))
        assert not [note.path for note in made.notes if note.path.endswith("MinInstanceCount")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"AutoScaling": {"Mode": "Disable"}}, {"AutoScaling": Kind.CHANGED, "ClusterRole": Kind.LOST}),
        (
            {"AutoScaling": {"AutoScalerType": "Karpenter"}},
            {"AutoScaling": Kind.LOST, "ClusterRole": Kind.LOST},
        ),
        ({"AutoScaling": {"Mode": "Enable"}}, {"AutoScaling.AutoScalerType": Kind.CHANGED}),
        ({"ClusterRole": None}, {"ClusterRole": Kind.CHANGED}),
        ({"TieredStorageConfig": {"Mode": "Disable"}}, {"TieredStorageConfig": Kind.CHANGED}),
        ({"TieredStorageConfig": {"Mode": "Enable"}}, {}),
    ],
)
def test_switches(content: dict[str, Any], told: dict[str, Kind]) -> None:
    made = migrate(Sources(request={**ON_EKS, **content}))
    found = [(note.path, note.kind) for note in made.notes if note.path != "Tags"]
    assert sorted(found) == sorted(told.items())
    spec = read_text(made.text, file="x.yaml").spec
    given = {**ON_EKS, **content}
    assert (spec.cluster.auto_scaling is not None) is (given["AutoScaling"].get("Mode") == "Enable")
    assert (spec.cluster.tiered_storage_config is not None) is (
        given["TieredStorageConfig"]["Mode"] == "Enable"
    )


@pytest.mark.parametrize("date", [1798686000, "!!timestamp 2026-12-31T03:00:00Z"])
def test_dates_that_are_no_text(tmp_path: Path, date: Any) -> None:
    text = json.dumps(ON_EKS).replace('"2026-12-31T03:00:00Z"', str(date))
    made = migrate(read_sources([stored(tmp_path, "x.yaml", text)]))
    group = read_text(made.text, file="x.yaml").spec.cluster.instance_groups[0]
    assert group.auto_patch_config
    assert group.auto_patch_config.next_patch_date == "2026-12-31T03:00:00Z"


def on_eks_described() -> dict[str, Any]:
    """What `aws sagemaker describe-cluster` tells of the cluster of ON_EKS, half way to it."""
    described = json.loads(json.dumps({key: value for key, value in ON_EKS.items() if key != "Tags"}))
    for group in [*described["InstanceGroups"], *described["RestrictedInstanceGroups"]]:
        group["TargetCount"] = group.pop("InstanceCount")
        group |= {"CurrentCount": 1, "Status": "Updating"}
        if "MinInstanceCount" in group:
            group["MinCount"] = group.pop("MinInstanceCount")
        group.pop("ImageReleaseVersion", None)
    gpu, flexible = described["InstanceGroups"]
    gpu["KubernetesConfig"] = {
        "DesiredLabels": gpu["KubernetesConfig"]["Labels"],
        "CurrentLabels": {"CurrentThing": "old"},
    }
    schedule = gpu["AutoPatchConfig"].pop("PatchSchedule")
    gpu["AutoPatchConfig"] |= {"DesiredPatchSchedule": schedule, "CurrentPatchSchedule": {}}
    types = flexible["InstanceRequirements"]["InstanceTypes"]
    flexible["InstanceRequirements"] = {"DesiredInstanceTypes": types, "CurrentInstanceTypes": types[:1]}
    # what is the same on every node may come once
    flexible["KubernetesConfig"] = {"CurrentTaints": flexible["KubernetesConfig"]["Taints"]}
    shared = described["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    described["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"] = {
        f"{prefix}{key}": value for key, value in shared.items() for prefix in ("Desired", "Current")
    }
    described["RestrictedInstanceGroups"][0]["EnvironmentConfig"] = {"S3OutputPath": "s3://service/nova/"}
    described["AutoScaling"]["Status"] = "InService"
    arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdef012345"
    return {**described, "ClusterArn": arn, "ClusterStatus": "Updating"}


def test_a_living_cluster_on_eks(tmp_path: Path) -> None:
    paths = [
        stored(tmp_path, "d.json", on_eks_described()),
        stored(tmp_path, "t.json", {"Tags": ON_EKS["Tags"]}),
    ]
    sources = read_sources(paths)
    expected = json.loads(json.dumps(ON_EKS))
    del expected["InstanceGroups"][1]["ImageReleaseVersion"]
    assert sources.request == expected
    made = migrate(sources)
    assert made.is_complete
    told = {note.path for note in made.notes if note.kind is Kind.STATE}
    assert {
        "InstanceGroups[0].KubernetesConfig.CurrentLabels",
        "InstanceGroups[0].AutoPatchConfig.CurrentPatchSchedule",
        "InstanceGroups[1].InstanceRequirements.CurrentInstanceTypes",
        "RestrictedInstanceGroups[0].CurrentCount",
        "RestrictedInstanceGroups[0].EnvironmentConfig.S3OutputPath",
        "RestrictedInstanceGroupsConfig.SharedEnvironmentConfig.CurrentFSxLustreConfig",
        "AutoScaling.Status",
    } <= told


def test_labels_of_a_living_cluster_keep_their_names(tmp_path: Path) -> None:
    described = on_eks_described()
    described["InstanceGroups"][0]["KubernetesConfig"] = {"DesiredLabels": {"CurrentThing": "x"}}
    request = read_sources([stored(tmp_path, "d.json", described)]).request
    assert request
    assert request["InstanceGroups"][0]["KubernetesConfig"] == {"Labels": {"CurrentThing": "x"}}


def test_a_cluster_on_eks_in_a_template(tmp_path: Path) -> None:
    properties = {
        **ON_EKS,
        "Orchestrator": {
            "Eks": {"ClusterArn": {"Fn::Sub": "arn:aws:eks:${AWS::Region}:111122223333:cluster/${Name}"}}
        },
    }
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": properties}
    template = {"Parameters": {"Name": {"Type": "String", "Default": "p"}}, "Resources": {"Cluster": cluster}}
    path = stored(tmp_path, "t.json", template)
    spec = read_text(migrate(read_sources([path], region="us-west-2")).text, file="x.yaml").spec
    assert spec.cluster.orchestrator.eks
    assert spec.cluster.orchestrator.eks.cluster_arn == "arn:aws:eks:us-west-2:111122223333:cluster/p"
    unknown = {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Platform", "Arn"]}}}
    cluster["Properties"] = {**ON_EKS, "Orchestrator": unknown}
    made = migrate(read_sources([stored(tmp_path, "u.json", template)]))
    missing = [note.path for note in made.notes if note.kind is Kind.MISSING]
    assert missing == ["Orchestrator.Eks.ClusterArn"]


def test_scripts_and_slurm_beside_eks() -> None:
    made = migrate(Sources(request=ON_EKS, provisioning=PROVISIONING), own_scripts=True)
    lost = [note.path for note in made.notes if note.kind is Kind.LOST]
    assert lost == [
        "provisioning_parameters",
        "InstanceGroups[0].LifeCycleConfig",
        "InstanceGroups[1].LifeCycleConfig",
    ]
    spec = read_text(made.text, file="x.yaml").spec
    assert all(group.life_cycle_config is None for group in spec.cluster.instance_groups)
    assert errors(check(spec)) == []


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
