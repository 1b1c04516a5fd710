"""HP960 and HP961: execution roles that are there already."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.preflight.role_needs import Need, needs
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

PRINCIPAL = "sagemaker.amazonaws.com"
_SOURCE = f"{GUIDE}sagemaker-hyperpod-prerequisites-iam.html"
_SHOWN = 6


def role_name(arn: str) -> str:
    """The name at the end of a role's ARN, without its path."""
    return arn.rpartition("/")[2]


def _role_call(arn: str) -> Call:
    return apis.GET_ROLE(RoleName=role_name(arn))


def _trusts(document: Any) -> bool:
    policy = json.loads(unquote(document)) if isinstance(document, str) else document
    return any(_admits(statement) for statement in _listed(policy.get("Statement", [])))


def _admits(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal", {})
    services = ["*"] if principal == "*" else _listed(principal.get("Service", []))
    return (
        statement.get("Effect") == "Allow"
        and any(action in ("sts:AssumeRole", "sts:*", "*") for action in _listed(statement.get("Action", [])))
        and any(service in (PRINCIPAL, "*") for service in services)
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _exist(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.roles(look.spec):
        try:
            answer = look.ask(_role_call(arn), absent=["NoSuchEntity"])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))
            continue
        if answer is None or answer["Role"]["Arn"] != arn:
            yield rule.finding(path, "is no role of this account", given=arn)
        elif not _trusts(answer["Role"]["AssumeRolePolicyDocument"]):
            yield rule.finding(path, f"does not trust {PRINCIPAL}", given=arn)


# -- permissions ---------------------------------------------------------------------------------------


def _simulation(arn: str, need: Need) -> Call:
    context = [
        {"ContextKeyName": name, "ContextKeyValues": [value], "ContextKeyType": "string"}
        for name, value in need.context.items()
    ]
    return apis.SIMULATE(
        PolicySourceArn=arn,
        ActionNames=list(need.actions),
        ResourceArns=list(need.resources),
        **({"ContextEntries": context} if context else {}),
    )


def _simulations(look: Look) -> list[Call]:
    return [
        _simulation(arn, need)
        for _, arn in places.roles(look.spec)
        for need in needs(look.spec, arn, look.aws.region)
    ]


def _allowed(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.roles(look.spec):
        denied: list[str] = []
        for need in needs(look.spec, arn, look.aws.region):
            try:
                # a role that is not there is told of by another check
                results = look.ask(_simulation(arn, need), absent=["NoSuchEntity"]) or ()
            except (UnansweredError, RefusedError) as reason:
                yield Unchecked(path=path, reason=str(reason))
                continue
            for result in results:
                try:
                    denied += _denied(result)
                except _UnsureError as reason:
                    yield Unchecked(path=path, reason=str(reason))
        if denied:
            more = f" and {len(denied) - _SHOWN} more" if len(denied) > _SHOWN else ""
            yield rule.finding(
                path, f"does not allow {'; '.join(denied[:_SHOWN])}{more}", given=role_name(arn)
            )


class _UnsureError(Exception):
    """IAM's simulation misses values that only a real call has."""


def _denied(result: Mapping[str, Any]) -> list[str]:
    """What an action is denied on, from either form of the answer.

    The simulator used to give a result for each resource, and now gives one for each action with the
    resources in it (https://docs.aws.amazon.com/IAM/latest/APIReference/API_EvaluationResult.html, 2026-11).
    """
    action = result["EvalActionName"]
    parts = result.get("ResourceSpecificResults") or [
        {
            "EvalResourceName": result.get("EvalResourceName", "*"),
            "EvalResourceDecision": result["EvalDecision"],
            "MissingContextValues": result.get("MissingContextValues", []),
        }
    ]
    denied = []
    for part in parts:
        if part["EvalResourceDecision"] == "allowed":
            continue
        missing = part.get("MissingContextValues")
        if missing and part["EvalResourceDecision"] == "implicitDeny":
            raise _UnsureError(f"whether it allows {action} depends on {', '.join(missing)}")
        denied.append(f"{action} on {part['EvalResourceName']}")
    return denied


def _has_roles(spec: HyperPodSpec) -> bool:
    return bool(places.roles(spec))


CHECKS = (
    Check(
        name="roles",
        rule=Rule(
            code="HP960",
            title="an execution role that is not there, or that the service may not assume",
            why="the service refuses the cluster",
            fix="correct the ARN, or let sagemaker.amazonaws.com assume the role",
            source=_SOURCE,
        ),
        apis=(apis.GET_ROLE,),
        asks=lambda look: [_role_call(arn) for _, arn in places.roles(look.spec)],
        needed=_has_roles,
        find=_exist,
    ),
    Check(
        name="role-permissions",
        rule=Rule(
            code="HP961",
            title="an execution role that allows too little",
            why="nodes come up without network, scripts or logs, and fail, often without a message",
            fix="attach AmazonSageMakerClusterInstanceRolePolicy and a policy with what is missing",
            source=_SOURCE,
        ),
        apis=(apis.SIMULATE,),
        asks=_simulations,
        needed=_has_roles,
        find=_allowed,
    ),
)
