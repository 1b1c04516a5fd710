"""The chart: rendered by the helm that the function runs."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template
from ruamel.yaml import YAML

from hyperpod_cdk.eks.dependencies import values
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.rules.helm_chart import CHART_CHECKS, check_chart, dependencies
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.spec.eks import HelmChart
from tests.unit.eks.charts import write_chart
from tests.unit.eks.conftest import build
from tests.unit.eks.order import before, one, resources


def rendered(helm: Path, chart: Path, given: dict[str, Any], tmp_path: Path) -> set[str]:
    """Names of the parts that helm would install."""
    file = tmp_path / "values.yaml"
    file.write_text(json.dumps(given), encoding="utf-8")
    run = subprocess.run(
        [helm, "template", "hyperpod-dependencies", chart, "--namespace", "kube-system", "-f", file],
        capture_output=True,
        text=True,
        check=True,
    )
    return {document["metadata"]["name"] for document in YAML(typ="safe").load_all(run.stdout) if document}


def test_133_defaults_are_those_of_the_chart(helm: Path, chart: Path, tmp_path: Path) -> None:
    """Health monitoring is needed for resiliency, EFA is on (field report 133)."""
    parts = rendered(helm, chart, values(HelmChart(path=str(chart))), tmp_path)
    assert parts == {name for name, part in SUB_CHARTS.items() if part.enabled}
    assert {"health-monitoring-agent", "aws-efa-k8s-device-plugin", "job-auto-restart"} <= parts


@pytest.mark.parametrize("name", [name for name, part in SUB_CHARTS.items() if not part.add_on])
def test_133_each_part_is_switched_alone(name: str, helm: Path, chart: Path, tmp_path: Path) -> None:
    usual = {name for name, part in SUB_CHARTS.items() if part.enabled}
    wanted = name not in usual
    given = values(HelmChart(path=str(chart), sub_charts={name: wanted}))
    assert rendered(helm, chart, given, tmp_path) == (usual | {name} if wanted else usual - {name})


def test_an_unset_condition_would_switch_a_part_on(helm: Path, chart: Path, tmp_path: Path) -> None:
    """Why every switch is set: helm takes a condition without a value as true."""
    assert "gpu-operator" in rendered(helm, chart, {}, tmp_path)


def test_values_of_the_user_win_and_leave_the_switches() -> None:
    given = values(
        HelmChart(path="chart", values={"nvidia-device-plugin": {"resources": {"limits": {"cpu": 1}}}})
    )
    assert given["nvidia-device-plugin"] == {
        "devicePlugin": {"enabled": True},
        "resources": {"limits": {"cpu": 1}},
    }


def test_the_release_is_applied_and_not_waited_for(template: Template) -> None:
    every = resources(template)
    release = every[one(every, "Custom::AWSCDK-EKS-HelmChart")]["Properties"]
    assert (release["Release"], release["Namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert "Wait" not in release
    assert release["ChartAssetURL"]
    assert one(every, "AWS::EKS::Cluster") in before(every, one(every, "Custom::AWSCDK-EKS-HelmChart"))


def test_136_the_release_goes_before_the_rights_of_its_function(template: Template) -> None:
    """Deleted in the opposite order, so helm can still uninstall (field report 136)."""
    every = resources(template)
    earlier = before(every, one(every, "Custom::AWSCDK-EKS-HelmChart"))
    policies = {logical_id for logical_id in earlier if every[logical_id]["Type"] == "AWS::IAM::Policy"}
    assert policies
    assert any(every[logical_id]["Type"] == "AWS::EKS::AccessEntry" for logical_id in earlier)


def test_a_zip_in_s3(chart: Path) -> None:
    template = Template.from_stack(build(chart, helm_chart=HelmChart(s3_uri="s3://charts/hyperpod/1.zip")))
    release = next(iter(template.find_resources("Custom::AWSCDK-EKS-HelmChart").values()))["Properties"]
    assert release["ChartAssetURL"] == "s3://charts/hyperpod/1.zip"
    assert "Chart" not in release
    template.has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": Match.object_like(
                {
                    "Statement": Match.array_with(
                        [Match.object_like({"Action": Match.array_with(["s3:GetObject*"])})]
                    )
                }
            )
        },
    )


def test_a_registry(chart: Path) -> None:
    uri = "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart"
    template = Template.from_stack(build(chart, helm_chart=HelmChart(oci_uri=uri, version="0.1.0")))
    release = next(iter(template.find_resources("Custom::AWSCDK-EKS-HelmChart").values()))["Properties"]
    assert (release["Repository"], release["Version"]) == (uri, "0.1.0")


ROWS = [
    ("HP510", HelmChart(s3_uri="s3://a/b.zip"), []),
    ("HP510", HelmChart(oci_uri="oci://a/b", version="1.0.0"), []),
    ("HP510", HelmChart(s3_uri="${Token[TOKEN.1]}"), []),
    ("HP510", HelmChart(), [""]),
    ("HP510", HelmChart(path="a", s3_uri="s3://a/b.zip"), [""]),
    ("HP510", HelmChart(oci_uri="oci://a/b"), ["version"]),
    ("HP510", HelmChart(s3_uri="s3://a/b.zip", version="1.0.0"), ["version"]),
    ("HP510", HelmChart(s3_uri="a/b.zip"), ["s3_uri"]),
    ("HP510", HelmChart(oci_uri="a/b", version="1"), ["oci_uri"]),
    ("HP511", HelmChart(sub_charts={"mpi-operator": False, "cert-manager": False}), []),
    ("HP511", HelmChart(sub_charts={"mpi": False}), ["sub_charts.mpi"]),
    ("HP511", HelmChart(sub_charts={"cert-manager": True}), ["sub_charts.cert-manager"]),
    ("HP512", HelmChart(path="${Token[TOKEN.1]}"), []),
    ("HP512", HelmChart(path="no/such/folder"), ["path"]),
]


@pytest.mark.parametrize(("code", "given", "paths"), ROWS)
def test_rows(code: str, given: HelmChart, paths: list[str]) -> None:
    assert [finding.path for finding in check_chart(given) if finding.code == code] == paths


def test_132_parts_that_are_not_in_the_folder_are_named(chart: Path, tmp_path: Path) -> None:
    """Helm would stop at 'found in Chart.yaml, but missing in charts/' (field report 132)."""
    assert check_chart(HelmChart(path=str(chart))) == []
    lacking = write_chart(tmp_path / "lacking", without="mpi-operator")
    found = check_chart(HelmChart(path=str(lacking)))
    assert [(finding.code, finding.message) for finding in found] == [
        ("HP512", "lacks mpi-operator under charts/")
    ]
    (lacking / "charts" / "mpi-operator-0.1.0.tgz").touch()
    assert check_chart(HelmChart(path=str(lacking))) == []


def test_dependencies_are_read_as_people_write_them() -> None:
    definition = """
apiVersion: v2
maintainers:
- name: nobody
dependencies:
- name: "one"   # the first
  version: 1.0.0
-  repository: file://two
   name: two
# - name: three
icon: name
"""
    assert dependencies(definition) == ["one", "two"]


def test_the_construct_refuses_a_faulty_chart(chart: Path) -> None:
    with pytest.raises(ConstructError, match="HP511"):
        build(chart, helm_chart=HelmChart(path=str(chart), sub_charts={"mpi": True}))


def test_every_rule_has_rows_of_both_kinds() -> None:
    codes = {check.rule.code for check in CHART_CHECKS}
    assert (
        {code for code, _, paths in ROWS if paths} == codes == {code for code, _, paths in ROWS if not paths}
    )
