"""HP43x: what is added to slurm.conf."""

import re
from collections.abc import Iterator, Mapping

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups_of, lifecycle_mode
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, LifecycleMode, NodeType

_CONF = "lifecycle.slurm.conf"
_OVERRIDES = (
    f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm-what-hyperpod-overrides-in-slurm-conf.html"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
# several settings may stand in one line, and only quotes hold blanks together (measured: 22.05 and 24.11)
_VALUE = re.compile(r'("[^"#\n\r]*"|[^\s#"]+)([ \t]+[A-Za-z]+=("[^"#\n\r]*"|[^\s#"]+))*')
_SERVICES: Mapping[str, str] = {
    "clustername": "the service",
    "slurmctldhost": "the service",
    "nodename": "the service",
    "partitionname": "the service, from slurm_config",
    "grestypes": "the image",
    "slurmctldparameters": "the image, for nodes without a slurm.conf of their own",
    "include": "the scripts",
    "accountingstoragetype": "the service or the scripts",
    "accountingstoragehost": "the service or the scripts",
    "accountingstoragepass": "the service or the scripts",
    **dict.fromkeys(("slurmuser", "authtype", "plugindir"), "the service, as the image has them"),
    **dict.fromkeys(("slurmctldport", "slurmdport"), "the service, and nodes that run have the old one"),
    "statesavelocation": "the service, and the jobs of a running controller lie there",
}


@checks(
    Rule(
        code="HP430",
        title="a setting of slurm.conf that is not yours",
        why="the service, the image or the scripts write it, and nodes would be lost or fail to start",
        fix="remove it",
        source=_OVERRIDES,
    )
)
def setting_of_the_service(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name in spec.lifecycle.slurm.conf:
        owner = None if unresolved(name) else _SERVICES.get(name.lower())
        if owner is not None:
            yield rule.finding(join(_CONF, name), f"is written by {owner}", given=name)


@checks(
    Rule(
        code="HP431",
        title="a setting of slurm.conf that ends auto-resume",
        why="srun --auto-resume replaces a faulty node within the job only with TaskPlugin=task/none and "
        "SchedulerParameters=permit_job_expansion; without them it does nothing, and says nothing",
        fix="remove TaskPlugin, and add permit_job_expansion to SchedulerParameters",
        source=_OVERRIDES,
    )
)
def setting_against_auto_resume(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name, value in spec.lifecycle.slurm.conf.items():
        if unresolved(name, value):
            continue
        if name.lower() == "taskplugin" and value != "task/none":
            yield rule.finding(join(_CONF, name), "ends auto-resume", given=value, allowed="task/none")
        elif name.lower() == "schedulerparameters" and "permit_job_expansion" not in value.split(","):
            allowed = f"{value},permit_job_expansion"
            yield rule.finding(join(_CONF, name), "ends auto-resume", given=value, allowed=allowed)


@checks(
    Rule(
        code="HP432",
        title="a line that slurm.conf can not have",
        why="slurmctld refuses a file with a line that it can not read, and the cluster has no scheduler",
        fix="use a name of letters and digits, and a value in one line without #, in quotes if it has blanks",
        source="slurm.conf(5)",
    )
)
def setting_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for name, value in spec.lifecycle.slurm.conf.items():
        if unresolved(name):
            continue
        first = seen.setdefault(name.lower(), name)
        if first != name:
            yield rule.finding(join(_CONF, name), f"is {first} again: case does not count", given=name)
        if not _NAME.fullmatch(name):
            yield rule.finding(_CONF, "has a name that is none", given=name)
        elif not unresolved(value) and not _VALUE.fullmatch(value):
            yield rule.finding(join(_CONF, name), "is no value of one line", given=value)


@checks(
    Rule(
        code="HP433",
        title="logins limited to jobs, and a setting that makes them impossible",
        why="pam_slurm_adopt finds a user's job by its cgroup, in a step that PrologFlags=Contain makes; "
        "without both nobody but administrators gets in",
        fix="remove the setting: the scripts set what pam_slurm_adopt needs",
        source="https://slurm.schedmd.com/pam_slurm_adopt.html",
    )
)
def adoption_needs(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not spec.lifecycle.slurm.pam_slurm_adopt:
        return
    for name, value in spec.lifecycle.slurm.conf.items():
        if unresolved(name, value):
            continue
        if name.lower() == "proctracktype" and value != "proctrack/cgroup":
            yield rule.finding(join(_CONF, name), "has no cgroups", given=value, allowed="proctrack/cgroup")
        elif name.lower() == "prologflags" and "contain" not in value.lower().split(","):
            yield rule.finding(join(_CONF, name), "lacks Contain", given=value, allowed=f"{value},Contain")


@checks(
    Rule(
        code="HP434",
        title="jobs that no cgroup holds, where the image limits memory by cgroups",
        why="with ConstrainRAMSpace a job that takes more memory than it asked for is ended; without "
        "TaskPlugin=task/cgroup, which auto-resume forbids, nothing limits it, and it can drain its node",
        fix="give jobs whole nodes (--exclusive), or acknowledge this",
        source=f"{GUIDE}sagemaker-hyperpod-faq-slurm.html",
        severity=Severity.WARNING,
    )
)
def memory_limits(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name, value in spec.lifecycle.slurm.conf.items():
        if unresolved(name, value) or name.lower() != "selecttypeparameters":
            continue
        if value.lower().endswith("_memory"):
            yield rule.finding(join(_CONF, name), "counts memory that nothing limits", given=value)


@checks(
    Rule(
        code="HP435",
        title="settings of Slurm for nodes that run no script of this library",
        why="the scripts on the controller write slurm.conf's part, and those on compute nodes limit logins; "
        "in ami mode and with life_cycle_config they do not run",
        fix="use lifecycle mode extension, custom or legacy there, or remove the setting",
        source="lifecycle_scripts/README.md",
        severity=Severity.WARNING,
    )
)
def settings_without_scripts(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    wanted = spec.lifecycle.slurm
    if wanted.conf and _runs_none(spec, NodeType.CONTROLLER):
        yield rule.finding(_CONF, "is written by nobody: the controller runs no script of this library")
    if wanted.pam_slurm_adopt and not unresolved(wanted.pam_slurm_adopt):
        for node_type in (NodeType.CONTROLLER, NodeType.COMPUTE):
            if _runs_none(spec, node_type):
                message = f"needs the scripts on every {node_type.lower()} node"
                yield rule.finding("lifecycle.slurm.pam_slurm_adopt", message, given=True)


def _runs_none(spec: HyperPodSpec, node_type: NodeType) -> bool:
    """Whether any group of a node type is surely left without our scripts."""
    return any(
        group.life_cycle_config is not None or lifecycle_mode(spec, group) == LifecycleMode.AMI
        for _, group in groups_of(spec, node_type)
        if not unresolved(lifecycle_mode(spec, group))
    )
