"""HP41x: who sets the nodes up, and the scripts that do."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import groups, groups_of, is_continuous, is_legacy, lifecycle_mode
from hyperpod_cdk.rules.mounts import mount_paths
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, LifecycleMode, NodeType

_MIGRATION = f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html"
_MULTI_HEAD = f"{GUIDE}sagemaker-hyperpod-multihead-slurm.html"
_SLURM = "cluster.orchestrator.slurm"
_SCRIPTS = {
    LifecycleMode.AMI: (),
    LifecycleMode.EXTENSION: ("on_init_complete",),
    LifecycleMode.CUSTOM: ("on_create",),
    LifecycleMode.LEGACY: ("on_create",),
}


@checks(
    Rule(
        code="HP410",
        title="legacy mode in a part of the groups",
        why="provisioning_parameters.json and Slurm described by the API exclude each other in one cluster",
        fix="set lifecycle.mode: legacy and no lifecycle_mode on groups, or legacy nowhere",
        source=_MIGRATION,
    )
)
def legacy_is_for_all(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    modes = [(path, group, lifecycle_mode(spec, group)) for path, group in groups(spec)]
    if unresolved(*(mode for _, _, mode in modes)) or not is_legacy(spec):
        return
    for path, _, mode in modes:
        if mode != LifecycleMode.LEGACY:
            message = "differs from another group's legacy mode"
            yield rule.finding(f"{path}.lifecycle_mode", message, given=mode, allowed="legacy")


@checks(
    Rule(
        code="HP411",
        title="legacy mode with settings of the API's own Slurm configuration",
        why="Continuous provisioning and strategies need Slurm to be described by the API; a cluster with "
        "provisioning_parameters.json as well is refused",
        fix="use node_provisioning_mode: AllAtOnce and no slurm_config_strategy, or leave legacy mode",
        source=f"{_MIGRATION}, {GUIDE}sagemaker-hyperpod-scaling-slurm.html",
    )
)
def legacy_excludes(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not is_legacy(spec):
        return
    slurm = spec.cluster.orchestrator.slurm
    if is_continuous(spec):
        given = spec.cluster.node_provisioning_mode
        message = "can not be used in legacy mode"
        yield rule.finding("cluster.node_provisioning_mode", message, given=given, allowed="AllAtOnce")
    if slurm.slurm_config_strategy is not None:
        message = "can not be given in legacy mode"
        yield rule.finding(f"{_SLURM}.slurm_config_strategy", message, given=slurm.slurm_config_strategy)


@checks(
    Rule(
        code="HP412",
        title="several controllers outside legacy mode",
        why="the API describes one controller; more are described by provisioning_parameters.json",
        fix="set lifecycle.mode: legacy, or remove multi_head",
        source=_MULTI_HEAD,
    )
)
def multi_head_needs_legacy(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    modes = [lifecycle_mode(spec, group) for _, group in groups(spec)]
    multi_head = spec.cluster.orchestrator.slurm.multi_head
    if multi_head is not None and not unresolved(*modes) and not is_legacy(spec):
        yield rule.finding(f"{_SLURM}.multi_head", "needs legacy mode")


@checks(
    Rule(
        code="HP413",
        title="a shared directory that the controllers do not share",
        why="controllers hand Slurm's state over through a directory on a file system that each mounts",
        fix="use a directory at or below a mount path of the controller group",
        source=_MULTI_HEAD,
    )
)
def shared_directory(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    multi_head = spec.cluster.orchestrator.slurm.multi_head
    if multi_head is None or unresolved(multi_head.slurm_shared_directory):
        return
    directory = multi_head.slurm_shared_directory
    for _, group in groups_of(spec, NodeType.CONTROLLER):
        paths = mount_paths(spec, group)
        if None in paths or any(f"{directory}/".startswith(f"{path}/") for path in paths):
            continue
        yield rule.finding(
            f"{_SLURM}.multi_head.slurm_shared_directory",
            "is on no file system that the controllers mount",
            given=directory,
            allowed=", ".join(str(path) for path in paths) or "none, since the controllers mount nothing",
        )


@checks(
    Rule(
        code="HP414",
        title="scripts in S3 without exactly one entry script",
        why="a node runs either on_create, which does everything, or on_init_complete, which comes after the "
        "service's own set-up",
        fix="give one of on_create and on_init_complete",
        source=f"{API}API_ClusterLifeCycleConfig.html",
    )
)
def one_entry_script(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        config = group.life_cycle_config
        if config is None:
            continue
        if config.on_create is not None and config.on_init_complete is not None:
            where = f"{path}.life_cycle_config.on_init_complete"
            yield rule.finding(where, "excludes on_create, which is given too", given=config.on_init_complete)
        elif config.on_create is None and config.on_init_complete is None:
            yield rule.finding(f"{path}.life_cycle_config", "names no script")


@checks(
    Rule(
        code="HP415",
        title="an entry script that the mode does not run",
        why="extension mode runs on_init_complete, custom and legacy mode on_create, ami mode nothing",
        fix="change lifecycle_mode, or the script's key",
        source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
    )
)
def script_of_mode(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        mode = _asked_mode(spec, group)
        scripts = _SCRIPTS.get(mode) if mode is not None else None
        if group.life_cycle_config is None or scripts is None:
            continue
        for name in ("on_create", "on_init_complete"):
            given = getattr(group.life_cycle_config, name)
            if given is not None and name not in scripts:
                where = f"{path}.life_cycle_config.{name}"
                yield rule.finding(where, f"is not run in mode {mode}", given=given)


def _asked_mode(spec: HyperPodSpec, group: InstanceGroup) -> LifecycleMode | None:
    """The mode that somebody wrote down; a group with scripts of its own does not mean the default."""
    if group.lifecycle_mode is not None or spec.lifecycle.mode != LifecycleMode.EXTENSION:
        return lifecycle_mode(spec, group)
    return None
