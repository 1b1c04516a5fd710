"""Names of buckets."""

import re

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, 2026-10
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def is_bucket_name(text: str) -> bool:
    """Whether a general purpose bucket can have the name."""
    return _NAME.fullmatch(text) is not None
