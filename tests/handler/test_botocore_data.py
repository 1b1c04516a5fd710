"""What botocore reads in the handler: enough for every client, in every partition, and no more."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session
from handler.clients import SERVICES, Clients

from hyperpod_cdk.service.botocore_data import write_botocore_data

REGIONS = ("us-west-2", "eu-central-1", "us-gov-west-1", "cn-north-1")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_botocore_data(tmp_path)
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("region", REGIONS)
def test_every_client_has_the_endpoint_that_botocore_itself_gives(
    data: Path, monkeypatch: pytest.MonkeyPatch, region: str
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    made = Clients()
    clients = (made.sagemaker, made.logs, made.ec2, made.states)
    assert [client.meta.service_model.service_name for client in clients] == list(SERVICES)
    monkeypatch.delenv("AWS_DATA_PATH")
    for client, service in zip(clients, SERVICES, strict=True):
        stock = Session().create_client(service)
        assert client.meta.endpoint_url == stock.meta.endpoint_url
        assert client.meta.partition == stock.meta.partition
        assert client.meta.config.signature_version == stock.meta.config.signature_version


def test_it_is_small(data: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in data.rglob("*.json")}
    assert set(sizes) == {"endpoints.json", "service-2.json"}
    assert sizes["endpoints.json"] < 50_000


def test_without_it_botocores_own_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DATA_PATH", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    names: Any = Clients().sagemaker.meta.service_model.operation_names
    assert len(names) > 300


def test_it_is_the_same_every_time(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    again = tmp_path_factory.mktemp("again")
    write_botocore_data(again)
    assert (again / "endpoints.json").read_bytes() == (data / "endpoints.json").read_bytes()
    partitions = json.loads((data / "endpoints.json").read_text())["partitions"]
    assert {"aws", "aws-cn", "aws-us-gov"} <= {partition["partition"] for partition in partitions}
