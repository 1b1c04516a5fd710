"""HP944, HP964, HP965, HP967: buckets, secrets and images that a spec names."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import groups, is_eks, lifecycle_mode
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import instance_types
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import InstanceGroup, LifecycleMode

_API_CONFIGURATION_SINCE = "2026-01-01"
"""Images before it know no SlurmConfig (developer guide, sagemaker-hyperpod-slurm-api-config-migration.html,
2026-10)."""


def _bucket_call(bucket: str) -> Call:
    return apis.HEAD_BUCKET(Bucket=bucket)


def _buckets_there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, bucket in places.buckets(look.spec):
        try:
            if look.ask(_bucket_call(bucket), absent=["404", "NoSuchBucket"]) is None:
                yield rule.finding(path, "is in no bucket that there is", given=bucket)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))


def _secret_call(arn: str) -> Call:
    return apis.DESCRIBE_SECRET(SecretId=arn)


def _secrets_there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.secrets(look.spec):
        try:
            answer = look.ask(_secret_call(arn), absent=["ResourceNotFoundException"])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))
            continue
        if answer is None:
            yield rule.finding(path, f"is no secret in {look.aws.region}", given=arn)
        elif answer.get("DeletedDate"):
            yield rule.finding(path, "is to be deleted", given=arn)


def _images_call(look: Look) -> Call:
    ids = [image_id for _, image_id in places.images(look.spec)]
    return apis.DESCRIBE_IMAGES(Filters=[{"Name": "image-id", "Values": ids}])


def _images_there(look: Look, rule: Rule) -> Iterator[Finding]:
    known = {one["ImageId"]: one for one in look.aws.answer(_images_call(look))}
    for path, group in groups(look.spec):
        if group.image_id is None or unresolved(group.image_id):
            continue
        image = known.get(group.image_id)
        if image is None or image["State"] != "available":
            state = f"is {image['State']}" if image else f"is no image in {look.aws.region}"
            yield rule.finding(f"{path}.image_id", state, given=group.image_id)
            continue
        others = sorted(_architectures(group) - {image.get("Architecture")})
        if image.get("Architecture") and others:
            yield rule.finding(
                f"{path}.image_id",
                f"is for {image['Architecture']}",
                given=group.image_id,
                allowed=", ".join(others),
            )


def _architectures(group: InstanceGroup) -> set[str]:
    known = (instance_types.find(name) for name in group.instance_types)
    return {one.architecture for one in known if one and one.architecture}


def _images_young(look: Look, rule: Rule) -> Iterator[Finding]:
    known = {one["ImageId"]: one for one in look.aws.answer(_images_call(look))}
    for path, group in groups(look.spec):
        if lifecycle_mode(look.spec, group) == LifecycleMode.LEGACY:
            continue
        made = known.get(group.image_id or "", {}).get("CreationDate", _API_CONFIGURATION_SINCE)
        if made < _API_CONFIGURATION_SINCE:
            yield rule.finding(f"{path}.image_id", f"was made on {made[:10]}", given=group.image_id)


CHECKS = (
    Check(
        name="buckets",
        rule=Rule(
            code="HP944",
            title="a linked or mounted bucket that is not there",
            why="a link fails after its file system is made, and the stack rolls back; a mount fails on each "
            "node",
            fix="correct the name, or make the bucket",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
        ),
        apis=(apis.HEAD_BUCKET,),
        asks=lambda look: [_bucket_call(bucket) for _, bucket in places.buckets(look.spec)],
        needed=lambda spec: bool(places.buckets(spec)),
        find=_buckets_there,
    ),
    Check(
        name="secrets",
        rule=Rule(
            code="HP964",
            title="a secret that is not there",
            why="slurmdbd gets no login for its database, and no job starts",
            fix="correct the ARN; `aws secretsmanager list-secrets` shows them",
            source=f"{GUIDE}sagemaker-hyperpod-ref.html",
        ),
        apis=(apis.DESCRIBE_SECRET,),
        asks=lambda look: [_secret_call(arn) for _, arn in places.secrets(look.spec)],
        needed=lambda spec: bool(places.secrets(spec)),
        find=_secrets_there,
    ),
    Check(
        name="images",
        rule=Rule(
            code="HP965",
            title="an image that is not there, or for another architecture",
            why="the service refuses the cluster, or the nodes do not start",
            fix="use an image of the account in this Region, for the architecture of the instance type",
            source=f"{GUIDE}hyperpod-custom-ami-how-to.html",
        ),
        apis=(apis.DESCRIBE_IMAGES,),
        asks=lambda look: [_images_call(look)],
        needed=lambda spec: bool(places.images(spec)),
        find=_images_there,
    ),
    Check(
        name="image-age",
        rule=Rule(
            code="HP967",
            title="an image that is older than the API's configuration of Slurm",
            why='the service refuses the groups with "Update required to use SlurmConfig"',
            fix="make the image anew from a HyperPod image of January 2026 or later, or use lifecycle_mode "
            "legacy",
            source=f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.DESCRIBE_IMAGES,),
        asks=lambda look: [_images_call(look)],
        # on Amazon EKS there is no such configuration
        needed=lambda spec: bool(places.images(spec)) and not is_eks(spec),
        find=_images_young,
    ),
)
