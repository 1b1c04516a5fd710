"""HP464, HP498, HP499: what is said of accounting, and never gets into the database."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.accounting import parts, tres
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import Account, Accounting, HyperPodSpec, Qos

_PATH = "lifecycle.accounting"
_UNREADABLE = re.compile(r'[|"\x00-\x1f]')
# what every database knows; the first settings of a cluster add GPUs (lifecycle_scripts, steps/accounting.py)
_COUNTED = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
_GPUS = "gres/gpu"
_SETTING = "accountingstoragetres"


@checks(
    Rule(
        code="HP464",
        title="something about a user who is in no account",
        why="a user comes into the database with an account; without one nothing is said of the user",
        fix="name the user in an account's users, or set the user's account",
        source="hyperpod_cdk.spec.AccountingUser",
        severity=Severity.WARNING,
    )
)
def user_of_no_account(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    accounting = spec.lifecycle.accounting or Accounting()
    members = [name for account in accounting.accounts for name in account.users]
    members += [one.user for one in accounting.associations]
    members += [user.name for user in spec.lifecycle.users if user.account]
    if unresolved(*members):
        return
    for index, user in enumerate(accounting.users):
        if not unresolved(user.name) and user.name not in members:
            yield rule.finding(f"{_PATH}.users[{index}].name", "is in no account", given=user.name)


@checks(
    Rule(
        code="HP498",
        title="a text that the accounting database can not give back",
        why="sacctmgr separates columns by | and takes quotes away: the controller could not read its own "
        "accounts again, and nothing more would be put right",
        fix="use one line without | and quotes",
        source="https://slurm.schedmd.com/sacctmgr.html, --parsable2",
    )
)
def text_of_accounting(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, part in parts(spec):
        names = ("description", "organization") if isinstance(part, Account) else ("description",)
        for name in names if isinstance(part, Account | Qos) else ():
            text = getattr(part, name)
            if text is not None and not unresolved(text) and _UNREADABLE.search(text):
                yield rule.finding(f"{path}.{name}", "has a character that can not be", given=text)


@checks(
    Rule(
        code="HP499",
        title="a limit on something that nobody tells Slurm to count",
        why="the controller waits two minutes for the database to know it, gives up, and the accounts stay "
        "as they were",
        fix="name all that is counted in lifecycle.slurm.conf, such as AccountingStorageTRES: "
        '"gres/gpu,gres/gpu:h100"; or acknowledge this where slurm.conf names it',
        source="https://slurm.schedmd.com/slurm.conf.html, AccountingStorageTRES",
        severity=Severity.WARNING,
    )
)
def uncounted_limit(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    conf = spec.lifecycle.slurm.conf
    if unresolved(conf):
        return
    said = next((value for name, value in conf.items() if name.lower() == _SETTING), _GPUS)
    counted = {*_COUNTED, *(one.strip().lower() for one in said.split(","))}
    for path, amounts in tres(spec):
        for name in amounts:
            if not unresolved(name) and name.lower() not in counted:
                yield rule.finding(join(path, name), "is not counted", given=amounts[name])
