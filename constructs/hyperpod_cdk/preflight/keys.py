"""HP962, HP963: customer-managed keys."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.permissions import ENCRYPT_LOGS
from hyperpod_cdk.spec import HyperPodSpec

_ABSENT = ["NotFoundException"]


def _key_call(key: str) -> Call:
    return apis.DESCRIBE_KEY(KeyId=key)


def _usable(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, key in places.keys(look.spec):
        try:
            answer = look.ask(_key_call(key), absent=_ABSENT)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))
            continue
        if answer is None:
            yield rule.finding(path, f"is no key in {look.aws.region}", given=key)
            continue
        about = answer["KeyMetadata"]
        if about["KeyState"] != "Enabled":
            yield rule.finding(path, f"is {about['KeyState']}", given=key, allowed="Enabled")
        if about.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
            yield rule.finding(
                path, f"is a key of {about['KeySpec']}", given=key, allowed="SYMMETRIC_DEFAULT"
            )


# -- the key of log groups -----------------------------------------------------------------------------


def _policy_call(key: str) -> Call:
    return apis.GET_KEY_POLICY(KeyId=key, PolicyName="default")


def _has_log_key(spec: HyperPodSpec) -> bool:
    return spec.kms_key_arn is not None and not unresolved(spec.kms_key_arn)


def _ask_policy(look: Look) -> list[Call]:
    return [_policy_call(look.spec.kms_key_arn)] if look.spec.kms_key_arn else []


def _for_logs(look: Look, rule: Rule) -> Iterator[Finding]:
    key = look.spec.kms_key_arn or ""
    answer = look.ask(_policy_call(key), absent=_ABSENT)
    if answer is None:
        return
    statements = _listed(json.loads(answer["Policy"]).get("Statement", []))
    missing = [
        action
        for action in ENCRYPT_LOGS
        if not any(_lets_logs(one, action, look.aws.region) for one in statements)
    ]
    if missing:
        yield rule.finding(
            "kms_key_arn",
            f"does not let logs.{look.aws.region}.amazonaws.com use {', '.join(missing)}",
            given=key,
        )


def _lets_logs(statement: Mapping[str, Any], action: str, region: str) -> bool:
    principal = statement.get("Principal", {})
    services = ["*"] if principal == "*" else _listed(principal.get("Service", []))
    if not isinstance(principal, str) and "*" in _listed(principal.get("AWS", [])):
        services.append("*")
    names = ("*", "logs.amazonaws.com", f"logs.{region}.amazonaws.com", f"logs.{region}.amazonaws.com.cn")
    return (
        statement.get("Effect") == "Allow"
        and any(service in names for service in services)
        and any(fnmatchcase(action.lower(), one.lower()) for one in _listed(statement.get("Action", [])))
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


CHECKS = (
    Check(
        name="keys",
        rule=Rule(
            code="HP962",
            title="a key that can not encrypt",
            why="what is to be encrypted with it can not be made",
            fix="enable the key, or use another symmetric encryption key of the Region",
            source="https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html",
        ),
        apis=(apis.DESCRIBE_KEY,),
        asks=lambda look: [_key_call(key) for _, key in places.keys(look.spec)],
        needed=lambda spec: bool(places.keys(spec)),
        find=_usable,
    ),
    Check(
        name="key-for-logs",
        rule=Rule(
            code="HP963",
            title="a key that CloudWatch Logs may not use",
            why="the log groups can not be made; the stack does not change the policy of an existing key",
            fix="let the service use the key in the key's policy",
            source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
        ),
        apis=(apis.GET_KEY_POLICY,),
        asks=_ask_policy,
        needed=_has_log_key,
        find=_for_logs,
    ),
)
