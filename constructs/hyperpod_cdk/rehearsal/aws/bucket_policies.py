"""Bucket policies with conditions, which moto would take for unconditional."""

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
def conditional_statements_do_not_apply() -> Iterator[None]:
    """Let moto leave out the statements of bucket policies that it can not judge."""
    with patch.object(FakeBucket, "get_permission", _permission):
        yield
