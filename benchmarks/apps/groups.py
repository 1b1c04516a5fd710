"""clusters/slurm-gpu.yaml with as many instance groups as the second argument says."""

import sys
from dataclasses import replace
from pathlib import Path

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()

import aws_cdk as cdk

from hyperpod_cdk.config import load
from hyperpod_cdk.stack import HyperPodStack

CONFIG = Path(__file__).parents[2] / "clusters" / "slurm-gpu.yaml"

spec = load(CONFIG)
*others, compute = spec.cluster.instance_groups
wanted = int(sys.argv[2]) - len(others)
# few nodes each: a hundred groups of the example's size would not find addresses in any VPC
small = replace(compute, instance_count=4, min_instance_count=None)
copies = [replace(small, instance_group_name=f"gpu-{i}") for i in range(wanted)]
app = cdk.App(outdir=sys.argv[1])
HyperPodStack(
    app,
    "slurm-gpu",
    spec=replace(spec, cluster=replace(spec.cluster, instance_groups=[*others, *copies])),
)
app.synth()
