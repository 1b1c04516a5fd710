"""DeployedScripts: files in S3, under a prefix named by what they are."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.faults import ConstructError, refuse
from hyperpod_cdk.lifecycle import staging
from hyperpod_cdk.lifecycle.bucket import ILifecycleBucket
from hyperpod_cdk.lifecycle.findings import acknowledge_deployment

ON_CREATE = "on_create.sh"
EXTRA = "extra"
MEMORY_MIB = 320
"""Of the function that copies some hundred kilobytes with the AWS CLI, which starts slowly in CDK's 128 MiB.

Deployments of one size share a function and its log group, so that this one is not a usual size.
"""


class DeployedScripts(Construct):
    """What the constructs of both orchestrators have in common.

    The prefix is named by a hash of everything in it, so that a change moves the cluster to a new prefix and
    an old one stays as it was for the nodes that a live cluster replaces; none is ever pruned. Values known
    only at deployment, such as a file system's DNS name, count by what they refer to.
    """

    on_create = ON_CREATE
    """Script that sets a node up."""

    def _deploy(
        self,
        *,
        bucket: ILifecycleBucket,
        files: Mapping[str, bytes],
        documents: Mapping[str, Mapping[str, Any]],
        log_retention: logs.RetentionDays,
        encryption_key: kms.IKey | None,
    ) -> None:
        """Put files, and JSON documents that may hold tokens, under one prefix."""
        rendered = json.dumps(Stack.of(self).resolve(documents), sort_keys=True)
        self.prefix = f"lifecycle/{staging.digest(files, rendered)}"
        """Key prefix of the deployment, without a slash at the end."""
        self.source_s3_uri = f"s3://{bucket.bucket.bucket_name}/{self.prefix}/"
        """What LifeCycleConfig takes."""
        self.log_group = encrypted_log_group(
            self, "LogGroup", retention=log_retention, encryption_key=encryption_key
        )
        self.deployment = s3_deployment.BucketDeployment(
            self,
            "Resource",
            destination_bucket=bucket.bucket,
            destination_key_prefix=self.prefix,
            sources=[
                s3_deployment.Source.asset(str(staging.staged(files))),
                # with escape=True the quotes round a lone token would be escaped too, and the file no JSON
                *[s3_deployment.Source.json_data(name, content) for name, content in documents.items()],
            ],
            prune=False,
            retain_on_delete=True,
            output_object_keys=False,
            memory_limit=MEMORY_MIB,
            log_group=self.log_group,
        )
        acknowledge_deployment(self.deployment, bucket.bucket)

    def _files(
        self, scripts: Path, extra_files: Path | None, *, entries: tuple[str, ...]
    ) -> dict[str, bytes]:
        """The scripts, and a user's files under ``extra/``.

        Raises:
            ConstructError: A folder is missing, or it lacks one of the entries, which the service calls.
        """
        refuse(self.node.path, _folder_faults(scripts, extra_files, entries))
        try:
            return _content(scripts, extra_files)
        except ValueError as error:
            raise ConstructError(self.node.path, [str(error)]) from error


def _folder_faults(scripts: Path, extra_files: Path | None, entries: tuple[str, ...]) -> list[str]:
    if extra_files is not None and not extra_files.is_dir():
        faults = [f"extra_files must be a folder, got: {extra_files}"]
    else:
        faults = []
    if not scripts.is_dir():
        return [*faults, f"source must be a folder, got: {scripts}"]
    missing = [name for name in entries if not (scripts / name).is_file()]
    return [*faults, *(f"source must hold {name}; {scripts} does not" for name in missing)]


def _content(scripts: Path, extra_files: Path | None) -> dict[str, bytes]:
    files = staging.read_tree(scripts, left_out=staging.LEFT_OUT | staging.LEFT_OUT_OF_SCRIPTS)
    if extra_files is not None:
        extra = staging.read_tree(extra_files)
        files |= {f"{EXTRA}/{path}": content for path, content in extra.items()}
    return files
