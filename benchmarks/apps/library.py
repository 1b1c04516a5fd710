"""A configuration of clusters/ through the library: the second argument's, or slurm-gpu.yaml."""

import sys
from pathlib import Path

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()

import aws_cdk as cdk

from hyperpod_cdk.config import load
from hyperpod_cdk.stack import HyperPodStack

out, name = sys.argv[1], (sys.argv[2:] or ["slurm-gpu"])[0]
spec = load(Path(__file__).parents[2] / "clusters" / f"{name}.yaml")

app = cdk.App(outdir=out)
HyperPodStack(app, name, spec=spec)
app.synth()
