"""Every generated page: where it lies, and what it says."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.architecture import draw
from docs.configuration import describe
from docs.preflight import page
from docs.rules import table
from hyperpod_cdk.config import load, schema
from hyperpod_cdk.preflight import CHECKS
from hyperpod_cdk.rules import RULES

_FOLDER = Path(__file__).parent
_CLUSTERS = _FOLDER.parent / "clusters"


def _schema() -> str:
    return json.dumps(schema(), indent=2) + "\n"


PAGES: Mapping[Path, Callable[[], str]] = {
    _FOLDER / "architecture.svg": lambda: draw(load(_CLUSTERS / "slurm-gpu.yaml")),
    _FOLDER / "configuration.md": lambda: describe(schema()),
    _FOLDER / "preflight.md": lambda: page(CHECKS),
    _FOLDER / "rules.md": lambda: table(RULES.values()),
    _FOLDER / "schema.json": _schema,
}
"""Path and content; `python -m docs` writes them."""
