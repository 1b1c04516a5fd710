"""cdk-nag over the constructs for Amazon EKS: each finding is fixed or acknowledged, none idly."""

from collections.abc import Callable, Mapping
from pathlib import Path

import aws_cdk as cdk
import pytest

from hyperpod_cdk import nag
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.eks import HelmChart
from tests.nag.test_constructs import Recorder, _needed, findings
from tests.unit.eks.charts import write_chart
from tests.unit.eks.conftest import build

Build = Callable[[Path], cdk.Stack]
SETTINGS: Mapping[str, Build] = {
    "as it comes": build,
    "no internet, public access from one range": lambda chart: build(
        chart, nat_gateways=NatGateways.NONE, public_access_cidrs=["192.0.2.0/24"]
    ),
    "a chart in S3": lambda chart: build(chart, helm_chart=HelmChart(s3_uri="s3://charts/hyperpod.zip")),
    "no chart, no operator": lambda chart: build(chart, helm_chart=None, training_operator=None),
}


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chart(tmp_path_factory.mktemp("chart"))


def app_of(stack: cdk.Stack) -> cdk.App:
    app = cdk.App.of(stack)
    assert isinstance(app, cdk.App)
    return app


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_finding_is_acknowledged(setting: str, chart: Path) -> None:
    assert findings(app_of(SETTINGS[setting](chart))) == set()


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_acknowledgement_is_needed(setting: str, chart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(nag, "Validations", recorder)
    found = findings(app_of(SETTINGS[setting](chart)))
    assert {entry for entry in recorder.noted if not _needed(*entry, found=found)} == set()
