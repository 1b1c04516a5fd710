"""``hyperpod-cdk check-node``: has nodes look at themselves, over Session Manager."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer

from hyperpod_cdk.commands.exits import FOUND, OK, CommandError
from hyperpod_cdk.commands.node_sessions import NodeSessions

PROGRAM = "hyperpod-check-node"
REMOTE = f"sudo -n {PROGRAM} --json"
TIME_LIMIT_SECONDS = 360
UNFIT, UNKNOWN = 1, 2
"""Exit codes on the node, as lifecycle_scripts/README.md has them."""
FORMAT = 1
REACHABLE = "Running"
NEVER_REACHABLE = ("Pending", "ShuttingDown", "NotFound")
"""Of the service's ClusterInstanceStatus: nothing answers there. The others may."""
NAMED = 10
GUIDES = {
    "aws": "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    "session-manager-plugin": "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
    "session-manager-working-with-install-plugin.html",
}


class Node(NamedTuple):
    """A node of the cluster.

    Args:
        instance_id: of EC2's form.
        group: its instance group.
        status: as the service has it.
        target: for Session Manager.
    """

    instance_id: str
    group: str
    status: str
    target: str


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
    missing = [name for name in GUIDES if shutil.which(name) is None]
    if missing:
        told = "; ".join(f"no `{name}` on this machine: {GUIDES[name]}" for name in missing)
        raise CommandError(f"{told}. On a node itself, run `sudo {PROGRAM}`")
    options = [*(["--profile", profile] if profile else []), *(["--region", region] if region else [])]
    nodes = _chosen(cluster, _nodes(cluster, options), node or [])
    codes = []
    reports = []
    with NodeSessions(options, time_limit_seconds=TIME_LIMIT_SECONDS) as sessions:
        for report in sessions.map(lambda one: asked(sessions, one), nodes):
            codes.append(report["exit_code"])
            if as_json:
                reports.append(report)
            else:
                print(text_of(report), flush=True)
    if as_json:
        print(json.dumps(reports, indent=2))
    return FOUND if {UNFIT, UNKNOWN} & set(codes) else OK


# -- which nodes -------------------------------------------------------------------------------------------


def _nodes(cluster: str, options: list[str]) -> list[Node]:
    named = ["--cluster-name", cluster]
    try:
        described = _aws(["sagemaker", "describe-cluster", *named], options)
    except CommandError as error:
        if "ResourceNotFound" not in str(error):
            raise
        raise CommandError(_no_cluster(cluster, options)) from error
    if "Eks" in (described.get("Orchestrator") or {}):
        raise CommandError(
            f"cluster {cluster} is on Amazon EKS, whose nodes have no such look at themselves: see "
            "`kubectl get nodes --label-columns sagemaker.amazonaws.com/node-health-status`"
        )
    listed = _aws(["sagemaker", "list-cluster-nodes", *named], options)["ClusterNodeSummaries"]
    prefix = f"sagemaker-cluster:{described['ClusterArn'].rpartition('/')[2]}_"
    return [
        Node(
            instance_id=one["InstanceId"],
            group=one["InstanceGroupName"],
            status=(one.get("InstanceStatus") or {}).get("Status") or REACHABLE,
            target=f"{prefix}{one['InstanceGroupName']}-{one['InstanceId']}",
        )
        for one in listed
    ]


def _no_cluster(cluster: str, options: list[str]) -> str:
    lack = f"no cluster {cluster} in this account and Region"
    try:
        found = _aws(["sagemaker", "list-clusters"], options)["ClusterSummaries"]
    except CommandError:
        return lack
    return f"{lack}, which {_list([one['ClusterName'] for one in found])}"


def _chosen(cluster: str, nodes: list[Node], wanted: list[str]) -> list[Node]:
    if not nodes:
        raise CommandError(
            f"cluster {cluster} has no nodes yet: `aws sagemaker list-cluster-events` says why"
        )
    known = [node.instance_id for node in nodes]
    unknown = [name for name in dict.fromkeys(wanted) if name not in known]
    if unknown:
        raise CommandError(f"cluster {cluster} has no node {', '.join(unknown)}; it {_list(known)}")
    return [node for node in nodes if not wanted or node.instance_id in wanted]


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"has {', '.join(names[:NAMED])}{more}" if names else "has none"


def _aws(arguments: list[str], options: list[str]) -> Any:
    call = ["aws", *arguments, *options, "--output", "json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"`{' '.join(call)}` failed")
    return json.loads(done.stdout)


# -- what they say -----------------------------------------------------------------------------------------


def asked(sessions: NodeSessions, node: Node) -> dict[str, Any]:
    """The report of a node; one that could not be asked has the reason."""
    if node.status in NEVER_REACHABLE:
        return unknown(node, "not asked")
    try:
        said = sessions.run(node.target, REMOTE)
    except TimeoutError as error:
        return unknown(node, str(error))
    if said.trouble:
        return unknown(node, said.trouble)
    return answer(said.text) or unknown(node, _why_not(said.text))


def answer(text: str) -> dict[str, Any] | None:
    """The node's report within what a session printed; None when there is none that can be read."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[begin : end + 1])
    except ValueError:
        return None
    whole = isinstance(found, dict) and {"exit_code", "node", "checks"} <= found.keys()
    return found if whole and found.get("format") == FORMAT else None


def _why_not(text: str) -> str:
    if PROGRAM in text and "not found" in text:
        return f"{text}: its lifecycle scripts are not this library's, or have not run yet"
    return text[-500:] or "it said nothing"


def unknown(node: Node, reason: str) -> dict[str, Any]:
    """The report of a node that could not be asked."""
    state = "" if node.status == REACHABLE else f" (the service has it as {node.status})"
    return {
        "format": FORMAT,
        "exit_code": UNKNOWN,
        "node": {"instance_group": node.group, "instance_id": node.instance_id},
        "checks": [],
        "reason": reason + state,
    }


def text_of(report: dict[str, Any]) -> str:
    """A report for people: what is not well, or that all is."""
    node = report["node"]
    head = f"{node['instance_group']} {node['instance_id']}"
    if report["exit_code"] == UNKNOWN:
        return f"{head}: could not be asked: {report['reason']}"
    bad = [one for one in report["checks"] if one["outcome"] in ("failed", "warning")]
    lines = [f"{head}: {'ok' if not bad else 'unfit' if report['exit_code'] == UNFIT else 'worth a look'}"]
    for one in bad:
        lines.append(f"  {one['name']}: {one['detail']}")
        lines += [f"    what to do: {one['advice']}"] if one["advice"] else []
    return "\n".join(lines)
