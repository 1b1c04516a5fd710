"""cdk-nag over the constructs for Amazon EKS: each finding is fixed or acknowledged, none idly."""

from collections.abc import Callable, Mapping
from pathlib import Path

import aws_cdk as cdk
import pytest

from hyperpod_cdk import nag
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.eks import HelmChart
from hyperpod_cdk.spec.eks_inference import Inference
from hyperpod_cdk.spec.eks_observability import Grafana, Observability
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess
from tests.nag.test_constructs import Recorder, _needed, findings
from tests.unit.eks import services
from tests.unit.eks.charts import write_chart
from tests.unit.eks.conftest import build
from tests.unit.eks.test_compute_quota import governed

Build = Callable[[Path], cdk.Stack]
KEY = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
VOLUMES = {
    "scratch": Volume(storage="scratch"),
    "home": Volume(storage="home"),
    "models": Volume(bucket=BucketVolume(bucket_name="models", prefix="llama/", kms_key_arn=KEY)),
    "data": Volume(bucket=BucketVolume(bucket_name="data"), access=VolumeAccess.READ_ONLY),
}
SETTINGS: Mapping[str, Build] = {
    "as it comes": build,
    "no internet, public access from one range": lambda chart: build(
        chart, nat_gateways=NatGateways.NONE, public_access_cidrs=["192.0.2.0/24"]
    ),
    "quotas of two teams": lambda _: governed(),
    "quotas, and a key for their logs": lambda _: governed(with_key=True),
    "a chart in S3": lambda chart: build(chart, helm_chart=HelmChart(s3_uri="s3://charts/hyperpod.zip")),
    "volumes of every kind": lambda _: services.build(storage=True, volumes=VOLUMES),
    "observability": lambda _: services.build(observability=Observability(grafana=Grafana(), logging=True)),
    "observability alone": lambda _: services.build(observability=Observability()),
    "inference": lambda _: services.build(
        inference=Inference(gated_models=True, gateway=True, model_buckets=["models"])
    ),
    "services of an existing control plane": lambda _: services.build(
        existing=True,
        cluster_arn=services.EKS_ARN,
        oidc_provider_arn=services.PROVIDER,
        observability=Observability(),
        inference=Inference(),
    ),
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
