"""Lets every user go from node to node by ssh: one key a user, in the home that all nodes share."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from hyperpod_node.accounts import Account, account
from hyperpod_node.authorized_keys import BETWEEN_NODES, ensure_keys
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.homes import draft_within, on_shared, read_within, ssh_directory
from hyperpod_node.steps.home import USER

CLIENT_PATH = "/etc/ssh/ssh_config.d/50-hyperpod-cdk.conf"
# Addresses are given again to replaced nodes, so a remembered host key would lock users out of the new one.
CLIENT = "Host ip-*\n    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n    LogLevel ERROR\n"
KEY = "id_ed25519"
# any of these serves; the service's own set-up makes one for ubuntu
KEYS = (KEY, "id_ecdsa", "id_rsa")


def ensure_node_keys(context: Context) -> str:
    """Have a key pair in each shared home, and let it in."""
    context.root.write(CLIENT_PATH, CLIENT)
    shared = owners_of_shared_homes(context)
    if not shared:
        raise StepSkippedError(
            "no home is on a shared file system: a key of this node would let nobody in elsewhere"
        )
    made, failed = [], []
    for owner in shared:
        try:
            made += [owner.name] if _ensure_key(context, owner) else []
        except (NodeError, OSError) as error:
            context.warn(f"{owner.name}: {error}")
            failed.append(owner.name)
    if failed:
        raise NodeError(
            f"no key for {', '.join(failed)}; the other {len(shared) - len(failed)} have theirs",
            advice="the warnings of this step say what is wrong with these homes; then run the script again",
        )
    return f"{len(shared)} users, {len(made)} keys made by this node"


def owners_of_shared_homes(context: Context) -> list[Account]:
    """The image's own user and the declared ones, as far as all nodes see their homes."""
    names = dict.fromkeys([USER, *(user.name for user in context.config.users)])
    owners = [owner for owner in (account(context.root, name) for name in names) if owner]
    return [owner for owner in owners if on_shared(context, owner.home)]


def _ensure_key(context: Context, owner: Account) -> bool:
    with ssh_directory(context, owner.home, uid=owner.uid, gid=owner.gid) as directory:
        name = next((name for name in KEYS if read_within(directory, name)), "")
        made = not name and _make_key(context, owner, directory)
        name = name or KEY
        lines = read_within(directory, f"{name}.pub").splitlines()
        public = lines[0].strip() if lines else _derive(context, owner, directory, name)
    if not public:
        context.warn(f"{owner.home}/.ssh/{name} cannot be read without its passphrase: left alone")
        return False
    ensure_keys(context, owner.home, BETWEEN_NODES, [public], uid=owner.uid, gid=owner.gid)
    return made


def _make_key(context: Context, owner: Account, directory: int) -> bool:
    """Make a private key; among nodes that do so at once, the first hard link wins."""
    comment = f"{owner.name}@{context.node.cluster.name}"
    with _scratch(context) as scratch:
        file = Path(scratch) / KEY
        context.commands.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(file))
        text = file.read_text(encoding="utf-8")
    draft = draft_within(context, directory, KEY, text, mode=0o600, uid=owner.uid, gid=owner.gid)
    try:
        os.link(draft, KEY, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        os.unlink(draft, dir_fd=directory)
    return True


def _derive(context: Context, owner: Account, directory: int, name: str) -> str:
    """Write the public half of the key that won; every node gets the same text."""
    with _scratch(context) as scratch:
        file = Path(scratch) / name
        file.touch(mode=0o600)
        file.write_text(read_within(directory, name), encoding="utf-8")
        try:
            public = context.commands.run("ssh-keygen", "-y", "-P", "", "-f", str(file)).text.strip()
        except NodeError:
            return ""
    draft = draft_within(
        context, directory, f"{name}.pub", public + "\n", mode=0o644, uid=owner.uid, gid=owner.gid
    )
    os.rename(draft, f"{name}.pub", src_dir_fd=directory, dst_dir_fd=directory)
    return public


def _scratch(context: Context) -> AbstractContextManager[str]:
    """A folder in /run, which is in memory: a private key never touches the node's disk."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 (of use to the one node that makes the keys)

    path = context.root.path("/run")
    path.mkdir(exist_ok=True)
    return TemporaryDirectory(dir=path)
