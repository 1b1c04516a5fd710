"""Stand-ins for what a configuration of Amazon EKS names and does not create: charts, principals, planes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_network

from hyperpod_cdk.rehearsal.driver.charts import chart_zip
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.eks.provided import provide as provide_control_plane
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.spec import HyperPodSpec
from hyperpod_cdk.spec.eks import EksOrchestrator, HelmChart

_NOBODY = json.dumps({"Version": "2012-10-17", "Statement": []})
_ZONES = 2
_SUBNET_BITS = 26


def provide_eks(spec: HyperPodSpec, account: Account) -> Iterator[str]:
    """Put into the account what the configuration takes for granted.

    Args:
        spec: the configuration.
        account: the emulated account.

    Returns:
        What was put there, for people.

    Raises:
        RehearsalError: it names what the embedded AWS can not stand for.
    """
    orchestrator = spec.cluster.orchestrator.eks if spec.cluster.orchestrator else None
    if orchestrator is None:
        return
    if orchestrator.helm_chart:
        yield from _chart(orchestrator.helm_chart, account)
    for entry in orchestrator.access:
        yield from _principal(entry.principal_arn, account)
    if orchestrator.cluster_arn:
        yield from _control_plane(spec, orchestrator, account)
    if orchestrator.inference and orchestrator.inference.tls_bucket_name:
        account.s3.create_bucket(orchestrator.inference.tls_bucket_name, account.region)
        yield f"bucket {orchestrator.inference.tls_bucket_name}"


def _chart(chart: HelmChart, account: Account) -> Iterator[str]:
    if chart.oci_uri:
        raise RehearsalError(
            f"helm_chart.oci_uri is {chart.oci_uri}, and the embedded AWS has no registry: rehearse with the "
            "chart's folder (path) or its zip (s3_uri)"
        )
    if not chart.s3_uri:
        return
    bucket, _, key = chart.s3_uri.removeprefix("s3://").partition("/")
    if bucket not in account.s3.buckets:
        account.s3.create_bucket(bucket, account.region)
    account.s3.put_object(bucket, key, chart_zip())
    yield f"chart {chart.s3_uri}"


def _principal(arn: str, account: Account) -> Iterator[str]:
    *_, account_id, path = arn.split(":", 5)
    kind, _, rest = path.partition("/")
    prefix, _, name = f"/{rest}".rpartition("/")
    taken = {role.arn for role in account.iam.roles.values()}
    if account_id != account.account_id or kind != "role" or arn in taken:
        return
    account.iam.create_role(name, _NOBODY, f"{prefix}/", None, "", [], None)
    yield f"role {arn}"


def _control_plane(spec: HyperPodSpec, orchestrator: EksOrchestrator, account: Account) -> Iterator[str]:
    arn, existing = str(orchestrator.cluster_arn), spec.network.existing
    if existing is None:
        raise RehearsalError(f"{arn} is there already, so its VPC is too: network.existing must name it")
    subnets = _two_zones([one.subnet_id for one in existing.subnets], account)
    plane = provide_control_plane(account.eks, arn.partition("/")[2], subnet_ids=subnets)
    yield f"EKS cluster {arn}, with add-ons and HyperPod's chart"
    if orchestrator.oidc_provider_arn:
        issuer = f"https://{orchestrator.oidc_provider_arn.partition(':oidc-provider/')[2]}"
        plane.about["identity"] = {"oidc": {"issuer": issuer}}
        account.iam.create_open_id_connect_provider(issuer, [], ["sts.amazonaws.com"], [])
        yield f"identity provider {orchestrator.oidc_provider_arn}"


def _two_zones(subnet_ids: list[str], account: Account) -> list[str]:
    """Subnets of a control plane, which has two zones also where the nodes have one."""
    ec2 = account.ec2
    subnets = [ec2.get_subnet(subnet_id) for subnet_id in subnet_ids]
    taken = {subnet.availability_zone for subnet in subnets}
    if len(taken) >= _ZONES:
        return subnet_ids
    vpc = ec2.get_vpc(subnets[0].vpc_id)
    zone = next(zone.name for zone in ec2.describe_availability_zones() if zone.name not in taken)
    last = list(ip_network(vpc.cidr_block).subnets(new_prefix=_SUBNET_BITS))[-1]
    return [*subnet_ids, ec2.create_subnet(vpc.id, str(last), availability_zone=zone).id]
