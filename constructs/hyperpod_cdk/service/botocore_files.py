"""Files that the installed botocore ships, read directly.

Its own loader imports an HTTP client, which takes longer than all rules.
"""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

API_VERSIONS = {"sagemaker": "2017-07-24", "fsx": "2018-03-01"}
"""Version of each API that is read here, and the folder that its model lies in."""


@cache
def api_model(service: str) -> Mapping[str, Any]:
    """An API's whole model, in the format of ``service-2.json``.

    Args:
        service: one of :data:`API_VERSIONS`.
    """
    path = files("botocore").joinpath("data", service, API_VERSIONS[service], "service-2.json.gz")
    model: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return model


def endpoints() -> dict[str, Any]:
    """Every partition with its Regions, and every service's endpoints in them."""
    path = files("botocore").joinpath("data", "endpoints.json")
    partitions: dict[str, Any] = json.loads(path.read_bytes())
    return partitions
