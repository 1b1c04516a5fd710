"""`bundle`: what nodes would download, gathered and checked."""

import hashlib
import http.client
import io
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands import bundling
from hyperpod_cdk.service.downloads import ARTIFACTS, NAMES, PROCESSORS, Artifact

CONTENT = b"content of a release" * 1000
GOOD = Artifact(url="https://example.com/a/tool.tar.gz", sha256=hashlib.sha256(CONTENT).hexdigest())
MONITORED = """
lifecycle:
  monitoring:
    workspace_arn: arn:aws:aps:us-west-2:111122223333:workspace/ws-0a1b2c3d
"""


def opened(content: bytes = CONTENT) -> tuple[bundling.Opener, list[str]]:
    asked: list[str] = []

    def opener(url: str) -> Any:
        asked.append(url)
        return io.BytesIO(content)

    return opener, asked


def gathered(target: bundling.Target, folder: Path, content: bytes = CONTENT) -> tuple[list[str], list[str]]:
    opener, asked = opened(content)
    said: list[str] = []
    return bundling.gather({"tool-amd64": GOOD}, target, folder, say=said.append, opened=opener), asked


def test_every_pin_is_whole() -> None:
    for name, artifact in ARTIFACTS.items():
        base, _, processor = name.rpartition("-")
        assert base in NAMES
        assert processor in PROCESSORS
        assert artifact.url.startswith("https://")
        assert len(artifact.sha256) == 64
        assert not {"latest", "main", "master", "HEAD"} & set(artifact.url.split("/"))


def test_a_folder_takes_what_is_right_and_asks_once(tmp_path: Path) -> None:
    target = bundling.Folder(tmp_path / "bundle")
    faults, asked = gathered(target, tmp_path)
    assert (faults, asked) == ([], [GOOD.url])
    assert (tmp_path / "bundle" / GOOD.sha256 / "tool.tar.gz").read_bytes() == CONTENT
    assert gathered(target, tmp_path) == ([], [])


def test_a_damaged_file_in_the_folder_is_replaced(tmp_path: Path) -> None:
    target = bundling.Folder(tmp_path / "bundle")
    gathered(target, tmp_path)
    (tmp_path / "bundle" / GOOD.sha256 / "tool.tar.gz").write_bytes(b"damaged")
    assert gathered(target, tmp_path)[1] == [GOOD.url]
    assert target.has(GOOD)


def test_what_is_something_else_is_not_taken(tmp_path: Path) -> None:
    target = bundling.Folder(tmp_path / "bundle")
    faults, _ = gathered(target, tmp_path, b"something else")
    assert len(faults) == 1
    assert "nothing of it was used" in faults[0]
    assert not target.has(GOOD)
    assert not list(tmp_path.rglob("tool.tar.gz"))


@mock_aws
def test_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3")
    client.create_bucket(Bucket="mine")
    target = bundling.Bucket("s3://mine/a/b/", client)
    assert gathered(target, tmp_path) == ([], [GOOD.url])
    body = client.get_object(Bucket="mine", Key=f"a/b/{GOOD.sha256}/tool.tar.gz")["Body"].read()
    assert body == CONTENT
    assert gathered(target, tmp_path) == ([], [])


@pytest.fixture
def monitored(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    text = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    assert "lifecycle:" not in text
    path.write_text(text + MONITORED, encoding="utf-8")
    return path


def test_the_list(monitored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", str(monitored), "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["node-exporter-amd64", "prometheus-amd64"]


@pytest.mark.parametrize("more", [[], ["--list"]])
def test_a_cluster_that_needs_none(
    more: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Silence, or a count of nothing, would leave in doubt whether it had worked."""
    path = tmp_path / "cluster.yaml"
    path.write_text(Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["bundle", str(path), *more]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"the nodes of {path} download nothing\n")
    assert not (tmp_path / "bundle").exists()


def test_faults_are_told_and_end_with_1(
    monitored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundling, "_open", opened()[0])
    assert main(["bundle", str(monitored), "--to", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    assert "0 of 2 files" in out
    assert "prometheus-amd64" in err


def test_a_place_that_can_not_be_filled_is_told(
    monitored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = {"tool-amd64": GOOD}
    monkeypatch.setattr(bundling, "needed", lambda _spec: wanted)
    monkeypatch.setattr(bundling, "_open", opened()[0])
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert main(["bundle", str(monitored), "--to", str(in_the_way)]) == 2
    assert f"{in_the_way} can not be filled: [Errno 20] Not a directory" in capsys.readouterr().err
    with mock_aws():
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        assert main(["bundle", str(monitored), "--to", "s3://nobodys/b"]) == 2
    assert "s3://nobodys/b can not be filled: " in capsys.readouterr().err


def test_a_connection_that_breaks_off_is_told(tmp_path: Path) -> None:
    def broken(_url: str) -> Any:
        raise http.client.IncompleteRead(b"")

    told = bundling.gather(
        {"tool-amd64": GOOD}, bundling.Folder(tmp_path), tmp_path, say=print, opened=broken
    )
    assert told == [f"tool-amd64: {GOOD.url}: IncompleteRead(0 bytes read)"]


def test_nodes_on_eks_download_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "clusters/eks-minimal.yaml", "--list"]) == 2
    assert "`hyperpod-cdk chart` gets the chart" in capsys.readouterr().err
