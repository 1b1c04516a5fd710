"""Bucket policies where moto is stricter than S3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket


def _permission(bucket: FakeBucket, action: str, resource: str) -> Any:
    policy = json.loads(bucket.policy) if bucket.policy else {"Statement": []}
    statements = policy["Statement"]
    listed = statements if isinstance(statements, list) else [statements]
    # Moto asks without the request's values, so a statement with a Condition never matches and denies.
    # Every bucket that denies access without TLS would thus deny all access.
    plain = [statement for statement in listed if "Condition" not in statement]
    if not plain:
        return PermissionResult.NEUTRAL
    return IAMPolicy(json.dumps({**policy, "Statement": plain})).is_action_permitted(action, resource)


@contextmanager
def bucket_policies_as_in_s3() -> Iterator[None]:
    """Let moto leave out statements that it can not judge, and permissions that S3 does not ask for.

    S3 takes a bucket as the target of access logs before its policy lets the logging service write: the
    policy that CDK writes names the source bucket, so it can only come after.
    """
    with (
        patch.object(FakeBucket, "get_permission", _permission),
        patch.object(FakeBucket, "_log_permissions_enabled_policy", staticmethod(lambda **_: True)),
    ):
        yield
