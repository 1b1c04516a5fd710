"""LifecycleScripts: the scripts of a Slurm cluster's nodes in S3."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.lifecycle import staging
from hyperpod_cdk.lifecycle.bucket import ILifecycleBucket
from hyperpod_cdk.lifecycle.deployed import ON_CREATE, DeployedScripts

ON_INIT_COMPLETE = "on_init_complete.sh"
CONFIG = "config.json"
PROVISIONING_PARAMETERS = "provisioning_parameters.json"


class LifecycleScripts(DeployedScripts):
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

    on_init_complete = ON_INIT_COMPLETE
    """Script that runs after the service's own set-up."""

    @checked_arguments
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
        documents: dict[str, Mapping[str, Any]] = {CONFIG: config}
        if provisioning_parameters is not None:
            documents[PROVISIONING_PARAMETERS] = provisioning_parameters
        self._deploy(
            bucket=bucket,
            files=self._files(scripts, extra_files, entries=(ON_CREATE, ON_INIT_COMPLETE)),
            documents=documents,
            log_retention=log_retention,
            encryption_key=encryption_key,
        )
