"""HP481, HP487, HP488: people from an LDAP directory or Active Directory."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.extra_files import is_missing
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import Directory, HyperPodSpec

_DIRECTORY = "lifecycle.directory"
_URI = re.compile(r"ldaps?://[A-Za-z0-9.-]+(:(?P<port>\d+))?")
_PORTS = range(1, 65536)
# sssd.conf(5): domains
_DOMAIN = re.compile(r"[A-Za-z0-9._-]+")
_GROUP = re.compile(r"[^\s,][^,\n\r]*")
_PER_PERSON = ("%u", "%U", "%f", "%P", "%o", "%h")
_STARTS = ("/", "%o", "%h", "%H")


@checks(
    Rule(
        code="HP481",
        title="a directory that SSSD can not ask",
        why="nobody of the directory could log in; a password without its user, or a user without its "
        "password, binds as nobody",
        fix="use ldaps://host, a search_base such as dc=example,dc=com, plain names of groups, bind_dn and "
        "bind_password_secret_arn together, and certificates under extra_files",
        source="sssd-ldap(5)",
    )
)
def directory_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    directory = spec.lifecycle.directory
    if directory is not None:
        yield from _server(directory, rule)
        yield from _names(directory, rule)
        yield from _secrets(spec, directory, rule)


def _server(directory: Directory, rule: Rule) -> Iterator[Finding]:
    if not unresolved(directory.uris) and not directory.uris:
        yield rule.finding(f"{_DIRECTORY}.uris", "names no server")
    for index, uri in enumerate(directory.uris):
        found = None if unresolved(uri) else _URI.fullmatch(uri)
        if not unresolved(uri) and (found is None or int(found["port"] or 1) not in _PORTS):
            yield rule.finding(f"{_DIRECTORY}.uris[{index}]", "is no ldap:// or ldaps:// address", given=uri)


def _names(directory: Directory, rule: Rule) -> Iterator[Finding]:
    if not unresolved(directory.domain) and not _DOMAIN.fullmatch(directory.domain):
        yield rule.finding(f"{_DIRECTORY}.domain", "is no name of a domain", given=directory.domain)
    base = directory.search_base
    if not unresolved(base) and "=" not in base:
        nearest = (",".join(f"dc={part}" for part in base.split(".")),)
        where = f"{_DIRECTORY}.search_base"
        yield rule.finding(where, "is no name in a directory", given=base, nearest=nearest)
    for name in ("allow_groups", "sudo_groups"):
        for index, group in enumerate(getattr(directory, name)):
            if not unresolved(group) and not _GROUP.fullmatch(group):
                yield rule.finding(f"{_DIRECTORY}.{name}[{index}]", "is no name of a group", given=group)


def _secrets(spec: HyperPodSpec, directory: Directory, rule: Rule) -> Iterator[Finding]:
    if (directory.bind_dn is None) != (directory.bind_password_secret_arn is None):
        missing = "bind_dn" if directory.bind_dn is None else "bind_password_secret_arn"
        yield rule.finding(f"{_DIRECTORY}.{missing}", "is missing beside the other")
    certificate, where = directory.ca_certificate, f"{_DIRECTORY}.ca_certificate"
    if certificate is not None and spec.lifecycle.extra_files is None:
        yield rule.finding(where, "lies in no folder of extra_files", given=certificate)
    elif certificate is not None and is_missing(spec, certificate):
        yield rule.finding(where, "is no file under extra_files", given=certificate)


@checks(
    Rule(
        code="HP487",
        title="one home directory for everybody",
        why="without a part of each person's own, all people of the directory get the same home, and each "
        "other's keys and files; a relative path is none",
        fix="use an absolute path with %u in it, such as /fsx/home/%u",
        source="sssd.conf(5), override_homedir",
    )
)
def homes_of_people(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    directory = spec.lifecycle.directory
    home = directory.override_homedir if directory is not None else None
    if home is None or unresolved(home):
        return
    where = f"{_DIRECTORY}.override_homedir"
    if not home.startswith(_STARTS):
        yield rule.finding(where, "is no absolute path", given=home, nearest=(f"/{home}",))
    if not any(part in home.replace("%%", "") for part in _PER_PERSON):
        yield rule.finding(
            where, "is the same for everybody", given=home, nearest=(f"{home.rstrip('/')}/%u",)
        )


@checks(
    Rule(
        code="HP488",
        title="people of a directory who are missing on some nodes",
        why="Slurm starts a job as the user who submitted it, and fails on a node without that user; the "
        "controller looks up who may submit",
        fix="leave node_types out, so that every node asks the directory; or acknowledge this",
        source="https://slurm.schedmd.com/quickstart_admin.html (one user name space on all nodes)",
        severity=Severity.WARNING,
    )
)
def people_on_some_nodes(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    directory = spec.lifecycle.directory
    if directory is None or not directory.node_types:
        return
    kinds = [node_type(group) for _, group in groups(spec)]
    if unresolved(list(directory.node_types), [kind for kind in kinds if kind]):
        return
    without = dict.fromkeys(kind for kind in kinds if kind and kind not in directory.node_types)
    if without:
        message = f"leaves out {', '.join(without)} nodes"
        yield rule.finding(f"{_DIRECTORY}.node_types", message, given=list(directory.node_types))
