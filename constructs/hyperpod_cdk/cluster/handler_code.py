"""The handler's Lambda asset: the handler package and the API model that it speaks."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cdk.service.botocore_data import write_botocore_data

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
        write_botocore_data(root / "models")
        yield root
