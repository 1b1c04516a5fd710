"""HP95x: scripts of the user's own that lie in S3."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from hyperpod_cdk.preflight import apis
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.look import groups, lifecycle_mode
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, LifecycleMode

LEGACY_FILE = "provisioning_parameters.json"
_NO_BUCKET = ["NoSuchBucket", "404"]
_FIRST_BYTES = 65536


@dataclass(frozen=True, kw_only=True)
class Script:
    """Where a group's script lies; ``path`` is of its life_cycle_config."""

    path: str
    bucket: str
    prefix: str
    name: str
    legacy: bool

    @property
    def key(self) -> str:
        """The script's key."""
        return f"{self.prefix}{self.name}"

    @property
    def uri(self) -> str:
        """The script, as users write it."""
        return f"s3://{self.bucket}/{self.key}"


def scripts(spec: HyperPodSpec) -> list[Script]:
    """The scripts in S3, each once."""
    found: dict[str, Script] = {}
    for path, group in groups(spec):
        config = group.life_cycle_config
        name = (config.on_create or config.on_init_complete) if config else None
        if config is None or name is None or unresolved(config.source_s3_uri, name):
            continue
        source = urlsplit(config.source_s3_uri)
        prefix = source.path.strip("/")
        script = Script(
            path=f"{path}.life_cycle_config",
            bucket=source.netloc,
            prefix=f"{prefix}/" if prefix else "",
            name=name,
            legacy=lifecycle_mode(spec, group) == LifecycleMode.LEGACY,
        )
        found.setdefault(script.uri, script)
    return list(found.values())


def _list(script: Script, name: str) -> Call:
    return apis.LIST_OBJECTS(Bucket=script.bucket, Prefix=f"{script.prefix}{name}", MaxKeys=10)


def _listed(look: Look, script: Script, name: str) -> bool | None:
    """Whether an object is there; None where its bucket is not."""
    answer = look.ask(_list(script, name), absent=_NO_BUCKET)
    if answer is None:
        return None
    return any(one["Key"] == f"{script.prefix}{name}" for one in answer.get("Contents", ()))


def _there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for script in scripts(look.spec):
        try:
            listed = _listed(look, script, script.name)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=script.path, reason=str(reason))
            continue
        if listed is None:
            yield rule.finding(
                f"{script.path}.source_s3_uri", "names no bucket that there is", given=script.bucket
            )
        elif not listed:
            yield rule.finding(script.path, "names a script that is not there", given=script.uri)


def _no_stray(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for script in scripts(look.spec):
        try:
            stray = not script.legacy and _listed(look, script, LEGACY_FILE)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=script.path, reason=str(reason))
            continue
        if stray:
            yield rule.finding(
                f"{script.path}.source_s3_uri",
                f"has a {LEGACY_FILE}, and Slurm is described by the API",
                given=f"s3://{script.bucket}/{script.prefix}",
            )


def _beginning(script: Script) -> Call:
    return apis.GET_OBJECT(Bucket=script.bucket, Key=script.key, Range=f"bytes=0-{_FIRST_BYTES - 1}")


def _can_run(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for script in scripts(look.spec):
        try:
            # an empty object has no first byte; one that is not there is told of by another check
            answer = look.ask(_beginning(script), absent=[*_NO_BUCKET, "NoSuchKey", "InvalidRange"])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=script.path, reason=str(reason))
            continue
        text: bytes = answer["Body"] if answer else b"#!"
        if not text.startswith(b"#!"):
            yield rule.finding(script.path, "does not begin with #!, such as #!/bin/bash", given=script.uri)
        if b"\r\n" in text:
            yield rule.finding(script.path, "has Windows line ends", given=script.uri)


def _has_scripts(spec: HyperPodSpec) -> bool:
    return bool(scripts(spec))


CHECKS = (
    Check(
        name="scripts",
        rule=Rule(
            code="HP950",
            title="a script in S3 that is not there",
            why="every node fails at its first start",
            fix="correct source_s3_uri or the script's name, or upload it",
            source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
        ),
        apis=(apis.LIST_OBJECTS,),
        asks=lambda look: [_list(script, script.name) for script in scripts(look.spec)],
        needed=_has_scripts,
        find=_there,
    ),
    Check(
        name="legacy-file",
        rule=Rule(
            code="HP951",
            title="a provisioning_parameters.json beside an API configuration",
            why="the service refuses both at once, and rolls back",
            fix="delete the file, or use lifecycle_mode legacy",
            source=f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
        ),
        apis=(apis.LIST_OBJECTS,),
        asks=lambda look: [_list(script, LEGACY_FILE) for script in scripts(look.spec) if not script.legacy],
        needed=_has_scripts,
        find=_no_stray,
    ),
    Check(
        name="script-form",
        rule=Rule(
            code="HP952",
            title="a script that Linux does not run",
            why="every node fails at its first start, with an error that names neither",
            fix="begin it with #!/bin/bash, and save it with LF line ends",
            source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
        ),
        apis=(apis.GET_OBJECT,),
        asks=lambda look: [_beginning(script) for script in scripts(look.spec)],
        needed=_has_scripts,
        find=_can_run,
    ),
)
