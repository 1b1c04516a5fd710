"""``hyperpod-cdk rehearse``: a deployment that costs nothing."""

from typing import Annotated

import typer


def command(
    config: Annotated[
        str, typer.Argument(metavar="FILE", help="YAML file of a cluster on Slurm or Amazon EKS.")
    ],
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the embedded AWS running.")] = False,
    fault: Annotated[
        str | None,
        typer.Option(
            help="Make something go wrong: capacity, conflict, foreign-cluster, lifecycle, rollback.",
            metavar="FAULT",
        ),
    ] = None,
    real_nodes: Annotated[
        bool,
        typer.Option(
            "--real-nodes", help="Make nodes hosts with real Slurm daemons (Slurm only, root on Linux)."
        ),
    ] = False,
) -> int:
    """Deploy to an embedded AWS on this machine, change, and destroy.

    Of the examples, clusters/slurm-minimal.yaml and clusters/eks-minimal.yaml are the smallest. On Amazon EKS
    a chart in S3, roles that have access and a control plane that is there already are stood in for.
    """
    from hyperpod_cdk.rehearsal import rehearse

    return rehearse(config, keep=keep, fault=fault, on_hosts=real_nodes)
