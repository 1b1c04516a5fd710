"""What CDK itself puts into stacks: its provider framework, unmodified, and its bucket deployment."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from aws_cdk import custom_resources

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer, needs_node

pytestmark = [
    needs_node,
    pytest.mark.skipif(
        not Path("node_modules/@aws-sdk/client-sfn").is_dir(), reason="npm ci has not been run here"
    ),
]

HANDLER = """
def on_event(event, context):
    if event["ResourceProperties"].get("Fail"):
        raise RuntimeError("on_event says no")
    return {"PhysicalResourceId": "thing", "Data": {"Started": "yes"}}

polls = 0

def is_complete(event, context):
    global polls
    polls += 1
    if polls % 3:
        return {"IsComplete": False}
    return {"IsComplete": True, "Data": {"Polls": str(polls), "Count": event["ResourceProperties"]["Count"]}}
"""


def synthesize(tmp_path: Path, *, fail: bool = False) -> Path:
    """A stack with a provider and a bucket deployment, as an assembly on disk."""
    code, scripts = tmp_path / "code", tmp_path / "scripts"
    for folder in (code, scripts):
        folder.mkdir(exist_ok=True)
    (code / "index.py").write_text(HANDLER)
    (scripts / "run.sh").write_text("#!/bin/sh\n")
    app = cdk.App(outdir=str(tmp_path / f"assembly-{fail}"), analytics_reporting=False)
    stack = cdk.Stack(app, "Stack")
    bucket = s3.Bucket(stack, "Bucket")

    def function(name: str) -> lambda_.Function:
        return lambda_.Function(
            stack,
            name,
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler=f"index.{name}",
            code=lambda_.Code.from_asset(str(code)),
        )

    provider = custom_resources.Provider(
        stack,
        "Provider",
        on_event_handler=function("on_event"),
        is_complete_handler=function("is_complete"),
        query_interval=cdk.Duration.seconds(10),
    )
    properties: dict[str, Any] = {"Count": 1, **({"Fail": True} if fail else {})}
    thing = cdk.CustomResource(stack, "Thing", service_token=provider.service_token, properties=properties)
    deployment.BucketDeployment(
        stack,
        "Scripts",
        destination_bucket=bucket,
        destination_key_prefix="one",
        prune=False,
        sources=[
            deployment.Source.asset(str(scripts)),
            deployment.Source.json_data("config.json", {"bucket": bucket.bucket_name}),
        ],
    )
    for name in ("Started", "Polls", "Count"):
        cdk.CfnOutput(stack, name, value=thing.get_att_string(name))
    return Path(app.synth().directory)


def deployable(aws: EmbeddedAws, assembly: Path) -> dict[str, Any]:
    """Upload an assembly's assets as the CDK CLI does, and give the template's sections."""
    client = aws.client("s3")
    bucket = "cdk-hnb659fds-assets-123456789012-us-west-2"
    if bucket not in {b["Name"] for b in client.list_buckets()["Buckets"]}:
        client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": aws.region})
        aws.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="99", Type="String")
    assets = json.loads((assembly / "Stack.assets.json").read_text())["files"]
    for asset in assets.values():
        (destination,) = asset["destinations"].values()
        path = assembly / asset["source"]["path"]
        client.put_object(Bucket=bucket, Key=destination["objectKey"], Body=_packed(path))
    template: dict[str, Any] = json.loads((assembly / "Stack.template.json").read_text())
    return template


def _packed(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in sorted(path.rglob("*")):
            zipped.write(file, file.relative_to(path))
    return archive.getvalue()


def test_provider_and_bucket_deployment(aws: EmbeddedAws, stack: Deployer, tmp_path: Path) -> None:
    template = deployable(aws, synthesize(tmp_path))
    resources = template.pop("Resources")
    created = stack.create(resources, **template)
    assert created.status == "CREATE_COMPLETE", aws.failures()
    # the waiter's state machine asked until the function said yes
    assert created.outputs == {"Started": "yes", "Polls": "3", "Count": "1"}
    client = aws.client("s3")
    (bucket,) = (created.id_of(name) for name, r in resources.items() if r["Type"] == "AWS::S3::Bucket")

    def file(key: str) -> bytes:
        content: bytes = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return content

    assert file("one/run.sh") == b"#!/bin/sh\n"
    assert json.loads(file("one/config.json")) == {"bucket": bucket}
    template = deployable(aws, synthesize(tmp_path, fail=True))
    failed = stack.update(template.pop("Resources"), **template)
    reason = next(reason for status, reason in failed.events("Thing") if status == "UPDATE_FAILED")
    assert "on_event says no" in reason
