"""Emulated nodes that really run the scripts they find in S3."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from hyperpod_cdk.rehearsal.eks_node import SETTINGS, run_eks_node
from hyperpod_cdk.rehearsal.hyperpod import NodeSetup, NodeSetupResult, find_script
from hyperpod_cdk.rehearsal.node import CommandFault, run_node

HOOKS = ("on_create.sh", "on_init_complete.sh")
CONFIG = "config.json"
"""Lies beside the scripts of this library; others are only looked for, since they may do anything."""
_ENVIRONMENT = {
    # waits for DNS and the like end a hundred times sooner
    "HYPERPOD_CDK_TIME_SCALE": "0.01",
}


class RealNodes:
    """Runs lifecycle scripts as nodes do: downloaded from S3, each in a root of its own.

    Args:
        s3: a client of the embedded AWS.
        folder: where downloads and roots go.
        faults: commands that fail on every node.
    """

    def __init__(self, s3: Any, folder: Path, *, faults: Sequence[CommandFault] = ()) -> None:
        self._s3 = s3
        self._folder = folder
        self._faults = faults
        self._lock = Lock()

    def __call__(self, node: NodeSetup) -> NodeSetupResult:
        """Set a node up.

        Args:
            node: which, and what it runs.
        """
        missing = find_script(node)
        if missing.exit_code or node.script not in HOOKS:
            return missing
        scripts = self._download(node.source_s3_uri)
        if (scripts / SETTINGS).is_file():
            exit_code, lines = run_eks_node(
                scripts, self._folder / "roots" / node.instance_id, faults=self._faults
            )
            return NodeSetupResult(exit_code=exit_code, log_lines=tuple(lines))
        if not (scripts / CONFIG).is_file():
            return missing
        exit_code, lines = run_node(
            scripts,
            self._folder / "roots" / node.instance_id,
            node.resource_config,
            hook=node.script.removesuffix(".sh"),
            addresses=[node.private_ip, node.agent_ip],
            env=_ENVIRONMENT,
            storage=self._folder / "storage" / node.cluster_id,
            faults=self._faults,
        )
        return NodeSetupResult(exit_code=exit_code, log_lines=tuple(lines))

    def _download(self, uri: str) -> Path:
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        folder = self._folder / "scripts" / bucket / prefix.rstrip("/")
        with self._lock:
            if not folder.exists():
                pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
                for entry in (entry for page in pages for entry in page.get("Contents", [])):
                    path = folder / entry["Key"].removeprefix(prefix).lstrip("/")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._s3.download_file(bucket, entry["Key"], str(path))
        return folder
