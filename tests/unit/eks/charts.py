"""A chart with the parts and switches of HyperPod's, and one object a part."""

from pathlib import Path

from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS

_OBJECT = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {{{{ .Release.Namespace }}}}
"""


def write_chart(folder: Path, *, without: str | None = None) -> Path:
    """Write the chart to a folder; ``without`` names a part that Chart.yaml lists and ``charts/`` lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["apiVersion: v2", "name: hyperpod-helm-chart", "version: 0.1.0", "dependencies:"]
    for name, part in SUB_CHARTS.items():
        lines += [f"  - name: {name}", '    version: "0.1.0"', f"    condition: {part.condition}"]
        if name != without:
            write_part(folder / "charts" / name, name)
    (folder / "Chart.yaml").write_text("\n".join([*lines, "appVersion: '1'", ""]), encoding="utf-8")
    return folder


def write_part(folder: Path, name: str) -> None:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 0.1.0\n", encoding="utf-8")
    (folder / "templates" / "object.yaml").write_text(_OBJECT.format(name=name), encoding="utf-8")
