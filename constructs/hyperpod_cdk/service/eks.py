"""Amazon EKS under HyperPod: versions and names."""

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html (2026-10)
KUBERNETES_VERSIONS = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")
VPC_CNI_SINCE = (1, 18, 3)
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html (2026-10)
GOVERNANCE_SINCE = (1, 3, 0)

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html (2026-10): 1.28 to 1.33
TRAINING_OPERATOR_VERSIONS = ("1.30", "1.31", "1.32", "1.33")
OPERATOR_TAG = "SageMaker"
"""Tag of the HyperPod cluster with the value ``true``, without which the operator's role sees no node."""

# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html (2026-10), those for people
# and their tools; HyperPod's as `eks list-access-policies` tells them
ACCESS_POLICIES = (
    "AmazonEKSAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSSecretReaderPolicy",
    "AmazonEKSViewPolicy",
    "AmazonSagemakerHyperpodClusterPolicy",
    "AmazonSagemakerHyperpodControllerPolicy",
    "AmazonSagemakerHyperpodInferenceMonitoringPolicy",
    "AmazonSagemakerHyperpodSpacePolicy",
    "AmazonSagemakerHyperpodSpaceTemplatePolicy",
    "AmazonSagemakerHyperpodSystemNamespacePolicy",
    "AmazonSagemakerHyperpodUserClusterPolicy",
)
"""Not all there are: a name that is missing here may be right."""

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html (2026-10)
AUTHENTICATION_MODES = ("API", "API_AND_CONFIG_MAP")

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (2026-10): zones without control planes,
# and how many addresses each subnet must have free for one
ZONES_WITHOUT_EKS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
CONTROL_PLANE_ADDRESSES = 6

# https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html (2026-10)
API_PORT = ("tcp", 443, 443)
"""Open from nodes to the control plane."""
KUBELET_PORT = ("tcp", 10250, 10250)
"""Open from the control plane to nodes."""
