"""The other AWS services that HyperPod touches, as moto holds them."""

from typing import TYPE_CHECKING

from moto.backends import get_backend
from moto.utilities.utils import get_partition

if TYPE_CHECKING:
    from moto.ec2.models import EC2Backend
    from moto.iam.models import IAMBackend
    from moto.logs.models import LogsBackend
    from moto.s3.models import S3Backend
    from moto.sagemaker.models import SageMakerModelBackend

    from hyperpod_cdk.rehearsal.eks import AmazonEks


class Account:
    """One account in one Region.

    moto loads a service when it is first used, and a reset gives it new objects; so they are
    looked up each time.

    Args:
        account_id: 12 digits.
        region: for example ``us-west-2``.
    """

    def __init__(self, account_id: str, region: str) -> None:
        self.account_id = account_id
        self.region = region
        self.partition = get_partition(region)

    @property
    def ec2(self) -> "EC2Backend":
        """Subnets, security groups, network interfaces."""
        return get_backend("ec2")[self.account_id][self.region]

    @property
    def eks(self) -> "AmazonEks":
        """Control planes, emulated beside this service."""
        # the two know each other
        from hyperpod_cdk.rehearsal.eks import service  # noqa: PLC0415

        return service(self.account_id, self.region)

    @property
    def iam(self) -> "IAMBackend":
        """Roles."""
        return get_backend("iam")[self.account_id][self.partition]

    @property
    def logs(self) -> "LogsBackend":
        """CloudWatch log groups."""
        return get_backend("logs")[self.account_id][self.region]

    @property
    def s3(self) -> "S3Backend":
        """Buckets."""
        return get_backend("s3")[self.account_id][self.partition]

    @property
    def sagemaker(self) -> "SageMakerModelBackend":
        """The moto backend that the emulated service extends."""
        return get_backend("sagemaker")[self.account_id][self.region]
