"""A chart that stands for HyperPod's: the same parts and switches, and one workload a part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS

NAMESPACE = "aws-hyperpod"
_NAME = "hyperpod-helm-chart"
_HEADER = """\
apiVersion: v2
name: {name}
version: 0.1.0
"""
_SPACE = f"""\
apiVersion: v1
kind: Namespace
metadata:
  name: {NAMESPACE}
"""
_WORKLOAD = f"""\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{name}}
  namespace: {NAMESPACE}
  labels: {{{{app: {{name}}}}}}
spec:
  selector:
    matchLabels: {{{{app: {{name}}}}}}
  template:
    metadata:
      labels: {{{{app: {{name}}}}}}
    spec:
      containers:
        - name: agent
          image: stand-in
"""


def chart_zip() -> bytes:
    """Give the zip of the chart's folder."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        for path, text in _files():
            zipped.writestr(path, text)
    return archive.getvalue()


def _files() -> Iterator[tuple[str, str]]:
    dependencies = "".join(
        f"  - name: {name}\n    version: 0.1.0\n    condition: {part.condition}\n"
        for name, part in SUB_CHARTS.items()
    )
    yield "Chart.yaml", f"{_HEADER.format(name=_NAME)}dependencies:\n{dependencies}"
    yield "templates/namespace.yaml", _SPACE
    for name in SUB_CHARTS:
        yield f"charts/{name}/Chart.yaml", _HEADER.format(name=name)
        yield f"charts/{name}/templates/workload.yaml", _WORKLOAD.format(name=name)
