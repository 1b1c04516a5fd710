"""AWS services that nodes call, and how a closed network lets them."""

from collections.abc import Mapping

NODE_SERVICES: Mapping[str, str] = {
    # Session Manager, the only way onto a node: SSM Agent registers with `ssm` and keeps its channels on
    # `ssmmessages`, or on `ec2messages` where the latter is refused
    # (https://docs.aws.amazon.com/systems-manager/latest/userguide/systems-manager-setting-up-messageAPIs.html,
    # 2026-10).
    "ssm": "SSM Agent registers the node",
    "ssmmessages": "sessions to the node",
    "ec2messages": "commands to the node",
    # What the managed policy of the nodes lets them call besides S3 and Session Manager
    # (https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerClusterInstanceRolePolicy.html,
    # 2026-10).
    "logs": "lifecycle and health-monitoring logs",
    "monitoring": "metrics of the cluster",
}
"""Services that every node calls, and why.

S3 is reached through a gateway endpoint; file systems lie in the VPC and need none to be mounted.
"""

# https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html (2026-10)
KUBERNETES_SERVICES: Mapping[str, str] = {
    "ec2": "the network plugin gives pods addresses",
    "ecr.api": "images are found",
    "ecr.dkr": "images are pulled",
    "eks": "nodes and kubectl find the control plane",
    "sts": "pods and kubectl get credentials",
}
"""Services that nodes of every cluster on Amazon EKS call beside, and why."""
