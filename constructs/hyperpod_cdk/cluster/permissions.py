"""Actions on clusters, by what they are for.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html and
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemakerai.html (2026-10).
"""

READ_CLUSTER = [
    "sagemaker:DescribeCluster",
    "sagemaker:DescribeClusterEvent",
    "sagemaker:DescribeClusterNode",
    "sagemaker:ListClusterEvents",
    "sagemaker:ListClusterNodes",
    "sagemaker:ListTags",
]
"""What a person needs to look at a cluster."""

LOOK_AT_CLUSTERS = [
    "sagemaker:DescribeCluster",
    "sagemaker:DescribeClusterEvent",
    "sagemaker:ListClusterEvents",
    "sagemaker:ListClusterNodes",
    "sagemaker:ListTags",
]
"""What the custom resource's handler reads. Of any cluster: it must see whose a name is."""
CREATE_CLUSTER = ["sagemaker:AddTags", "sagemaker:CreateCluster"]
"""Tags in a CreateCluster request need AddTags
(https://docs.aws.amazon.com/sagemaker/latest/dg/api-permissions-reference.html, 2026-10)."""
CHANGE_CLUSTER = [
    "sagemaker:AddTags",
    "sagemaker:DeleteCluster",
    "sagemaker:DeleteTags",
    "sagemaker:UpdateCluster",
    "sagemaker:UpdateClusterSoftware",
]
"""What the handler calls on the cluster that it made."""
CHANGE_NODES = ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"]
"""Not called, but named by the service authorization reference as what UpdateCluster may depend on."""
PLACE_NODES = ["sagemaker:CreateCluster", "sagemaker:UpdateCluster"]
"""What can be kept to instance types, subnets and security groups."""
USE_TRAINING_PLAN = ["sagemaker:CreateCluster", "sagemaker:UpdateCluster"]
"""On the plan and on reserved capacity
(https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-iam-permissions.html, 2026-10)."""

READ_NODE_LOGS = ["logs:DescribeLogStreams", "logs:GetLogEvents"]
DELETE_NODE_LOGS = ["logs:DeleteLogGroup"]
"""Only where the user lets the nodes' logs go with the cluster."""
START_WATCH = ["states:StartExecution"]
"""Only where a state machine waits on beyond the custom resource's hour."""

FIND_INTERFACES = ["ec2:DescribeNetworkInterfaces"]
"""Takes no resource."""

READ_IMAGES = ["ec2:DescribeImages", "ec2:DescribeSnapshots"]
"""Take no resource."""
SHARE_IMAGES = ["ec2:ModifyImageAttribute", "ec2:ModifySnapshotAttribute"]
"""What the caller of CreateCluster needs for a custom AMI
(https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-custom-ami-how-to.html, 2026-10)."""

READ_EKS = ["eks:DescribeCluster"]
"""On the control plane."""
ADMIT_NODES = [
    "eks:AssociateAccessPolicy",
    "eks:CreateAccessEntry",
    "eks:DeleteAccessEntry",
    "eks:DescribeAccessEntry",
]
"""On the control plane and its access entries: CreateCluster lets the nodes into Kubernetes with the rights
of whoever calls it."""
FIND_GOVERNANCE = ["sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"]
"""Take no resource."""
DELETE_GOVERNANCE = ["sagemaker:DeleteClusterSchedulerConfig", "sagemaker:DeleteComputeQuota"]
"""DeleteCluster takes policies and quotas with it, and fails without these
(https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html,
2026-10)."""

PASS_ROLE = ["iam:PassRole"]
CREATE_SERVICE_LINKED_ROLE = ["iam:CreateServiceLinkedRole"]
"""The first cluster of an account makes AWSServiceRoleForSageMakerHyperPod
(https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerHyperPodServiceRolePolicy.html)."""
