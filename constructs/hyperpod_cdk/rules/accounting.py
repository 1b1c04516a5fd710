"""HP47x: accounts, qualities of service, shares and limits of Slurm."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import instance_types
from hyperpod_cdk.spec import Account, Accounting, Association, HyperPodSpec, Qos, UsageReset

_PATH = "lifecycle.accounting"
_SACCTMGR = "https://slurm.schedmd.com/sacctmgr.html"
_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,39}")
_TRES = re.compile(r"cpu|mem|node|billing|energy|vmem|pages|(gres|license|fs|bb)/[A-Za-z0-9_.:-]+")
_ROOT, _NORMAL, _ALL_NODES = "root", "normal", "dev"


def parts(spec: HyperPodSpec) -> Iterator[tuple[str, Account | Association | Qos]]:
    """Path and content of everything that limits are set on."""
    accounting = spec.lifecycle.accounting or Accounting()
    for index, account in enumerate(accounting.accounts):
        yield f"{_PATH}.accounts[{index}]", account
    for index, association in enumerate(accounting.associations):
        yield f"{_PATH}.associations[{index}]", association
    for index, qos in enumerate(accounting.qos):
        yield f"{_PATH}.qos[{index}]", qos


@checks(
    Rule(
        code="HP470",
        title="an account or a quality of service that can not be named so",
        why="Slurm keeps names in lower case, and the account root is its own: the name would never be found",
        fix="use up to 40 of a-z, 0-9, - _ and ., the first no hyphen",
        source=_SACCTMGR,
    )
)
def accounting_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, part in parts(spec):
        if isinstance(part, Association) or unresolved(part.name):
            continue
        if not _NAME.fullmatch(part.name) or (isinstance(part, Account) and part.name == _ROOT):
            nearest = re.sub(r"[^a-z0-9_.-]+", "-", part.name.lower()).strip("-")[:40]
            offered = (nearest,) if _NAME.fullmatch(nearest) and nearest != _ROOT else ()
            yield rule.finding(f"{path}.name", "is no name for it", given=part.name, nearest=offered)


@checks(
    Rule(
        code="HP471",
        title="something of accounting that is declared twice",
        why="the two would undo each other at each set-up of the controller",
        fix="make one of the two",
        source="hyperpod_cdk.spec.Accounting",
    )
)
def declared_twice(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    first: dict[Any, str] = {}
    for path, part in parts(spec):
        key: tuple[Any, ...]
        if isinstance(part, Association):
            key = ("association", part.user, part.account, part.partition)
        else:
            key = (type(part).__name__, part.name)
        if unresolved(*(item for item in key if item is not None)):
            continue
        if key in first:
            yield rule.finding(path, f"is {first[key]} again", given=" ".join(filter(None, key[1:])))
        first.setdefault(key, path)


@checks(
    Rule(
        code="HP472",
        title="a name in accounting that nothing has",
        why="sacctmgr refuses it, and the accounts stay as they were",
        fix="declare it, or use the name of one that is declared",
        source=_SACCTMGR,
    )
)
def unknown_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting
    if accounting is None:
        return
    accounts = {account.name for account in accounting.accounts}
    qos = {one.name for one in accounting.qos} | {_NORMAL}
    if unresolved(*accounts, *qos):
        return
    for path, known, name in _names(spec, accounts, qos):
        if not unresolved(name) and name not in known:
            allowed = ", ".join(sorted(known))
            yield rule.finding(path, "is declared nowhere", given=name, allowed=allowed)


def _names(spec: HyperPodSpec, accounts: set[str], qos: set[str]) -> Iterator[tuple[str, set[str], str]]:
    """Path, what is known there, and the name."""
    for path, part in parts(spec):
        if isinstance(part, Qos):
            for index, name in enumerate(part.preempt):
                yield f"{path}.preempt[{index}]", qos, name
            continue
        if isinstance(part, Account):
            yield f"{path}.parent", accounts | {_ROOT}, part.parent
        else:
            yield f"{path}.account", accounts, part.account
        for index, name in enumerate(part.qos):
            yield f"{path}.qos[{index}]", qos, name
        if part.default_qos is not None:
            # who is given a list has no other
            yield f"{path}.default_qos", set(part.qos) or qos, part.default_qos
    for index, user in enumerate(spec.lifecycle.users):
        if user.account is not None and accounts:
            yield f"lifecycle.users[{index}].account", accounts, user.account


@checks(
    Rule(
        code="HP497",
        title="shares and limits in a partition that no group is in",
        why="sacctmgr takes any name, and what is said of a misspelt one never holds",
        fix="use a partition of slurm_config.partition_names, or dev, which every node is in; or acknowledge "
        "this where slurm.conf has one by hand",
        source=_SACCTMGR,
        severity=Severity.WARNING,
    )
)
def unknown_partition(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    configs = [group.slurm_config for _, group in groups(spec) if group.slurm_config is not None]
    known = [_ALL_NODES, *dict.fromkeys(name for config in configs for name in config.partition_names)]
    for path, part in parts(spec):
        given = part.partition if isinstance(part, Association) else None
        if given is not None and not unresolved(given, known) and given not in known:
            nearest = get_close_matches(given, known, n=1)
            allowed = ", ".join(known)
            yield rule.finding(
                f"{path}.partition", "is no partition", given=given, allowed=allowed, nearest=nearest
            )


@checks(
    Rule(
        code="HP473",
        title="accounts or qualities of service in a circle",
        why="an account can not lie below itself, and jobs that may preempt each other take turns for ever",
        fix="break the circle",
        source=_SACCTMGR,
    )
)
def circle(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting or Accounting()
    above = {account.name: (account.parent,) for account in accounting.accounts}
    preempts = {qos.name: tuple(qos.preempt) for qos in accounting.qos}
    for kind, field, links in (("accounts", "parent", above), ("qos", "preempt", preempts)):
        for index, name in enumerate(links):
            if _reaches(name, links):
                yield rule.finding(f"{_PATH}.{kind}[{index}].{field}", "comes back to itself", given=name)


def _reaches(start: str, links: Mapping[str, tuple[str, ...]]) -> bool:
    seen: set[str] = set()
    left = list(links[start])
    while left:
        name = left.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            left += links.get(name, ())
    return False


@checks(
    Rule(
        code="HP474",
        title="a limit on something that Slurm does not count",
        why="sacctmgr refuses an unknown kind of resource, and the accounts stay as they were",
        fix="use cpu, mem (MiB), node, billing or gres/gpu",
        source="https://slurm.schedmd.com/tres.html",
    )
)
def tres_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, amounts in tres(spec):
        for name in amounts:
            if not unresolved(name) and not _TRES.fullmatch(name):
                nearest = ("gres/gpu",) if "gpu" in name.lower() else ()
                yield rule.finding(path, "is no kind of resource", given=name, nearest=nearest)


def tres(spec: HyperPodSpec) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Path and content of every mapping of limits, or weights, by kind of resource."""
    for path, part in parts(spec):
        for field in fields(part.limits):
            value = getattr(part.limits, field.name)
            if isinstance(value, Mapping):
                yield f"{path}.limits.{field.name}", value
    priority = (spec.lifecycle.accounting or Accounting()).priority
    if priority is not None:
        yield f"{_PATH}.priority.weight_tres", priority.weight_tres


@checks(
    Rule(
        code="HP475",
        title="a limit that the cluster never reaches",
        why="it limits nothing: the cluster has no more GPUs than that",
        fix="lower it, or acknowledge this if the cluster is to grow",
        source="hyperpod_cdk.spec.Limits",
        severity=Severity.WARNING,
    )
)
def limit_beyond_cluster(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    counts = [group.instance_count for _, group in groups(spec)]
    types = [group.instance_type for _, group in groups(spec)]
    known = [None if name is None or unresolved(name) else instance_types.find(name) for name in types]
    if unresolved(*counts) or any(one is None or one.accelerators is None for one in known):
        return
    total = sum(
        count * (one.accelerators or 0) for count, one in zip(counts, known, strict=True) if one is not None
    )
    for path, amounts in tres(spec):
        asked = amounts.get("gres/gpu")
        if path.endswith(".grp_tres") and asked is not None and not unresolved(asked) and asked > total:
            yield rule.finding(
                join(path, "gres/gpu"), f"is more than the {total} of the cluster", given=asked
            )


@checks(
    Rule(
        code="HP476",
        title="a user who may submit no job",
        why="with associations enforced, Slurm takes no job of a user without an account",
        fix="name the user in an account's users, or set the user's account",
        source="https://slurm.schedmd.com/resource_limits.html",
        severity=Severity.WARNING,
    )
)
def user_without_account(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting
    if accounting is None or not (accounting.accounts or accounting.enforce):
        return
    listed = [name for account in accounting.accounts for name in account.users]
    listed += [one.user for one in accounting.associations]
    if unresolved(*listed):
        return
    for index, user in enumerate(spec.lifecycle.users):
        if not unresolved(user.name) and user.account is None and user.name not in listed:
            yield rule.finding(f"lifecycle.users[{index}].account", "is none, and no account lists the user")


@checks(
    Rule(
        code="HP477",
        title="use that is never forgotten",
        why="with neither decay nor reset, who computed most in the first year comes last for ever, and "
        "limits of minutes are used up for good",
        fix="set decay_half_life_days, or usage_reset",
        source="https://slurm.schedmd.com/priority_multifactor.html",
        severity=Severity.WARNING,
    )
)
def use_never_forgotten(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    priority = (spec.lifecycle.accounting or Accounting()).priority
    if priority is None or unresolved(priority.decay_half_life_days):
        return
    if not priority.decay_half_life_days and priority.usage_reset == UsageReset.NONE:
        yield rule.finding(f"{_PATH}.priority.decay_half_life_days", "is 0, and usage_reset is NONE", given=0)


@checks(
    Rule(
        code="HP478",
        title="a default account that the user is not in",
        why="sacctmgr refuses it, and the user's jobs go to another account",
        fix="add the user to the account, or name one that has the user",
        source=_SACCTMGR,
    )
)
def default_account(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting or Accounting()
    members = Counter((name, account.name) for account in accounting.accounts for name in account.users)
    members.update((one.user, one.account) for one in accounting.associations if one.partition is None)
    members.update((user.name, user.account or "") for user in spec.lifecycle.users)
    for index, user in enumerate(accounting.users):
        wanted = user.default_account
        if wanted is None or unresolved(user.name, wanted, *(item for key in members for item in key)):
            continue
        if (user.name, wanted) not in members:
            yield rule.finding(
                f"{_PATH}.users[{index}].default_account", f"does not have {user.name}", given=wanted
            )
