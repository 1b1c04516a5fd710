"""The rehearsal: an embedded AWS on loopback, and a deployment against it.

Importing this package loads nothing heavy; take the part you need:
:mod:`hyperpod_cdk.rehearsal.hyperpod` is the emulated HyperPod service, :mod:`hyperpod_cdk.rehearsal.aws` the
embedded AWS, and :func:`rehearse` the whole performance.
"""

import sys
from pathlib import Path

__all__ = ["rehearse"]

WRONG_INPUT = 2


def rehearse(
    config: str | Path, *, keep: bool = False, fault: str | None = None, on_hosts: bool = False
) -> int:
    """Deploy a configuration to an embedded AWS with the real CDK CLI, change it, and destroy it.

    Args:
        config: YAML file of a cluster.
        keep: stop after the deployment, and serve until Ctrl-C.
        fault: deploy, change and destroy with something going wrong, and show what a user sees; one of
            ``capacity``, ``conflict``, ``foreign-cluster``, ``lifecycle``, ``rollback``. Default: none.
        on_hosts: make every node a host of its own, with systemd and real Slurm daemons; needs root on Linux.

    Returns:
        Exit code: 0 when everything was as it should be, 1 when not, 2 for wrong input, 130 after Ctrl-C.
    """
    from hyperpod_cdk.config import ConfigError, read  # noqa: PLC0415
    from hyperpod_cdk.rehearsal.driver.faults import FAULTS  # noqa: PLC0415
    from hyperpod_cdk.rehearsal.driver.run import run  # noqa: PLC0415
    from hyperpod_cdk.rules import check, errors  # noqa: PLC0415

    if fault is not None and fault not in FAULTS:
        known = "\n".join(f"  {name:16} {one.description}" for name, one in FAULTS.items())
        return _refuse(f"no fault is called {fault}; there are:\n{known}")
    try:
        wanted = read(config)
    except ConfigError as error:
        return _refuse(str(error))
    if on_hosts and wanted.spec.cluster.orchestrator.eks is not None:
        return _refuse("nodes as hosts run Slurm's daemons: rehearse a cluster on Amazon EKS without them")
    findings = wanted.placed(check(wanted.spec))
    if errors(findings):
        return _refuse("\n".join(map(str, findings)))
    return run(Path(config).resolve(), keep=keep, fault=FAULTS[fault] if fault else None, on_hosts=on_hosts)


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return WRONG_INPUT
