"""Name resolution, asked the way the machine's own programs ask it."""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError


def resolve(context: Context, name: str) -> str:
    """The first address of a host name.

    Raises:
        NotYetError: it does not resolve now; the text has what the resolver said.
    """
    try:
        done = context.commands.run("getent", "ahosts", name, timeout_seconds=15)
    except NodeError as error:
        raise NotYetError(f"{name} does not resolve ({error.message})") from error
    addresses = [line.split()[0] for line in done.lines if line.strip()]
    if not addresses:
        raise NotYetError(f"{name} resolves to nothing")
    return addresses[0]
