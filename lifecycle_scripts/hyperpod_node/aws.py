"""What is asked of AWS from a node, by the AWS CLI that every HyperPod image has.

The CLI and not a signer of our own: AWS's own lifecycle scripts read a secret with it, and it knows every way
in which a node may be given its role, and the endpoints of a VPC, of FIPS and of other partitions.
"""

from __future__ import annotations

import json
from pathlib import Path

from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError

SECRET_ADVICE = (
    "the group's execution role needs secretsmanager:GetSecretValue on this secret, kms:Decrypt on its key, "
    "and the node a way to Secrets Manager: an interface endpoint or the internet"
)
# S3 says that there is no such object, or, to those who may not list the bucket, that they may not read it
NO_OBJECT = ("(404)", "(403)", "(NoSuchKey)", "(NoSuchBucket)", "(AccessDenied)")
COPY_LIMIT_SECONDS = 60


def read_secret(context: Context, arn: str) -> dict[str, str]:
    """A secret of Secrets Manager whose text is a JSON object; nothing of it is logged.

    Raises:
        NodeError: it can not be read, or is no JSON object of texts and numbers.
    """
    arguments = ("--secret-id", arn, "--query", "SecretString", "--output", "text", "--region", _region(arn))
    done = context.commands.run(
        "aws",
        "secretsmanager",
        "get-secret-value",
        *arguments,
        attempts=4,
        timeout_seconds=30,
        advice=SECRET_ADVICE,
    )
    try:
        # the CLI may warn of something first; the error's own text would show a part of the secret
        found = json.loads(done.text[done.text.find("{") : done.text.rfind("}") + 1])
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NodeError(f"secret {arn} is no JSON object", advice="store it as user name and password pairs")
    return {str(name): str(value) for name, value in found.items() if isinstance(value, str | int)}


def copy_from_bucket(context: Context, source: str, target: Path) -> str:
    """Copy an object to a file, and say why that is not possible; empty when it is done.

    A bucket that is asked too often or out of reach is tried again, one that has no such object is not.
    """

    def attempt() -> str:
        try:
            context.commands.run(
                "aws", "s3", "cp", "--only-show-errors", source, str(target), timeout_seconds=300
            )
        except NodeError as error:
            if any(word in " ".join(error.last_lines) for word in NO_OBJECT):
                return error.message
            raise NotYetError(error.message) from error
        return ""

    try:
        return wait_for(
            attempt,
            what=source,
            deadline=context.deadline,
            say=context.say,
            limit_seconds=COPY_LIMIT_SECONDS,
        )
    except NodeError as error:
        return error.message


def _region(arn: str) -> str:
    return arn.split(":")[3]
