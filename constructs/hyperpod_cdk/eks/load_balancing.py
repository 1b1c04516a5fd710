"""What the AWS Load Balancer Controller may do: load balancers of its cluster, and their security groups.

Its own policy (kubernetes-sigs/aws-load-balancer-controller v2.13, docs/install/iam_policy.json, which the
inference operator's page names), without what endpoints of models never use: Cognito, changes of WAF and
Shield, addresses of IPAM and Outposts. Whether WAF or Shield is on it asks about every load balancer.
"""

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.eks.identities import Statement, statement

_TAG = "elbv2.k8s.aws/cluster"
_OURS = {"Null": {f"aws:ResourceTag/{_TAG}": "false"}}
_TO_BE_OURS = {"Null": {f"aws:RequestTag/{_TAG}": "false"}}
_RETAGGED = {"Null": {f"aws:RequestTag/{_TAG}": "true", f"aws:ResourceTag/{_TAG}": "false"}}

_LOOK = [
    "ec2:DescribeAccountAttributes",
    "ec2:DescribeAddresses",
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInstances",
    "ec2:DescribeInternetGateways",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcPeeringConnections",
    "ec2:DescribeVpcs",
    "elasticloadbalancing:DescribeCapacityReservation",
    "elasticloadbalancing:DescribeListenerAttributes",
    "elasticloadbalancing:DescribeListenerCertificates",
    "elasticloadbalancing:DescribeListeners",
    "elasticloadbalancing:DescribeLoadBalancerAttributes",
    "elasticloadbalancing:DescribeLoadBalancers",
    "elasticloadbalancing:DescribeRules",
    "elasticloadbalancing:DescribeSSLPolicies",
    "elasticloadbalancing:DescribeTags",
    "elasticloadbalancing:DescribeTargetGroupAttributes",
    "elasticloadbalancing:DescribeTargetGroups",
    "elasticloadbalancing:DescribeTargetHealth",
    "elasticloadbalancing:DescribeTrustStores",
    "acm:ListCertificates",
    "shield:GetSubscriptionState",
]
"""None takes a resource."""
_LOOK_AT = [
    "acm:DescribeCertificate",
    "ec2:GetSecurityGroupsForVpc",
    "shield:DescribeProtection",
    "waf-regional:GetWebACL",
    "waf-regional:GetWebACLForResource",
    "wafv2:GetWebACL",
    "wafv2:GetWebACLForResource",
]
_CHANGE = [
    "elasticloadbalancing:DeleteLoadBalancer",
    "elasticloadbalancing:DeleteTargetGroup",
    "elasticloadbalancing:ModifyCapacityReservation",
    "elasticloadbalancing:ModifyListenerAttributes",
    "elasticloadbalancing:ModifyLoadBalancerAttributes",
    "elasticloadbalancing:ModifyTargetGroup",
    "elasticloadbalancing:ModifyTargetGroupAttributes",
    "elasticloadbalancing:SetIpAddressType",
    "elasticloadbalancing:SetSecurityGroups",
    "elasticloadbalancing:SetSubnets",
]
_LISTEN = [
    "elasticloadbalancing:AddListenerCertificates",
    "elasticloadbalancing:CreateListener",
    "elasticloadbalancing:CreateRule",
    "elasticloadbalancing:DeleteListener",
    "elasticloadbalancing:DeleteRule",
    "elasticloadbalancing:ModifyListener",
    "elasticloadbalancing:ModifyRule",
    "elasticloadbalancing:RemoveListenerCertificates",
    "elasticloadbalancing:SetRulePriorities",
]
_RULES = ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"]
_LINKED = "role/aws-service-role/elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
_LINKED_ROLE = {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}}


def controller_statements() -> list[Statement]:
    """What the controller's role is given."""
    security_groups = arn("ec2", "security-group/*")
    targets = arn("elasticloadbalancing", "targetgroup/*/*")
    balancers = [arn("elasticloadbalancing", f"loadbalancer/{kind}/*/*") for kind in ("app", "net")]
    listeners = [
        arn("elasticloadbalancing", f"{what}/{kind}/*/*/*")
        for what in ("listener", "listener-rule")
        for kind in ("app", "net")
    ]
    created = {
        "StringEquals": {"elasticloadbalancing:CreateAction": ["CreateTargetGroup", "CreateLoadBalancer"]},
        **_TO_BE_OURS,
    }
    new_group = {"StringEquals": {"ec2:CreateAction": "CreateSecurityGroup"}, **_TO_BE_OURS}
    tag = ["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"]
    return [
        statement(
            ["iam:CreateServiceLinkedRole"],
            arn("iam", _LINKED, region=""),
            condition=_LINKED_ROLE,
        ),
        statement(_LOOK, "*"),
        statement(
            _LOOK_AT,
            arn("acm", "certificate/*"),
            arn("ec2", "vpc/*"),
            arn("shield", "protection/*", region=""),
            arn("waf-regional", "webacl/*"),
            arn("wafv2", "regional/webacl/*/*"),
            *balancers,
        ),
        # nodes' own groups have no tag of the controller's, and it lets load balancers into them
        statement(_RULES, security_groups),
        statement(["ec2:CreateSecurityGroup"], security_groups, arn("ec2", "vpc/*")),
        statement(["ec2:CreateTags"], security_groups, condition=new_group),
        statement(["ec2:CreateTags", "ec2:DeleteTags"], security_groups, condition=_RETAGGED),
        statement(["ec2:DeleteSecurityGroup"], security_groups, condition=_OURS),
        statement(
            ["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"],
            targets,
            *balancers,
            condition=_TO_BE_OURS,
        ),
        statement(["elasticloadbalancing:AddTags"], targets, *balancers, condition=created),
        statement(tag, targets, *balancers, condition=_RETAGGED),
        statement(tag, *listeners),
        statement(_CHANGE, targets, *balancers, *listeners, condition=_OURS),
        statement(_LISTEN, *balancers, *listeners),
        statement(
            ["elasticloadbalancing:RegisterTargets", "elasticloadbalancing:DeregisterTargets"], targets
        ),
    ]
