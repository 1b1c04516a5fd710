"""LifecycleScripts: the nodes' scripts in S3, under a prefix named by what they are."""

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
ON_INIT_COMPLETE = "on_init_complete.sh"
CONFIG = "config.json"
PROVISIONING_PARAMETERS = "provisioning_parameters.json"
EXTRA = "extra"
MEMORY_MIB = 320
"""Of the function that copies some hundred kilobytes with the AWS CLI, which starts slowly in CDK's 128 MiB.

Deployments of one size share a function and its log group, so that this one is not a usual size.
"""


class LifecycleScripts(Construct):
    """Deploys scripts, their configuration and a user's files as one whole.

    The prefix is named by a hash of everything in it, so that a change moves the cluster to a new prefix and
    an old one stays as it was for the nodes that a live cluster replaces; none is ever pruned. Values known
    only at deployment, such as a file system's DNS name, count by what they refer to.

    Args:
        bucket: Where to.
        config: Content of ``config.json``, plain data; may hold tokens.
        provisioning_parameters: Content of ``provisioning_parameters.json``, LEGACY lifecycle mode only.
            Default: there is no such file, which the API refuses beside its own Slurm configuration.
        extra_files: Folder whose files are deployed under ``extra/``. Default: none.
        source: Folder with the scripts. Default: those of this library.
        log_retention: Of the deploying function's log. Default: three months.
        encryption_key: Customer-managed key of that log. Default: CloudWatch Logs' own encryption.

    Raises:
        ConstructError: A folder is missing, or it lacks the scripts that the service calls.
    """

    on_create = ON_CREATE
    """Script that sets a node up by itself."""
    on_init_complete = ON_INIT_COMPLETE
    """Script that runs after the service's own set-up."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: ILifecycleBucket,
        config: Mapping[str, Any],
        provisioning_parameters: Mapping[str, Any] | None = None,
        extra_files: Path | None = None,
        source: Path | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        scripts = source or staging.packaged_scripts()
        refuse(self.node.path, _folder_faults(scripts, extra_files))
        try:
            files = _content(scripts, extra_files)
        except ValueError as error:
            raise ConstructError(self.node.path, [str(error)]) from error
        documents: dict[str, Mapping[str, Any]] = {CONFIG: config}
        if provisioning_parameters is not None:
            documents[PROVISIONING_PARAMETERS] = provisioning_parameters
        self.prefix = f"lifecycle/{staging.digest(files, self._rendered(documents))}"
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

    def _rendered(self, documents: Mapping[str, Mapping[str, Any]]) -> str:
        """Text that stays the same from synth to synth, tokens as what they refer to."""
        return json.dumps(Stack.of(self).resolve(documents), sort_keys=True)


def _folder_faults(scripts: Path, extra_files: Path | None) -> list[str]:
    if extra_files is not None and not extra_files.is_dir():
        faults = [f"extra_files must be a folder, got: {extra_files}"]
    else:
        faults = []
    if not scripts.is_dir():
        return [*faults, f"source must be a folder, got: {scripts}"]
    missing = [name for name in (ON_CREATE, ON_INIT_COMPLETE) if not (scripts / name).is_file()]
    return [*faults, *(f"source must hold {name}; {scripts} does not" for name in missing)]


def _content(scripts: Path, extra_files: Path | None) -> dict[str, bytes]:
    files = staging.read_tree(scripts, left_out=staging.LEFT_OUT | staging.LEFT_OUT_OF_SCRIPTS)
    if extra_files is not None:
        extra = staging.read_tree(extra_files)
        files |= {f"{EXTRA}/{path}": content for path, content in extra.items()}
    return files
