"""HP424 to HP427: groups of users, accounts, and those who left."""

import re
from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec

_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_ACCOUNT = re.compile(r"[a-z0-9_-][a-z0-9_.-]{0,62}")
_GIDS = range(2000, 60001)


@checks(
    Rule(
        code="HP424",
        title="a group of users that can not be",
        why="groupadd refuses the name, or the number is the system's, the service's or a container's",
        fix="use a lower-case name of up to 32 of a-z, 0-9, - and _, and a gid of 2000 to 60000",
        source="groupadd(8), login.defs(5)",
    )
)
def group_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, group in enumerate(spec.lifecycle.user_groups):
        path = f"lifecycle.user_groups[{index}]"
        if not unresolved(group.name) and not _NAME.fullmatch(group.name):
            yield rule.finding(f"{path}.name", "is no name for a group", given=group.name)
        if not unresolved(group.gid) and group.gid not in _GIDS:
            nearest = _GIDS[0] if group.gid < _GIDS[0] else _GIDS[-1]
            yield rule.finding(
                f"{path}.gid",
                "is out of range",
                given=group.gid,
                allowed=f"{_GIDS[0]} to {_GIDS[-1]}",
                nearest=(nearest,),
            )


@checks(
    Rule(
        code="HP425",
        title="two groups of one name or number",
        why="files belong to numbers: a number that two groups share gives each the other's files",
        fix="give each group a name and a gid of its own; a user's own group has the user's name and gid",
        source="hyperpod_cdk.spec.UserGroup",
    )
)
def same_group(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for field in ("name", "gid"):
        first: dict[Any, int] = {}
        for index, group in enumerate(spec.lifecycle.user_groups):
            value = getattr(group, field)
            if unresolved(value):
                continue
            if value in first:
                message = f"is that of user_groups[{first[value]}] too"
                yield rule.finding(f"lifecycle.user_groups[{index}].{field}", message, given=value)
            first.setdefault(value, index)


@checks(
    Rule(
        code="HP426",
        title="a former user who is still listed",
        why="one list makes the account and the other locks it",
        fix="remove the name from users or from removed_users",
        source="hyperpod_cdk.spec.Lifecycle",
    )
)
def removed_and_listed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    listed = {user.name for user in spec.lifecycle.users if not unresolved(user.name)}
    for index, name in enumerate(spec.lifecycle.removed_users):
        if not unresolved(name) and name in listed:
            yield rule.finding(f"lifecycle.removed_users[{index}]", "is one of users too", given=name)


@checks(
    Rule(
        code="HP427",
        title="a Slurm account that can not be",
        why="sacctmgr keeps accounts in lower case, and separates them by commas and spaces",
        fix="use up to 63 of a-z, 0-9, _, . and -",
        source="sacctmgr(1)",
    )
)
def account_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, user in enumerate(spec.lifecycle.users):
        if user.account is None or unresolved(user.account) or _ACCOUNT.fullmatch(user.account):
            continue
        nearest = re.sub(r"[^a-z0-9_.-]+", "-", user.account.lower()).strip("-")[:63]
        yield rule.finding(
            f"lifecycle.users[{index}].account",
            "is no name for an account",
            given=user.account,
            nearest=(nearest,) if nearest else (),
        )
