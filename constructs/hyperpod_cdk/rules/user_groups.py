"""HP424 to HP429: groups of users, accounts, and those who left."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.rules.users import NAME, TAKEN
from hyperpod_cdk.spec import HyperPodSpec

_ACCOUNT = re.compile(r"[a-z0-9_-][a-z0-9_.-]{0,62}")
_GIDS = range(2000, 60001)
# of Ubuntu, and of what the images bring
_OF_IMAGES = (
    "adm",
    "audio",
    "cdrom",
    "dialout",
    "docker",
    "kvm",
    "lxd",
    "plugdev",
    "render",
    "sudo",
    "users",
    "video",
)


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
        if not unresolved(group.name) and not NAME.fullmatch(group.name):
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
    yield from _own_groups(spec, rule)


def _own_groups(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    """Of users: without a gid each has one of the user's name and number, which is nobody else's."""
    users, declared = spec.lifecycle.users, spec.lifecycle.user_groups
    numbers = {group.name: group.gid for group in declared}
    known = [value for user in users for value in (user.name, user.uid, user.gid) if value is not None]
    if unresolved(numbers, *known):
        return
    own = {user.uid: user.name for user in users if user.gid is None}
    for index, user in enumerate(users):
        path, gid = f"lifecycle.users[{index}]", user.uid if user.gid is None else user.gid
        if numbers.get(user.name, gid) != gid:
            message = f"is that of a group with gid {numbers[user.name]}"
            yield rule.finding(f"{path}.name", message, given=user.name)
        elif gid in own and own[gid] != user.name and gid not in numbers.values():
            yield rule.finding(f"{path}.gid", f"is the number of {own[gid]}'s own group", given=gid)


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


@checks(
    Rule(
        code="HP428",
        title="a former user who is none",
        why="the nodes refuse to lock an account of the system, and fail",
        fix="remove the name: former users are those who were in users",
        source="lifecycle_scripts/hyperpod_node/steps/removed_users.py",
    )
)
def former_user(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, name in enumerate(spec.lifecycle.removed_users):
        if unresolved(name):
            continue
        where = f"lifecycle.removed_users[{index}]"
        if name in TAKEN:
            yield rule.finding(where, "is an account of the system", given=name)
        elif not NAME.fullmatch(name):
            yield rule.finding(where, "is no name for a user", given=name)


@checks(
    Rule(
        code="HP429",
        title="a group that a user is not added to",
        why="users are added to groups that exist, and nothing is said of others: a misspelt one never does",
        fix="use the name of one of user_groups, or of a group of the image or the directory",
        source="hyperpod_cdk.spec.User",
        severity=Severity.WARNING,
    )
)
def misspelt_group(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    known = [group.name for group in spec.lifecycle.user_groups]
    if unresolved(*known):
        return
    for index, user in enumerate(spec.lifecycle.users):
        for number, name in enumerate(user.groups):
            where = f"lifecycle.users[{index}].groups[{number}]"
            if unresolved(name) or name in (*known, *_OF_IMAGES):
                continue
            nearest = get_close_matches(name, (*known, *_OF_IMAGES), n=1, cutoff=0.8)
            if nearest or not NAME.fullmatch(name):
                yield rule.finding(where, "is no group that there is", given=name, nearest=nearest)
