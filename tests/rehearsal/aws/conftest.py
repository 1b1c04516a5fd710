"""One embedded AWS for the tests of a module; each stack has a name of its own.

Not for the whole session: what it sets in moto would slow every other folder's tests down.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from itertools import count

import pytest

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import CODE_BUCKET, AddCode, Deployer

REGION = "us-west-2"
_numbers = count(1)


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    with EmbeddedAws(region=REGION, speed=200.0, extensions=[hyperpod.install]) as running:
        hyperpod.service(running.account_id, REGION).clock.speed = 2000.0
        place = {"LocationConstraint": REGION}
        running.client("s3").create_bucket(Bucket=CODE_BUCKET, CreateBucketConfiguration=place)
        yield running


@pytest.fixture
def stack(aws: EmbeddedAws) -> Deployer:
    return Deployer(aws=aws, name=f"stack-{next(_numbers)}")


@pytest.fixture
def code(aws: EmbeddedAws) -> AddCode:
    """Puts files into S3 as a function's code, and gives the Code property."""

    def add(files: Mapping[str, str]) -> dict[str, str]:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as zipped:
            for path, text in files.items():
                entry = zipfile.ZipInfo(path)
                entry.external_attr = 0o755 << 16
                zipped.writestr(entry, text)
        key = f"{next(_numbers)}.zip"
        aws.client("s3").put_object(Bucket=CODE_BUCKET, Key=key, Body=archive.getvalue())
        return {"S3Bucket": CODE_BUCKET, "S3Key": key}

    return add
