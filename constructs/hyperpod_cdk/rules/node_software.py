"""HP48x: what is set up on the nodes beside Slurm."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.rules.extra_files import is_missing
from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import groups, lifecycle_mode, node_type
from hyperpod_cdk.rules.mount_paths import is_system_path
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.bucket_names import is_bucket_name
from hyperpod_cdk.spec import Accounting, HyperPodSpec, LifecycleMode, NodeType

_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")
_WORKSPACE = re.compile(r"arn:aws[a-z-]*:aps:[a-z0-9-]+:\d{12}:workspace/ws-[0-9a-f-]+")
_LABEL = re.compile(r"(?!__)[a-z_][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN_LABELS = ("cluster", "instance", "instance_group", "instance_id", "instance_type", "node_type")


@checks(
    Rule(
        code="HP480",
        title="software for nodes that run no script of this library",
        why="the scripts set it up; on nodes in ami mode, or with scripts of your own in S3, nothing does",
        fix="use extension, custom or legacy mode for these groups, without life_cycle_config",
        source="hyperpod_cdk.spec.LifecycleMode",
    )
)
def software_without_scripts(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    served = {
        node_type(group)
        for _, group in groups(spec)
        if lifecycle_mode(spec, group) != LifecycleMode.AMI and group.life_cycle_config is None
    }
    wanted: Mapping[str, object] = {
        "directory": spec.lifecycle.directory,
        "bucket_mounts": spec.lifecycle.bucket_mounts,
        "monitoring": spec.lifecycle.monitoring,
        "steps": spec.lifecycle.steps,
    }
    if not served:
        for name, value in wanted.items():
            if value:
                yield rule.finding(f"lifecycle.{name}", "is set up on no node")
    if spec.lifecycle.accounting and not served & {NodeType.CONTROLLER, None}:
        yield rule.finding("lifecycle.accounting", "is brought to the database by the controller alone")


@checks(
    Rule(
        code="HP482",
        title="a path on the nodes that can not be",
        why="systemd, Docker or Mountpoint refuse it, or two things would lie at one place",
        fix="use an absolute path of letters, digits, dots, hyphens and underscores that nothing else has",
        source="hyperpod_cdk.spec.BucketMount",
    )
)
def node_path(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    taken = {mount.mount_path: f"{path}.mounts" for path, group in groups(spec) for mount in group.mounts}
    taken |= {"/fsx": "Lustre", "/home": "homes"}
    for path, place in _paths(spec):
        if unresolved(place):
            continue
        if not _PATH.fullmatch(place):
            nearest = ("/" + place.strip("/"),) if _PATH.fullmatch("/" + place.strip("/")) else ()
            yield rule.finding(path, "is no absolute path", given=place, nearest=nearest)
        elif path.endswith(".mount_path") and (place in taken or is_system_path(place)):
            yield rule.finding(path, f"is the place of {taken.get(place, 'the system')}", given=place)
        if path.endswith(".mount_path"):
            taken.setdefault(place, path)


def _paths(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    for index, mount in enumerate(spec.lifecycle.bucket_mounts):
        yield f"lifecycle.bucket_mounts[{index}].mount_path", mount.mount_path
    containers = spec.lifecycle.containers
    if containers is not None and containers.data_directory is not None:
        yield "lifecycle.containers.data_directory", containers.data_directory


@checks(
    Rule(
        code="HP483",
        title="a bucket that can not be mounted so",
        why="Mountpoint takes a name, a prefix that ends in /, and deletes nothing when it only reads",
        fix="give the name alone, end the prefix in /, and set read_only: false to delete",
        source="https://github.com/awslabs/mountpoint-s3/blob/main/doc/CONFIGURATION.md",
    )
)
def bucket_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, mount in enumerate(spec.lifecycle.bucket_mounts):
        path = f"lifecycle.bucket_mounts[{index}]"
        if not unresolved(mount.bucket) and not is_bucket_name(mount.bucket):
            nearest = mount.bucket.removeprefix("s3://").partition("/")[0]
            offered = (nearest,) if is_bucket_name(nearest) else ()
            yield rule.finding(f"{path}.bucket", "is no bucket's name", given=mount.bucket, nearest=offered)
        prefix = mount.prefix
        if prefix and not unresolved(prefix) and (not prefix.endswith("/") or prefix.startswith("/")):
            nearest = f"{prefix.strip('/')}/"
            yield rule.finding(f"{path}.prefix", "does not end in /", given=prefix, nearest=(nearest,))
        if mount.allow_delete and mount.read_only:
            yield rule.finding(f"{path}.allow_delete", "is set on a mount that only reads", given=True)


@checks(
    Rule(
        code="HP484",
        title="a workspace for metrics that is none",
        why="the nodes' role and their agent need its whole ARN, and write nothing otherwise",
        fix="copy the ARN: `aws amp list-workspaces` shows it; labels are lower-case words, and not our own",
        source="https://docs.aws.amazon.com/service-authorization/latest/reference/"
        "list_amazonmanagedserviceforprometheus.html",
    )
)
def workspace_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    monitoring = spec.lifecycle.monitoring
    if monitoring is None:
        return
    arn = monitoring.workspace_arn
    if not unresolved(arn) and not _WORKSPACE.fullmatch(arn):
        allowed = "arn:aws:aps:<region>:<account>:workspace/ws-…"
        yield rule.finding("lifecycle.monitoring.workspace_arn", "is none", given=arn, allowed=allowed)
    for name in monitoring.labels:
        if not unresolved(name) and (not _LABEL.fullmatch(name) or name in _TAKEN_LABELS):
            yield rule.finding("lifecycle.monitoring.labels", "has a label that can not be", given=name)


@checks(
    Rule(
        code="HP485",
        title="a step of yours that can not run",
        why="each step runs a .sh or .py file of extra_files under its name, in groups that there are; "
        "otherwise the node fails, or nothing happens",
        fix="use a name of lower-case letters, digits and hyphens once, a file under extra_files, groups of "
        "the cluster, and variables of letters, digits and underscores",
        source="hyperpod_cdk.spec.OwnStep",
    )
)
def own_step_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    known = [group.instance_group_name for _, group in groups(spec)]
    seen: set[str] = set()
    for index, step in enumerate(spec.lifecycle.steps):
        path = f"lifecycle.steps[{index}]"
        if not unresolved(step.name):
            if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", step.name) or step.name in seen:
                yield rule.finding(f"{path}.name", "is no name, or taken", given=step.name)
            seen.add(step.name)
        if not unresolved(step.script):
            yield from _script(spec, rule, f"{path}.script", step.script)
        for name in step.environment:
            if not unresolved(name) and not _VARIABLE.fullmatch(name):
                yield rule.finding(f"{path}.environment", "has a variable that can not be", given=name)
        for name in step.instance_groups:
            if not unresolved(name, *known) and name not in known:
                allowed = ", ".join(known)
                yield rule.finding(f"{path}.instance_groups", "has no group", given=name, allowed=allowed)


def _script(spec: HyperPodSpec, rule: Rule, path: str, script: str) -> Iterator[Finding]:
    if not re.fullmatch(r"[\w-][\w./-]*\.(sh|py)", script) or ".." in script:
        yield rule.finding(path, "is no .sh or .py file under extra_files", given=script)
    elif spec.lifecycle.extra_files is None:
        yield rule.finding(path, "lies in no folder: lifecycle.extra_files is not set", given=script)
    elif is_missing(spec, script):
        yield rule.finding(path, "is no file under extra_files", given=script)


@checks(
    Rule(
        code="HP486",
        title="priorities that another setting overrides",
        why="lifecycle.slurm.conf comes last, so that what accounting says of it never holds",
        fix="say it in one place: lifecycle.accounting",
        source="hyperpod_cdk.spec.SlurmSettings",
    )
)
def said_twice(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting
    if accounting is None:
        return
    for name in spec.lifecycle.slurm.conf:
        if not unresolved(name) and name.lower() in _settings_of(accounting):
            where = f"lifecycle.slurm.conf.{name}"
            yield rule.finding(where, "is what lifecycle.accounting says too", given=name)


def _settings_of(accounting: Accounting) -> set[str]:
    said: dict[str, Any] = {
        "accountingstorageenforce": accounting.enforce or accounting.accounts or accounting.qos,
        "preempttype": any(qos.preempt for qos in accounting.qos),
        "preemptmode": any(qos.preempt for qos in accounting.qos),
        **dict.fromkeys(("prioritytype", "priorityweightfairshare", "prioritymaxage"), accounting.priority),
        **dict.fromkeys(("prioritydecayhalflife", "priorityfavorsmall"), accounting.priority),
    }
    return {name for name, value in said.items() if value}
