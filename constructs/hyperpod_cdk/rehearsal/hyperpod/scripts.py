"""Lifecycle scripts in the emulated S3: where they are, and whether they are there."""

from urllib.parse import urlparse

from moto.s3.exceptions import MissingBucket
from moto.s3.models import FakeKey

from hyperpod_cdk.rehearsal.hyperpod.aws import Account


def join(source_s3_uri: str, file_name: str) -> tuple[str, str]:
    """Give bucket and key of a file under a SourceS3Uri.

    Args:
        source_s3_uri: ``s3://bucket/prefix`` or an https address of the same.
        file_name: relative to it.
    """
    parts = urlparse(source_s3_uri)
    bucket, path = parts.netloc, parts.path
    if parts.scheme == "https":
        bucket, path = _from_https(bucket, path)
    return bucket, "/".join(filter(None, [path.strip("/"), file_name]))


def exists(account: Account, source_s3_uri: str, file_name: str) -> bool:
    """Tell whether a file is under a SourceS3Uri; false too when there is no such bucket."""
    bucket, key = join(source_s3_uri, file_name)
    try:
        return isinstance(account.s3.get_object(bucket, key), FakeKey)
    except MissingBucket:
        return False


def _from_https(host: str, path: str) -> tuple[str, str]:
    if host.startswith("s3.") or host.startswith("s3-"):
        bucket, _, rest = path.strip("/").partition("/")
        return bucket, rest
    return host.partition(".s3")[0], path
