"""Models that are served on a cluster on Amazon EKS: the inference add-on, and what it stands on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.kinds import RemovalPolicy


@dataclass(frozen=True, kw_only=True)
class Inference:
    """The add-on, with its roles, its bucket, and the add-ons that it demands: certificates, metrics server,
    drivers for FSx for Lustre and S3.

    It needs room for 13 pods; ``ml.c5.4xlarge`` is the smallest type that is recommended.
    """

    add_on: AddOn = field(default_factory=AddOn)
    tls_bucket_name: str | None = None
    """Bucket for the endpoints' certificates, ``hyperpod-tls…``: the operator may use no other. Default: one
    is made."""
    model_buckets: Sequence[str] = ()
    """Names of the buckets with your own models; pods may read them."""
    gated_models: bool = False
    """Whether models of JumpStart that ask for consent are downloaded."""
    gateway: bool = False
    """The inference gateway, which needs the add-on in version 2.0.0 or later."""
    load_balancer_controller: bool = True
    """False where the AWS Load Balancer Controller is there already."""
    autoscaling: bool = True
    """KEDA. False where it is there already, or nothing scales."""
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Of the bucket that is made. Default: kept when it leaves the stack or is replaced."""
