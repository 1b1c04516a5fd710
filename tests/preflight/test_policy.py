"""The policy that preflight asks for is what it calls: no action too few, none too many."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk.preflight import CHECKS, Aws, Outcome, apis, policy, run
from hyperpod_cdk.preflight import aws as module
from hyperpod_cdk.preflight.calls import Api, Call
from hyperpod_cdk.preflight.look import WHO_ASKS
from tests.preflight import eks_account, eks_specs, specs
from tests.preflight.account import Account
from tests.preflight.changes import other_cluster, without_own_quota, without_plan_zone_id

ACTIONS: list[str] = policy()["Statement"][0]["Action"]
RARE = "ml.c6a.large"
"""A type whose quota has no known code."""
SPECS: dict[str, Callable[[Account], Any]] = {
    "existing": specs.existing,
    "new": lambda _: specs.new(instance_type=RARE),
    "eks-there": eks_specs.there,
    "eks-new": eks_specs.new,
    "eks-from-registry": eks_specs.from_registry,
}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Actions of every call."""
    found: set[str] = set()
    ask = module._ask

    def record(client: Any, call: Call) -> Any:
        found.add(call.api.action)
        return ask(client, call)

    monkeypatch.setattr(module, "_ask", record)
    return found


@pytest.fixture
def busy(account: Account) -> Account:
    """The account in which checks go every way: another cluster, quotas that have defaults alone, and so on.

    One of these quotas is asked for by its code, one found by its name.
    """
    other_cluster(account)
    without_plan_zone_id(account)
    eks_account.deploy_plane(account, "1.33")
    for name in ("EC2-VPC Elastic IPs", f"{RARE} for cluster usage"):
        without_own_quota(account, name)
    return account


def test_the_policy_is_what_is_called(busy: Account, ask: Callable[[], Aws], called: set[str]) -> None:
    for spec in SPECS.values():
        report = run(spec(busy), ask())
        assert report.count(Outcome.UNKNOWN) == 0
    assert called - {WHO_ASKS.action} == set(ACTIONS)


@pytest.mark.parametrize("name", SPECS)
def test_the_policy_for_a_spec_is_enough_for_it(
    busy: Account, ask: Callable[[], Aws], called: set[str], name: str
) -> None:
    spec = SPECS[name](busy)
    run(spec, ask())
    named = set(policy(spec)["Statement"][0]["Action"])
    assert called - {WHO_ASKS.action} <= named
    assert named < set(ACTIONS)


@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_is_needed(
    busy: Account, ask: Callable[[], Aws], monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.setattr(module, "_ask", _only({*ACTIONS, WHO_ASKS.action} - {action}))
    checks = [check for check in CHECKS if action in {api.action for api in check.apis}]
    reports = [run(spec(busy), ask(), checks=checks) for spec in SPECS.values()]
    reasons = [one.reason for report in reports for result in report.results for one in result.unchecked]
    assert reasons and all(action in reason for reason in reasons)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_each_check_names_all_that_it_calls(
    busy: Account, ask: Callable[[], Aws], called: set[str], check: Any
) -> None:
    reports = [run(spec(busy), ask(), checks=[check]) for spec in SPECS.values()]
    assert all(report.count(Outcome.UNKNOWN) == 0 for report in reports)
    assert called - {WHO_ASKS.action} <= {api.action for api in check.apis}


def test_it_only_reads() -> None:
    every = [one for one in vars(apis).values() if isinstance(one, Api)]
    assert {one.action for one in every} == set(ACTIONS)
    for one in every:
        assert one.operation.startswith(("describe_", "get_", "head_", "list_", "simulate_"))
        assert one.action.split(":")[1].startswith(("Describe", "Get", "List", "Simulate"))
    # nobody's secrets and nobody's data, but the first part of the user's own scripts
    assert not {"secretsmanager:GetSecretValue", "kms:Decrypt", "iam:PassRole"} & set(ACTIONS)


def test_it_is_a_policy_that_iam_takes() -> None:
    assert policy()["Version"] == "2012-10-17"
    (statement,) = policy()["Statement"]
    assert statement["Effect"] == "Allow"
    assert statement["Action"] == sorted(set(statement["Action"]))


def _only(allowed: set[str]) -> Callable[[Any, Call], Any]:
    answer = module._ask

    def ask(client: Any, call: Call) -> Any:
        if call.api.action in allowed:
            return answer(client, call)
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, call.api.operation)

    return ask
