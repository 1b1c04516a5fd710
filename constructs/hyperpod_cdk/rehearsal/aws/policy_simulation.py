"""SimulatePrincipalPolicy of IAM, which moto does not know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.core.responses import ActionResult
from moto.iam.exceptions import NotFoundException
from moto.iam.responses import IamResponse

from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows


def _simulate(self: IamResponse) -> ActionResult:
    arn = str(self._get_param("PolicySourceArn"))
    account = Account(self.current_account, self.region)
    if all(role.arn != arn for role in account.iam.roles.values()):
        raise NotFoundException(f"The principal {arn} does not exist.")
    resources = self._get_param("ResourceArns") or ["*"]
    results = [_result(account, arn, action, resources) for action in self._get_param("ActionNames")]
    return ActionResult({"EvaluationResults": results, "IsTruncated": False})


def _result(account: Account, arn: str, action: str, resources: list[str]) -> dict[str, Any]:
    parts = [
        {
            "EvalResourceName": resource,
            "EvalResourceDecision": "allowed" if allows(account, arn, action, resource) else "implicitDeny",
        }
        for resource in resources
    ]
    denied = any(part["EvalResourceDecision"] != "allowed" for part in parts)
    return {
        "EvalActionName": action,
        "EvalResourceName": resources[0],
        "EvalDecision": "implicitDeny" if denied else "allowed",
        "ResourceSpecificResults": parts,
    }


@contextmanager
def policies_simulated() -> Iterator[None]:
    """Let moto answer SimulatePrincipalPolicy for roles; conditions are not judged, as of :func:`.allows`."""
    with patch.object(IamResponse, "simulate_principal_policy", _simulate, create=True):
        yield
