"""LifecycleScripts in somebody else's stack."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.lifecycle import LifecycleBucket, LifecycleScripts
from hyperpod_cdk.lifecycle.deployed import DeployedScripts

DEPLOYMENT = "Custom::CDKBucketDeployment"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small tree of scripts."""
    root = tmp_path / "scripts"
    (root / "pkg").mkdir(parents=True)
    for name in ("on_create.sh", "on_init_complete.sh"):
        (root / name).write_bytes(b"#!/bin/bash\necho\n")
    (root / "pkg" / "main.py").write_bytes(b"print()\n")
    return root


def scripts(stack: cdk.Stack | None = None, **arguments: Any) -> LifecycleScripts:
    """Scripts deployed to an existing bucket."""
    stack = stack or cdk.Stack()
    bucket = LifecycleBucket.from_bucket(
        stack, "Bucket", s3.Bucket.from_bucket_name(stack, "Given", "scripts")
    )
    return LifecycleScripts(stack, "Scripts", bucket=bucket, **({"config": {"users": []}} | arguments))


def deployed(made: DeployedScripts) -> dict[str, bytes]:
    """Everything in the assets of the deployment, by path."""
    app = made.node.root
    assert isinstance(app, cdk.App)
    directory = Path(app.synth().directory)
    (manifest,) = directory.glob("*.assets.json")
    files: dict[str, bytes] = {}
    for asset in json.loads(manifest.read_text())["files"].values():
        path = directory / asset["source"]["path"]
        if path.is_dir() and not {"on_create.sh", "config.json"}.isdisjoint(
            child.name for child in path.iterdir()
        ):
            files |= {f.relative_to(path).as_posix(): f.read_bytes() for f in path.rglob("*") if f.is_file()}
    return files


def test_one_deployment_that_prunes_nothing(source: Path) -> None:
    made = scripts(source=source, provisioning_parameters={"version": "1.0.0"})
    template = Template.from_stack(cdk.Stack.of(made))
    template.resource_count_is(DEPLOYMENT, 1)
    template.has_resource_properties(
        DEPLOYMENT,
        {
            "DestinationBucketName": "scripts",
            "DestinationBucketKeyPrefix": made.prefix,
            "Prune": False,
            "RetainOnDelete": True,
            "OutputObjectKeys": False,
        },
    )
    assert made.source_s3_uri == f"s3://scripts/{made.prefix}/"


def test_all_is_there_with_lf_ends(source: Path, tmp_path: Path) -> None:
    (source / "on_create.sh").write_bytes(b"#!/bin/bash\r\necho\r\n")
    extra = tmp_path / "mine"
    (extra / "before.d").mkdir(parents=True)
    (extra / "before.d" / "10.sh").write_bytes(b"echo\r\n")
    files = deployed(scripts(cdk.Stack(cdk.App(), "S"), source=source, extra_files=extra))
    assert files["on_create.sh"] == b"#!/bin/bash\necho\n"
    assert files["extra/before.d/10.sh"] == b"echo\n"
    assert set(files) == {
        "on_create.sh",
        "on_init_complete.sh",
        "pkg/main.py",
        "extra/before.d/10.sh",
        "config.json",
    }


def test_the_prefix_stays_after_a_run_of_python_or_a_checkout_with_crlf(source: Path) -> None:
    before = scripts(source=source).prefix
    (source / "pkg" / "__pycache__").mkdir()
    (source / "pkg" / "__pycache__" / "main.cpython-311.pyc").write_bytes(b"\x00")
    (source / "pkg" / "main.py").write_bytes(b"print()\r\n")
    (source / "on_create.sh").chmod(0o755)
    assert scripts(source=source).prefix == before


def test_the_prefix_changes_with_everything_that_nodes_read(source: Path, tmp_path: Path) -> None:
    extra = tmp_path / "mine"
    extra.mkdir()
    (extra / "a.sh").write_text("echo\n")
    stack = cdk.Stack()
    parameter = cdk.CfnParameter(stack, "Name").value_as_string
    prefixes = [
        scripts(source=source).prefix,
        scripts(source=source, config={"users": ["alice"]}).prefix,
        scripts(source=source, provisioning_parameters={}).prefix,
        scripts(source=source, extra_files=extra).prefix,
        scripts(stack, source=source, config={"users": [parameter]}).prefix,
    ]
    (source / "pkg" / "main.py").write_text("print(1)\n")
    prefixes.append(scripts(source=source).prefix)
    assert len(set(prefixes)) == len(prefixes)


def test_values_known_only_at_deployment_keep_the_prefix_from_synth_to_synth(source: Path) -> None:
    def prefix() -> str:
        stack = cdk.Stack(cdk.App(), "S")
        bucket = s3.Bucket(stack, "Data")
        return scripts(stack, source=source, config={"b": bucket.bucket_arn, "a": stack.region}).prefix

    assert prefix() == prefix()


def test_tokens_are_filled_in_at_deployment(source: Path) -> None:
    stack = cdk.Stack()
    name = cdk.CfnParameter(stack, "Dns").value_as_string
    scripts(stack, source=source, config={"dns_name": name})
    markers = Template.from_stack(stack).find_resources(DEPLOYMENT)
    (properties,) = [resource["Properties"] for resource in markers.values()]
    assert '{"Ref": "Dns"}' in json.dumps(properties["SourceMarkers"])


def test_its_log_has_an_end_and_a_key() -> None:
    stack = cdk.Stack()
    key = kms.Key(stack, "Key")
    made = scripts(stack, encryption_key=key)
    template = Template.from_stack(stack)
    template.has_resource(
        "AWS::Logs::LogGroup",
        {
            "DeletionPolicy": "Delete",
            "Properties": {"RetentionInDays": 90, "KmsKeyId": stack.resolve(key.key_arn)},
        },
    )
    template.has_resource_properties(
        "AWS::Lambda::Function",
        {"LoggingConfig": {"LogGroup": stack.resolve(made.log_group.log_group_name)}, "MemorySize": 320},
    )


def test_a_users_own_deployments_have_their_own_function(source: Path) -> None:
    stack = cdk.Stack()
    made = scripts(stack, source=source)
    s3_deployment.BucketDeployment(
        stack,
        "Theirs",
        destination_bucket=s3.Bucket(stack, "Bucket2"),
        sources=[s3_deployment.Source.asset(str(source))],
        memory_limit=256,
    )
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::Lambda::Function", 2)
    logged = template.find_resources(
        "AWS::Lambda::Function",
        {"Properties": {"LoggingConfig": {"LogGroup": stack.resolve(made.log_group.log_group_name)}}},
    )
    assert len(logged) == 1


@pytest.mark.parametrize("region", [None, "us-gov-west-1", "cn-north-1"])
def test_the_bucket_is_named_by_a_token_as_well(region: str | None) -> None:
    stack = cdk.Stack(
        cdk.App(), "S", env=cdk.Environment(account="111122223333", region=region) if region else None
    )
    made = LifecycleScripts(stack, "Scripts", bucket=LifecycleBucket(stack, "Bucket"), config={})
    uri = stack.resolve(made.source_s3_uri)
    first, name, last = uri["Fn::Join"][1]
    assert first == "s3://"
    assert last == f"/{made.prefix}/"
    Template.from_stack(stack).has_resource_properties(DEPLOYMENT, {"DestinationBucketName": name})


def test_all_that_is_missing_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConstructError) as refused:
        scripts(source=tmp_path, extra_files=tmp_path / "nowhere")
    said = str(refused.value)
    assert len(refused.value.faults) == 3
    assert "on_create.sh" in said
    assert "on_init_complete.sh" in said
    assert str(tmp_path / "nowhere") in said


def test_a_link_in_a_circle_is_said(source: Path) -> None:
    (source / "again").symlink_to(source, target_is_directory=True)
    with pytest.raises(ConstructError, match="leads back"):
        scripts(source=source)


def test_a_missing_folder_of_scripts_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConstructError, match="source must be a folder"):
        scripts(source=tmp_path / "nowhere")


def test_legacy_parameters_are_there_only_on_request() -> None:
    template = Template.from_stack(cdk.Stack.of(scripts()))
    template.has_resource_properties(DEPLOYMENT, {"SourceObjectKeys": Match.any_value()})
    (properties,) = [r["Properties"] for r in template.find_resources(DEPLOYMENT).values()]
    assert len(properties["SourceObjectKeys"]) == 2
