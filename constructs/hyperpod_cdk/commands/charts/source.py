"""Where HyperPod's chart is published, and which release of it is taken."""

from collections.abc import Mapping

ARCHIVE = "https://github.com/aws/sagemaker-hyperpod-cli/archive/refs/tags/{ref}.tar.gz"
"""Address of a release; GitHub makes such archives of every tag."""
ADDRESS_VARIABLE = "HYPERPOD_CDK_CHART_ADDRESS"
"""Environment variable with another address."""
FOLDER = "HyperPodHelmChart"
"""The chart's own folder, and what its copy is called."""
INSIDE = ("", FOLDER, f"helm_chart/{FOLDER}")
"""Where it may lie below what is given: the chart itself, the folder of charts, the repository."""

# https://github.com/aws/sagemaker-hyperpod-cli/releases/tag/v3.10.0, the newest release whose tag could be
# looked up (21 August 2026). PyPI has 3.12.0 of the command line since; its chart comes with --ref v3.12.0.
PINNED = "v3.10.0"
COMMITS: Mapping[str, str] = {PINNED: "b841ed8"}
"""Beginnings of the commits that tags stand for, so that a tag that was moved is noticed."""
