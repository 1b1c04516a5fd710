"""``python -m hyperpod_cdk.rehearsal FILE [--keep] [--fault NAME]``."""

import argparse
import sys

from hyperpod_cdk.rehearsal import rehearse

parser = argparse.ArgumentParser(prog="python -m hyperpod_cdk.rehearsal", description=rehearse.__doc__)
parser.add_argument("config", metavar="FILE", help="YAML file of a cluster")
parser.add_argument("--keep", action="store_true", help="leave the embedded AWS running")
parser.add_argument(
    "--fault",
    metavar="FAULT",
    help="make something go wrong: capacity, conflict, foreign-cluster, lifecycle, rollback",
)
parser.add_argument("--real-nodes", action="store_true", help="nodes are hosts with real Slurm daemons")
given = parser.parse_args()
sys.exit(rehearse(given.config, keep=given.keep, fault=given.fault, on_hosts=given.real_nodes))
