"""What docs/eks.md shows is taken as it stands there."""

import io
import re
from pathlib import Path

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from hyperpod_cdk.config import load
from hyperpod_cdk.rules import check

ROOT = Path(__file__).parents[3]
YAML_FILE = YAML(typ="safe")
BLOCKS = [
    YAML_FILE.load(text)
    for text in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "eks.md").read_text(), re.S)
]
MANIFESTS = [block for block in BLOCKS if "kind" in block]
SETTINGS = [block for block in BLOCKS if "kind" not in block]


@pytest.mark.parametrize("shown", SETTINGS, ids=lambda block: next(iter(block)))
def test_the_settings_are_valid_in_the_larger_example(shown: dict[str, object], tmp_path: Path) -> None:
    document = YAML_FILE.load((ROOT / "clusters" / "eks-training.yaml").read_text())
    document["cluster"]["orchestrator"]["eks"].update(shown)
    text = io.StringIO()
    YAML_FILE.dump(document, text)
    changed = tmp_path / "changed.yaml"
    changed.write_text(text.getvalue())
    # claims and access of the example are two teams', of which the page shows one
    assert [one for one in check(load(changed)) if one.code != "HP566"] == []


@pytest.mark.parametrize("shown", MANIFESTS, ids=lambda block: block["kind"])
def test_the_manifests_are_valid_and_name_claims_that_are_made(shown: dict[str, object]) -> None:
    kubernetes_validate.validate(shown, "1.33", strict=True)
    volumes = next(block["volumes"] for block in SETTINGS if "volumes" in block)
    pod: dict[str, list[dict[str, dict[str, str]]]] = shown["spec"]  # type: ignore[assignment]
    claimed = {volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"]}
    assert claimed <= set(volumes)
