"""Keeps slurmctld alive and jobs schedulable when the service turns a topology plugin on without a topology.

Sources: public reports of HyperPod clusters of April 2026 and later: topology/tree without topology.conf
refuses jobs ("Requested topology configuration is not available"), and Slurm 25.11 ends over and over with an
empty topology file and `Topology=` on a partition.
"""

from __future__ import annotations

import re

from hyperpod_node import slurm
from hyperpod_node.context import Context
from hyperpod_node.root import Root

CONF = f"{slurm.ETC}/topology.conf"
YAML = f"{slurm.ETC}/topology.yaml"
OURS = "# one flat switch by hyperpod-cdk, until there is a topology"
REAL = re.compile(r"^\s*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)
TOKEN = re.compile(r"(?i)(?<=\s)Topology=\S+[ \t]*")


def guard(context: Context) -> str:
    """Remove empty topologies and what refers to them, and give topology/tree a flat one.

    Returns:
        What was done, in a few words; empty when nothing was.
    """
    root = context.root
    done = _remove_empty(root)
    found = slurm.others_settings(root) | slurm.settings(root, slurm.OWN_CONF)
    plugin = found.get("topologyplugin", "").lower()
    if plugin == "topology/tree" and not _has(root, YAML):
        done += _flat(root)
    elif plugin == "topology/block" and not _is_real(root) and not _has(root, YAML):
        context.warn("TopologyPlugin=topology/block without a topology: jobs may be refused")
    return ", ".join(done)


def faults(root: Root) -> list[str]:
    """What :func:`guard` would have to put right."""
    found = slurm.others_settings(root) | slurm.settings(root, slurm.OWN_CONF)
    told = [f"{path.rpartition('/')[2]} is empty" for path in _empty(root)]
    tree = found.get("topologyplugin", "").lower() == "topology/tree"
    if tree and not _has(root, YAML) and not _has(root, CONF):
        told.append("topology/tree without a topology refuses jobs")
    return told


def _empty(root: Root) -> list[str]:
    return [path for path in (YAML, CONF) if root.path(path).is_file() and not _has(root, path)]


def _remove_empty(root: Root) -> list[str]:
    empty = _empty(root)
    for path in empty:
        root.path(path).unlink()
    done = [f"empty {path.rpartition('/')[2]} removed" for path in empty]
    if YAML in empty and _strip_token(root):
        done.append("partitions no longer refer to it")
    return done


def _strip_token(root: Root) -> bool:
    text = root.read(slurm.CONF)
    lines = [
        TOKEN.sub("", line) if line.lstrip().lower().startswith("partitionname=") else line
        for line in text.splitlines(keepends=True)
    ]
    return root.replace(slurm.CONF, text, "".join(lines))


def _flat(root: Root) -> list[str]:
    nodes = slurm.node_expressions(root)
    if not nodes or _is_real(root):
        return []
    text = f"{OURS}\nSwitchName=hyperpod-cdk Nodes={','.join(nodes)}\n"
    return ["flat topology.conf"] if root.write(CONF, text) else []


def _is_real(root: Root) -> bool:
    """Whether somebody wrote a topology; ours is none."""
    text = root.read(CONF)
    return bool(REAL.search(text)) and OURS not in text


def _has(root: Root, path: str) -> bool:
    lines = [line.split("#")[0].strip() for line in root.read(path).splitlines()]
    return any(line not in ("", "[]", "---", "{}") for line in lines)
