"""Every operation that preflight may call."""

from hyperpod_cdk.preflight.calls import Api

LIST_CLUSTERS = Api(
    client="sagemaker",
    operation="list_clusters",
    action="sagemaker:ListClusters",
    items="ClusterSummaries",
)
DESCRIBE_CLUSTER = Api(client="sagemaker", operation="describe_cluster", action="sagemaker:DescribeCluster")
DESCRIBE_TRAINING_PLAN = Api(
    client="sagemaker", operation="describe_training_plan", action="sagemaker:DescribeTrainingPlan"
)
LIST_STACK_RESOURCES = Api(
    client="cloudformation",
    operation="list_stack_resources",
    action="cloudformation:ListStackResources",
    items="StackResourceSummaries",
)

GET_QUOTA = Api(
    client="service-quotas", operation="get_service_quota", action="servicequotas:GetServiceQuota"
)
GET_DEFAULT_QUOTA = Api(
    client="service-quotas",
    operation="get_aws_default_service_quota",
    action="servicequotas:GetAWSDefaultServiceQuota",
)
LIST_QUOTAS = Api(
    client="service-quotas",
    operation="list_service_quotas",
    action="servicequotas:ListServiceQuotas",
    items="Quotas",
)
LIST_DEFAULT_QUOTAS = Api(
    client="service-quotas",
    operation="list_aws_default_service_quotas",
    action="servicequotas:ListAWSDefaultServiceQuotas",
    items="Quotas",
)
QUOTAS = (GET_QUOTA, GET_DEFAULT_QUOTA, LIST_QUOTAS, LIST_DEFAULT_QUOTAS)


def _describe(noun: str, items: str | None) -> Api:
    operation = "describe" + "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in noun)
    return Api(client="ec2", operation=operation, action=f"ec2:Describe{noun}", items=items)


DESCRIBE_SUBNETS = _describe("Subnets", "Subnets")
DESCRIBE_VPCS = _describe("Vpcs", "Vpcs")
DESCRIBE_VPC_ATTRIBUTE = _describe("VpcAttribute", None)
DESCRIBE_ROUTE_TABLES = _describe("RouteTables", "RouteTables")
DESCRIBE_VPC_ENDPOINTS = _describe("VpcEndpoints", "VpcEndpoints")
DESCRIBE_SECURITY_GROUPS = _describe("SecurityGroups", "SecurityGroups")
DESCRIBE_NETWORK_INTERFACES = _describe("NetworkInterfaces", "NetworkInterfaces")
DESCRIBE_INTERNET_GATEWAYS = _describe("InternetGateways", "InternetGateways")
DESCRIBE_ADDRESSES = _describe("Addresses", "Addresses")
DESCRIBE_ZONES = _describe("AvailabilityZones", "AvailabilityZones")
DESCRIBE_OFFERINGS = _describe("InstanceTypeOfferings", "InstanceTypeOfferings")
DESCRIBE_IMAGES = _describe("Images", "Images")
DESCRIBE_INSTANCES = _describe("Instances", "Reservations")
DESCRIBE_INSTANCE_TYPES = _describe("InstanceTypes", "InstanceTypes")

DESCRIBE_FILE_SYSTEMS = Api(
    client="fsx", operation="describe_file_systems", action="fsx:DescribeFileSystems", items="FileSystems"
)

LIST_OBJECTS = Api(client="s3", operation="list_objects_v2", action="s3:ListBucket")
HEAD_BUCKET = Api(client="s3", operation="head_bucket", action="s3:ListBucket")
GET_OBJECT = Api(client="s3", operation="get_object", action="s3:GetObject")

GET_ROLE = Api(client="iam", operation="get_role", action="iam:GetRole")
SIMULATE = Api(
    client="iam",
    operation="simulate_principal_policy",
    action="iam:SimulatePrincipalPolicy",
    items="EvaluationResults",
)
DESCRIBE_KEY = Api(client="kms", operation="describe_key", action="kms:DescribeKey")
GET_KEY_POLICY = Api(client="kms", operation="get_key_policy", action="kms:GetKeyPolicy")
DESCRIBE_SECRET = Api(
    client="secretsmanager", operation="describe_secret", action="secretsmanager:DescribeSecret"
)
DESCRIBE_WORKSPACE = Api(client="amp", operation="describe_workspace", action="aps:DescribeWorkspace")
DESCRIBE_GRAFANA = Api(client="grafana", operation="describe_workspace", action="grafana:DescribeWorkspace")
GET_OIDC_PROVIDER = Api(
    client="iam", operation="get_open_id_connect_provider", action="iam:GetOpenIDConnectProvider"
)
GET_USER = Api(client="iam", operation="get_user", action="iam:GetUser")
DESCRIBE_LOG_GROUPS = Api(
    client="logs", operation="describe_log_groups", action="logs:DescribeLogGroups", items="logGroups"
)
DESCRIBE_CHARTS = Api(
    client="ecr", operation="describe_images", action="ecr:DescribeImages", items="imageDetails"
)

DESCRIBE_CONTROL_PLANE = Api(client="eks", operation="describe_cluster", action="eks:DescribeCluster")
LIST_CONTROL_PLANES = Api(
    client="eks", operation="list_clusters", action="eks:ListClusters", items="clusters"
)
DESCRIBE_KUBERNETES = Api(
    client="eks",
    operation="describe_cluster_versions",
    action="eks:DescribeClusterVersions",
    items="clusterVersions",
)
DESCRIBE_ADD_ON = Api(client="eks", operation="describe_addon", action="eks:DescribeAddon")
DESCRIBE_ADD_ON_VERSIONS = Api(
    client="eks",
    operation="describe_addon_versions",
    action="eks:DescribeAddonVersions",
    items="addons",
)
LIST_COMPUTE_QUOTAS = Api(
    client="sagemaker",
    operation="list_compute_quotas",
    action="sagemaker:ListComputeQuotas",
    items="ComputeQuotaSummaries",
)
LIST_SCHEDULER_CONFIGS = Api(
    client="sagemaker",
    operation="list_cluster_scheduler_configs",
    action="sagemaker:ListClusterSchedulerConfigs",
    items="ClusterSchedulerConfigSummaries",
)

GET_PARAMETER = Api(client="ssm", operation="get_parameter", action="ssm:GetParameter")
