"""How old a chart in a folder is."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.commands.charts.source import PINNED
from hyperpod_cdk.rules import RULES, Severity
from hyperpod_cdk.rules.helm_chart_release import AGENT, LEAST, RELEASE, agent_version
from hyperpod_cdk.spec import EksOrchestrator, HelmChart
from tests.unit.rules.specs import TEXT_TOKEN, changed, findings

CHARTS = Path(__file__).parent / "charts"
PATH = "cluster.orchestrator.eks.helm_chart.path"
NO_EFA_CRASH = (3, 7, 1)


def chart(path: str, **values: Any) -> dict[str, Any]:
    return {"cluster.orchestrator.eks": EksOrchestrator(helm_chart=HelmChart(path=path, values=values))}


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP569", chart(str(CHARTS / "new")), []),
    ("HP569", chart(str(CHARTS / "old")), [PATH]),
    ("HP569", chart(TEXT_TOKEN), []),
    ("HP569", chart(str(CHARTS / "nowhere")), []),
    # who names an image has chosen
    ("HP569", chart(str(CHARTS / "old"), **{AGENT: {"imageTag": "1.0.1892.0_1.0.424.0"}}), []),
    ("HP569", {}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == paths


def version(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("v").split("."))


def test_88_89_the_pinned_release_is_new_enough() -> None:
    """The EFA plugin keeps off types without EFA, and the agent raises no false alarms."""
    assert version(PINNED) >= version(RELEASE) >= NO_EFA_CRASH
    assert RULES["HP569"].severity is Severity.WARNING


@pytest.mark.parametrize(("patch", "told"), [(LEAST[2] - 1, [PATH]), (LEAST[2], []), (LEAST[2] + 1, [])])
def test_88_89_an_old_chart_is_told(patch: int, told: list[str], tmp_path: Path) -> None:
    values = tmp_path / "charts" / AGENT / "values.yaml"
    values.parent.mkdir(parents=True)
    values.write_text(f'hmaimage: "111122223333.dkr.ecr.us-west-2.amazonaws.com/a:1.0.{patch}.0_1.0.1.0"\n')
    assert findings(changed(chart(str(tmp_path))), "HP569") == told


def test_packed_parts_tell_it_too(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    packed = tmp_path / "charts" / f"{AGENT}-0.1.0.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(CHARTS / "old" / "charts" / AGENT, arcname=AGENT)
    assert agent_version(tmp_path) == (1, 0, 935)
    packed.write_bytes(b"torn")
    assert agent_version(tmp_path) is None
