"""HP569: how old HyperPod's chart is, by the image of its health monitoring agent."""

import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec

AGENT = "health-monitoring-agent"
"""Part of the chart, and name of the image."""
# aws/sagemaker-hyperpod-cli, CHANGELOG: v3.9.0 (11 June 2026) brings 1.0.1892.0_1.0.424.0 with fixes, v3.7.1
# (8 April 2026) keeps the EFA plugin off types without EFA (issue 367)
LEAST = (1, 0, 1892)
RELEASE = "v3.9.0"
_TAG = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\.\d+_\d+\.\d+\.\d+\.\d+\b")
_FILES = ("values.yaml", "templates/_helpers.tpl")


@checks(
    Rule(
        code="HP569",
        title="an old release of HyperPod's chart",
        why="agents before 1.0.1892 raise false alarms, for which healthy nodes are replaced, and releases "
        "before v3.7.1 put the EFA plugin on types without EFA, where it crashes over and over",
        fix="get a newer one with `hyperpod-cdk chart --force`",
        source="https://github.com/aws/sagemaker-hyperpod-cli/releases, issue 367",
        severity=Severity.WARNING,
    )
)
def old_release(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    plane = spec.cluster.orchestrator.eks
    chart = plane.helm_chart if plane else None
    if chart is None or not chart.path or unresolved(chart.path) or AGENT in chart.values:
        return
    message = age(Path(chart.path))
    if message is not None:
        least = ".".join(map(str, LEAST))
        where = "cluster.orchestrator.eks.helm_chart.path"
        yield rule.finding(where, message, given=chart.path, allowed=f"an agent {least} or later")


def age(chart: Path) -> str | None:
    """What there is to say of a chart in a folder that is too old; None: nothing."""
    found = agent_version(chart)
    if found is None or max(found, LEAST) == found:
        return None
    return f"has the agent {'.'.join(map(str, found))}, from before release {RELEASE}"


def agent_version(chart: Path) -> tuple[int, ...] | None:
    """Version of the agent that a chart installs, as its own defaults have it; None: not to be told."""
    tags = [tag for text in _texts(chart).values() for tag in _TAG.findall(text)]
    return max((tuple(map(int, tag)) for tag in tags), default=None)


def _texts(chart: Path) -> Mapping[str, str]:
    """The part's files that name versions, unpacked or packed."""
    part = chart / "charts" / AGENT
    if part.is_dir():
        present = {name: part / name for name in _FILES if (part / name).is_file()}
        return {name: path.read_text(encoding="utf-8", errors="replace") for name, path in present.items()}
    for packed in sorted(chart.glob(f"charts/{AGENT}-*.tgz")):
        return _packed(packed)
    return {}


def _packed(path: Path) -> Mapping[str, str]:
    texts = {}
    try:
        with tarfile.open(path) as archive:
            for name in _FILES:
                member = archive.getmember(f"{AGENT}/{name}")
                file = archive.extractfile(member)
                texts[name] = file.read().decode(errors="replace") if file else ""
    except (tarfile.TarError, KeyError, OSError):
        # HP512 and helm say what is wrong with it
        return texts
    return texts
