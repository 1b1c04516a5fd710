"""Rules of where on the nodes things are set up, and on which of them (HP354, HP487 to HP497)."""

from typing import Any

import pytest

from hyperpod_cdk.spec import (
    Account,
    Accounting,
    Association,
    BucketMount,
    Containers,
    Directory,
    Downloads,
    LifecycleMode,
    Mount,
    NodeType,
    OwnStep,
    Qos,
)
from tests.unit.rules.specs import NUMBER_TOKEN, REMOVED, TEXT_TOKEN, changed, findings, full_path

PLACE = "lifecycle.containers.data_directory"
HOMEDIR = "lifecycle.directory.override_homedir"
NODE_TYPES = "lifecycle.directory.node_types"
PARTITION = "lifecycle.accounting.associations[0].partition"
FACTOR = "lifecycle.accounting.qos[0].usage_factor"
CUSTOM = {"lifecycle.mode": LifecycleMode.CUSTOM}
ALL = tuple(NodeType)
LUSTRE = (Mount(storage="scratch"),)
WITHOUT_LOGIN = {"login": REMOVED}
COMPUTE, LOGIN = (NodeType.COMPUTE,), (NodeType.LOGIN,)


def people(home: Any = None, node_types: Any = ()) -> dict[str, Any]:
    directory = Directory(
        domain="example.com",
        uris=("ldaps://ldap.example.com",),
        search_base="dc=example,dc=com",
        override_homedir=home,
        node_types=node_types,
    )
    return {"lifecycle.directory": directory}


def data(place: Any, *, docker: bool = True, mode: LifecycleMode = LifecycleMode.CUSTOM) -> dict[str, Any]:
    containers = Containers(data_directory=place, docker=docker)
    return {"lifecycle.mode": mode, "lifecycle.containers": containers}


def step(**members: Any) -> dict[str, Any]:
    given = {"name": "data", "script": "eks/disk.sh", **members}
    return {"lifecycle.extra_files": "lifecycle_scripts", "lifecycle.steps": (OwnStep(**given),)}


def mounted(**members: Any) -> dict[str, Any]:
    given = {"bucket": "data-bucket", "mount_path": "/data", **members}
    return {"lifecycle.bucket_mounts": (BucketMount(**given),)}


def share(partition: Any) -> dict[str, Any]:
    association = Association(user="ada", account="lab", partition=partition)
    accounting = Accounting(accounts=(Account(name="lab"),), associations=(association,))
    return {"lifecycle.accounting": accounting}


def used(factor: Any) -> dict[str, Any]:
    return {"lifecycle.accounting": Accounting(qos=(Qos(name="high", usage_factor=factor),))}


KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    *(
        ("HP487", people(home), paths)
        for home, paths in (
            (None, []),
            ("/fsx/home/%u", []),
            ("%H/%U", []),
            ("/fsx/%d/%l/%f", []),
            (TEXT_TOKEN, []),
            ("/fsx/home", [HOMEDIR]),
            ("/fsx/%%u", [HOMEDIR]),
            ("fsx/home/%u", [HOMEDIR]),
        )
    ),
    ("HP488", people(), []),
    ("HP488", people(node_types=ALL), []),
    ("HP488", people(node_types=(TEXT_TOKEN,)), []),
    ("HP488", people(node_types=LOGIN), [NODE_TYPES]),
    ("HP488", {**people(node_types=(NodeType.CONTROLLER, *COMPUTE)), **WITHOUT_LOGIN}, []),
    ("HP489", step(), []),
    ("HP489", step(node_types=LOGIN), []),
    ("HP489", step(node_types=COMPUTE, instance_groups=("compute", "login")), []),
    ("HP489", step(node_types=LOGIN, instance_groups=(TEXT_TOKEN,)), []),
    ("HP489", step(node_types=LOGIN, instance_groups=("compute",)), ["lifecycle.steps[0].node_types"]),
    ("HP489", step(instance_groups=("comptue",)), ["lifecycle.steps[0].instance_groups"]),
    ("HP489", {**step(node_types=LOGIN), **WITHOUT_LOGIN}, ["lifecycle.steps[0].node_types"]),
    ("HP489", mounted(node_types=LOGIN), []),
    (
        "HP489",
        {**mounted(node_types=LOGIN), **WITHOUT_LOGIN},
        ["lifecycle.bucket_mounts[0].node_types"],
    ),
    ("HP489", {**people(node_types=LOGIN), **WITHOUT_LOGIN}, [NODE_TYPES]),
    ("HP354", {}, []),
    ("HP354", {"controller.mounts": LUSTRE}, []),
    ("HP354", {"compute.mounts": ()}, []),
    ("HP354", {"compute.mounts": (Mount(storage=TEXT_TOKEN), *LUSTRE)}, []),
    ("HP354", {"compute.mounts": LUSTRE, "lifecycle.users": ()}, []),
    ("HP354", {"compute.mounts": LUSTRE}, ["compute.mounts"]),
    ("HP354", {"compute.mounts": LUSTRE, "compute.lifecycle_mode": LifecycleMode.AMI}, []),
    ("HP354", {"compute.mounts": (Mount(storage="home", mount_path="/homes"),)}, ["compute.mounts"]),
    ("HP354", {"controller.mounts": LUSTRE, **WITHOUT_LOGIN}, ["cluster.instance_groups[1].mounts"]),
    ("HP495", data("/opt/sagemaker/containers"), []),
    ("HP495", data("/fsx-local"), []),
    ("HP495", data("/fsx/containers", docker=False), []),
    ("HP495", data(TEXT_TOKEN), []),
    ("HP495", data("/fsx/containers"), [PLACE]),
    ("HP495", data("/home"), [PLACE]),
    ("HP496", data("/opt/sagemaker/containers"), []),
    ("HP496", data(None, mode=LifecycleMode.EXTENSION), []),
    ("HP496", data(TEXT_TOKEN, mode=LifecycleMode.EXTENSION), []),
    ("HP496", data("/opt/sagemaker/x", mode=LifecycleMode.EXTENSION), [PLACE]),
    (
        "HP496",
        {
            **data("/opt/sagemaker/x", mode=LifecycleMode.EXTENSION),
            "compute.lifecycle_mode": LifecycleMode.CUSTOM,
        },
        [],
    ),
    ("HP497", share("gpu"), []),
    ("HP497", share("dev"), []),
    ("HP497", share(None), []),
    ("HP497", share(TEXT_TOKEN), []),
    ("HP497", share("gup"), [PARTITION]),
    ("HP479", used(0.0), []),
    ("HP479", used(NUMBER_TOKEN), []),
    ("HP479", used(-0.1), [FACTOR]),
    ("HP479", used(float("nan")), [FACTOR]),
    ("HP479", used(float("inf")), [FACTOR]),
    ("HP485", step(environment={"FOO_1": "a"}), []),
    ("HP485", step(environment={TEXT_TOKEN: "a"}), []),
    ("HP485", step(environment={"FOO-1": "a"}), ["lifecycle.steps[0].environment"]),
    ("HP485", step(script="eks/no-such.sh"), ["lifecycle.steps[0].script"]),
    ("HP482", mounted(mount_path="/usr/bin"), ["lifecycle.bucket_mounts[0].mount_path"]),
    ("HP482", mounted(mount_path="/opt/slurm"), ["lifecycle.bucket_mounts[0].mount_path"]),
    ("HP130", mounted(kms_key_arn=KEY), []),
    ("HP130", mounted(kms_key_arn=TEXT_TOKEN), []),
    ("HP130", mounted(kms_key_arn="data"), ["lifecycle.bucket_mounts[0].kms_key_arn"]),
    ("HP132", {"lifecycle.downloads": Downloads(folder="lifecycle_scripts")}, []),
    ("HP132", {"lifecycle.downloads": Downloads(folder="no-such")}, ["lifecycle.downloads.folder"]),
    ("HP132", {"lifecycle.downloads": Downloads(folder=TEXT_TOKEN)}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]
