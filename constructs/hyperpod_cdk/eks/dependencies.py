"""HyperPodDependencies: what the service needs in Kubernetes before it makes a cluster there."""

from typing import Any, cast

from aws_cdk import CfnResource, Duration
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.acknowledged import acknowledge_chart
from hyperpod_cdk.eks.values import merged
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.rules.helm_chart import check_chart
from hyperpod_cdk.service.hyperpod_chart import NAMESPACE, RELEASE, SUB_CHARTS
from hyperpod_cdk.spec.eks import HelmChart

_TIMEOUT = Duration.minutes(10)


class HyperPodDependencies(Construct):
    """The chart with health monitoring, deep health checks, restart of jobs and device plugins.

    It is applied and not waited for: its pods have no node to run on before the HyperPod cluster, which in
    turn waits for the chart (field report 129). What an add-on brings is never installed by the chart too.

    Args:
        cluster: a control plane with a kubectl provider.
        chart: from where, and with which parts.

    Raises:
        ConstructError: the chart's place is unclear, its parts are missing, or a part is unknown or an
            add-on's.
    """

    @checked_arguments
    def __init__(
        self, scope: Construct, construct_id: str, *, cluster: eks.Cluster, chart: HelmChart
    ) -> None:
        super().__init__(scope, construct_id)
        refuse(self.node.path, [str(finding) for finding in check_chart(chart)])
        self.values = values(chart)
        """What helm is given."""
        asset = assets.Asset(self, "Chart", path=chart.path) if chart.path else None
        self.release = eks.HelmChart(
            self,
            "Resource",
            cluster=cast(eks.ICluster, cluster),
            chart_asset=asset,
            # a zip in S3 is set below: the construct itself takes it of an asset only
            chart=None if asset else RELEASE,
            repository=chart.oci_uri,
            version=chart.version,
            release=RELEASE,
            namespace=NAMESPACE,
            create_namespace=False,
            wait=False,
            timeout=_TIMEOUT,
            values=self.values,
        )
        if asset:
            acknowledge_chart(cluster, asset.bucket.arn_for_objects("*"))
        if chart.s3_uri:
            self._from_s3(cluster, chart.s3_uri)

    def _from_s3(self, cluster: eks.Cluster, uri: str) -> None:
        resource = cast(CfnResource, self.release.node.find_child("Resource").node.default_child)
        resource.add_property_deletion_override("Chart")
        resource.add_property_override("ChartAssetURL", uri)
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        provider = cluster.kubectl_provider
        if provider is not None and provider.role is not None:
            source = s3.Bucket.from_bucket_name(self, "Source", bucket)
            source.grant_read(provider.role, key)
            acknowledge_chart(cluster, source.arn_for_objects(key))


def values(chart: HelmChart) -> dict[str, Any]:
    """The values of a chart: a switch for every part, then the user's own.

    A part that is not named is switched as the chart's own values do it.
    """
    switches: dict[str, Any] = {}
    for name, part in SUB_CHARTS.items():
        *path, last = part.condition.split(".")
        inner = switches
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = chart.sub_charts.get(name, part.enabled)
    return merged(switches, chart.values)
