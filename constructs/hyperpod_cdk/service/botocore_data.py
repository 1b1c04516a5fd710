"""Files for botocore to read in the handler in place of its own, cut down to what the handler needs."""

import json
from pathlib import Path
from typing import Any

from botocore.loaders import create_loader

from hyperpod_cdk.service.api_model import API_VERSION, cluster_model

SERVICES = frozenset({"api.sagemaker", "ec2", "logs", "sagemaker", "states"})
"""What the handler calls, by its name in botocore's endpoints."""


def write_botocore_data(folder: Path) -> None:
    """Write a folder for ``AWS_DATA_PATH``: the SageMaker API's model, and the endpoints.

    botocore reads the endpoints of every service before its first call: 1.3 MB that become 7 MB of memory.

    Args:
        folder: made when it is not there; the same botocore gives the same files.
    """
    _write(folder / "endpoints.json", _endpoints())
    write_cluster_model(folder)


def write_cluster_model(folder: Path) -> None:
    """Write a folder for ``AWS_DATA_PATH`` with the SageMaker API's model alone."""
    _write(folder / "sagemaker" / API_VERSION / "service-2.json", cluster_model())


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")


def _endpoints() -> dict[str, Any]:
    whole = create_loader().load_data("endpoints")
    partitions = [
        {
            **partition,
            "services": {
                name: service for name, service in partition["services"].items() if name in SERVICES
            },
        }
        for partition in whole["partitions"]
    ]
    return {**whole, "partitions": partitions}
