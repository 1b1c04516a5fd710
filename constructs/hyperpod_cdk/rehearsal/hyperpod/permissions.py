"""What a role of the emulated account may do."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from moto.iam.access_control import IAMPolicy, PermissionResult

from hyperpod_cdk.rehearsal.hyperpod.aws import Account

if TYPE_CHECKING:
    from moto.iam.models import Role


def allows(account: Account, role_arn: str, action: str, resource: str) -> bool:
    """Tell whether a role's policies allow an action; a bucket's or key's own policy is not asked.

    Conditions can not be judged: an Allow with one counts, a Deny with one does not.

    Args:
        account: where the role is.
        role_arn: the role; one that is not there may do nothing.
        action: for example ``s3:GetObject``.
        resource: ARN.
    """
    role = next((role for role in account.iam.roles.values() if role.arn == role_arn), None)
    if role is None:
        return False
    statements = list(_statements(role))
    return any(_permits(statement, action, resource) for statement in statements) and not any(
        _denies(statement, action, resource) for statement in statements
    )


def _permits(statement: dict[str, object], action: str, resource: str) -> bool:
    return _judge(statement, action, resource) is PermissionResult.PERMITTED


def _denies(statement: dict[str, object], action: str, resource: str) -> bool:
    return "Condition" not in statement and _judge(statement, action, resource) is PermissionResult.DENIED


def _judge(statement: dict[str, object], action: str, resource: str) -> PermissionResult:
    plain = {member: value for member, value in statement.items() if member != "Condition"}
    return IAMPolicy(json.dumps({"Statement": plain})).is_action_permitted(action, resource)


def _statements(role: "Role") -> Iterator[dict[str, object]]:
    managed = [
        next(version.document for version in policy.versions if version.is_default)
        for policy in role.managed_policies.values()
    ]
    for document in [*role.policies.values(), *managed]:
        found = json.loads(document)["Statement"]
        yield from found if isinstance(found, list) else [found]
