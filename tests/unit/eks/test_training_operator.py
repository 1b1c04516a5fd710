"""The training operator: identity first, apart from the add-on, and after what it needs."""

from aws_cdk.assertions import Match, Template

from hyperpod_cdk.eks.training_operator import ADD_ON
from tests.unit.eks.order import before, one, resources


def test_126_the_identity_is_a_resource_of_its_own_and_comes_first(template: Template) -> None:
    """Version 1.2.1 of the add-on refuses one of its own (field report 126)."""
    every = resources(template)
    identity = one(
        every,
        "AWS::EKS::PodIdentityAssociation",
        Namespace="aws-hyperpod",
        ServiceAccount="hp-training-operator-controller-manager",
    )
    earlier = before(every, one(every, "AWS::EKS::Addon", AddonName=ADD_ON))
    assert identity in earlier
    assert one(every, "AWS::EKS::Addon", AddonName="eks-pod-identity-agent") in earlier


def test_128_certificates_come_first(template: Template) -> None:
    """Its webhooks are served with them (field report 128)."""
    every = resources(template)
    earlier = before(every, one(every, "AWS::EKS::Addon", AddonName=ADD_ON))
    assert one(every, "AWS::EKS::Addon", AddonName="cert-manager") in earlier


def test_pods_take_the_role_and_tag_their_session(template: Template) -> None:
    pods = {"Service": "pods.eks.amazonaws.com"}
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "Description": "HyperPod training operator",
            "AssumeRolePolicyDocument": Match.object_like(
                {
                    "Statement": [
                        Match.object_like({"Action": action, "Principal": pods})
                        for action in ("sts:AssumeRole", "sts:TagSession")
                    ]
                }
            ),
            "ManagedPolicyArns": [
                {
                    "Fn::Join": [
                        "",
                        [
                            "arn:",
                            {"Ref": "AWS::Partition"},
                            ":iam::aws:policy/AmazonSageMakerHyperPodTrainingOperatorAccess",
                        ],
                    ]
                }
            ],
        },
    )
