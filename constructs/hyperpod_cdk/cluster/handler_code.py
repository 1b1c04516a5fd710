"""The handler's Lambda asset: the handler package and the API model that it speaks."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cdk.service.api_model import API_VERSION, cluster_model

_HANDLER = Path(__file__).parent / "handler"


@contextmanager
def handler_code() -> Iterator[Path]:
    """A temporary folder with the asset's files; CDK stages a copy while the context is open.

    botocore finds the model through AWS_DATA_PATH, so that the request is sent as the installed botocore
    knows it, whatever the Lambda runtime brings.
    """
    with tempfile.TemporaryDirectory(prefix="hyperpod-cdk-") as name:
        root = Path(name)
        shutil.copytree(_HANDLER, root / "handler", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        model = root / "models" / "sagemaker" / API_VERSION / "service-2.json"
        model.parent.mkdir(parents=True)
        model.write_text(json.dumps(cluster_model(), separators=(",", ":")), encoding="utf-8")
        yield root
