"""Findings of one run: their order, their parts, their groups."""

import random

from hyperpod_cdk.rules import check
from hyperpod_cdk.rules.finding import Finding, Position, Severity, by_part, ordered
from tests.unit.rules.specs import BASE, TEXT_TOKEN, changed


def made(path: str, severity: Severity = Severity.ERROR, line: int | None = None) -> Finding:
    """A finding at a path."""
    position = Position(file="a.yaml", line=line, column=1) if line else None
    return Finding(code="HP100", severity=severity, path=path, message="m", fix="f", position=position)


IN_ORDER = [
    made("cluster.instance_groups[2].instance_count"),
    made("cluster.instance_groups[2].instance_type"),
    made("cluster.instance_groups[10].instance_count"),
    made("network.cidr"),
    made("storage.scratch.capacity_gib"),
    made("cluster.instance_groups[0].instance_type", Severity.WARNING),
    made("storage.scratch", Severity.WARNING),
]


def test_errors_come_first_then_parts_and_paths_by_their_numbers() -> None:
    shuffled = random.Random(7).sample(IN_ORDER, len(IN_ORDER))
    assert ordered(shuffled) == IN_ORDER


def test_with_lines_the_file_decides_and_what_has_none_comes_last() -> None:
    first, second, nowhere = made("network", line=2), made("cluster", line=10), made("a")
    warning = made("cluster", Severity.WARNING, line=1)
    assert ordered([nowhere, warning, second, first]) == [first, second, nowhere, warning]


def test_findings_about_one_part_stand_together() -> None:
    paths = [
        "cluster.instance_groups[1].mounts[0]",
        "cluster.instance_groups[1].instance_type",
        "cluster.node_recovery",
        "lifecycle.users[3].uid",
        'storage["a.b"].existing.dns_name',
        "storage.home",
        "",
    ]
    assert {part: len(found) for part, found in by_part(map(made, paths))} == {
        "": 1,
        "cluster.instance_groups[1]": 2,
        "cluster": 1,
        "lifecycle.users[3]": 1,
        'storage["a.b"]': 1,
        "storage.home": 1,
    }


def test_a_finding_about_a_group_tells_its_name() -> None:
    (finding,) = check(changed({"compute.instance_type": "ml.p9.48xlarge"}))
    assert finding.instance_group == finding.to_json()["instance_group"] == "compute"
    assert str(finding).splitlines()[0] == (
        "warning HP111 cluster.instance_groups[2].instance_type (group compute)"
    )
    named_later = {"compute.instance_type": "ml.p9.48xlarge", "compute.instance_group_name": TEXT_TOKEN}
    assert [one.instance_group for one in check(changed(named_later))] == [None]


def test_a_finding_outside_of_groups_has_none() -> None:
    (finding,) = check(changed({"network.cidr": "ten"}))
    assert finding.instance_group is None


def test_the_spec_acknowledges_warnings_and_no_errors() -> None:
    doubtful = {"compute.instance_type": "ml.p9.48xlarge", "network.cidr": "ten"}
    assert [one.code for one in check(changed(doubtful))] == ["HP202", "HP111"]
    assert [one.code for one in check(changed({**doubtful, "acknowledge": ("HP111",)}))] == ["HP202"]
    assert check(BASE) == []
