"""Docker, Enroot and Pyxis: as the image has them, with data where it does not fill the root volume."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from hyperpod_node import apt, slurm
from hyperpod_node.accounts import groups
from hyperpod_node.context import Context
from hyperpod_node.disks import NVME, NVME_UNIT, data_disk
from hyperpod_node.downloads import fetch, processor
from hyperpod_node.errors import NodeError, StepSkippedError

DAEMON_JSON = "/etc/docker/daemon.json"
DOCKER_DROP_IN = "/etc/systemd/system/docker.service.d/hyperpod-cdk.conf"
DOCKER_PACKAGES = ("docker.io",)
DOCKER_GROUP = "docker"
ENROOT_CONF = "/etc/enroot/enroot.conf"
ENROOT_ARTIFACTS = ("enroot", "enroot-caps")
BEGIN, END = "# hyperpod-cdk begin", "# hyperpod-cdk end"
ENROOT_PATHS = {
    "ENROOT_RUNTIME_PATH": "/run/enroot/user-$(id -u)",
    "ENROOT_CACHE_PATH": "{disk}/enroot/cache/user-$(id -u)",
    "ENROOT_DATA_PATH": "{disk}/enroot/data/user-$(id -u)",
    "ENROOT_TEMP_PATH": "{disk}/enroot/tmp",
}
ENROOT_FOLDERS = ("cache", "data", "tmp")
RUNTIME = "/etc/tmpfiles.d/hyperpod-cdk-enroot.conf"
PLUGSTACK = f"{slurm.ETC}/plugstack.conf"
PYXIS = "spank_pyxis.so"
PYXIS_FOLDERS = ("/opt/slurm/lib/slurm", "/usr/local/lib/slurm", "/usr/lib/slurm", "/usr/lib/*/slurm-wlm")


def set_up_docker(context: Context) -> str:
    """Have Docker run, its images on the right disk, and its users in its group."""
    if context.commands.available("docker"):
        had = "of the image"
    elif not context.config.features.downloads.internet:
        _do_without(
            context,
            "no Docker on this image, and nothing may be asked of the internet",
            advice="use an image that has it, or lifecycle.downloads.internet: true",
        )
    else:
        apt.install(context, DOCKER_PACKAGES)
        had = "installed"
    where, changed = _data_root(context)
    context.commands.run("systemctl", "enable", "docker")
    context.commands.run("systemctl", "restart" if changed else "start", "docker", timeout_seconds=120)
    joined = _join_group(context)
    return f"Docker {had}, images in {where}" + (f", {', '.join(joined)} may use it" if joined else "")


def _do_without(context: Context, lack: str, *, advice: str) -> NoReturn:
    asked = context.config.features.containers
    if asked and asked.required:
        raise NodeError(lack, advice=advice)
    raise StepSkippedError(lack)


def _data_root(context: Context) -> tuple[str, bool]:
    settings = _daemon_settings(context)
    if "data-root" in settings:
        return f"{settings['data-root']} (left as it is)", False
    asked = context.config.features.containers
    disk = data_disk(context, asked.data_directory if asked else "")
    if not disk:
        return "/var/lib/docker, as there is no other disk", False
    done = context.commands.run("docker", "ps", "--quiet", accept=(0, 1))
    if done.exit_code == 0 and done.lines:
        # moving the folder would take running containers their images
        context.warn("containers run here already, so that Docker's data stays on the root volume")
        return "/var/lib/docker", False
    if disk == NVME:
        # at a boot Docker would be first, and fill what the disk is then mounted over: the root volume
        context.root.write(DOCKER_DROP_IN, f"[Unit]\nAfter={NVME_UNIT}\n")
    settings["data-root"] = f"{disk}/docker"
    changed = context.root.write(DAEMON_JSON, json.dumps(settings, indent=2) + "\n")
    return settings["data-root"], changed


def _daemon_settings(context: Context) -> dict[str, Any]:
    text = context.root.read(DAEMON_JSON)
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise NodeError(
            f"{DAEMON_JSON} is no JSON: {error}", advice="the image brought it: repair it there"
        ) from error
    if not isinstance(found, dict):
        raise NodeError(f"{DAEMON_JSON} holds no JSON object", advice="the image brought it: repair it there")
    return found


def _join_group(context: Context) -> list[str]:
    wanted = ["ubuntu", *(user.name for user in context.config.users if DOCKER_GROUP in user.groups)]
    group = next((one for one in groups(context.root) if one.name == DOCKER_GROUP), None)
    if group is None:
        context.commands.run("groupadd", "--force", "--system", DOCKER_GROUP, attempts=5)
    members = group.members if group else ()
    present = context.root.read("/etc/passwd")
    missing = [
        name
        for name in wanted
        if name not in members and re.search(rf"^{re.escape(name)}:", present, re.MULTILINE)
    ]
    for name in missing:
        context.commands.run("usermod", "--append", "--groups", DOCKER_GROUP, name, attempts=5)
    return missing


def set_up_enroot(context: Context) -> str:
    """Have Enroot, its data on the right disk, unless the image says where it goes."""
    if not context.commands.available("enroot"):
        _install_enroot(context)
    present = context.root.read(ENROOT_CONF)
    others = _without_ours(present)
    if re.search(r"^\s*ENROOT_(DATA|CACHE)_PATH", others, re.MULTILINE):
        # AWS's own agent writes it on newer images; to copy over it brought the data back to the root volume
        return f"Enroot of the image, {ENROOT_CONF} left as it is (field report 107)"
    asked = context.config.features.containers
    disk = data_disk(context, asked.data_directory if asked else "") or "/var/lib"
    for name in ENROOT_FOLDERS:
        folder = context.root.path(f"{disk}/enroot/{name}")
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o1777)
    context.root.write(RUNTIME, "d /run/enroot 1777 root root -\n")
    runtime = context.root.path("/run/enroot")
    runtime.mkdir(parents=True, exist_ok=True)
    runtime.chmod(0o1777)
    lines = [f"{name} {value.format(disk=disk)}" for name, value in ENROOT_PATHS.items()]
    block = "\n".join([BEGIN, *lines, END]) + "\n"
    ends = "" if not others or others.endswith("\n") else "\n"
    context.root.write(ENROOT_CONF, others + ends + block)
    return f"Enroot's data in {disk}/enroot"


def _without_ours(text: str) -> str:
    return re.sub(rf"^{BEGIN}\n.*?^{END}\n", "", text, flags=re.DOTALL | re.MULTILINE)


def _install_enroot(context: Context) -> None:
    known = context.config.features.downloads.artifacts
    missing = [name for name in ENROOT_ARTIFACTS if f"{name}-{processor()}" not in known]
    if missing:
        lacks = f"no Enroot on this image, and no {', '.join(missing)} in lifecycle.downloads.overrides"
        _do_without(context, lacks, advice="give each its url and sha256 there: nothing is used unchecked")
    apt.install_files(context, [fetch(context, name) for name in ENROOT_ARTIFACTS])


def add_pyxis(context: Context) -> str:
    """Have plugstack.conf name Pyxis where the image has it, before slurmctld hands the file to the nodes."""
    plugin = next(
        (
            path
            for folder in PYXIS_FOLDERS
            for path in context.root.path("/").glob(f"{folder.lstrip('/')}/{PYXIS}")
        ),
        None,
    )
    if plugin is None:
        raise StepSkippedError(f"this image has no {PYXIS}")
    text = context.root.read(PLUGSTACK)
    named = "pyxis" in "".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    if named or _pyxis_included(context, text):
        return "plugstack.conf names Pyxis already"
    inside = "/" + str(plugin.relative_to(context.root.prefix))
    # no wildcard, which is not expanded without local files (field report 109); optional, so that a node
    # whose image lacks the plugin can still run jobs
    ends = "" if not text or text.endswith("\n") else "\n"
    context.root.write(PLUGSTACK, f"{text}{ends}optional {inside}\n")
    return f"plugstack.conf names {inside}"


def _pyxis_included(context: Context, text: str) -> bool:
    for pattern in re.findall(r"^\s*include\s+(\S+)", text, re.MULTILINE):
        path = pattern if pattern.startswith("/") else f"{slurm.ETC}/{pattern}"
        for found in context.root.path("/").glob(path.lstrip("/")):
            if "pyxis" in found.read_text(encoding="utf-8", errors="replace"):
                return True
    return False
