"""Files for botocore to read in the handler in place of its own, cut down to what the handler needs."""

import json
from pathlib import Path
from typing import Any

from hyperpod_cdk.service.botocore_files import API_VERSIONS, endpoints
from hyperpod_cdk.service.cut_model import cut_model_json

SERVICES = frozenset({"api.sagemaker", "ec2", "logs", "sagemaker", "states"})
"""What the handler calls, by its name in botocore's endpoints."""


def write_botocore_data(folder: Path) -> None:
    """Write a folder for ``AWS_DATA_PATH``: the SageMaker API's model, and the endpoints.

    botocore reads the endpoints of every service before its first call: 1.3 MB that become 7 MB of memory.

    Args:
        folder: made when it is not there; the same botocore gives the same files.
    """
    _write(folder / "endpoints.json", json.dumps(_endpoints(), separators=(",", ":")))
    write_cluster_model(folder)


def write_cluster_model(folder: Path) -> None:
    """Write a folder for ``AWS_DATA_PATH`` with the SageMaker API's model alone."""
    _write(folder / "sagemaker" / API_VERSIONS["sagemaker"] / "service-2.json", cut_model_json())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _endpoints() -> dict[str, Any]:
    whole = endpoints()
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
