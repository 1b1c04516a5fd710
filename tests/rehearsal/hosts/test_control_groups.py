"""The share of the processors on machines whose control groups are all in one hierarchy."""

from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.hosts import control_groups
from hyperpod_cdk.rehearsal.hosts.control_groups import ControlGroups


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(control_groups, "cgroup_root", lambda: tmp_path)
    monkeypatch.setattr(control_groups, "old_processor_root", lambda: None)
    return tmp_path


def test_each_level_hands_the_processors_to_the_one_below(root: Path) -> None:
    groups = ControlGroups("room", "host")
    groups.make()
    groups.limit(0.03)
    assert (root / "hyperpod-cdk/room/host/cpu.max").read_text() == "3000 100000"
    handing = {str(path.parent.relative_to(root)) for path in root.rglob("cgroup.subtree_control")}
    # not the host's own: what has processes below it may have no processes itself
    assert handing == {".", "hyperpod-cdk", "hyperpod-cdk/room"}


def test_processes_join_one_group_where_there_is_one_hierarchy(root: Path) -> None:
    groups = ControlGroups("room", "host")
    assert groups.own() == str(root / "hyperpod-cdk/room/host/own")
    assert groups.counted() == str(root / "hyperpod-cdk/room/host/counted")
