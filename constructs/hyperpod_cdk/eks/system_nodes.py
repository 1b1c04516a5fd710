"""SystemNodes: a few ordinary nodes beside HyperPod's."""

from collections.abc import Sequence

from aws_cdk import Size
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.eks.acknowledged import NODE_POLICIES
from hyperpod_cdk.nag import acknowledge, aws_policies
from hyperpod_cdk.spec import eks as spec

_DISK = Size.gibibytes(50)


class SystemNodes(Construct):
    """A managed node group for pods that no accelerator should wait for.

    Args:
        cluster: the control plane.
        nodes: how many, and of which type.
        subnets: where they lie.
        depends_on: what must be there before them: a node without the network plugin never gets ready.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        nodes: spec.SystemNodes,
        subnets: Sequence[ec2.ISubnet],
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        self.launch_template = ec2.LaunchTemplate(
            self,
            "Template",
            block_devices=[
                ec2.BlockDevice(
                    device_name="/dev/xvda",
                    volume=ec2.BlockDeviceVolume.ebs(
                        int(_DISK.to_gibibytes()), encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3
                    ),
                )
            ],
            require_imdsv2=True,
            # pods on the host's network reach the metadata, others do not
            http_put_response_hop_limit=1,
        )
        self.node_group = eks.Nodegroup(
            self,
            "Resource",
            cluster=cluster,
            instance_types=[ec2.InstanceType(nodes.instance_type)],
            min_size=nodes.count,
            max_size=nodes.count + 1,
            desired_size=nodes.count,
            subnets=ec2.SubnetSelection(subnets=list(subnets)),
            launch_template_spec=eks.LaunchTemplateSpec(
                id=str(self.launch_template.launch_template_id),
                version=self.launch_template.latest_version_number,
            ),
        )
        self.node_group.node.add_dependency(*depends_on)
        acknowledge(self.node_group.role, aws_policies(NODE_POLICIES))
