"""The embedded AWS as a whole: its environment, and that nothing of it stays."""

import os
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws


def test_environment_is_the_embedded_aws_and_nothing_of_the_users(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "real")
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "111122223333")
    monkeypatch.setenv("HOME_MADE", "kept")
    environment = aws.environment()
    assert environment["AWS_ENDPOINT_URL"] == aws.endpoint
    assert environment["AWS_REGION"] == environment["CDK_DEFAULT_REGION"] == "us-west-2"
    assert environment["CDK_DEFAULT_ACCOUNT"] == "123456789012"
    assert environment["HOME_MADE"] == "kept"
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN"} & environment.keys()
    assert environment["AWS_CONFIG_FILE"] == environment["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull


def test_zone_ids_are_those_of_the_region(aws: EmbeddedAws) -> None:
    zones = aws.client("ec2").describe_availability_zones()["AvailabilityZones"]
    assert set(aws.availability_zone_ids) == {zone["ZoneId"] for zone in zones}
    assert all(zone.startswith("usw2-az") for zone in aws.availability_zone_ids)


def test_there_is_one_at_a_time(aws: EmbeddedAws) -> None:
    with pytest.raises(RuntimeError, match="runs in this process already"), EmbeddedAws():
        pass


def test_answer_to_nobody_goes_to_moto(aws: EmbeddedAws) -> None:
    request = urllib.request.Request(
        f"{aws.endpoint}/cloudformation-answers/unknown", method="PUT", data=b"{}"
    )
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request)


# in a process of its own: the embedded AWS of the other tests must not be in the way
_LIFE = """
import gc, io, json, subprocess, sys, zipfile
from moto.awslambda.models import LambdaBackend
from moto.cloudformation import urls
from hyperpod_cdk.rehearsal.aws import EmbeddedAws

invoke, paths = LambdaBackend.invoke, dict(urls.url_paths)
code = io.BytesIO()
with zipfile.ZipFile(code, "w") as zipped:
    zipped.writestr("index.py", "import os\\ndef handler(event, context): return os.getpid()")
endpoints = set()
for turn in range(2):
    try:
        with EmbeddedAws() as aws:
            endpoints.add(aws.endpoint)
            assert aws.client("s3").list_buckets()["Buckets"] == [], "the last one's buckets are here"
            aws.client("s3").create_bucket(
                Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
            )
            role = aws.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
            aws.client("lambda").create_function(
                FunctionName="f", Runtime="python3.13", Role=role, Handler="index.handler",
                Code={"ZipFile": code.getvalue()},
            )
            pid = json.loads(aws.client("lambda").invoke(FunctionName="f")["Payload"].read())
            assert subprocess.run(["kill", "-0", str(pid)]).returncode == 0
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    gone = subprocess.run(["kill", "-0", str(pid)], stderr=subprocess.DEVNULL).returncode
    assert gone, "the function's process is still there"
assert LambdaBackend.invoke is invoke and urls.url_paths == paths, "moto stays patched"
print("clean", len(endpoints))
"""


def test_nothing_stays_after_an_interruption() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_LIFE)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("clean"), done.stderr
