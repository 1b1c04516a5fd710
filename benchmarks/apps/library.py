"""clusters/slurm-gpu.yaml through the library."""

import sys
from pathlib import Path

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()

import aws_cdk as cdk

from hyperpod_cdk.config import load
from hyperpod_cdk.stack import HyperPodStack

CONFIG = Path(__file__).parents[2] / "clusters" / "slurm-gpu.yaml"

app = cdk.App(outdir=sys.argv[1])
HyperPodStack(app, "slurm-gpu", spec=load(CONFIG))
app.synth()
