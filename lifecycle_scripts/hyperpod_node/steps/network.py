"""Waits until names resolve and the instance metadata service answers."""

from __future__ import annotations

from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.resolving import resolve

# The service's agent restarts systemd-resolved while lifecycle scripts start; peers wait 30 s blindly.
DNS_LIMIT_SECONDS = 120
# field report 100: seen answering 5 s late; the unit that needs it is given two minutes there
IMDS_LIMIT_SECONDS = 120
IMDS_TOKEN = "http://169.254.169.254/latest/api/token"
DNS_ADVICE = "the VPC needs EnableDnsSupport, and its DHCP options a resolver that knows AWS names"


def wait_for_network(context: Context) -> str:
    """Wait for DNS, then for the metadata service."""
    cluster = context.node.cluster
    name = f"s3.{cluster.region}.{cluster.dns_suffix}"
    address = wait_for(
        lambda: resolve(context, name),
        what="DNS",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DNS_LIMIT_SECONDS,
        advice=DNS_ADVICE,
    )
    wait_for(
        lambda: ask_metadata(context),
        what="instance metadata service",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=IMDS_LIMIT_SECONDS,
    )
    return f"{name} is {address}, instance metadata answers"


def ask_metadata(context: Context) -> None:
    """Have the instance metadata service give a token.

    Raises:
        NotYetError: it does not.
    """
    header = "X-aws-ec2-metadata-token-ttl-seconds: 60"
    options = ("--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "5")
    try:
        # the token is a credential: it goes nowhere
        context.commands.run("curl", *options, "-o", "/dev/null", "-X", "PUT", "-H", header, IMDS_TOKEN)
    except NodeError as error:
        raise NotYetError(error.message) from error
