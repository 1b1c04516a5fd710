"""Metrics of a cluster on Amazon EKS: the observability add-on and its workspaces."""

from dataclasses import dataclass, field
from enum import StrEnum

from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.kinds import RemovalPolicy


class MetricLevel(StrEnum):
    """How much is measured; not every category has every level."""

    DISABLED = "DISABLED"
    BASIC = "BASIC"
    ADVANCED = "ADVANCED"


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What is measured. Default of each: the add-on's own."""

    training: MetricLevel | None = None
    """BASIC, ADVANCED."""
    inference: MetricLevel | None = None
    """BASIC."""
    task_governance: MetricLevel | None = None
    """DISABLED, ADVANCED."""
    scaling: MetricLevel | None = None
    """DISABLED, ADVANCED."""
    cluster: MetricLevel | None = None
    """BASIC, ADVANCED."""
    node: MetricLevel | None = None
    """BASIC, ADVANCED."""
    network: MetricLevel | None = None
    """Of EFA; DISABLED, ADVANCED."""
    accelerated_compute: MetricLevel | None = None
    """BASIC, ADVANCED."""
    ray: MetricLevel | None = None
    """DISABLED, ADVANCED."""
    scrape_interval_seconds: int = 30
    """1 or more; of the categories that are set here."""


class GrafanaSignIn(StrEnum):
    """How people get into Grafana."""

    IAM_IDENTITY_CENTER = "AWS_SSO"
    SAML = "SAML"


@dataclass(frozen=True, kw_only=True)
class Grafana:
    """A workspace of Amazon Managed Grafana: a new one, or by ``name`` and ``arn`` one that is there."""

    name: str | None = None
    arn: str | None = None
    """``arn:aws:grafana:<region>:<account>:/workspaces/g-…``."""
    sign_in: GrafanaSignIn = GrafanaSignIn.IAM_IDENTITY_CENTER
    """Of a new one. IAM Identity Center must be on in the organization, and users are assigned by hand."""


@dataclass(frozen=True, kw_only=True)
class Observability:
    """The add-on, which writes metrics to a workspace of Amazon Managed Service for Prometheus.

    It needs a node of the cluster of size 4xlarge or larger.
    """

    add_on: AddOn = field(default_factory=AddOn)
    prometheus_workspace_arn: str | None = None
    """``arn:aws:aps:<region>:<account>:workspace/ws-…``. Default: a workspace is made."""
    grafana: Grafana | None = None
    """Default: none; ``{}`` makes one, where the Region has Amazon Managed Grafana."""
    metrics: Metrics = field(default_factory=Metrics)
    logging: bool = False
    """Whether the logs of containers go to CloudWatch."""
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Of workspaces that are made. Default: kept when they leave the stack or are replaced."""
