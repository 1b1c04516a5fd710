"""HP31x: FSx for Lustre, options that only some file systems have, and links to S3."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import new_lustre
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.bucket_names import is_bucket_name
from hyperpod_cdk.spec import HyperPodSpec, LustreDeploymentType, LustreStorageType

_LINKS = f"{fsx.LUSTRE_GUIDE}create-dra-linked-data-repo.html"
_SCRATCH = (LustreDeploymentType.SCRATCH_1, LustreDeploymentType.SCRATCH_2)


@checks(
    Rule(
        code="HP310",
        title="a Lustre version that the deployment type does not have",
        why="not every deployment type has each version, and the file system fails to be created",
        fix="use an allowed version; 2.15 suits every deployment type",
        source=fsx.CAPACITY_SOURCE,
    )
)
def lustre_version(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        version = lustre.file_system_type_version
        allowed = fsx.LUSTRE_VERSIONS.get(lustre.deployment_type)
        if lustre.storage_type == LustreStorageType.INTELLIGENT_TIERING:
            allowed = (fsx.LUSTRE_METADATA_VERSION,)
        if allowed is None or unresolved(version) or version in allowed:
            continue
        message = f"is no Lustre version of {lustre.deployment_type} on {lustre.storage_type}"
        where = f"{path}.file_system_type_version"
        yield rule.finding(where, message, given=version, allowed=", ".join(allowed), nearest=allowed[-1:])


@checks(
    Rule(
        code="HP311",
        title="EFA on a file system that can not have it",
        why="EFA needs PERSISTENT_2 with metadata settings, so Lustre 2.15; it is fixed at creation",
        fix="use PERSISTENT_2 on Lustre 2.15, or remove efa_enabled",
        source=f"{fsx.LUSTRE_GUIDE}efa-file-systems.html",
    )
)
def lustre_efa(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        deployment, version = lustre.deployment_type, lustre.file_system_type_version
        if unresolved(lustre.efa_enabled, deployment, version) or not lustre.efa_enabled:
            continue
        if lustre.throughput_capacity in fsx.LUSTRE_TIERING_THROUGHPUT.singles:
            where, given = f"{path}.throughput_capacity", lustre.throughput_capacity
            yield rule.finding(where, "is too little for EFA", given=given, allowed="a multiple of 4000 MB/s")
        if deployment != LustreDeploymentType.PERSISTENT_2 or version != fsx.LUSTRE_METADATA_VERSION:
            message = f"does not exist for {deployment} on Lustre {version}"
            yield rule.finding(f"{path}.efa_enabled", message, given=True)


@checks(
    Rule(
        code="HP312",
        title="a drive cache without HDD",
        why="the cache is SSD in front of HDD storage of PERSISTENT_1",
        fix="remove drive_cache_type",
        source=fsx.LUSTRE_SOURCE,
    )
)
def lustre_drive_cache(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        cache, storage = lustre.drive_cache_type, lustre.storage_type
        if cache is not None and not unresolved(storage) and storage != LustreStorageType.HDD:
            yield rule.finding(f"{path}.drive_cache_type", f"is for HDD, not {storage}", given=cache)


@checks(
    Rule(
        code="HP313",
        title="backups of a file system that can not be backed up",
        why="FSx backs up persistent file systems that no S3 bucket is linked to",
        fix="set automatic_backup_retention_days: 0; the linked bucket, versioned, is the copy",
        source=f"{fsx.LUSTRE_GUIDE}using-backups-fsx.html",
    )
)
def lustre_backups(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        days = lustre.automatic_backup_retention_days
        if unresolved(days, lustre.deployment_type) or not days:
            continue
        if lustre.deployment_type in _SCRATCH:
            reason = f"does not exist for {lustre.deployment_type}"
        elif lustre.data_repository_associations:
            reason = "excludes data_repository_associations, which are given too"
        else:
            continue
        yield rule.finding(f"{path}.automatic_backup_retention_days", reason, given=days, allowed="0")


@checks(
    Rule(
        code="HP314",
        title="a link to S3 where there can be none",
        why="SCRATCH_1, Lustre 2.10 and Intelligent-Tiering file systems take no data repository "
        "associations, others at most 8",
        fix="change the file system, or remove data_repository_associations",
        source=f"{_LINKS}, {fsx.LUSTRE_GUIDE}fsx-data-repositories.html",
    )
)
def associations_possible(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        links = lustre.data_repository_associations
        without = {
            "deployment_type": LustreDeploymentType.SCRATCH_1,
            "file_system_type_version": "2.10",
            "storage_type": LustreStorageType.INTELLIGENT_TIERING,
        }
        for field, value in without.items():
            if links and getattr(lustre, field) == value:
                message = "takes no data_repository_associations"
                yield rule.finding(f"{path}.{field}", message, given=value)
        if len(links) > fsx.LUSTRE_ASSOCIATIONS:
            yield rule.finding(
                f"{path}.data_repository_associations",
                f"are {len(links)}",
                allowed=f"at most {fsx.LUSTRE_ASSOCIATIONS}",
            )


@checks(
    Rule(
        code="HP315",
        title="a path of a link that can not be",
        why="a link joins an S3 prefix, s3://bucket/prefix, and a directory from the file system's root",
        fix="write the S3 side as s3://bucket/prefix and the directory with a leading /",
        source=_LINKS,
    )
)
def association_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        for index, link in enumerate(lustre.data_repository_associations):
            here = f"{path}.data_repository_associations[{index}]"
            for field, start, allowed in (
                ("data_repository_path", "s3://", "s3://bucket/prefix"),
                ("file_system_path", "/", "an absolute path, such as /datasets"),
            ):
                value = getattr(link, field)
                where = f"{here}.{field}"
                if unresolved(value):
                    continue
                if not value.startswith(start) or value == "s3://":
                    yield rule.finding(where, "has another form than it must", given=value, allowed=allowed)
                elif start == "s3://" and not is_bucket_name(urlsplit(value).netloc):
                    bucket = "3 to 63 lower-case letters, digits, hyphens and dots"
                    yield rule.finding(where, "names no bucket that can be", given=value, allowed=bucket)


@checks(
    Rule(
        code="HP316",
        title="links that overlap",
        why="each file must have one place in S3, and each object one in the file system",
        fix="link directories and prefixes that do not contain each other; / only as the sole link",
        source=_LINKS,
    )
)
def associations_overlap(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        links = lustre.data_repository_associations
        for field in ("file_system_path", "data_repository_path"):
            for index, other in _overlapping([getattr(link, field) for link in links]):
                where = f"{path}.data_repository_associations[{index}].{field}"
                given = getattr(links[index], field)
                yield rule.finding(where, f"overlaps that of link [{other}]", given=given)


@checks(
    Rule(
        code="HP317",
        title="a key for a scratch file system",
        why="scratch file systems are encrypted with a key of the service, and take no other",
        fix="remove kms_key_arn, or use a persistent deployment type",
        source=f"{fsx.LUSTRE_GUIDE}encryption-at-rest.html",
    )
)
def lustre_key(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        key, deployment = lustre.kms_key_arn, lustre.deployment_type
        if key is not None and deployment in _SCRATCH:
            yield rule.finding(f"{path}.kms_key_arn", f"can not be set for {deployment}", given=key)


def _overlapping(paths: Sequence[str]) -> Iterator[tuple[int, int]]:
    folders = [path.rstrip("/") + "/" for path in paths]
    for index, folder in enumerate(folders):
        for other, earlier in enumerate(folders[:index]):
            if not unresolved(folder, earlier) and (folder.startswith(earlier) or earlier.startswith(folder)):
                yield index, other
                break
