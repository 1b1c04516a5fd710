"""Somebody else's app: no configuration file, no feature flags, another directory."""

import sys

import aws_cdk as cdk

from hyperpod_cdk import HyperPodStack
from hyperpod_cdk.spec import (
    Cluster,
    HyperPodSpec,
    InstanceGroup,
    LustreFileSystem,
    Mount,
    Network,
    NodeType,
    OpenZfsFileSystem,
    SlurmConfig,
)

app = cdk.App(outdir=sys.argv[1])
HyperPodStack(
    app,
    "Foreign",
    spec=HyperPodSpec(
        network=Network(availability_zone_ids=["usw2-az4"]),
        storage={"scratch": LustreFileSystem(), "home": OpenZfsFileSystem()},
        cluster=Cluster(
            instance_groups=[
                InstanceGroup(
                    instance_group_name="controller",
                    instance_type="ml.c5.xlarge",
                    instance_count=1,
                    slurm_config=SlurmConfig(node_type=NodeType.CONTROLLER),
                    mounts=[Mount(storage="scratch"), Mount(storage="home")],
                ),
                InstanceGroup(
                    instance_group_name="gpu",
                    instance_type="ml.g5.8xlarge",
                    instance_count=4,
                    slurm_config=SlurmConfig(node_type=NodeType.COMPUTE, partition_names=["gpu"]),
                    mounts=[Mount(storage="scratch"), Mount(storage="home")],
                ),
            ]
        ),
    ),
)
app.synth()
