"""A preflight: every check at once."""

import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from threading import Thread

from hyperpod_cdk.preflight.aws import Aws
from hyperpod_cdk.preflight.check import Check, Result, result_of
from hyperpod_cdk.preflight.look import DEFAULT_QUALIFIER, WHO_ASKS, Look
from hyperpod_cdk.preflight.registry import CHECKS
from hyperpod_cdk.preflight.report import Report
from hyperpod_cdk.rules import Severity
from hyperpod_cdk.spec import HyperPodSpec


def run(
    spec: HyperPodSpec,
    aws: Aws,
    *,
    checks: Sequence[Check] = CHECKS,
    acknowledged: Iterable[str] = (),
    qualifier: str = DEFAULT_QUALIFIER,
) -> Report:
    """Look whether an account has what a spec needs; changes nothing there.

    Args:
        spec: what a user asks for; it should break no rule.
        aws: the account and Region.
        checks: which. Default: all.
        acknowledged: codes of warnings that are not to be told, beside those that the spec acknowledges.
        qualifier: of the CDK's bootstrap in the account.

    Returns:
        The results; what could not be checked is one of them, never an error.
    """
    start = time.perf_counter()
    look = Look(spec=spec, aws=aws, qualifier=qualifier)
    needed = [check for check in checks if check.needed(spec)]
    aws.start(WHO_ASKS())
    for check in needed:
        _begin(check, look)
    futures = [_in_background(check, look) for check in needed]
    silent = {*acknowledged, *spec.acknowledge}
    results = [_told(future.result(), silent) for future in futures]
    account, caller = _caller(aws)
    return Report(
        region=aws.region,
        account=account,
        caller=caller,
        results=results,
        left_out=[check for check in checks if not check.needed(spec)],
        seconds=time.perf_counter() - start,
    )


def _told(result: Result, silent: Collection[str]) -> Result:
    rule = result.check.rule
    if rule.severity is Severity.WARNING and rule.code in silent:
        return replace(result, findings=())
    return result


def _begin(check: Check, look: Look) -> None:
    # a spec too odd for its calls to be told in advance: the check itself says so
    with suppress(Exception):
        for call in check.asks(look):
            look.aws.start(call)


def _in_background(check: Check, look: Look) -> "Future[Result]":
    future: Future[Result] = Future()
    Thread(target=lambda: future.set_result(result_of(check, look)), name=check.name, daemon=True).start()
    return future


def _caller(aws: Aws) -> tuple[str | None, str | None]:
    """Account and ARN of who asks; a report without them is still one."""
    try:
        caller = aws.answer(WHO_ASKS())
        return str(caller["Account"]), str(caller["Arn"])
    except Exception:
        return None, None
