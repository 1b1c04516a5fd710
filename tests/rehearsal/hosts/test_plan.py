"""Plans: what the service's agents and the deployment tell the hosts."""

import json
from typing import Any

from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, OPENZFS, Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.service_plan import ServicePlan

REQUEST: dict[str, Any] = {
    "InstanceGroups": [
        {
            "InstanceGroupName": "head",
            "InstanceCount": 1,
            "SlurmConfig": {"NodeType": "Controller"},
            "LifeCycleConfig": {"SourceS3Uri": "s3://bucket/a", "OnInitComplete": "on_init_complete.sh"},
            "InstanceStorageConfigs": [
                {"EbsVolumeConfig": {"VolumeSizeInGB": 100}},
                {"FsxLustreConfig": {"DnsName": "fs-1.example", "MountName": "abcd"}},
                {"FsxOpenZfsConfig": {"DnsName": "fs-2.example", "MountPath": "/people"}},
            ],
        },
        {
            "InstanceGroupName": "gpu",
            "InstanceCount": 2,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["big"]},
            "LifeCycleConfig": {"SourceS3Uri": "s3://bucket/a", "OnCreate": "on_create.sh"},
        },
        {"InstanceGroupName": "bare", "InstanceCount": 0, "SlurmConfig": {"NodeType": "Compute"}},
    ]
}
RESOURCE_CONFIG: dict[str, Any] = {
    "ClusterConfig": {"ClusterName": "c", "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/x"},
    "InstanceGroups": [
        {
            "Name": "head",
            "InstanceType": "ml.c5.xlarge",
            "Instances": [
                {"InstanceName": "head-1", "CustomerIpAddress": "10.0.0.4", "AgentIpAddress": "172.16.0.1"}
            ],
        },
        {"Name": "gpu", "InstanceType": "ml.p5.48xlarge", "Instances": []},
    ],
}
FILE_SYSTEMS: list[dict[str, Any]] = [
    {"FileSystemType": "LUSTRE", "DNSName": "fs-1.example", "LustreConfiguration": {"MountName": "abcd"}},
    {"FileSystemType": "OPENZFS", "DNSName": "fs-2.example"},
]


def learnt() -> ServicePlan:
    plan = ServicePlan()
    plan.learn(REQUEST, RESOURCE_CONFIG, file_systems=FILE_SYSTEMS, legacy=None)
    return plan


def test_a_request_becomes_what_agents_are_told() -> None:
    groups = learnt().told()["groups"]
    assert {
        name: (group["mode"], group["node_type"], group["partition"]) for name, group in groups.items()
    } == {
        "head": ("extension", "Controller", "dev"),
        "gpu": ("custom", "Compute", "big"),
        "bare": ("ami", "Compute", "dev"),
    }
    paths = {mount["dns_name"]: mount["mount_path"] for mount in groups["head"]["mounts"]}
    assert paths == {"fs-1.example": "/fsx", "fs-2.example": "/people"}


def test_the_legacy_form_says_what_groups_are() -> None:
    form = {
        "controller_group": "bare",
        "login_group": "head",
        "worker_groups": [{"instance_group_name": "gpu", "partition_name": "p"}],
    }
    request = {"InstanceGroups": [{**group, "SlurmConfig": None} for group in REQUEST["InstanceGroups"]]}
    plan = ServicePlan()
    plan.learn(request, RESOURCE_CONFIG, file_systems=[], legacy=form)
    found = {group.name: (group.node_type, group.partition, group.mode) for group in plan.groups}
    assert found == {
        "head": ("Login", "dev", "extension"),
        "gpu": ("Compute", "p", "legacy"),
        "bare": ("Controller", "dev", "ami"),
    }


def test_names_of_file_systems_keep_their_addresses() -> None:
    plan = learnt()
    before = dict(plan.names)
    plan.learn(REQUEST, RESOURCE_CONFIG, file_systems=list(reversed(FILE_SYSTEMS)), legacy=None)
    assert plan.names == before
    assert len(set(before.values())) == 2


def test_mounts_read_as_the_kernel_would_show_them() -> None:
    plan = Plan(groups=usual_groups(1, mounts=[LUSTRE, OPENZFS]))
    address = plan.names[LUSTRE["dns_name"]]
    assert plan.source(LUSTRE) == f"{address}@tcp:/abcdefgh"
    assert plan.source(OPENZFS) == f"{OPENZFS['dns_name']}:/fsx"


def test_a_plan_that_grows_and_loses_nodes_gives_no_address_twice() -> None:
    plan = Plan(groups=usual_groups(2))
    plan.add("compute", 2)
    gone = plan.nodes()["compute-1"]
    plan.replace("compute-1")
    plan.remove("compute-2")
    plan.add("compute", 1)
    nodes = plan.nodes()
    assert [name for name in nodes if name.startswith("compute")] == [
        "compute-1",
        "compute-3",
        "compute-4",
        "compute-5",
    ]
    addresses = [entry["CustomerIpAddress"] for entry in nodes.values()]
    assert len(set(addresses)) == len(addresses)
    assert gone["CustomerIpAddress"] not in addresses
    assert set(plan.metadata()) == set(addresses)


def test_the_deployment_holds_scripts_and_config_without_their_tests() -> None:
    files = Plan(groups=usual_groups(1), mode="legacy", files={"on_create.sh": b"mine"}).content()
    assert files["on_create.sh"] == b"mine"
    assert json.loads(files["config.json"])["mode_by_group"]["controller"] == "legacy"
    assert json.loads(files["provisioning_parameters.json"])["controller_group"] == "controller"
    assert "hyperpod_node/main.py" in files
    assert "README.md" not in files
