"""ExecutionRole: what the nodes of an instance group may do."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import jsii
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct, IDependable

from hyperpod_cdk.access.arns import arn, bucket_arn
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.nag import acknowledge, aws_policies, wildcards
from hyperpod_cdk.service import permissions

WILDCARDS = (
    "the action takes no resource, or its resources are made by the service as nodes come and go, or are all "
    "the objects of one bucket or repositories of one account"
)
"""Why statements name resources with wildcards."""
_BY_THE_SERVICE = aws_policies(
    [permissions.MANAGED_POLICY], "the policy that the service names for the nodes of a cluster"
)


class IExecutionRole(Protocol):
    """A role made here (`ExecutionRole`) or an existing one (`ExecutionRole.from_role_arn`)."""

    @property
    def role(self) -> iam.IRole:
        """The role."""

    @property
    def role_arn(self) -> str:
        """Its ARN."""

    @property
    def policy_dependencies(self) -> Sequence[IDependable]:
        """What must be there before a node may use the role, and outlive the nodes."""


@jsii.implements(iam.IGrantable)
class ExecutionRole(Construct):
    """Role of an instance group's nodes: the service's managed policy, and no more than what is used.

    Args:
        lifecycle_bucket: Bucket whose objects the nodes read. Default: none beyond ``sagemaker-*``.
        vpc: Nodes lie in a VPC, where the service manages their network interfaces with this role. Default:
            yes.
        lustre: Nodes mount FSx for Lustre and check over which network. Default: no.
        volume_keys: Customer-managed keys of EBS volumes. Default: none.
        secrets: Secrets that nodes read. Default: none.
        eks_cluster_arn: Control plane that nodes join: pods then get addresses, images and identities with
            this role. Default: none, they are Slurm's.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        lifecycle_bucket: s3.IBucket | None = None,
        vpc: bool = True,
        lustre: bool = False,
        volume_keys: Sequence[kms.IKey] = (),
        secrets: Sequence[secretsmanager.ISecret] = (),
        eks_cluster_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=_service(),
            managed_policies=[_managed_policy()],
            description="Nodes of a HyperPod instance group",
        )
        acknowledge(self._role, _BY_THE_SERVICE)
        self._policy: iam.CfnManagedPolicy | None = None
        self._statements: dict[str, dict[str, Any]] = {}
        self._unwritten: set[str] = set()
        if vpc:
            self._allow_network()
        if lustre:
            self._allow("DescribeFileSystems", permissions.DESCRIBE_FILE_SYSTEMS, "*")
        if lifecycle_bucket is not None:
            self._allow_bucket(lifecycle_bucket, "")
        for key in volume_keys:
            self._allow("UseVolumeKey", permissions.USE_VOLUME_KEY, key.key_arn)
        for secret in secrets:
            self._allow_secret(secret)
        if eks_cluster_arn is not None:
            self._allow_pods(eks_cluster_arn)
        self._write()

    @staticmethod
    def from_role_arn(
        scope: Construct, construct_id: str, role_arn: str, *, mutable: bool = False
    ) -> "ExistingExecutionRole":
        """A role that is already there.

        Args:
            role_arn: Its ARN.
            mutable: Let grants add policies to it. Default: no, its permissions are its owner's.
        """
        return ExistingExecutionRole(scope, construct_id, role_arn=role_arn, mutable=mutable)

    @property
    def role(self) -> iam.IRole:
        """The role."""
        return self._role

    @property
    def role_arn(self) -> str:
        """Its ARN."""
        return self._role.role_arn

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, as what other constructs grant to."""
        return self._role

    @property
    def policy(self) -> iam.CfnManagedPolicy | None:
        """The policy with everything beyond the service's managed one; None while there is nothing."""
        return self._policy

    @property
    def policy_dependencies(self) -> Sequence[IDependable]:
        """The role and all its policies, those of later grants included."""
        return (self,)

    def grant_read_bucket(self, bucket: s3.IBucket, prefix: str = "") -> None:
        """Read objects of a bucket, and decrypt them if the bucket has a customer-managed key.

        Args:
            prefix: Only those whose key begins so. Default: all.
        """
        self._allow_bucket(bucket, prefix)
        self._write()

    def grant_use_volume_key(self, key: kms.IKey) -> None:
        """Encrypt EBS volumes with a key."""
        self._allow("UseVolumeKey", permissions.USE_VOLUME_KEY, key.key_arn)
        self._write()

    def grant_read_secret(self, secret: secretsmanager.ISecret) -> None:
        """Read a secret, and decrypt it if it has a customer-managed key."""
        self._allow_secret(secret)
        self._write()

    def grant_read_secret_arn(self, secret_arn: str) -> None:
        """Read a secret by its ARN; one under a customer-managed key needs a grant of that key too.

        Args:
            secret_arn: With the six characters at its end.
        """
        self._allow("ReadSecret", permissions.READ_SECRET, secret_arn)
        self._write()

    def grant_read_objects(self, bucket_name: str, prefix: str) -> None:
        """Read what lies under a prefix of a bucket, and nothing else of it."""
        self._allow("ReadObjects", permissions.READ_OBJECTS, f"{bucket_arn(bucket_name)}/{prefix}*")
        self._write()

    def grant_remote_write(self, workspace_arn: str) -> None:
        """Write metrics to a workspace of Amazon Managed Service for Prometheus, and to no other."""
        self._allow("WriteMetrics", permissions.WRITE_METRICS, workspace_arn)
        self._write()

    def grant_mount_bucket(
        self,
        bucket_name: str,
        *,
        prefix: str = "",
        write: bool = False,
        delete: bool = False,
        key_arn: str | None = None,
    ) -> None:
        """Use a bucket as a file system.

        Args:
            bucket_name: Of the bucket.
            prefix: Only keys that begin so. Default: all.
            write: Make new objects. Default: no.
            delete: Delete and overwrite them. Default: no.
            key_arn: The bucket's customer-managed key. Default: none.
        """
        bucket = bucket_arn(bucket_name)
        objects = f"{bucket}/{prefix}*"
        self._allow("ListBucket", permissions.LIST_BUCKET, bucket)
        self._allow("ReadObjects", permissions.READ_OBJECTS, objects)
        if write:
            self._allow("WriteObjects", permissions.WRITE_OBJECTS, objects)
        if delete:
            self._allow("DeleteObjects", permissions.DELETE_OBJECTS, objects)
        if key_arn is not None and write:
            self._allow("UseBucketKey", permissions.USE_BUCKET_KEY, key_arn)
        elif key_arn is not None:
            self._allow("Decrypt", permissions.DECRYPT, key_arn)
        self._write()

    def grant_publish(self, topic_arn: str) -> None:
        """Publish to a topic; one under a customer-managed key needs a grant of that key too."""
        self._allow("Publish", permissions.PUBLISH, topic_arn)
        self._write()

    def grant_ecr_pull(self, repository: ecr.IRepository | None = None) -> None:
        """Pull container images.

        Args:
            repository: Only of this repository. Default: any of this account and Region.
        """
        images = repository.repository_arn if repository else arn("ecr", "repository/*")
        self._allow("LogInToEcr", permissions.ECR_LOGIN, "*")
        self._allow("PullImages", permissions.ECR_PULL, images)
        self._write()

    def _allow_bucket(self, bucket: s3.IBucket, prefix: str) -> None:
        whole = bucket.bucket_arn
        self._allow("ListBucket", permissions.LIST_BUCKET, whole)
        self._allow("ReadObjects", permissions.READ_OBJECTS, f"{whole}/{prefix}*")
        if bucket.encryption_key is not None:
            self._allow("Decrypt", permissions.DECRYPT, bucket.encryption_key.key_arn)

    def _allow_secret(self, secret: secretsmanager.ISecret) -> None:
        self._allow("ReadSecret", permissions.READ_SECRET, secret.secret_arn)
        if secret.encryption_key is not None:
            self._allow("Decrypt", permissions.DECRYPT, secret.encryption_key.key_arn)

    def _allow_network(self) -> None:
        interfaces = arn("ec2", "network-interface/*")
        # Subnets and groups of a shared VPC belong to its owner's account, the instances to the service's.
        places = [arn("ec2", f"{kind}/*", account="*") for kind in ("security-group", "subnet")]
        instances = arn("ec2", "instance/*", account="*")
        self._allow("DescribeNetwork", permissions.DESCRIBE_NETWORK, "*")
        self._allow("CreateInterface", permissions.CREATE_INTERFACE, interfaces, *places)
        self._allow("ChangeInterface", permissions.CHANGE_INTERFACE, interfaces)
        self._allow("DetachInterface", permissions.DETACH_INTERFACE, interfaces, instances)
        self._allow("TagInterface", permissions.TAG_INTERFACE, interfaces)

    def _allow_pods(self, cluster_arn: str) -> None:
        interfaces = arn("ec2", "network-interface/*")
        self._allow("DescribeNodes", permissions.DESCRIBE_NODES, "*")
        self._allow("ServePods", permissions.SERVE_PODS, interfaces)
        self._allow(
            "AttachInterface",
            permissions.ATTACH_INTERFACE,
            interfaces,
            arn("ec2", "instance/*", account="*"),
        )
        self._allow("AttachByService", permissions.ATTACH_BY_SERVICE, arn("sagemaker", "cluster/*"))
        self._allow("IdentifyPods", permissions.POD_IDENTITY, cluster_arn)
        self._allow("LogInToEcr", permissions.ECR_LOGIN, "*")
        # add-ons' images lie in accounts of AWS
        self._allow("PullImages", permissions.ECR_PULL, arn("ecr", "repository/*", account="*"))

    def _allow(self, sid: str, actions: Sequence[str], *resources: str) -> None:
        """Add to the policy; a statement of the same purpose gets further resources."""
        statement = self._statements.setdefault(
            sid, {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": []}
        )
        statement["Resource"] = list(dict.fromkeys([*statement["Resource"], *resources]))
        self._unwritten.update(resources)

    def _write(self) -> None:
        """Put the statements into the policy: once after several, since each call into CDK costs."""
        if not self._unwritten:
            return
        document = {"Version": "2012-10-17", "Statement": list(self._statements.values())}
        if self._policy is None:
            self._policy = iam.CfnManagedPolicy(
                self,
                "Policy",
                description="What the nodes of a HyperPod instance group use",
                roles=[self._role.role_name],
                policy_document=document,
            )
        else:
            self._policy.policy_document = document
        acknowledge(self._policy, wildcards(self, sorted(self._unwritten), WILDCARDS))
        self._unwritten.clear()


class ExistingExecutionRole(Construct):
    """A role that is already there; arguments as of `ExecutionRole.from_role_arn`."""

    def __init__(self, scope: Construct, construct_id: str, *, role_arn: str, mutable: bool = False) -> None:
        super().__init__(scope, construct_id)
        self.role: iam.IRole = iam.Role.from_role_arn(self, "Resource", role_arn, mutable=mutable)
        self.role_arn = role_arn

    @property
    def policy_dependencies(self) -> Sequence[IDependable]:
        """Policies that grants have added to the role."""
        return (self,)


# one for all roles: making one is a call into CDK
@cache
def _service() -> iam.IPrincipal:
    return iam.ServicePrincipal("sagemaker.amazonaws.com")


@cache
def _managed_policy() -> iam.IManagedPolicy:
    return iam.ManagedPolicy.from_aws_managed_policy_name(permissions.MANAGED_POLICY)
