"""cdk-nag over every example: each finding is fixed, or acknowledged where it is with its reason.

cdk-nag 3 reports through aws-cdk-lib's validations: `synth` raises, and the report lies in the output folder.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest

from hyperpod_cdk import nag
from hyperpod_cdk.config import load
from hyperpod_cdk.stack import HyperPodStack

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "clusters").glob("*.yaml"))
PACKS = (
    cdk_nag.AwsSolutionsChecks,
    cdk_nag.HIPAASecurityChecks,
    cdk_nag.NIST80053R5Checks,
    cdk_nag.PCIDSS321Checks,
)
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]

Found = set[tuple[str, str]]


class Recorder:
    """Stands in for the CDK's Validations: notes acknowledgements instead of making them."""

    def __init__(self) -> None:
        self.acknowledged: Found = set()
        self._path = ""

    def of(self, construct: cdk.Stack) -> "Recorder":
        self._path = construct.node.path
        return self

    def acknowledge(self, *rules: cdk.Acknowledgment) -> None:
        for rule in rules:
            assert len(rule.reason) > 10, f"{self._path}: {rule.id} has no reason"
            self.acknowledged.add((rule.id, self._path))


def findings(config: Path, out: Path) -> Found:
    """What the four packs find: (rule, construct path)."""
    app = cdk.App(outdir=str(out), context=CONTEXT)
    HyperPodStack(app, "Nag", spec=load(config))
    cdk.Validations.of(app).add_plugins(*(pack(app) for pack in PACKS))
    try:
        app.synth()
    except RuntimeError as error:
        if "ValidationFailed" not in str(error):
            raise
    report = json.loads((out / "validation-report.json").read_text())
    return {
        (violation["ruleName"], construct["constructPath"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }


def covers(acknowledged: tuple[str, str], finding: tuple[str, str]) -> bool:
    """Whether an acknowledgement is of this finding, on its construct or one above."""
    rule, path = acknowledged
    return rule == finding[0] and (finding[1] == path or finding[1].startswith(f"{path}/"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Each example configuration."""
    yield request.param


def test_every_finding_is_fixed_or_acknowledged(example: Path, tmp_path: Path) -> None:
    assert findings(example, tmp_path) == set()


def test_no_acknowledgement_is_idle(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that covers nothing would hide tomorrow's finding."""
    recorder = Recorder()
    monkeypatch.setattr(nag, "Validations", recorder)
    found = findings(example, tmp_path)
    idle = {one for one in recorder.acknowledged if not any(covers(one, finding) for finding in found)}
    assert idle == set()
