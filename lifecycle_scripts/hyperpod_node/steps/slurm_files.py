"""What these scripts add to Slurm's configuration on the controller, again whenever it is lost."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_node import multi_head, slurm, slurm_plugins, slurm_topology, units
from hyperpod_node.catalogue.modes import OURS
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError

EPILOG_FOLDER = f"{slurm.ETC}/epilog.d"
HEAD = "# by hyperpod-cdk: lifecycle.slurm of the deployment; changes here are lost\n"
# what `srun --auto-resume=1` needs (AWS: what HyperPod overrides in slurm.conf)
AUTO_RESUME = {"taskplugin": "task/none", "schedulerparameters": "permit_job_expansion"}


def write_files(context: Context) -> str:
    """Have our settings included, no wildcards in plugstack.conf, and a topology that works."""
    root = context.root
    if not root.read(slurm.CONF):
        raise StepSkippedError(f"no {slurm.CONF} here")
    if not root.read(slurm.LOADED):
        # the service may have started slurmctld, with what is there now
        slurm.mark_loaded(root)
    done = []
    text = own_text(context)
    if root.read(slurm.OWN_CONF) != text:
        slurm.check(context, text)
    if root.write(slurm.OWN_CONF, text):
        done.append("settings written")
    if any([slurm.ensure_include(context, path) for path in included(context)]):
        done.append("included in slurm.conf")
    if slurm_plugins.expand(root):
        done.append("plugstack.conf without wildcards")
    done += filter(None, [slurm_topology.guard(context)])
    _look_at_auto_resume(context)
    if done:
        # Whoever rewrote slurm.conf may have had slurmctld read it without our part. Noted until it has read
        # this: a run that ends before, or whose reconfigure fails, leaves it to the next one.
        root.write(slurm.LOADED, "not what the files say\n")
    return ", ".join(done) or "as they should be"


def included(context: Context) -> list[str]:
    """The files that slurm.conf has to include: ours, and the accounting where it is ours too."""
    paths = [slurm.OWN_CONF]
    if context.node.mode in OURS and slurm.settings(context.root, slurm.ACCOUNTING_CONF):
        paths.append(slurm.ACCOUNTING_CONF)
    return paths


def refresh(context: Context) -> str:
    """Have slurmctld read its files again if any of them changed since it did."""
    loaded = context.root.read(slurm.LOADED).strip()
    if loaded == slurm.digest(context.root):
        raise StepSkippedError("slurmctld has what the files say")
    if not units.is_active(context, "slurmctld"):
        raise StepSkippedError("slurmctld does not run here")
    try:
        return slurm.reconfigure(context)
    except NodeError as error:
        if not units.is_active(context, "slurmctld"):
            raise
        # it runs with what it had, and the next run tries again
        context.warn(f"{error}; what to do: {error.advice}")
        return "slurmctld goes on with what it had"


def own_settings(context: Context) -> Mapping[str, str]:
    """Everything that our file says, by name.

    What slurm.conf has is left as it is, but for the settings that the deployment asks for by name.
    """
    wanted = context.config.slurm
    others = slurm.others_settings(context.root)
    found = dict(wanted.scale)
    if wanted.epilog:
        found["Epilog"] = f"{EPILOG_FOLDER}/*"
    if wanted.pam_slurm_adopt and _tracks_by_cgroup(others):
        found["PrologFlags"] = "Contain"
    found |= multi_head.notification_settings(context)
    asked = {name.lower() for name in wanted.conf}
    missing = {
        name: value
        for name, value in found.items()
        if name.lower() not in others and name.lower() not in asked
    }
    _warn_of_others(context, others)
    return {**missing, **wanted.conf}


def _warn_of_others(context: Context, others: Mapping[str, str]) -> None:
    wanted = context.config.slurm
    epilog = others.get("epilog", "")
    if wanted.epilog and epilog and not epilog.startswith(f"{EPILOG_FOLDER}/"):
        context.warn(f"slurm.conf has Epilog={epilog}, so that the scripts in {EPILOG_FOLDER} do not run")
    flags = others.get("prologflags", "").lower()
    if wanted.pam_slurm_adopt and not _tracks_by_cgroup(others):
        # with Contain slurmctld would end at once, and so would every slurmd
        context.warn("slurm.conf tracks processes without cgroups: pam_slurm_adopt lets nobody in")
    elif wanted.pam_slurm_adopt and flags and "contain" not in flags.split(","):
        context.warn(f"slurm.conf has PrologFlags={flags} without Contain: pam_slurm_adopt lets nobody in")


def _tracks_by_cgroup(others: Mapping[str, str]) -> bool:
    return others.get("proctracktype", slurm.CGROUP) == slurm.CGROUP


def _look_at_auto_resume(context: Context) -> None:
    """Say what ends auto-resume; the service writes these lines, so none of them is changed."""
    found = slurm.others_settings(context.root) | slurm.settings(context.root, slurm.OWN_CONF)
    for name, needed in AUTO_RESUME.items():
        value = found.get(name, "")
        if needed not in value.split(","):
            context.warn(f"srun --auto-resume does nothing: slurm.conf has {name}={value or '(nothing)'}")


def own_text(context: Context) -> str:
    """Our file."""
    lines = [f"{name}={value}\n" for name, value in own_settings(context).items()]
    return HEAD + "".join(lines)
