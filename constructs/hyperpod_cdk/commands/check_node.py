"""``hyperpod-cdk check-node``: has nodes look at themselves, over Session Manager."""

import json
import shutil
import subprocess
from typing import Annotated, Any

import typer

from hyperpod_cdk.commands.exits import FOUND, OK, CommandError

REMOTE = "sudo -n hyperpod-check-node --json"
DOCUMENT = "AWS-StartNonInteractiveCommand"
_SESSION = ("aws", "ssm", "start-session", "--document-name", DOCUMENT, "--target")
TIME_LIMIT_SECONDS = 360
UNFIT, UNKNOWN = 1, 2
"""Exit codes on the node, as lifecycle_scripts/README.md has them."""


def command(
    *,
    cluster: Annotated[str, typer.Option(metavar="NAME", help="Name of the cluster.")],
    node: Annotated[
        list[str] | None,
        typer.Option(metavar="INSTANCE", help="Instance id; may stand several times. Default: every node."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Profile of the AWS CLI. Default: AWS_PROFILE.")
    ] = None,
    region: Annotated[str | None, typer.Option(metavar="REGION", help="Default: the environment's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    """Have nodes of a cluster on Slurm look at everything that their scripts have set up; changes nothing.

    Needs the AWS CLI with its Session Manager plugin. Exit code 0: every node is fit for work, 1: one is not,
    or could not be asked.
    """
    if shutil.which("aws") is None or shutil.which("session-manager-plugin") is None:
        raise CommandError(
            "this needs `aws` and `session-manager-plugin`; on a node itself, run hyperpod-check-node"
        )
    common = [*(["--profile", profile] if profile else []), *(["--region", region] if region else [])]
    reports = [_asked(target, common) for target in _targets(cluster, node or [], common)]
    if as_json:
        print(json.dumps(reports, indent=2))
    else:
        for report in reports:
            print(text_of(report))
    return FOUND if any(report["exit_code"] in (UNFIT, UNKNOWN) for report in reports) else OK


def _targets(cluster: str, wanted: list[str], common: list[str]) -> list[tuple[str, str]]:
    """Instance id and Session Manager target of every node that is meant."""
    described = _aws(["sagemaker", "describe-cluster", "--cluster-name", cluster], common)
    if "Eks" in (described.get("Orchestrator") or {}):
        raise CommandError(
            f"cluster {cluster} is on Amazon EKS, whose nodes have no such look at themselves: see "
            "`kubectl get nodes --label-columns sagemaker.amazonaws.com/node-health-status`"
        )
    listed = _aws(["sagemaker", "list-cluster-nodes", "--cluster-name", cluster], common)
    identifier = described["ClusterArn"].rpartition("/")[2]
    nodes = {
        one["InstanceId"]: f"sagemaker-cluster:{identifier}_{one['InstanceGroupName']}-{one['InstanceId']}"
        for one in listed["ClusterNodeSummaries"]
    }
    unknown = [name for name in wanted if name not in nodes]
    if unknown:
        raise CommandError(f"cluster {cluster} has no node {', '.join(unknown)}; it has {', '.join(nodes)}")
    return [(name, target) for name, target in nodes.items() if not wanted or name in wanted]


def _aws(arguments: list[str], common: list[str]) -> Any:
    done = subprocess.run(
        ["aws", *arguments, *common, "--output", "json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"aws {' '.join(arguments)} failed")
    return json.loads(done.stdout)


def _asked(node: tuple[str, str], common: list[str]) -> dict[str, Any]:
    name, target = node
    parameters = json.dumps({"command": [REMOTE]})
    try:
        done = subprocess.run(
            [*_SESSION, target, "--parameters", parameters, *common],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return unknown(name, f"no answer within {TIME_LIMIT_SECONDS} s")
    found = answer(done.stdout)
    return found or unknown(name, (done.stderr or done.stdout).strip()[-500:] or "it said nothing")


def answer(text: str) -> dict[str, Any] | None:
    """The node's answer within what a session prints; a session has no exit code of its own."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[begin : end + 1])
    except ValueError:
        return None
    return found if isinstance(found, dict) and "exit_code" in found else None


def unknown(name: str, reason: str) -> dict[str, Any]:
    """The report of a node that could not be asked."""
    return {"exit_code": UNKNOWN, "node": {"instance_id": name}, "checks": [], "reason": reason}


def text_of(report: dict[str, Any]) -> str:
    """A report for people: what is not well, or that all is."""
    node = report["node"]
    head = " ".join(filter(None, [node.get("instance_group"), node["instance_id"]]))
    if report["exit_code"] == UNKNOWN:
        return f"{head}: could not be asked: {report.get('reason', '')}"
    bad = [one for one in report["checks"] if one["outcome"] in ("failed", "warning")]
    lines = [f"{head}: {'ok' if not bad else 'unfit' if report['exit_code'] == UNFIT else 'worth a look'}"]
    for one in bad:
        lines.append(f"  {one['name']}: {one['detail']}")
        lines += [f"    what to do: {one['advice']}"] if one["advice"] else []
    return "\n".join(lines)
