"""What an account has of Amazon EKS, and ways to take it away."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from botocore.exceptions import ClientError

from hyperpod_cdk.preflight import aws
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS
from hyperpod_cdk.rehearsal.eks.provided import provide
from hyperpod_cdk.rehearsal.eks.state import Cluster
from hyperpod_cdk.service import eks as service
from hyperpod_cdk.service.eks import API_PORT, KUBELET_PORT
from hyperpod_cdk.service.eks_add_ons import TASK_GOVERNANCE
from tests.preflight.account import ACCOUNT_ID, CHART_KEY, REGION, Account
from tests.preflight.changes import deploy

NAME = "training"
KUBERNETES = "1.33"
GRAFANA = "g-0123456789"
_DRIVERS = ("aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "metrics-server")
_CHART = {
    "Chart.yaml": "name: HyperPodHelmChart\ndependencies:\n  - name: deep-health-check\n",
    "charts/deep-health-check/Chart.yaml": "name: deep-health-check\n",
}
Answer = Callable[[Any, Call], Any]


def build(account: Account) -> None:
    """Put a control plane with its add-ons, a chart, principals and a Grafana into an account."""
    vpc = {"subnetIds": [account.subnet, account.elsewhere], "endpointPrivateAccess": True}
    made = provide(
        eks.service(ACCOUNT_ID, REGION),
        NAME,
        subnet_ids=[account.subnet],
        version=KUBERNETES,
        resourcesVpcConfig=vpc,
    )
    for name in _DRIVERS:
        install(made, name)
    group = made.vpc["clusterSecurityGroupId"]
    account.authorize(group, API_PORT, account.group)
    account.authorize(account.group, KUBELET_PORT, group)
    iam = account.client("iam")
    account.ids |= {
        "control_plane": made.arn,
        "plane_group": group,
        "plugin_version": ADD_ONS["vpc-cni"].version,
        "governance_version": ADD_ONS["amazon-sagemaker-hyperpod-taskgovernance"].version,
        "grafana": f"arn:aws:grafana:{REGION}:{ACCOUNT_ID}:/workspaces/{GRAFANA}",
        "chart": f"oci://{ACCOUNT_ID}.dkr.ecr.{REGION}.amazonaws.com/charts/hyperpod",
        "admins": iam.create_role(RoleName="admins", Path="/team/", AssumeRolePolicyDocument="{}")["Role"][
            "Arn"
        ],
        "provider": _provider(account, made.about["identity"]["oidc"]["issuer"]),
        "other_provider": _provider(account, "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789"),
        "ann": iam.create_user(UserName="ann")["User"]["Arn"],
    }
    account.put(CHART_KEY, chart())
    ecr = account.client("ecr")
    ecr.create_repository(repositoryName="charts/hyperpod")
    kind = "application/vnd.oci.image.manifest.v1+json"
    manifest = {"schemaVersion": 2, "mediaType": kind, "config": {"digest": "sha256:1"}, "layers": []}
    ecr.put_image(repositoryName="charts/hyperpod", imageManifest=json.dumps(manifest), imageTag="1.0.0")


def _provider(account: Account, url: str) -> str:
    made = account.client("iam").create_open_id_connect_provider(Url=url, ClientIDList=["sts.amazonaws.com"])
    return str(made["OpenIDConnectProviderArn"])


def plane(account: Account) -> Cluster:
    """The account's control plane."""
    return eks.service(ACCOUNT_ID, REGION).clusters[NAME]


def install(cluster: Cluster, name: str, **members: Any) -> None:
    """Let a control plane have an add-on."""
    cluster.add_ons[name] = {
        "addonName": name,
        "clusterName": cluster.name,
        "status": "ACTIVE",
        "addonVersion": ADD_ONS[name].version,
        **members,
    }


def chart(**members: str) -> bytes:
    """A zip of the chart, with some files otherwise, or without those that are empty."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in {**_CHART, **members}.items():
            if text:
                archive.writestr(name, text)
    return content.getvalue()


def with_grafana(ask: Answer) -> Answer:
    """Answer for Amazon Managed Grafana, which moto does not have; all else goes on."""

    def answer(client: Any, call: Call) -> Any:
        if call.api.client != "grafana":
            return ask(client, call)
        if call.arguments["workspaceId"] == GRAFANA:
            return {"workspace": {"id": GRAFANA, "status": "ACTIVE"}}
        error = {"Error": {"Code": "ResourceNotFoundException", "Message": "there is none"}}
        raise ClientError(error, call.api.operation)

    return answer


# -- what tests take away, and get back ----------------------------------------------------------------


def alter(account: Account, **members: Any) -> None:
    """Let Amazon EKS describe the control plane otherwise."""
    cluster = plane(account)
    before = cluster.about
    cluster.about = {**before, **members}
    account.undo.append(lambda: setattr(cluster, "about", before))


def alter_network(account: Account, **members: Any) -> None:
    """Let the control plane lie elsewhere."""
    alter(account, resourcesVpcConfig={**plane(account).vpc, **members})


def alter_add_on(account: Account, name: str, **members: Any) -> None:
    """Let an add-on be there, and otherwise."""
    cluster = plane(account)
    before, cluster.add_ons = cluster.add_ons, dict(cluster.add_ons)
    install(cluster, name, **members)
    account.undo.append(lambda: setattr(cluster, "add_ons", before))


def without_add_on(account: Account, name: str) -> None:
    """Let an add-on not be there."""
    add_ons = plane(account).add_ons
    before = add_ons.pop(name)
    account.undo.append(lambda: add_ons.update({name: before}))


def put_chart(account: Account, body: bytes) -> None:
    """Let another chart lie in S3."""
    account.put(CHART_KEY, body)
    account.undo.append(lambda: account.put(CHART_KEY, chart()))


def leave_log_group(account: Account, name: str = "full-Eks-ControlPlane-0A1B2C3D") -> None:
    """Let a log group be left of an earlier control plane."""
    logs, group = account.client("logs"), f"/aws/eks/{name}/cluster"
    logs.create_log_group(logGroupName=group)
    account.undo.append(lambda: logs.delete_log_group(logGroupName=group))


def leave_control_plane(account: Account) -> None:
    """Let a control plane have the name that the stack's is to have."""
    clusters, name = eks.service(ACCOUNT_ID, REGION).clusters, "full-Eks-ControlPlane-0A1B2C3D"
    clusters[name] = plane(account)
    account.undo.append(lambda: clusters.pop(name))


def deploy_plane(account: Account, version: str, governance: str | None = None) -> None:
    """Let the stack have a control plane of a version of Kubernetes, and task governance on it."""
    service = eks.service(ACCOUNT_ID, REGION)
    made = {
        "Name": "full-Eks-ControlPlane-0A1B2C3D",
        "Version": version,
        "RoleArn": f"arn:aws:iam::{ACCOUNT_ID}:role/eks-{NAME}",
        "ResourcesVpcConfig": {
            "SubnetIds": [account.subnet, account.elsewhere],
            "EndpointPrivateAccess": True,
        },
    }
    speed, service.clock.speed = service.clock.speed, 5000.0
    account.undo.append(lambda: setattr(service.clock, "speed", speed))
    deploy(account, {"Plane": {"Type": "AWS::EKS::Cluster", "Properties": made}})
    if governance:
        install(service.clusters[str(made["Name"])], TASK_GOVERNANCE, addonVersion=governance)


def run_instances(account: Account, count: int, **settings: Any) -> None:
    """Let instances of EC2 run."""
    ec2 = account.client("ec2")
    made = ec2.run_instances(
        ImageId=account.image,
        MinCount=count,
        MaxCount=count,
        SubnetId=account.elsewhere,
        **{"InstanceType": "m5.large", **settings},
    )
    ids = [one["InstanceId"] for one in made["Instances"]]
    account.undo.append(lambda: ec2.terminate_instances(InstanceIds=ids))


def set_constant(account: Account, name: str, value: object) -> None:
    """Let a fact of Amazon EKS be another."""
    patched = patch.object(service, name, value)
    patched.start()
    account.undo.append(patched.stop)


def only_kubernetes(account: Account, **statuses: str) -> None:
    """Let Amazon EKS offer other versions of Kubernetes, by names such as ``v1_33``."""
    versions = [
        {"clusterVersion": name.removeprefix("v").replace("_", "."), "versionStatus": status}
        for name, status in statuses.items()
    ]
    ask = aws._ask

    def answer(client: Any, call: Call) -> Any:
        return versions if call.api.operation == "describe_cluster_versions" else ask(client, call)

    patched = patch.object(aws, "_ask", answer)
    patched.start()
    account.undo.append(patched.stop)
