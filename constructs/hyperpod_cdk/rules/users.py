"""HP42x: accounts on the nodes."""

import re
from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec

NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_UIDS = range(2000, 60001)
# accounts of Ubuntu, of the Deep Learning AMI, of Session Manager and of what Slurm needs
TAKEN = (
    *("root", "ubuntu", "slurm", "munge", "sshd", "nobody", "mysql", "ssm-user", "ec2-instance-connect"),
    *("daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data"),
    *("backup", "list", "irc", "gnats", "messagebus", "syslog", "tss", "uuidd", "tcpdump", "landscape"),
)
"""Names of accounts that nodes have without us."""
# options, such as from="10.0.0.0/8", may stand before the type
_KEY = re.compile(r'(?:(?:[^"\s]|"[^"]*")+ )?(ssh-|ecdsa-sha2-|sk-)\S+ [A-Za-z0-9+/]+=*( .*)?')
# OpenSSH takes none by default since 7.0 (release notes)
_REFUSED_TYPE = "ssh-dss "


@checks(
    Rule(
        code="HP420",
        title="a user name that can not be",
        why="useradd refuses it, or it is an account that the nodes have already",
        fix="use a lower-case letter, then up to 31 of a-z, 0-9, - and _",
        source="useradd(8) of Ubuntu 22.04",
    )
)
def user_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, user in enumerate(spec.lifecycle.users):
        if unresolved(user.name):
            continue
        if user.name in TAKEN or not NAME.fullmatch(user.name):
            nearest = re.sub(r"[^a-z0-9_-]+", "-", user.name.lower()).strip("-")
            offered = (nearest,) if NAME.fullmatch(nearest) and nearest not in TAKEN else ()
            yield rule.finding(
                f"lifecycle.users[{index}].name", "is no name for a user", given=user.name, nearest=offered
            )


@checks(
    Rule(
        code="HP421",
        title="a user id out of range",
        why="ids below are the system's and the service's own, those above are handed out to containers",
        fix="use 2000 to 60000",
        source="hyperpod_cdk.spec.User, login.defs(5)",
    )
)
def user_id(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, user in enumerate(spec.lifecycle.users):
        for field in ("uid", "gid"):
            value = getattr(user, field)
            if value is not None and not unresolved(value) and value not in _UIDS:
                nearest = _UIDS[0] if value < _UIDS[0] else _UIDS[-1]
                yield rule.finding(
                    f"lifecycle.users[{index}].{field}",
                    "is out of range",
                    given=value,
                    allowed=f"{_UIDS[0]} to {_UIDS[-1]}",
                    nearest=(nearest,),
                )


@checks(
    Rule(
        code="HP422",
        title="two users of one name or id",
        why="files belong to ids: two people with one id own each other's files",
        fix="give each user a name and a uid of their own, and never use a uid again",
        source="hyperpod_cdk.spec.User",
    )
)
def same_user(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for field in ("name", "uid"):
        first: dict[Any, int] = {}
        for index, user in enumerate(spec.lifecycle.users):
            value = getattr(user, field)
            if unresolved(value):
                continue
            if value in first:
                message = f"is that of users[{first[value]}] too"
                yield rule.finding(f"lifecycle.users[{index}].{field}", message, given=value)
            first.setdefault(value, index)


@checks(
    Rule(
        code="HP423",
        title="an SSH key that is none",
        why="the user could not log in, and would learn it only then",
        fix="paste the content of a .pub file, such as ssh-ed25519 AAAA… ada@example.com",
        source="sshd(8), AUTHORIZED_KEYS FILE FORMAT",
    )
)
def ssh_key(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for index, user in enumerate(spec.lifecycle.users):
        for number, key in enumerate(user.ssh_public_keys):
            if not unresolved(key) and not _KEY.fullmatch(key.strip()):
                where = f"lifecycle.users[{index}].ssh_public_keys[{number}]"
                message = "is a private key" if "PRIVATE KEY" in key else "is no SSH public key"
                yield rule.finding(where, message, given=f"{key[:20]}…")
            elif not unresolved(key) and _REFUSED_TYPE in key:
                where = f"lifecycle.users[{index}].ssh_public_keys[{number}]"
                yield rule.finding(where, "is of a type that the nodes' sshd refuses", given=f"{key[:20]}…")
