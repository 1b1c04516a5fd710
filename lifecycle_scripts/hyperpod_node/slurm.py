"""Slurm's files as HyperPod lays them out, and what is asked of its daemons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from hyperpod_node import facts
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.root import Root

ETC = "/opt/slurm/etc"
CONF = f"{ETC}/slurm.conf"
ACCOUNTING_CONF = f"{ETC}/accounting.conf"
# what these scripts add to slurm.conf
OWN_CONF = f"{ETC}/hyperpod-cdk.conf"
SLURMDBD_CONF = f"{ETC}/slurmdbd.conf"
# where slurmd keeps the configuration that it fetched from the controller
CONF_CACHE_FOLDER = "/var/spool/slurmd/conf-cache"
CONF_CACHE = f"{CONF_CACHE_FOLDER}/slurm.conf"
# what tracks the processes of a job, by Slurm's own default
CGROUP = "proctrack/cgroup"
CONTROLLER_PORT = 6817
DATABASE_PORT = 6819
# what slurmctld reads, and hands to nodes without files of their own
READ_BY_SLURMCTLD = ("*.conf", "plugstack.conf.d/*", "topology.yaml")
LOADED = "/run/hyperpod-cdk/slurm-configuration"
# Since 23.11 a reconfigured slurmctld takes new nodes in; before, a changed number of nodes ends it (measured
# on 22.05 and 24.11).
TAKES_NODES_IN = (23, 11)
RECONFIGURE_LIMIT_SECONDS = 60
CHECK_ADVICE = "put lifecycle.slurm of the deployment right; slurm.conf was left as it was"
RECONFIGURE_ADVICE = "see /var/log/slurm/slurmctld.log, then `scontrol reconfigure` by hand"


def settings(root: Root, path: str = CONF) -> dict[str, str]:
    """The settings of a Slurm file that stand one on a line, by lower-case name."""
    found: dict[str, str] = {}
    for line in root.read(path).splitlines():
        name, sign, value = line.split("#")[0].partition("=")
        if sign and " " not in name.strip():
            found[name.strip().lower()] = value.strip()
    return found


def node_settings(root: Root) -> dict[str, str]:
    """What a node without files of its own fetched from the controller; empty before it did."""
    found = settings(root, CONF_CACHE)
    return found | settings(root, f"{CONF_CACHE_FOLDER}/{OWN_CONF.rpartition('/')[2]}")


def includes(root: Root) -> list[str]:
    """The files that slurm.conf includes, by absolute path."""
    names = re.findall(r"^\s*include\s+(\S+)\s*$", root.read(CONF), re.IGNORECASE | re.MULTILINE)
    return [name if name.startswith("/") else f"{ETC}/{name}" for name in names]


def others_settings(root: Root) -> dict[str, str]:
    """What slurm.conf and its files say without ours."""
    found = settings(root)
    for path in includes(root):
        if path != OWN_CONF:
            found |= settings(root, path)
    return found


def controllers(context: Context) -> list[facts.Instance]:
    """The controllers that the service lists now, the first one first."""
    cluster = facts.read_cluster(context.root, context.environment)
    found = [entry for entry in cluster.instances if entry.group in context.node.controller_groups]
    return sorted(found, key=lambda entry: (len(entry.name), entry.name))


def names_address(root: Root, address: str) -> bool:
    """Whether slurm.conf has an address: the whole of it, not the beginning of a longer one."""
    return bool(re.search(rf"(?<![\d.]){re.escape(address)}(?![\d.])", root.read(CONF)))


def ensure_include(context: Context, path: str) -> bool:
    """Have slurm.conf include a file of its own folder; nothing else of it is touched."""
    if path in includes(context.root):
        return False
    text = context.root.read(CONF)
    # appended, since the service's agent may be writing the same file
    with context.root.path(CONF).open("a", encoding="utf-8") as stream:
        stream.write(
            ("" if not text or text.endswith("\n") else "\n") + f"Include {path.rpartition('/')[2]}\n"
        )
    return True


def version(context: Context) -> tuple[int, ...]:
    """Slurm's version, such as (25, 11, 8)."""
    done = context.commands.run("scontrol", "--version")
    return tuple(int(part) for part in re.findall(r"\d+", done.text)[:3])


@contextmanager
def own_words(root: Root, daemon: str) -> Iterator[None]:
    """Have an error carry the end of the daemon's log: what it says of itself when it does not answer."""
    try:
        yield
    except NodeError as error:
        error.command = daemon
        error.last_lines = tuple(root.read(f"/var/log/slurm/{daemon}.log").splitlines()[-10:])
        raise


def digest(root: Root) -> str:
    """What all files that slurmctld reads hold now, in short."""
    import hashlib  # noqa: PLC0415 (only controllers need it)

    found = hashlib.sha256()
    folder = root.path(ETC)
    for path in sorted({path for pattern in READ_BY_SLURMCTLD for path in folder.glob(pattern)}):
        # the accounting daemon's own file, which holds a password and does not concern slurmctld
        if path.is_file() and path.name != "slurmdbd.conf":
            found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def mark_loaded(root: Root) -> None:
    """Note that slurmctld has what the files say now."""
    root.write(LOADED, digest(root) + "\n")


def reconfigure(context: Context) -> str:
    """Have slurmctld, and through it every node, read the files again; never restarts it.

    Returns:
        What was done, in a few words.
    """
    if version(context) < TAKES_NODES_IN and _running_nodes(context) != _nodes_of_file(context):
        context.warn(
            "slurm.conf names other nodes than slurmctld runs with, and this Slurm would end over it"
        )
        return "not reconfigured: this Slurm takes new nodes in at a restart only"
    # before, since whoever rewrites a file meanwhile may be too late for slurmctld
    said = digest(context.root)
    # it may be starting again after the agent's own reconfigure
    context.commands.run("scontrol", "reconfigure", attempts=5, advice=RECONFIGURE_ADVICE)
    # it says that all is well, and ends a moment later over a value that it does not take (measured, 24.11)
    with own_words(context.root, "slurmctld"):
        wait_for(
            lambda: _runs_with_files(context),
            what="slurmctld with what its files say",
            deadline=context.deadline,
            say=context.say,
            limit_seconds=RECONFIGURE_LIMIT_SECONDS,
            advice=RECONFIGURE_ADVICE,
            longest_pause_seconds=1.0,
        )
    context.root.write(LOADED, f"{said}\n")
    return "slurmctld and all nodes read it again"


def _runs_with_files(context: Context) -> None:
    try:
        lines = context.commands.run("scontrol", "show", "config", timeout_seconds=15).lines
    except NodeError as error:
        raise NotYetError(error.message) from error
    for line in lines:
        if re.match(r"HASH_VAL\s*=\s*Different", line):
            raise NotYetError(line)


def check(context: Context, own: str) -> None:
    """Refuse settings that Slurm cannot read: all its commands would fail, and slurmctld at its next start.

    Raises:
        NodeError: with Slurm's own words.
    """
    ours = f"Include {OWN_CONF.rpartition('/')[2]}"
    kept = [line for line in context.root.read(CONF).splitlines() if line.strip() != ours]
    # in the same folder, since names of included files are relative to it
    draft = f"{ETC}/.hyperpod-cdk.draft"
    context.root.write(draft, "\n".join(kept) + f"\n{own}")
    path = context.root.path(draft)
    try:
        # whatever scontrol does, it reads the whole configuration first
        words = ("scontrol", "show", "hostnames", "a")
        context.commands.run(*words, extra_environment={"SLURM_CONF": str(path)}, advice=CHECK_ADVICE)
    finally:
        path.unlink()


def node_expressions(root: Root) -> list[str]:
    """The nodes that slurm.conf and its files name, as it writes them."""
    text = "\n".join(root.read(path) for path in (CONF, *includes(root)))
    found = re.findall(r"^\s*NodeName=(\S+)", text, re.IGNORECASE | re.MULTILINE)
    return [name for name in found if name.upper() != "DEFAULT"]


def _nodes_of_file(context: Context) -> set[str]:
    expressions = node_expressions(context.root)
    if not expressions:
        return set()
    return set(context.commands.run("scontrol", "show", "hostnames", ",".join(expressions)).lines)


def _running_nodes(context: Context) -> set[str]:
    try:
        done = context.commands.run("sinfo", "--noheader", "--Node", "--format", "%N", attempts=3)
    except NodeError:
        return set()
    return {line.strip() for line in done.lines if line.strip()}
