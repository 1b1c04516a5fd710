"""The entry point: wrong input is told at once, before anything is started."""

from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal import rehearse
from hyperpod_cdk.rehearsal.driver.faults import FAULTS


def test_unknown_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert rehearse("clusters/slurm-minimal.yaml", fault="flood") == 2
    told = capsys.readouterr().err
    assert "no fault is called flood" in told
    for fault in FAULTS.values():
        assert fault.name in told
        assert fault.description in told


def test_file_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert rehearse(tmp_path / "none.yaml") == 2
    assert "none.yaml" in capsys.readouterr().err


def test_configuration_that_breaks_rules(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    text = Path("clusters/slurm-minimal.yaml").read_text()
    broken.write_text(text.replace("capacity_gib: 1200", "capacity_gib: 3600"))
    assert rehearse(broken) == 2
    assert "capacity_gib" in capsys.readouterr().err


def test_real_nodes_are_of_slurm(capsys: pytest.CaptureFixture[str]) -> None:
    assert rehearse("clusters/eks-minimal.yaml", on_hosts=True) == 2
    assert "nodes as hosts run Slurm's daemons" in capsys.readouterr().err
