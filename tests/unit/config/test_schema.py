"""The JSON Schema for editors."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from hyperpod_cdk import spec
from hyperpod_cdk.config import schema

EXAMPLES = sorted(Path("clusters").glob("*.yaml"))


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    """Checks documents as an editor does."""
    jsonschema.Draft7Validator.check_schema(schema())
    return jsonschema.Draft7Validator(schema())


def document(path: Path) -> Any:
    """The plain content of a YAML file."""
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid_and_name_the_schema(path: Path, validator: jsonschema.Draft7Validator) -> None:
    assert [error.message for error in validator.iter_errors(document(path))] == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../docs/schema.json"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("cluster", "node_recovery"), "auto"),
        (("cluster", "nodes"), 1),
        (("cluster", "instance_groups", 0, "instance_count"), "1"),
        (("storage", "shared", "file_system_type"), "NFS"),
        (("storage", "shared", "capacity"), 1),
        (("termination_protection",), "yes"),
    ],
)
def test_editors_mark_faults(
    path: tuple[str | int, ...], value: object, validator: jsonschema.Draft7Validator
) -> None:
    content = document(Path("clusters/slurm-minimal.yaml"))
    part = content
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    assert list(validator.iter_errors(content))


def test_a_file_system_without_its_kind_is_marked(validator: jsonschema.Draft7Validator) -> None:
    content = document(Path("clusters/slurm-minimal.yaml"))
    del content["storage"]["shared"]["file_system_type"]
    assert list(validator.iter_errors(content))


def test_every_class_is_closed_and_every_documented_field_described() -> None:
    definitions = schema()["definitions"]
    for name, definition in definitions.items():
        if definition["type"] == "object":
            assert definition["additionalProperties"] is False, name
            assert set(definition["properties"]) == {field.name for field in fields(getattr(spec, name))}
    node_type = definitions["SlurmConfig"]["properties"]["node_type"]
    assert node_type["description"].startswith("Role of an instance group's nodes"), "what its type says"
    capacity = definitions["LustreFileSystem"]["properties"]["capacity_gib"]
    assert capacity["description"].startswith("GiB. Default: 1200")
    assert definitions["Cluster"]["properties"]["node_provisioning_mode"]["default"] == "Continuous"
    assert definitions["NodeType"]["enum"] == ["Controller", "Login", "Compute"]
    assert "``" not in json.dumps(schema())


def test_editors_offer_the_known_types_and_take_others(validator: jsonschema.Draft7Validator) -> None:
    offered = schema()["definitions"]["InstanceGroup"]["properties"]["instance_type"]["examples"]
    assert "ml.p5.48xlarge" in offered
    assert len(offered) > 200
    content = document(Path("clusters/slurm-minimal.yaml"))
    content["cluster"]["instance_groups"][0]["instance_type"] = "ml.p9.48xlarge"
    assert list(validator.iter_errors(content)) == []


def test_editors_offer_what_is_known_of_eks(validator: jsonschema.Draft7Validator) -> None:
    definitions = schema()["definitions"]
    offered = definitions["InstanceGroup"]["properties"]["instance_type"]["examples"]
    assert definitions["InstanceRequirements"]["properties"]["instance_types"]["items"]["examples"] == offered
    assert definitions["ComputeQuotaResource"]["properties"]["instance_type"]["examples"] == offered
    assert "1.33" in definitions["EksOrchestrator"]["properties"]["kubernetes_version"]["examples"]
    assert "AmazonEKSViewPolicy" in definitions["AccessPolicy"]["properties"]["name"]["examples"]
    parts = definitions["HelmChart"]["properties"]["sub_charts"]["properties"]
    assert parts["mpi-operator"] == {"type": "boolean"}
    content = document(Path("clusters/eks-minimal.yaml"))
    eks = content["cluster"]["orchestrator"]["eks"]
    eks["kubernetes_version"] = "1.99"
    eks["helm_chart"]["sub_charts"] = {"time-machine": True}
    assert list(validator.iter_errors(content)) == []
    eks["helm_chart"]["sub_charts"] = {"mpi-operator": "no"}
    assert list(validator.iter_errors(content))


def test_whatever_an_editor_takes_can_be_read() -> None:
    """The schema's defaults, written out, are values of their fields."""
    definitions = schema()["definitions"]
    for name, definition in definitions.items():
        for key, field in definition.get("properties", {}).items():
            if "default" in field:
                part = {**field, "definitions": definitions}
                assert jsonschema.Draft7Validator(part).is_valid(field["default"]), f"{name}.{key}"
