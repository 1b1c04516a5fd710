"""Images in the emulated EC2, with ids of the test's choice."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from handler.clients import Aws
from moto.ec2.models import ec2_backends

_ACCOUNT_ID, _REGION = "123456789012", "us-west-2"


def put_image(aws: Aws, image_id: str, *, state: str = "available", made_on: datetime | None = None) -> None:
    """Let EC2 have an image."""
    images = ec2_backends[_ACCOUNT_ID][_REGION].amis
    made = images.pop(aws.ec2.register_image(Name=image_id)["ImageId"])
    made.id, made.state = image_id, state
    made.creation_date = made_on or made.creation_date
    images[image_id] = made


def forget_images() -> None:
    """Let EC2 have no images."""
    ec2_backends[_ACCOUNT_ID][_REGION].amis.clear()


@contextmanager
def images_in(aws: Aws, *image_ids: str) -> Iterator[None]:
    """Let EC2 have images for a while."""
    for image_id in image_ids:
        put_image(aws, image_id)
    yield
    forget_images()
