"""What the image lacks: from the deployment's own bucket first, from its makers last, and never unchecked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hyperpod_node.aws import copy_from_bucket
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.features import Artifact

KEPT = "/opt/hyperpod-cdk/downloads"
LIMIT_SECONDS = 240
TIMEOUT_SECONDS = 60
PIECE = 1 << 20
PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
ADVICE = (
    "fill the deployment's own source with `hyperpod-cdk bundle`, or let the nodes reach the internet "
    "(lifecycle.downloads)"
)


def processor() -> str:
    """This node's processor, as artifacts are named: amd64 or arm64."""
    machine = os.uname().machine
    return PROCESSORS.get(machine, machine)


def fetch(context: Context, name: str) -> Path:
    """An artifact as a file on this node.

    Args:
        name: such as `prometheus`; the node's processor is added.

    Raises:
        NodeError: no source has it, or what they have is something else.
    """
    downloads = context.config.features.downloads
    full = f"{name}-{processor()}"
    artifact = downloads.artifacts.get(full)
    if artifact is None:
        known = ", ".join(sorted(downloads.artifacts)) or "none"
        raise NodeError(
            f"there is no pinned download {full}; known: {known}",
            advice=f"give its url and sha256 in lifecycle.downloads.overrides.{full}",
        )
    target = context.root.path(f"{KEPT}/{artifact.sha256}/{artifact.file}")
    if _is_right(target, artifact):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    reasons = []
    for source in downloads.sources:
        draft = target.with_name(f"{target.name}.part")
        reason = copy_from_bucket(context, f"{source.rstrip('/')}/{artifact.sha256}/{artifact.file}", draft)
        if not reason:
            return _accepted(draft, target, artifact, source)
        reasons.append(f"{source}: {reason}")
        context.say(f"{artifact.file} does not come from {source}: {reason}")
    if not downloads.internet:
        raise NodeError(
            f"{artifact.file} comes from no source, and the internet may not be asked",
            last_lines=reasons,
            advice=ADVICE,
        )
    return wait_for(
        lambda: _download(artifact, target),
        what=f"downloading {artifact.file}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=LIMIT_SECONDS,
        advice=ADVICE,
    )


def _download(artifact: Artifact, target: Path) -> Path:
    # takes a tenth of all imports, and most nodes download nothing from the internet (measured)
    import urllib.request  # noqa: PLC0415
    from http.client import HTTPException  # noqa: PLC0415

    draft = target.with_name(f"{target.name}.part")
    try:
        with (
            urllib.request.urlopen(artifact.url, timeout=TIMEOUT_SECONDS) as answer,
            draft.open("wb") as file,
        ):
            while piece := answer.read(PIECE):
                file.write(piece)
            # what the server announced and did not send: nothing else tells of a connection that ended early
            missing = getattr(answer, "length", 0)
    except (OSError, HTTPException) as error:
        raise NotYetError(f"{artifact.url}: {error or type(error).__name__}") from error
    if missing:
        raise NotYetError(f"{artifact.url}: it ended {missing} bytes early")
    return _accepted(draft, target, artifact, artifact.url)


def _accepted(draft: Path, target: Path, artifact: Artifact, source: str) -> Path:
    if not _is_right(draft, artifact):
        found = _digest(draft) if draft.is_file() else "nothing"
        draft.unlink(missing_ok=True)
        raise NodeError(
            f"{artifact.file} from {source} is something else: sha256 {found} instead of {artifact.sha256}",
            advice="somebody changed it, or it came incomplete; nothing of it was used",
        )
    draft.replace(target)
    return target


def _is_right(path: Path, artifact: Artifact) -> bool:
    return path.is_file() and _digest(path) == artifact.sha256


def _digest(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            total.update(piece)
    return total.hexdigest()
