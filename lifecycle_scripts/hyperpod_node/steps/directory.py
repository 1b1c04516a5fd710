"""People from an LDAP directory or Active Directory, by SSSD."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from hyperpod_node import apt
from hyperpod_node.aws import read_secret
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.features import Directory

CONF = "/etc/sssd/sssd.conf"
CERTIFICATE = "/etc/sssd/hyperpod-cdk-ca.pem"
SUDOERS = "/etc/sudoers.d/hyperpod-cdk-directory"
PACKAGES = ("sssd-ldap", "libnss-sss", "libpam-sss")
PORTS = {"ldap": 389, "ldaps": 636}
REACH_LIMIT_SECONDS = 60
ADVICE = "see `sssctl domain-status` and /var/log/sssd on this node, and whether it may reach the directory"


def join_directory(context: Context) -> str:
    """Have SSSD ask the directory."""
    wanted = context.config.features.directory
    assert wanted is not None
    if not context.root.path("/usr/sbin/sssd").exists() and not context.commands.available("sssd"):
        apt.install(context, PACKAGES)
    _certificate(context, wanted)
    password = _password(context, wanted)
    # made with this mode: it holds the password, and SSSD refuses it with another
    changed = context.root.write(CONF, render(wanted, password), mode=0o600)
    _sudo(context, wanted)
    context.commands.run("pam-auth-update", "--enable", "mkhomedir", accept=(0, 1))
    context.commands.run("systemctl", "enable", "sssd")
    context.commands.run("systemctl", "restart" if changed else "start", "sssd", advice=ADVICE)
    reached = wait_for(
        lambda: _reach(wanted.uris),
        what=f"the directory {wanted.domain}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=REACH_LIMIT_SECONDS,
        advice=ADVICE,
    )
    return f"SSSD asks {reached} for the people of {wanted.domain}"


def render(wanted: Directory, password: str) -> str:
    """sssd.conf."""
    domain = {
        "id_provider": "ldap",
        "auth_provider": "ldap",
        "ldap_uri": ", ".join(wanted.uris),
        "ldap_search_base": wanted.search_base,
        "ldap_schema": wanted.schema,
        "ldap_id_use_start_tls": "true" if any(uri.startswith("ldap://") for uri in wanted.uris) else "false",
        "ldap_tls_reqcert": "demand",
        "cache_credentials": "true",
        "default_shell": "/bin/bash",
        # a node must start while the directory is away, and enumerating a large one takes minutes
        "enumerate": "false",
    }
    optional = {
        "ldap_default_bind_dn": wanted.bind_dn,
        "ldap_default_authtok_type": "password" if password else "",
        "ldap_default_authtok": password,
        "ldap_tls_cacert": CERTIFICATE if wanted.ca_certificate else "",
        "override_homedir": wanted.override_homedir,
        "access_provider": "simple" if wanted.allow_groups else "",
        "simple_allow_groups": ", ".join(wanted.allow_groups),
    }
    if wanted.schema == "AD":
        domain |= {"ldap_id_mapping": "true", "ldap_referrals": "false"}
    domain |= {name: value for name, value in optional.items() if value}
    head = {"config_file_version": "2", "services": "nss, pam, ssh", "domains": wanted.domain}
    sections = {"sssd": head, f"domain/{wanted.domain}": domain}
    return "\n".join(
        f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in values.items())
        for section, values in sections.items()
    )


def _password(context: Context, wanted: Directory) -> str:
    if not wanted.secret_arn:
        return ""
    password = read_secret(context, wanted.secret_arn).get(wanted.secret_key, "")
    if not password or "\n" in password:
        raise NodeError(
            f"secret {wanted.secret_arn} has no text of one line under {wanted.secret_key}",
            advice="set lifecycle.directory.bind_password_key to its key",
        )
    return password


def _certificate(context: Context, wanted: Directory) -> None:
    if not wanted.ca_certificate:
        return
    source = context.directory / "extra" / wanted.ca_certificate
    if not source.is_file():
        raise NodeError(
            f"no {wanted.ca_certificate} among the extra files",
            advice="put the certificate under lifecycle.extra_files",
        )
    context.root.write(CERTIFICATE, source.read_text(encoding="utf-8"))


def _sudo(context: Context, wanted: Directory) -> None:
    if not wanted.sudo_groups:
        context.root.path(SUDOERS).unlink(missing_ok=True)
        return
    # sudoers takes a blank in a group's name behind a backslash
    names = [re.sub(r"([ \\,=:])", r"\\\1", group) for group in wanted.sudo_groups]
    context.root.write(SUDOERS, "".join(f"%{name} ALL=(ALL) NOPASSWD:ALL\n" for name in names), mode=0o440)


def _reach(uris: tuple[str, ...]) -> str:
    reasons = []
    for uri in uris:
        parts = urlsplit(uri)
        try:
            socket.create_connection(
                (parts.hostname or "", parts.port or PORTS[parts.scheme]), timeout=5
            ).close()
        except OSError as error:
            reasons.append(f"{uri}: {error}")
        else:
            return uri
    raise NotYetError("; ".join(reasons))
