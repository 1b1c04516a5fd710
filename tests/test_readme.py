"""The README's commands exist, its links lead somewhere, and its stack works word for word."""

import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk.assertions import Template

from hyperpod_cdk.commands.table import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_stack_of_twenty_lines_synthesizes_word_for_word() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    names: dict[str, Any] = {}
    exec(code, names)
    app = cdk.App()
    template = Template.from_stack(names["Training"](app, "Training"))
    template.resource_count_is("Custom::HyperPodCluster", 1)
    template.resource_count_is("AWS::FSx::FileSystem", 1)
    template.resource_count_is("AWS::EC2::VPC", 1)


def test_every_make_target_of_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert {"rehearse", "test"} <= set(re.findall(r"make ([a-z]+)", README)) <= targets


def test_every_relative_link_leads_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_example_is_in_the_readme() -> None:
    examples = {path.name for path in (ROOT / "clusters").glob("*.yaml")}
    assert {name for name in examples if f"clusters/{name}" not in README} == set()


def test_the_first_screen_leads_to_srun() -> None:
    """Whoever opens it sees three steps before anything else; 40 lines are a screen."""
    screen = README.splitlines()[:40]
    steps = [number for number in "123" if any(line.startswith(f"**{number}. ") for line in screen)]
    assert steps == ["1", "2", "3"]
    assert any(line.strip().startswith("srun ") for line in screen)


def test_every_command_is_in_the_readme() -> None:
    assert [
        name for name in COMMANDS if f"`hyperpod-cdk {name}" not in README and f"`{name}`" not in README
    ] == []


def test_every_anchor_leads_to_a_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) - anchors == set()
