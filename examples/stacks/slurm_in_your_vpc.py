"""A cluster on Slurm among what is yours: your VPC, a role and a bucket, in a stack apart from the data.

cdk deploy --all --app "python examples/stacks/slurm_in_your_vpc.py"
"""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk import HyperPodCluster, HyperPodNetwork, IHyperPodNetwork, LustreStorage
from hyperpod_cdk.spec import (
    Cluster,
    ExistingSubnet,
    InstanceGroup,
    Lifecycle,
    LustreFileSystem,
    NodeType,
    SlurmConfig,
    User,
)

# the zone of the capacity: `aws ec2 describe-availability-zones` shows ids beside names
ZONE = "usw2-az4"


class Data(cdk.Stack):
    """What outlives clusters: network, Lustre, datasets."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        # stands for the VPC that you have; its private subnet has to lie in ZONE
        vpc = ec2.Vpc(self, "Vpc", max_azs=1)
        nodes = ec2.SecurityGroup(self, "Nodes", vpc=vpc)
        # Slurm and NCCL use ports all over
        nodes.connections.allow_internally(ec2.Port.all_traffic())
        (subnet,) = vpc.private_subnets
        self.network: IHyperPodNetwork = HyperPodNetwork.from_attributes(
            self,
            "Network",
            vpc_id=vpc.vpc_id,
            vpc_cidr=vpc.vpc_cidr_block,
            subnets=[
                ExistingSubnet(
                    subnet_id=subnet.subnet_id,
                    availability_zone_id=ZONE,
                    route_table_id=subnet.route_table.route_table_id,
                )
            ],
            security_group_ids=[nodes.security_group_id],
        )
        self.scratch = LustreStorage(
            self, "Scratch", network=self.network, file_system=LustreFileSystem(capacity_gib=2400)
        )
        self.datasets = s3.Bucket(self, "Datasets", enforce_ssl=True)


class Training(cdk.Stack):
    """The cluster, and who may do what with it."""

    def __init__(self, scope: Construct, construct_id: str, *, data: Data) -> None:
        super().__init__(scope, construct_id)
        controller = SlurmConfig(node_type=NodeType.CONTROLLER)
        compute = SlurmConfig(node_type=NodeType.COMPUTE, partition_names=["gpu"])
        mounts = [data.scratch.mount("/fsx")]
        hyperpod = HyperPodCluster(
            self,
            "Cluster",
            network=data.network,
            lifecycle=Lifecycle(users=[User(name="alice", uid=2001)]),
            cluster=Cluster(
                instance_groups=[
                    InstanceGroup(
                        instance_group_name="controller",
                        instance_type="ml.c5.xlarge",
                        instance_count=1,
                        slurm_config=controller,
                        mounts=mounts,
                    ),
                    InstanceGroup(
                        instance_group_name="gpu",
                        instance_type="ml.g5.12xlarge",
                        instance_count=4,
                        slurm_config=compute,
                        mounts=mounts,
                    ),
                ]
            ),
        )
        # each group has a role of its own: only the nodes that train read the datasets
        hyperpod.execution_roles["gpu"].grant_read_bucket(data.datasets)
        engineers = iam.Role(self, "Engineers", assumed_by=iam.AccountRootPrincipal())
        hyperpod.grant_connect(engineers)
        cdk.CfnOutput(self, "ControllerTarget", value=hyperpod.controller_ssm_target or "")


app = cdk.App()
Training(app, "Training", data=Data(app, "Data"))
app.synth()
