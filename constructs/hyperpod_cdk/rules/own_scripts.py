"""HP45x: scripts that lie in S3 already."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, lifecycle_mode
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, LifeCycleConfig, LifecycleMode

_SOURCE = f"{API}API_ClusterLifeCycleConfig.html"
_HOOKS = ("on_create", "on_init_complete")
_SCRIPT_ENDINGS = (".sh", ".py", ".bash")


@checks(
    Rule(
        code="HP450",
        title="a script where the folder of scripts is wanted",
        why="nodes download everything under source_s3_uri and look for the script in it",
        fix="give the prefix as source_s3_uri, s3://bucket/prefix/, and the script's name as on_create or "
        "on_init_complete",
        source=_SOURCE,
    )
)
def prefix_not_script(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, config in _configs(spec):
        uri = config.source_s3_uri
        if not unresolved(uri) and uri.endswith(_SCRIPT_ENDINGS):
            nearest = (uri.rpartition("/")[0] + "/",)
            yield rule.finding(f"{path}.source_s3_uri", "names a script", given=uri, nearest=nearest)


@checks(
    Rule(
        code="HP451",
        title="a source of scripts that no permission can be written for",
        why="a role made here may read exactly that bucket and prefix, taken from s3://bucket/prefix/",
        fix="write s3://bucket/prefix/, or give the group an execution_role_arn",
        source=_SOURCE,
    )
)
def source_by_bucket(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        config = group.life_cycle_config
        if config is None or group.execution_role_arn is not None or unresolved(config.source_s3_uri):
            continue
        scheme, _, rest = config.source_s3_uri.partition("://")
        if scheme != "s3" or not rest.strip("/"):
            where = f"{path}.life_cycle_config.source_s3_uri"
            yield rule.finding(
                where, "names no bucket", given=config.source_s3_uri, allowed="s3://bucket/prefix/"
            )


@checks(
    Rule(
        code="HP452",
        title="an entry script outside its folder",
        why="the name counts from source_s3_uri; nodes find nothing by an address or an absolute path",
        fix="give the script's name alone, such as on_create.sh",
        source=_SOURCE,
    )
)
def script_in_folder(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, config in _configs(spec):
        for hook in _HOOKS:
            name = getattr(config, hook)
            if name is None or unresolved(name):
                continue
            if name.startswith("/") or "://" in name or ".." in name.split("/") or "\\" in name:
                nearest = (name.replace("\\", "/").rpartition("/")[2],)
                yield rule.finding(f"{path}.{hook}", "is no name in the folder", given=name, nearest=nearest)


@checks(
    Rule(
        code="HP453",
        title="scripts of your own that have to bring provisioning_parameters.json",
        why="the file is written beside the scripts of this library, not into a prefix of yours",
        fix="see that your prefix holds the file and that it agrees with this one, and acknowledge this",
        source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
        severity=Severity.WARNING,
    )
)
def legacy_file_of_your_own(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _with_own_scripts(spec):
        if lifecycle_mode(spec, group) == LifecycleMode.LEGACY:
            yield rule.finding(f"{path}.life_cycle_config", "needs the file in its prefix")


@checks(
    Rule(
        code="HP454",
        title="mounts that scripts of your own have to make",
        why="with on_create the service mounts nothing by one page and everything by another; the scripts of "
        "this library mount, yours may not",
        fix="see that your script mounts what is missing, and acknowledge this",
        source=f"{GUIDE}smcluster-getting-started-slurm-cli.html against "
        f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
        severity=Severity.WARNING,
    )
)
def mounts_of_your_own(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _with_own_scripts(spec):
        config = group.life_cycle_config
        if group.mounts and config is not None and config.on_create is not None:
            yield rule.finding(f"{path}.mounts", "may not be mounted by the service beside on_create")


def _configs(spec: HyperPodSpec) -> Iterator[tuple[str, LifeCycleConfig]]:
    for path, group in groups(spec):
        if group.life_cycle_config is not None:
            yield f"{path}.life_cycle_config", group.life_cycle_config


def _with_own_scripts(spec: HyperPodSpec) -> Iterator[tuple[str, InstanceGroup]]:
    for path, group in groups(spec):
        if group.life_cycle_config is not None and not unresolved(lifecycle_mode(spec, group)):
            yield path, group
