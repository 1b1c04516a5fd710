"""Actions, by what they are for.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (2026-10) for what a node's role needs;
https://docs.aws.amazon.com/service-authorization/latest/reference/ (2026-10) for what an action can be
narrowed to.
"""

MANAGED_POLICY = "AmazonSageMakerClusterInstanceRolePolicy"
"""Logs, metrics, Session Manager, and reading buckets whose name begins with ``sagemaker-``."""

DESCRIBE_NETWORK = [
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
]
"""None takes a resource."""
CREATE_INTERFACE = ["ec2:CreateNetworkInterface"]
"""On the interface, its subnet and its security groups."""
CHANGE_INTERFACE = [
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
]
"""On the interface."""
DETACH_INTERFACE = ["ec2:DetachNetworkInterface"]
"""On the interface and its instance; auto-resume replaces nodes with it."""
TAG_INTERFACE = ["ec2:CreateTags"]

DESCRIBE_NODES = ["ec2:DescribeInstanceTypes", "ec2:DescribeInstances", "ec2:DescribeTags"]
"""On Amazon EKS; none takes a resource."""
SERVE_PODS = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
]
"""On the interface: pods get addresses of it."""
ATTACH_INTERFACE = ["ec2:AttachNetworkInterface"]
"""On the interface and its instance; on Amazon EKS."""
ATTACH_BY_SERVICE = ["sagemaker:AttachClusterNodeNetworkInterface"]
"""On the cluster; what the network plugin calls instead since September 2026
(https://github.com/aws/amazon-vpc-cni-k8s/pull/3874)."""
POD_IDENTITY = ["eks-auth:AssumeRoleForPodIdentity"]
"""On the control plane: the identity agent gets pods' credentials with the node's role."""

DESCRIBE_FILE_SYSTEMS = ["fsx:DescribeFileSystems"]
"""Takes no resource. Without it the Lustre client quietly falls back from EFA to TCP."""

LIST_BUCKET = ["s3:ListBucket"]
READ_OBJECTS = ["s3:GetObject"]
DECRYPT = ["kms:Decrypt"]

WRITE_OBJECTS = ["s3:AbortMultipartUpload", "s3:PutObject"]
DELETE_OBJECTS = ["s3:DeleteObject"]
"""Of a mounted bucket: github.com/awslabs/mountpoint-s3, doc/CONFIGURATION.md, IAM permissions, 2026-10."""
USE_BUCKET_KEY = ["kms:Decrypt", "kms:GenerateDataKey"]

WRITE_METRICS = ["aps:RemoteWrite"]
"""On the workspace
(https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonmanagedserviceforprometheus.html,
2026-10)."""

USE_VOLUME_KEY = ["kms:CreateGrant", "kms:DescribeKey"]
PUBLISH = ["sns:Publish"]
READ_SECRET = ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"]

ECR_LOGIN = ["ecr:GetAuthorizationToken"]
"""Takes no resource."""
ECR_PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]

WRITE_LOG_STREAMS = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
ENCRYPT_LOGS = [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
]
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html, 2026-10, without its
wildcards."""

CONTAINER_LOGS = [
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:FilterLogEvents",
    "logs:GetLogEvents",
    "logs:GetLogRecord",
    "logs:GetQueryResults",
    "logs:PutLogEvents",
    "logs:StartQuery",
]
"""Of containers on a cluster, as the developer guide has them on
hyperpod-observability-addon-troubleshooting.html (2026-10)."""
LIST_METRICS_WORKSPACES = ["aps:ListWorkspaces"]
"""Takes no resource."""
READ_METRICS = [
    "aps:DescribeWorkspace",
    "aps:GetLabels",
    "aps:GetMetricMetadata",
    "aps:GetSeries",
    "aps:QueryMetrics",
]
FIND_LOGS = ["logs:DescribeLogGroups", "logs:StopQuery"]
"""None takes a resource: on log groups, as the guide has them, they allow nothing."""
READ_LOGS = ["logs:GetLogEvents", "logs:GetLogGroupFields", "logs:GetQueryResults", "logs:StartQuery"]

READ_FIGURES = ["cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics"]
"""None takes a resource
(https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html, 2026-10)."""
QUERY_METRICS = ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"]
