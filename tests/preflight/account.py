"""An account in the embedded AWS that has all that the specs here ask for, and ways to take it away."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from moto.ec2.models import ec2_backends

from hyperpod_cdk.preflight.traffic import ALL, Ports
from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.service.fsx import LUSTRE_PORTS, OPENZFS_PORTS

REGION = "us-west-2"
ACCOUNT_ID = "123456789012"
BUCKET = "sagemaker-scripts"
DATA_BUCKET = "training-data"
PREFIX = "cluster"
SCRIPT = "on_init.sh"
CHART_KEY = "charts/HyperPodHelmChart.zip"
PLAN = "two-p5"
PLAN_ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT_ID}:training-plan/{PLAN}"
MANAGED_POLICY = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
ROLE_ACTIONS = ("aps:*", "ec2:*", "ecr:*", "eks-auth:*", "fsx:*", "kms:*", "s3:*", "secretsmanager:*")

_TRUST = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}


@dataclass
class Account:
    """The embedded AWS and the ids of what was put there; ``undo`` takes back what a test changed."""

    aws: EmbeddedAws
    ids: dict[str, str] = field(default_factory=dict)
    undo: list[Callable[[], Any]] = field(default_factory=list)

    def __getattr__(self, name: str) -> str:
        try:
            return self.ids[name]
        except KeyError:
            raise AttributeError(name) from None

    def client(self, service: str) -> Any:
        return self.aws.client(service)

    @property
    def hyperpod(self) -> hyperpod.HyperPodService:
        return hyperpod.service(self.aws.account_id, REGION)

    def put(self, key: str, text: bytes) -> None:
        self.client("s3").put_object(Bucket=BUCKET, Key=key, Body=text)

    def restore(self) -> None:
        """Take back what was changed, the last first."""
        while self.undo:
            self.undo.pop()()

    # -- building --------------------------------------------------------------------------------------

    def build(self) -> None:
        self._network()
        self._file_systems()
        self._storage()
        self._identity()
        self._others()

    def _network(self) -> None:
        ec2 = self.client("ec2")
        zones = {zone.zone_id: zone.name for zone in self.aws._zones()}
        self.ids["zone"], self.ids["zone_name"] = "usw2-az4", zones["usw2-az4"]
        self.ids["vpc"] = self.add_vpc("10.0.0.0/16")
        self.ids["subnet"] = self.add_subnet("10.0.0.0/24", zones["usw2-az4"])
        self.ids["small"] = self.add_subnet("10.0.1.0/28", zones["usw2-az4"])
        self.ids["elsewhere"] = self.add_subnet("10.0.2.0/24", zones["usw2-az1"])
        self.ids["large"] = self.add_subnet("10.0.4.0/24", zones["usw2-az4"])
        self.ids["tight"] = self.add_subnet("10.0.3.0/28", zones["usw2-az1"])
        for _ in range(6):
            # of its 11 addresses 5 are left
            ec2.create_network_interface(SubnetId=self.tight)
        self.ids["other_vpc"] = self.add_vpc("10.9.0.0/16")
        self.ids["foreign"] = self.add_subnet("10.9.0.0/24", zones["usw2-az4"], vpc="other_vpc")
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self.vpc)
        nat = ec2.create_nat_gateway(SubnetId=self.elsewhere, ConnectivityType="private")["NatGateway"]
        table = ec2.create_route_table(VpcId=self.vpc)["RouteTable"]["RouteTableId"]
        self.ids.update(gateway=gateway, nat=nat["NatGatewayId"], table=table)
        for subnet in (self.subnet, self.small, self.elsewhere, self.large, self.tight):
            ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
        self.route_to_nat()
        self.add_s3_endpoint()
        self.ids["group"] = self.add_group("nodes", self.vpc)
        self.ids["foreign_group"] = self.add_group("foreign", self.other_vpc)
        for group in (self.group, self.foreign_group):
            self.authorize(group, ALL, group)
            self.authorize(group, ALL, group, egress=True)

    def _file_systems(self) -> None:
        self.ids["server_group"] = self.add_group("servers", self.vpc)
        for ports in LUSTRE_PORTS:
            self.authorize(self.server_group, ports, self.group)
            self.authorize(self.group, ports, self.server_group)
        for ports in OPENZFS_PORTS:
            self.authorize(self.server_group, ports, self.group)
        self.ids["lustre"] = self.add_lustre(self.subnet, self.server_group)
        fsx = self.client("fsx")
        home = fsx.create_file_system(
            FileSystemType="OPENZFS",
            SubnetIds=[self.subnet],
            SecurityGroupIds=[self.server_group],
            StorageCapacity=64,
            OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": 160},
        )
        self.ids["openzfs"] = home["FileSystem"]["FileSystemId"]
        found = fsx.describe_file_systems(FileSystemIds=[self.lustre])["FileSystems"][0]
        self.ids["mount_name"] = found["LustreConfiguration"]["MountName"]

    def _storage(self) -> None:
        s3 = self.client("s3")
        for bucket in (BUCKET, DATA_BUCKET):
            s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.put(f"{PREFIX}/{SCRIPT}", b"#!/bin/bash\necho hello\n")

    def _identity(self) -> None:
        iam, kms = self.client("iam"), self.client("kms")
        iam.create_role(RoleName="AWSServiceRoleForSageMakerHyperPod", AssumeRolePolicyDocument="{}")
        trust = json.dumps({"Version": "2012-10-17", "Statement": [_TRUST]})
        role = iam.create_role(RoleName="nodes", Path="/ml/", AssumeRolePolicyDocument=trust)["Role"]
        self.ids["role"] = role["Arn"]
        iam.attach_role_policy(RoleName="nodes", PolicyArn=MANAGED_POLICY)
        self._put_role_policy(*ROLE_ACTIONS)
        self.ids["key"] = kms.create_key()["KeyMetadata"]["Arn"]
        self._put_key_policy("logs.us-west-2.amazonaws.com")

    def _others(self) -> None:
        self.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="25", Type="String")
        secret = self.client("secretsmanager").create_secret(Name="slurm", SecretString="x")
        self.ids["secret"] = secret["ARN"]
        workspace = self.client("amp").create_workspace(alias="metrics")
        self.ids["workspace"] = workspace["arn"]
        image = self.client("ec2").register_image(Name="custom", Architecture="x86_64")
        self.ids["image"] = image["ImageId"]
        self.hyperpod.training_plans[PLAN] = {
            "TrainingPlanArn": PLAN_ARN,
            "TrainingPlanName": PLAN,
            "Status": "Active",
            "TotalInstanceCount": 2,
            "AvailableInstanceCount": 2,
            "TargetResources": ["hyperpod-cluster"],
            "ReservedCapacitySummaries": [
                {
                    "ReservedCapacityArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT_ID}:reserved-capacity/one",
                    "InstanceType": "ml.p5.48xlarge",
                    "TotalInstanceCount": 2,
                    "Status": "Active",
                    "AvailabilityZoneId": "usw2-az4",
                }
            ],
        }

    # -- parts, also for tests -------------------------------------------------------------------------

    def add_vpc(self, cidr: str) -> str:
        ec2 = self.client("ec2")
        vpc: str = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
        ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        return vpc

    def add_subnet(self, cidr: str, zone: str, *, vpc: str = "vpc") -> str:
        subnet = self.client("ec2").create_subnet(VpcId=self.ids[vpc], CidrBlock=cidr, AvailabilityZone=zone)
        return str(subnet["Subnet"]["SubnetId"])

    def add_group(self, name: str, vpc: str) -> str:
        group = self.client("ec2").create_security_group(GroupName=name, Description=name, VpcId=vpc)
        return str(group["GroupId"])

    def add_lustre(self, subnet: str, group: str) -> str:
        made = self.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            SubnetIds=[subnet],
            SecurityGroupIds=[group],
            StorageCapacity=1200,
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        )
        return str(made["FileSystem"]["FileSystemId"])

    def authorize(self, group: str, ports: Ports, peer: str, *, egress: bool = False) -> None:
        self._change("authorize", group, ports, peer, egress=egress)

    def authorize_for_now(self, group: str, peer: str, *, egress: bool) -> None:
        """Let all traffic through until the test is over."""
        self.authorize(group, ALL, peer, egress=egress)
        self.undo.append(lambda: self._change("revoke", group, ALL, peer, egress=egress))

    def revoke(self, group: str, ports: Ports, peer: str, *, egress: bool = False) -> None:
        """Take a rule away until the test is over."""
        self._change("revoke", group, ports, peer, egress=egress)
        self.undo.append(lambda: self.authorize(group, ports, peer, egress=egress))

    def _change(self, verb: str, group: str, ports: Ports, peer: str, *, egress: bool) -> None:
        way = "egress" if egress else "ingress"
        rule: dict[str, Any] = {"IpProtocol": ports[0], "UserIdGroupPairs": [{"GroupId": peer}]}
        if ports != ALL:
            rule |= {"FromPort": ports[1], "ToPort": ports[2]}
        change = getattr(self.client("ec2"), f"{verb}_security_group_{way}")
        change(GroupId=group, IpPermissions=[rule])

    def route_to_nat(self) -> None:
        self.client("ec2").create_route(
            RouteTableId=self.table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=self.nat
        )

    def close(self) -> None:
        """Take the default route away until the test is over."""
        self.client("ec2").delete_route(RouteTableId=self.table, DestinationCidrBlock="0.0.0.0/0")
        self.undo.append(self.route_to_nat)

    def add_s3_endpoint(self) -> None:
        made = self.client("ec2").create_vpc_endpoint(
            VpcId=self.vpc,
            ServiceName=f"com.amazonaws.{REGION}.s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[self.table],
        )
        self.ids["s3_endpoint"] = made["VpcEndpoint"]["VpcEndpointId"]

    def without_s3_endpoint(self) -> None:
        self.client("ec2").delete_vpc_endpoints(VpcEndpointIds=[self.s3_endpoint])
        self.undo.append(self.add_s3_endpoint)

    def deny_role(self, action: str) -> None:
        """Let the nodes' role not allow some actions any more."""
        self._put_role_policy(*(one for one in ROLE_ACTIONS if one != action))
        self.undo.append(lambda: self._put_role_policy(*ROLE_ACTIONS))

    def _put_role_policy(self, *actions: str) -> None:
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.client("iam").put_role_policy(RoleName="nodes", PolicyName="more", PolicyDocument=document)

    def set_key_policy(self, service: str) -> None:
        self._put_key_policy(service)
        self.undo.append(lambda: self._put_key_policy("logs.us-west-2.amazonaws.com"))

    def _put_key_policy(self, service: str) -> None:
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": service},
            "Action": [
                "kms:Encrypt*",
                "kms:Decrypt*",
                "kms:ReEncrypt*",
                "kms:GenerateDataKey*",
                "kms:Describe*",
            ],
            "Resource": "*",
        }
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.client("kms").put_key_policy(KeyId=self.key, PolicyName="default", Policy=document)

    # -- what tests take away, and get back ------------------------------------------------------------

    def set_bootstrap(self, version: str) -> None:
        self._put_version(version)
        self.undo.append(lambda: self._put_version("25"))

    def _put_version(self, version: str) -> None:
        name = "/cdk-bootstrap/hnb659fds/version"
        self.client("ssm").put_parameter(Name=name, Value=version, Type="String", Overwrite=True)

    def without_service_linked_role(self) -> None:
        iam, name = self.client("iam"), "AWSServiceRoleForSageMakerHyperPod"
        iam.delete_role(RoleName=name)
        self.undo.append(lambda: iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}"))

    def open_to_internet(self) -> None:
        ec2 = self.client("ec2")
        where = {"RouteTableId": self.table, "DestinationCidrBlock": "0.0.0.0/0"}
        self.close()
        ec2.create_route(**where, GatewayId=self.gateway)
        self.undo.append(lambda: ec2.delete_route(**where))

    def without_dns(self, attribute: str) -> None:
        ec2 = self.client("ec2")
        ec2.modify_vpc_attribute(VpcId=self.vpc, **{attribute: {"Value": False}})
        self.undo.append(lambda: ec2.modify_vpc_attribute(VpcId=self.vpc, **{attribute: {"Value": True}}))

    def without_egress(self, group: str) -> None:
        """Without the rule to everywhere that a new group has, and only to the group itself."""
        ec2 = self.client("ec2")
        everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
        ec2.revoke_security_group_egress(GroupId=group, IpPermissions=everywhere)
        self.undo.append(lambda: ec2.authorize_security_group_egress(GroupId=group, IpPermissions=everywhere))

    def set_lifecycle(self, state: str) -> None:
        self.alter_lustre(Lifecycle=state)

    def alter_lustre(self, **members: Any) -> None:
        """Let FSx describe the Lustre file system otherwise."""
        systems = self.aws.file_systems.file_systems
        before = systems[self.lustre]
        systems[self.lustre] = {**before, **members}
        self.undo.append(lambda: systems.update({self.lustre: before}))

    def enable_efa(self) -> None:
        """Let the file system speak EFA, behind the rules that it has: for ports, and out to everywhere."""
        configuration = self.aws.file_systems.file_systems[self.lustre]["LustreConfiguration"]
        self.alter_lustre(LustreConfiguration={**configuration, "EfaEnabled": True})

    def put_for_now(self, key: str, text: bytes) -> None:
        self.put(key, text)
        self.undo.append(lambda: self.client("s3").delete_object(Bucket=BUCKET, Key=key))

    def set_trust(self, service: str) -> None:
        self._update_trust(service)
        self.undo.append(lambda: self._update_trust("sagemaker.amazonaws.com"))

    def _update_trust(self, service: str) -> None:
        statement = {**_TRUST, "Principal": {"Service": service}}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.client("iam").update_assume_role_policy(RoleName="nodes", PolicyDocument=document)

    def without_managed_policy(self) -> None:
        iam = self.client("iam")
        which = {"RoleName": "nodes", "PolicyArn": MANAGED_POLICY}
        iam.detach_role_policy(**which)
        self.undo.append(lambda: iam.attach_role_policy(**which))

    def disable_key(self) -> None:
        kms = self.client("kms")
        key_id = self.key.rpartition("/")[2]
        kms.disable_key(KeyId=key_id)
        self.undo.append(lambda: kms.enable_key(KeyId=key_id))

    def delete_secret(self) -> None:
        secrets = self.client("secretsmanager")
        secrets.delete_secret(SecretId=self.secret)
        self.undo.append(lambda: secrets.restore_secret(SecretId=self.secret))

    def set_image_date(self, date: datetime) -> None:
        image = ec2_backends[self.aws.account_id][REGION].amis[self.image]
        before, image.creation_date = image.creation_date, date
        self.undo.append(lambda: setattr(image, "creation_date", before))

    def set_architecture(self, architecture: str) -> None:
        image = ec2_backends[self.aws.account_id][REGION].amis[self.image]
        before, image.architecture = image.architecture, architecture
        self.undo.append(lambda: setattr(image, "architecture", before))
