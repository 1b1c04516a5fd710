"""What CONTRIBUTING.md and the page of the node scripts tell newcomers is still where they say."""

import re
from pathlib import Path

from hyperpod_cdk.commands.table import COMMANDS
from hyperpod_node.catalogue import STEPS
from hyperpod_node.main import FACTS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "constructs" / "hyperpod_cdk"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NODE_SCRIPTS = (ROOT / "lifecycle_scripts" / "README.md").read_text(encoding="utf-8")


def is_there(name: str) -> bool:
    """From the root, the package, or the folders that its context names; with ``*`` or without."""
    bases = (ROOT, PACKAGE, PACKAGE / "rehearsal", ROOT / "docs", ROOT / "tests" / "preflight")
    nodes = ROOT / "lifecycle_scripts"
    return any(any(base.glob(name)) for base in (*bases, nodes, nodes / "hyperpod_node"))


def test_every_file_and_folder_that_is_named_exists() -> None:
    named = re.findall(r"`([\w./*-]+(?:/|\.py|\.md|\.json|\.svg))`", TEXT)
    assert len(named) > 40
    generated = {"constructs/", "src/", "__init__.py", "config.json"}
    assert [name for name in named if name not in generated and not is_there(name.rstrip("/"))] == []


def test_every_folder_of_tests_that_is_run_exists() -> None:
    runs = [
        folder for one in re.findall(r'TESTS="?([^"`\n]+)"?', TEXT) for folder in one.split("#")[0].split()
    ]
    assert len(runs) > 10
    assert [folder for folder in runs if not (ROOT / folder).exists()] == []


def test_every_package_has_a_place_in_the_table() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert {name for name in folders if f"`{name}/`" not in TEXT} == set()


def test_every_command_that_is_named_exists() -> None:
    assert set(re.findall(r"`hyperpod-cdk ([a-z-]+)", TEXT)) <= set(COMMANDS)


def test_every_step_of_the_nodes_is_in_their_table() -> None:
    rows = re.findall(r"^\| ([a-z-]+) \| (?:all|custom|extension|legacy)", NODE_SCRIPTS, re.MULTILINE)
    assert set(rows) == {FACTS, *(step.name for step in STEPS)}
