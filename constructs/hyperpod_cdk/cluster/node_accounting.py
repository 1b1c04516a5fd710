"""Accounting as node scripts are told of it, in the words of sacctmgr(1), slurm.conf(5), slurmdbd.conf(5)."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from hyperpod_cdk.spec import (
    Account,
    Accounting,
    AccountingDatabase,
    AccountingEnforce,
    Association,
    Lifecycle,
    Limits,
    Purge,
    Qos,
    QosLimits,
)

_OPTIONS: Mapping[str, str] = {
    "grp_tres": "GrpTRES",
    "grp_tres_minutes": "GrpTRESMins",
    "grp_tres_running_minutes": "GrpTRESRunMins",
    "grp_jobs": "GrpJobs",
    "grp_submit_jobs": "GrpSubmitJobs",
    "grp_wall_minutes": "GrpWall",
    "max_tres_per_job": "MaxTRESPerJob",
    "max_tres_per_node": "MaxTRESPerNode",
    "max_tres_minutes_per_job": "MaxTRESMinsPerJob",
    "max_tres_per_user": "MaxTRESPerUser",
    "max_tres_per_account": "MaxTRESPerAccount",
    "min_tres_per_job": "MinTRESPerJob",
    "max_jobs": "MaxJobs",
    "max_submit_jobs": "MaxSubmitJobs",
    "max_jobs_per_user": "MaxJobsPerUser",
    "max_jobs_per_account": "MaxJobsPerAccount",
    "max_submit_jobs_per_user": "MaxSubmitJobsPerUser",
    "max_submit_jobs_per_account": "MaxSubmitJobsPerAccount",
    "max_wall_minutes": "MaxWall",
}
"""Limits of the spec, as sacctmgr calls them."""
_PURGE: Mapping[str, str] = {
    "events": "PurgeEventAfter",
    "steps": "PurgeStepAfter",
    "suspends": "PurgeSuspendAfter",
    "reservations": "PurgeResvAfter",
    "jobs": "PurgeJobAfter",
    "transactions": "PurgeTXNAfter",
    "usage": "PurgeUsageAfter",
}
_DEFAULT_ENFORCE = (AccountingEnforce.ASSOCIATIONS, AccountingEnforce.LIMITS, AccountingEnforce.QOS)


def accounting_config(lifecycle: Lifecycle, database: AccountingDatabase | None) -> dict[str, Any]:
    """The ``accounting`` member of config.json.

    Args:
        lifecycle: accounts, users and former users.
        database: external database; None for MariaDB on the controller.
    """
    accounting = lifecycle.accounting or Accounting()
    associations = list(_associations(lifecycle, accounting))
    users = list(dict.fromkeys(one["user"] for one in associations))
    return {
        "database": database
        and {
            "endpoint": database.endpoint,
            "port": database.port,
            "name": database.name,
            "secret_arn": database.secret_arn,
        },
        "qos": [_qos(qos) for qos in accounting.qos],
        "accounts": [_account(account) for account in _accounts(lifecycle, accounting)],
        "associations": associations,
        "users": [_user(name, accounting, associations) for name in users],
        "removed_users": list(lifecycle.removed_users),
        "unlisted": str(accounting.unlisted),
        "purge": _purge(accounting.purge),
    }


def accounting_settings(accounting: Accounting | None) -> dict[str, str]:
    """What accounting asks of slurm.conf."""
    if accounting is None:
        return {}
    found: dict[str, str] = {}
    enforce = accounting.enforce or (_DEFAULT_ENFORCE if accounting.accounts or accounting.qos else ())
    if enforce:
        found["AccountingStorageEnforce"] = ",".join(enforce)
    if any(qos.preempt for qos in accounting.qos):
        found |= {"PreemptType": "preempt/qos", "PreemptMode": str(accounting.preempt_mode).upper()}
    return {**found, **_priority(accounting)}


def _priority(accounting: Accounting) -> dict[str, str]:
    priority = accounting.priority
    if priority is None:
        return {}
    tres = ",".join(f"{name}={weight}" for name, weight in priority.weight_tres.items())
    return {
        "PriorityType": "priority/multifactor",
        "PriorityWeightFairshare": str(priority.weight_fairshare),
        "PriorityWeightAge": str(priority.weight_age),
        "PriorityWeightQOS": str(priority.weight_qos),
        "PriorityWeightPartition": str(priority.weight_partition),
        "PriorityWeightJobSize": str(priority.weight_job_size),
        "PriorityWeightAssoc": str(priority.weight_association),
        **({"PriorityWeightTRES": tres} if tres else {}),
        # days-hours; 0 means that past use never fades
        "PriorityDecayHalfLife": f"{priority.decay_half_life_days}-0"
        if priority.decay_half_life_days
        else "0",
        "PriorityUsageResetPeriod": str(priority.usage_reset),
        "PriorityMaxAge": f"{priority.max_age_days}-0",
        "PriorityFavorSmall": "YES" if priority.favor_small_jobs else "NO",
    }


def _purge(purge: Purge | None) -> dict[str, str]:
    if purge is None:
        return {}
    months = {option: getattr(purge, name) for name, option in _PURGE.items()}
    return {option: f"{count}month" for option, count in months.items() if count is not None}


def _limits(limits: Limits | QosLimits) -> dict[str, Any]:
    values = {_OPTIONS[field.name]: getattr(limits, field.name) for field in fields(limits)}
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in values.items()
        if value is not None and value != {}
    }


def _qos(qos: Qos) -> dict[str, Any]:
    options = {
        "Priority": qos.priority,
        "Preempt": list(qos.preempt),
        "GraceTime": qos.grace_time_seconds,
        "Flags": [str(flag) for flag in qos.flags],
        "UsageFactor": qos.usage_factor,
        **({"PreemptMode": str(qos.preempt_mode)} if qos.preempt_mode else {}),
        **_limits(qos.limits),
    }
    return {"name": qos.name, "description": qos.description, "options": options}


def _accounts(lifecycle: Lifecycle, accounting: Accounting) -> list[Account]:
    """Those that are declared; where none is, those that users name."""
    named = dict.fromkeys(user.account for user in lifecycle.users if user.account)
    return list(accounting.accounts) or [Account(name=name) for name in named]


def _account(account: Account) -> dict[str, Any]:
    return {
        "name": account.name,
        "parent": account.parent,
        "description": account.description,
        "organization": account.organization,
        "options": {"Fairshare": account.fairshare, **_access(account)},
    }


def _access(one: Account | Association) -> dict[str, Any]:
    return {
        **({"QOS": list(one.qos)} if one.qos else {}),
        **({"DefaultQOS": one.default_qos} if one.default_qos else {}),
        **_limits(one.limits),
    }


def _associations(lifecycle: Lifecycle, accounting: Accounting) -> list[dict[str, Any]]:
    """Who is in which account: those that accounts list, those that users name, those with more to say."""
    special = {(one.user, one.account, one.partition): one for one in accounting.associations}
    listed = [(name, account.name) for account in accounting.accounts for name in account.users]
    named = [(user.name, user.account) for user in lifecycle.users if user.account]
    keys = dict.fromkeys([*((user, account, None) for user, account in (*named, *listed)), *special])
    return [
        {
            "user": user,
            "account": account,
            "partition": partition,
            "options": _association(special.get((user, account, partition))),
        }
        for user, account, partition in keys
    ]


def _association(one: Association | None) -> dict[str, Any]:
    if one is None:
        return {}
    share = {} if one.fairshare is None else {"Fairshare": one.fairshare}
    return {**share, **_access(one)}


def _user(name: str, accounting: Accounting, associations: list[dict[str, Any]]) -> dict[str, Any]:
    said = next((user for user in accounting.users if user.name == name), None)
    first = next(one["account"] for one in associations if one["user"] == name)
    return {
        "name": name,
        "default_account": (said.default_account if said else None) or first,
        "admin_level": str(said.admin_level) if said else "None",
    }
