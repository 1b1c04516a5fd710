"""Every step of the catalogue has a scenario with real daemons that asserts what it does.

Each row names the test and a part of the statement by which it does so, so that a scenario that no longer
looks at the step is found as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from hyperpod_node.catalogue import STEPS
from hyperpod_node.main import FACTS

SANDBOX = Path(__file__).parent / "sandbox"

Scenario = tuple[str, str, str]
"""File, test, and what stands in one of its assertions."""

SCENARIOS: Mapping[str, Scenario] = {
    "facts": ("modes", "everything_works", "sorted(lines) == names"),
    "keep": ("accounting", "test_a_second_look_finds_nothing", '(0, "0 differences")'),
    "network": ("faults", "test_dns_late", 'run.step("network")["seconds"] > LATE_SECONDS / 2'),
    "packages": ("faults", "test_the_lock_of_dpkg_is_held", 'host.run("apt-mark showhold").lines'),
    "before": ("beside", "test_own_steps_run_before_everything_and_after_it", "Compute before"),
    "lustre-efa": ("beside", "test_lustre_comes_up_on_efa_before_it_is_mounted", "1 of 1 EFA devices"),
    "mounts": ("modes", "everything_works", '"stat", "-c", "%u", f"{home}/alice/written"'),
    "mount": ("faults", "test_lustre_late_then_never", 'run.step("mount")["seconds"] > LATE_SECONDS / 2'),
    "munge": ("beside", "test_munge_is_started_with_a_key_that_nobody_else_reads", '["400"]'),
    "home": ("many", "test_nodes_that_come_at_once_make_each_home_once", "len(makers) == 1"),
    "users": ("custom", "test_homes_and_numbers_are_the_same_everywhere", "2001 2001 750"),
    "removed-users": (
        "slurm_files",
        "test_72_who_leaves_is_locked_and_who_comes_back_is_not",
        "passwd -S bob",
    ),
    "ssh": ("custom", "test_a_user_goes_from_node_to_node", '["alice", target, "/fsx/alice"]'),
    "docker": ("beside", "test_docker_runs_with_its_data_on_the_other_disk_for_its_group", "data-root"),
    "enroot": ("beside", "test_enroot_and_pyxis_reach_srun_on_every_node", "/opt/sagemaker/enroot/data"),
    "pyxis": ("beside", "test_enroot_and_pyxis_reach_srun_on_every_node", "--container-image"),
    "directory": ("beside", "test_the_directory_is_asked_and_its_password_is_in_one_file", "600 root"),
    "buckets": ("software", "test_everything_beside_slurm", "cat /datasets/file"),
    "logs": ("software", "test_everything_beside_slurm", "logrotate --debug"),
    "monitoring": ("software", "test_everything_beside_slurm", 'gauge(controller, "hyperpod_slurm_up") == 1'),
    "slurm-conf": ("beside", "test_the_services_slurm_conf_is_waited_for", 'run.step("slurm-conf")'),
    "multi-head": ("multi_head", "test_46_the_second_controller_takes_over", '"COMPLETED"'),
    "slurm-files": ("slurm_files", "test_slurmctld_runs_with_our_settings", '"DefMemPerCPU") == "100"'),
    "epilog": ("slurm_files", "test_52_shared_memory_goes_with_the_job", "partial(clean, host)"),
    "accounting": (
        "custom",
        "test_a_listed_user_submits_from_the_login_node_and_writes_to_the_shared_home",
        '"cluster": "ml-cluster"',
    ),
    "slurmctld": ("custom", "test_four_nodes_run_a_job", "cluster.idle(4)"),
    "slurmd": ("custom", "test_four_nodes_run_a_job", "for host in cluster.compute"),
    "slurm-client": ("modes", "everything_works", "sorted(lines) == names"),
    "purge": ("accounting", "test_extension_mode_keeps_the_services_set_up", '"PurgeJobAfter"'),
    "accounts": ("accounting", "test_everything_declared_is_in_the_database", "cpu=64,mem=1500G,node=4"),
    "slurm-refresh": (
        "slurm_files",
        "test_32_a_slurm_conf_without_our_part_gets_it_back",
        'shown(cluster, "DefMemPerCPU") == "100"',
    ),
    "slurm-watch": (
        "slurm_files",
        "test_32_a_slurm_conf_without_our_part_gets_it_back",
        '"hyperpod-cdk.conf" in',
    ),
    "login-watch": (
        "slurm_files",
        "test_growth_disturbs_no_job_and_the_topology_has_the_new_node",
        "run(LAST_START).output == before",
    ),
    "adopt": ("beside", "test_logins_need_a_job_where_slurm_can_hold_them", "no active jobs on this node"),
    "after": ("beside", "test_own_steps_run_before_everything_and_after_it", "Compute after"),
    "check": ("accounting", "test_the_set_up_ends_with_a_look_at_the_node", "checks passed"),
}


@cache
def assertions(file: str, test: str) -> list[str]:
    """The assertions of a function of a scenario's file, as they are written; empty when it has none."""
    text = (SANDBOX / f"test_{file}.py").read_text(encoding="utf-8")
    return [
        ast.get_source_segment(text, node) or ""
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef) and function.name == test
        for node in ast.walk(function)
        if isinstance(node, ast.Assert)
    ]


def faults(steps: Iterable[str], scenarios: Mapping[str, Scenario]) -> Iterator[str]:
    """Steps without a scenario, and scenarios that do not look at their step."""
    for step in steps:
        if step not in scenarios:
            yield f"{step} has no scenario"
            continue
        file, test, part = scenarios[step]
        found = assertions(file, test)
        if not found:
            yield f"{step}: no {test} in test_{file}.py asserts anything"
        elif not any(part in text for text in found):
            yield f"{step}: no assertion of {test} has {part}"


def test_every_step_has_a_scenario_that_asserts_what_it_does() -> None:
    steps = {FACTS, *(step.name for step in STEPS)}
    assert list(faults(sorted(steps), SCENARIOS)) == []
    assert steps == set(SCENARIOS), "a row for a step that is gone"


@pytest.mark.parametrize(
    ("scenarios", "told"),
    [
        ({}, "mount has no scenario"),
        ({"mount": ("faults", "test_gone", "x")}, "mount: no test_gone in test_faults.py asserts anything"),
        ({"mount": ("faults", "test_dns_late", "/fsx")}, "mount: no assertion of test_dns_late has /fsx"),
    ],
)
def test_what_is_missing_is_told(scenarios: Mapping[str, Scenario], told: str) -> None:
    assert list(faults(["mount"], scenarios)) == [told]
