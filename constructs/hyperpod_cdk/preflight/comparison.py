"""What quotas are compared with."""

from collections.abc import Iterator

from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota

_FIX = "ask for more at Service Quotas, which takes hours to days, or ask for less here"


def quota_rule(code: str, title: str, why: str) -> Rule:
    """A rule about a quota."""
    return Rule(code=code, title=title, why=why, fix=_FIX, source=quotas.SOURCE)


def compared(look: Look, rule: Rule, quota: Quota, *, path: str, new: int, used: int) -> Iterator[Finding]:
    """A finding where a quota does not hold what is there and what is to come.

    Args:
        path: what takes it.
        new: how much is to come.
        used: how much is there already, and stays.
    """
    limit = look.quota(quota)
    if new > 0 and used + new > limit:
        others = f", and {used} are there already" if used else ""
        yield rule.finding(
            path,
            f"takes {new}{others}, of the quota {quota.name!r}",
            given=used + new,
            allowed=f"at most {limit:g}",
        )
