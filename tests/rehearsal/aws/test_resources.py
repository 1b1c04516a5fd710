"""Resource types: created as asked, changed where they can be, gone when deleted."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer, role

VPC: dict[str, Any] = {
    "Type": "AWS::EC2::VPC",
    "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True, "EnableDnsSupport": True},
}


def in_vpc(type_: str, **properties: Any) -> dict[str, Any]:
    return {"Type": type_, "Properties": {"VpcId": {"Ref": "Vpc"}, **properties}}


def subnet(number: int, **properties: Any) -> dict[str, Any]:
    return in_vpc("AWS::EC2::Subnet", CidrBlock=f"10.0.{number}.0/24", **properties)


def group(**properties: Any) -> dict[str, Any]:
    return in_vpc("AWS::EC2::SecurityGroup", GroupDescription="of the test", **properties)


def ec2_ids(aws: EmbeddedAws) -> dict[str, set[str]]:
    """What EC2 holds, by kind."""
    ec2 = aws.client("ec2")
    return {
        "vpc": {v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"]},
        "subnet": {s["SubnetId"] for s in ec2.describe_subnets()["Subnets"]},
        "group": {g["GroupId"] for g in ec2.describe_security_groups()["SecurityGroups"]},
        "table": {t["RouteTableId"] for t in ec2.describe_route_tables()["RouteTables"]},
        "gateway": {g["InternetGatewayId"] for g in ec2.describe_internet_gateways()["InternetGateways"]},
        "address": {a["PublicIp"] for a in ec2.describe_addresses()["Addresses"]},
        "flow log": {f["FlowLogId"] for f in ec2.describe_flow_logs()["FlowLogs"]},
        "interface": {
            i["NetworkInterfaceId"] for i in ec2.describe_network_interfaces()["NetworkInterfaces"]
        },
    }


def test_network_comes_and_goes(aws: EmbeddedAws, stack: Deployer) -> None:
    before = ec2_ids(aws)
    zone = aws.availability_zone_ids[1]
    tags = [{"Key": "Name", "Value": stack.name}]
    created = stack.create(
        {
            "Vpc": {**VPC, "Properties": {**VPC["Properties"], "Tags": tags}},
            "Gateway": {"Type": "AWS::EC2::InternetGateway", "Properties": {}},
            "Attachment": in_vpc("AWS::EC2::VPCGatewayAttachment", InternetGatewayId={"Ref": "Gateway"}),
            "Public": subnet(1, AvailabilityZoneId=zone, MapPublicIpOnLaunch=True),
            "Private": subnet(2, AvailabilityZone={"Fn::GetAtt": ["Public", "AvailabilityZone"]}),
            "Table": in_vpc("AWS::EC2::RouteTable"),
            "Association": {
                "Type": "AWS::EC2::SubnetRouteTableAssociation",
                "Properties": {"RouteTableId": {"Ref": "Table"}, "SubnetId": {"Ref": "Private"}},
            },
            "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}},
            "Nat": {
                "Type": "AWS::EC2::NatGateway",
                "DependsOn": "Attachment",
                "Properties": {
                    "SubnetId": {"Ref": "Public"},
                    "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]},
                },
            },
            "Route": {
                "Type": "AWS::EC2::Route",
                "Properties": {
                    "RouteTableId": {"Ref": "Table"},
                    "DestinationCidrBlock": "0.0.0.0/0",
                    "NatGatewayId": {"Ref": "Nat"},
                },
            },
            "S3": in_vpc(
                "AWS::EC2::VPCEndpoint",
                ServiceName="com.amazonaws.us-west-2.s3",
                VpcEndpointType="Gateway",
                RouteTableIds=[{"Ref": "Table"}],
            ),
            "Group": group(),
            "Ssm": in_vpc(
                "AWS::EC2::VPCEndpoint",
                ServiceName="com.amazonaws.us-west-2.ssm",
                VpcEndpointType="Interface",
                SubnetIds=[{"Ref": "Private"}],
                SecurityGroupIds=[{"Ref": "Group"}],
                PrivateDnsEnabled=True,
            ),
            "Role": role("vpc-flow-logs.amazonaws.com"),
            "Log": {"Type": "AWS::Logs::LogGroup"},
            "FlowLog": {
                "Type": "AWS::EC2::FlowLog",
                "Properties": {
                    "ResourceId": {"Ref": "Vpc"},
                    "ResourceType": "VPC",
                    "TrafficType": "ALL",
                    "LogGroupName": {"Ref": "Log"},
                    "DeliverLogsPermissionArn": {"Fn::GetAtt": ["Role", "Arn"]},
                },
            },
        }
    )
    assert created.status == "CREATE_COMPLETE", created.events("Vpc")
    ec2 = aws.client("ec2")
    vpc = created.id_of("Vpc")
    dns = ec2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")
    assert dns["EnableDnsHostnames"]["Value"] is True
    subnets = ec2.describe_subnets(SubnetIds=[created.id_of("Public"), created.id_of("Private")])["Subnets"]
    assert {s["AvailabilityZoneId"] for s in subnets} == {zone}
    assert {s["MapPublicIpOnLaunch"] for s in subnets} == {True, False}
    (table,) = ec2.describe_route_tables(RouteTableIds=[created.id_of("Table")])["RouteTables"]
    targets = {r.get("NatGatewayId") for r in table["Routes"]}
    assert created.id_of("Nat") in targets
    assert stack.delete().status == "DELETE_COMPLETE"
    assert ec2_ids(aws) == before


def rules(aws: EmbeddedAws, group_id: str, direction: str) -> set[tuple[Any, ...]]:
    (found,) = aws.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    return {
        (
            p["IpProtocol"],
            p.get("FromPort"),
            *(r["CidrIp"] for r in p["IpRanges"]),
            *(g["GroupId"] for g in p["UserIdGroupPairs"]),
        )
        for p in found["IpPermissions" if direction == "in" else "IpPermissionsEgress"]
    }


def test_security_group_rules(aws: EmbeddedAws, stack: Deployer) -> None:
    def resources(port: int) -> dict[str, Any]:
        one_way_out = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "CidrIp": "1.2.3.4/32"}
        to_self = {"GroupId": {"Ref": "Efa"}, "IpProtocol": "-1"}
        itself = {"Fn::GetAtt": ["Efa", "GroupId"]}
        return {
            "Vpc": VPC,
            "Plain": group(
                SecurityGroupIngress=[
                    {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/16"}
                ]
            ),
            "Efa": group(SecurityGroupEgress=[one_way_out]),
            "In": {
                "Type": "AWS::EC2::SecurityGroupIngress",
                "Properties": {**to_self, "SourceSecurityGroupId": itself},
            },
            "Out": {
                "Type": "AWS::EC2::SecurityGroupEgress",
                "Properties": {**to_self, "DestinationSecurityGroupId": itself},
            },
        }

    created = stack.create(resources(988))
    plain, efa = created.id_of("Plain"), created.id_of("Efa")
    everything_out = ("-1", None, "0.0.0.0/0")
    assert rules(aws, plain, "in") == {("tcp", 988, "10.0.0.0/16")}
    assert rules(aws, plain, "out") == {everything_out}
    assert rules(aws, efa, "in") == {("-1", None, efa)}
    # rules of its own take the place of the one that lets everything out
    assert rules(aws, efa, "out") == {("tcp", 1, "1.2.3.4/32"), ("-1", None, efa)}
    updated = stack.update(resources(989))
    assert updated.id_of("Plain") == plain
    assert rules(aws, plain, "in") == {("tcp", 989, "10.0.0.0/16")}
    assert stack.delete().status == "DELETE_COMPLETE"


def statement(action: str) -> dict[str, Any]:
    allowed = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [allowed]}


def policy(name: str, *actions: str) -> dict[str, Any]:
    return {"PolicyName": name, "PolicyDocument": statement(*actions)}


def test_roles_and_policies_follow_changes(aws: EmbeddedAws, stack: Deployer) -> None:
    managed = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    read_only = "arn:aws:iam::aws:policy/ReadOnlyAccess"

    def resources(action: str, arn: str, inline: str) -> dict[str, Any]:
        role_properties = {
            **role()["Properties"],
            "ManagedPolicyArns": [arn],
            "Policies": [policy(inline, action)],
        }
        return {
            "Role": {"Type": "AWS::IAM::Role", "Properties": role_properties},
            "Other": role(),
            "Inline": {
                "Type": "AWS::IAM::Policy",
                "Properties": {**policy("attached", action), "Roles": [{"Ref": "Role"}]},
            },
            "Managed": {
                "Type": "AWS::IAM::ManagedPolicy",
                "Properties": {
                    "Description": "",
                    "PolicyDocument": statement(action),
                    "Roles": [{"Ref": "Role" if action == "s3:GetObject" else "Other"}],
                },
            },
        }

    created = stack.create(resources("s3:GetObject", managed, "one"))
    name, iam = created.id_of("Role"), aws.client("iam")

    def attached(of: str) -> set[str]:
        return {p["PolicyArn"] for p in iam.list_attached_role_policies(RoleName=of)["AttachedPolicies"]}

    own = created.id_of("Managed")
    assert attached(name) == {managed, own}
    assert set(iam.list_role_policies(RoleName=name)["PolicyNames"]) == {"one", "attached"}
    updated = stack.update(resources("s3:PutObject", read_only, "two"))
    assert updated.id_of("Role") == name
    assert attached(name) == {read_only}
    assert attached(updated.id_of("Other")) == {own}
    assert set(iam.list_role_policies(RoleName=name)["PolicyNames"]) == {"two", "attached"}
    document = iam.get_role_policy(RoleName=name, PolicyName="attached")["PolicyDocument"]
    assert document["Statement"][0]["Action"] == "s3:PutObject"
    version = iam.get_policy(PolicyArn=own)["Policy"]["DefaultVersionId"]
    kept = iam.get_policy_version(PolicyArn=own, VersionId=version)["PolicyVersion"]["Document"]
    assert kept["Statement"][0]["Action"] == "s3:PutObject"
    assert stack.delete().status == "DELETE_COMPLETE"
    with pytest.raises(iam.exceptions.NoSuchEntityException):
        iam.get_role(RoleName=name)


def test_bucket_with_everything_our_stacks_ask_of_it(aws: EmbeddedAws, stack: Deployer) -> None:
    blocked = dict.fromkeys(
        ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
    )
    key_policy = {"Version": "2012-10-17", "Statement": []}
    deny = {
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "s3:*",
        "Resource": {"Fn::GetAtt": ["Bucket", "Arn"]},
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    created = stack.create(
        {
            "Logs": {"Type": "AWS::S3::Bucket"},
            "Key": {
                "Type": "AWS::KMS::Key",
                "Properties": {"KeyPolicy": key_policy, "EnableKeyRotation": True, "PendingWindowInDays": 7},
            },
            "Alias": {
                "Type": "AWS::KMS::Alias",
                "Properties": {"AliasName": f"alias/{stack.name}", "TargetKeyId": {"Ref": "Key"}},
            },
            "Bucket": {
                "Type": "AWS::S3::Bucket",
                "Properties": {
                    "BucketEncryption": {
                        "ServerSideEncryptionConfiguration": [
                            {
                                "BucketKeyEnabled": True,
                                "ServerSideEncryptionByDefault": {
                                    "SSEAlgorithm": "aws:kms",
                                    "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]},
                                },
                            }
                        ]
                    },
                    "VersioningConfiguration": {"Status": "Enabled"},
                    "PublicAccessBlockConfiguration": blocked,
                    "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
                    "LoggingConfiguration": {
                        "DestinationBucketName": {"Ref": "Logs"},
                        "LogFilePrefix": "s3/",
                    },
                    "LifecycleConfiguration": {
                        "Rules": [{"Id": "old", "Status": "Enabled", "NoncurrentVersionExpirationInDays": 30}]
                    },
                    "Tags": [{"Key": "Project", "Value": "x"}],
                },
            },
            "Policy": {
                "Type": "AWS::S3::BucketPolicy",
                "Properties": {
                    "Bucket": {"Ref": "Bucket"},
                    "PolicyDocument": {"Version": "2012-10-17", "Statement": [deny]},
                },
            },
        }
    )
    assert created.status == "CREATE_COMPLETE", created.events("Bucket")
    name, s3 = created.id_of("Bucket"), aws.client("s3")
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"] == blocked
    assert s3.get_bucket_logging(Bucket=name)["LoggingEnabled"]["TargetPrefix"] == "s3/"
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert rule["NoncurrentVersionExpiration"]["NoncurrentDays"] == 30
    encryption = s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert created.id_of("Key") in encryption["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    assert json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])["Statement"][0]["Effect"] == "Deny"
    # the denial without TLS is not held against requests over the loopback
    s3.put_object(Bucket=name, Key="a", Body=b"")
    assert aws.client("kms").get_key_rotation_status(KeyId=created.id_of("Key"))["KeyRotationEnabled"] is True


STATES = {"StartAt": "Done", "States": {"Done": {"Type": "Pass", "Result": "x", "End": True}}}


def test_state_machines_execute_every_start(aws: EmbeddedAws, stack: Deployer) -> None:
    created = stack.create(
        {
            "Role": role("states.amazonaws.com"),
            "Log": {"Type": "AWS::Logs::LogGroup"},
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "DefinitionString": json.dumps(STATES),
                    "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                    "LoggingConfiguration": {
                        "Level": "ERROR",
                        "IncludeExecutionData": False,
                        "Destinations": [
                            {"CloudWatchLogsLogGroup": {"LogGroupArn": {"Fn::GetAtt": ["Log", "Arn"]}}}
                        ],
                    },
                },
            },
        }
    )
    assert created.status == "CREATE_COMPLETE", created.events("Machine")
    machine, states = created.id_of("Machine"), aws.client("stepfunctions")
    started = {states.start_execution(stateMachineArn=machine)["executionArn"] for _ in range(2)}
    assert len(started) == 2


REPLACED: list[tuple[str, Callable[[str], dict[str, Any]]]] = [
    ("AWS::EC2::VPC", lambda x: {"CidrBlock": f"10.{x}.0.0/16"}),
    ("AWS::SSM::Parameter", lambda x: {"Name": f"/replaced/{x}", "Type": "String", "Value": "v"}),
    ("AWS::ECR::Repository", lambda x: {"RepositoryName": f"replaced-{x}"}),
    ("AWS::S3::Bucket", lambda x: {"BucketName": f"replaced-bucket-{x}"}),
    ("AWS::Logs::LogGroup", lambda x: {"LogGroupName": f"/replaced/{x}"}),
    ("AWS::KMS::Alias", lambda x: {"AliasName": f"alias/replaced-{x}", "TargetKeyId": {"Ref": "Key"}}),
]


@pytest.mark.parametrize(("type_", "properties"), REPLACED, ids=[row[0] for row in REPLACED])
def test_change_of_what_names_a_resource_replaces_it(
    stack: Deployer, type_: str, properties: Callable[[str], dict[str, Any]]
) -> None:
    key = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": []}}}
    before = stack.create({"Key": key, "Thing": {"Type": type_, "Properties": properties("1")}}).id_of(
        "Thing"
    )
    updated = stack.update({"Key": key, "Thing": {"Type": type_, "Properties": properties("2")}})
    assert updated.status == "UPDATE_COMPLETE"
    assert updated.id_of("Thing") != before
    assert updated.order("DELETE_COMPLETE") == ["Thing"]


@pytest.mark.parametrize(
    "type_", ["AWS::SNS::Topic", "AWS::SQS::Queue", "AWS::Events::Rule", "AWS::CDK::Metadata"]
)
def test_further_types_come_and_go(stack: Deployer, type_: str) -> None:
    properties = {"ScheduleExpression": "rate(1 day)"} if "Events" in type_ else {}
    created = stack.create({"Thing": {"Type": type_, "Properties": properties}})
    assert created.status == "CREATE_COMPLETE", created.events("Thing")
    assert stack.delete().order("DELETE_COMPLETE") == ["Thing"]


def test_types_left_to_moto_refuse_changes_by_name(stack: Deployer) -> None:
    stack.create({"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "a"}}})
    updated = stack.update({"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "b"}}})
    assert updated.status == "UPDATE_ROLLBACK_COMPLETE"
    assert ("UPDATE_FAILED", "AWS::SNS::Topic: changing DisplayName is not emulated") in updated.events(
        "Topic"
    )
