"""A machine that cannot run hosts is told why, and what would do."""

import os
import shutil
import subprocess
import sys

import pytest

from hyperpod_cdk.rehearsal.hosts import requirements
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError, require


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CannotRunHostsError, match="this needs root"):
        require()


def test_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(CannotRunHostsError, match="use Linux"):
        require()


def test_without_a_package_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(CannotRunHostsError, match=r"no mmdebstrap, .*, and no apt-get"):
        require()


def test_missing_packages_are_installed_and_a_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        asked.append(command)
        return subprocess.CompletedProcess(command, 100 if "install" in command else 0, "", "E: no network\n")

    monkeypatch.setattr(requirements, "_faults", list)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "mmdebstrap" else name)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(CannotRunHostsError, match="E: no network"):
        require()
    assert [command[1] for command in asked] == ["update", "install"]
    assert asked[-1][-1] == "mmdebstrap"
