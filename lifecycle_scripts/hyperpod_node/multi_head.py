"""Several controllers in legacy mode: what they share, and who is told when another one takes over.

Source: DG sagemaker-hyperpod-multihead-slurm.html, and the layout of AWS's own scripts for it: configuration
and state in the shared directory, an external database, a message to a topic.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from hyperpod_node import slurm
from hyperpod_node.accounts import account
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError

DEFAULT_STATE = "/var/spool/slurmctld"
SCRIPTS = f"{slurm.ETC}/scripts"
# each controller's own: it holds the database's password
NOT_SHARED = ("slurmdbd.conf", "slurmdbd.conf.template")
# by one of the controllers, for all of them
WRITTEN_LATER = ("accounting.conf", "hyperpod-cdk.conf", "topology.conf")
MARK = ".hyperpod-cdk"
SETTINGS = {"SlurmctldPrimaryOnProg": "on", "SlurmctldPrimaryOffProg": "off"}
CONTROLLERS_LIMIT_SECONDS = 600
NOTIFY = """#!/bin/bash
# by hyperpod-cdk: slurmctld runs this when this controller {what}
set -u
timeout 30 aws sns publish --region {region} --topic-arn {topic} \\
  --subject "HyperPod cluster {cluster}: controller {state}" \\
  --message "$(hostname) {what} of cluster {cluster} at $(date --utc --iso-8601=seconds)" >/dev/null 2>&1
exit 0
"""
WHAT = {"on": "became the acting controller", "off": "stopped being the acting controller"}


def share(context: Context) -> str:
    """Put configuration and state where every controller has them; the first one's count."""
    folder = _folder(context)
    made = _settle(context, context.root.path(slurm.ETC), folder / "etc")
    names = {*WRITTEN_LATER, *(path.name for path in (folder / "etc").iterdir())} - {MARK}
    for name in sorted(names):
        _link(context.root.path(f"{slurm.ETC}/{name}"), folder / "etc" / name)
    location = slurm.settings(context.root).get("statesavelocation", DEFAULT_STATE)
    _settle(context, context.root.path(location), folder / "state")
    _give_to_slurm(context, folder / "state")
    _link(context.root.path(location), folder / "state")
    heads = _all_controllers_named(context)
    _write_notifications(context)
    return f"{heads} controllers share {folder}, {'made by this one' if made else 'made by another'}"


def notification_settings(context: Context) -> Mapping[str, str]:
    """The settings that run our two scripts; none with a single controller or without a topic."""
    parameters = context.node.multi_head
    if parameters is None or not parameters.topic_arn:
        return {}
    return {name: f"{SCRIPTS}/hyperpod-cdk-{state}.sh" for name, state in SETTINGS.items()}


def _folder(context: Context) -> Path:
    parameters = context.node.multi_head
    assert parameters is not None
    # by the id: a file system outlives its cluster, and the next one of that name has other nodes
    cluster = context.node.cluster.arn.rpartition("/")[2]
    folder = context.root.path(f"{parameters.shared_directory}/hyperpod-cdk/{cluster}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _settle(context: Context, source: Path, target: Path) -> bool:
    """Have one folder for all: each controller offers a copy of its own, and the first rename wins."""
    if target.is_dir():
        return False
    draft = target.with_name(f".{target.name}.{context.node.instance.instance_id}")
    if draft.exists():
        shutil.rmtree(draft)
    if source.is_dir():
        shutil.copytree(source, draft, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SHARED))
    else:
        draft.mkdir()
    # a rename onto an empty folder would succeed as well
    (draft / MARK).write_text(f"settled by {context.node.instance.instance_id}\n", encoding="utf-8")
    try:
        draft.rename(target)
    except OSError as error:
        if not target.is_dir():
            raise NodeError(f"cannot share {source} in {target}: {error}") from error
        shutil.rmtree(draft)
        return False
    return True


def _give_to_slurm(context: Context, state: Path) -> None:
    owner = account(context.root, "slurm")
    if owner is not None:
        for path in (state, *state.rglob("*")):
            context.root.own(path, owner.uid, owner.gid)
    state.chmod(0o700)


def _link(place: Path, target: Path) -> None:
    """Let a path lead to the shared one; what was there stays beside it."""
    if place.is_symlink() and place.resolve() == target.resolve():
        return
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        kept = place.with_name(f"{place.name}.before-hyperpod-cdk")
        if kept.is_file():
            # it was a link once: whoever put a file in its place wrote what is newer than the shared one
            draft = target.with_name(f".{target.name}.hyperpod-cdk")
            shutil.copy2(place, draft)
            draft.replace(target)
        if kept.is_dir():
            shutil.rmtree(kept)
        # not a rename alone: what an image's lower layer holds cannot be renamed on an overlay
        shutil.move(place, kept)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def _all_controllers_named(context: Context) -> int:
    """Wait until slurm.conf names every controller that the service lists."""

    def named() -> int:
        heads = slurm.controllers(context)
        missing = [head.name for head in heads if not slurm.names_address(context.root, head.address)]
        if missing or len(heads) < 2:
            raise NotYetError(f"slurm.conf lacks {', '.join(missing) or 'a second controller'}")
        return len(heads)

    return wait_for(
        named,
        what="a slurm.conf with every controller",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=CONTROLLERS_LIMIT_SECONDS,
        advice="the service's agent writes SlurmctldHost: see `journalctl -u sagemaker-cluster-agent`",
    )


def _write_notifications(context: Context) -> None:
    parameters = context.node.multi_head
    assert parameters is not None
    for state, what in WHAT.items() if parameters.topic_arn else ():
        text = NOTIFY.format(
            what=what,
            state=state.upper(),
            cluster=context.node.cluster.name,
            topic=parameters.topic_arn,
            region=parameters.topic_arn.split(":")[3],
        )
        context.root.write(f"{SCRIPTS}/hyperpod-cdk-{state}.sh", text, mode=0o755)
