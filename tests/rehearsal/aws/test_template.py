"""Reading templates: intrinsic functions, short forms, and what is refused."""

from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws.stacks.template import Scope, TemplateError, load_template, references


def scope(**more: Any) -> Scope:
    attributes = {("Vpc", "CidrBlock"): "10.0.0.0/16", ("Topic", "A.B"): "nested"}
    return Scope(
        values={"AWS::Region": "us-west-2", "Count": "3", "Zones": ["a", "b"]},
        reference={"Vpc": "vpc-1"}.__getitem__,
        attribute=lambda name, attribute: attributes[name, attribute],
        exports={"shared": "value"},
        zones=("us-west-2a", "us-west-2b"),
        mappings={"Sizes": {"us-west-2": {"small": 1}}},
        conditions={
            "Yes": {"Fn::Equals": ["1", 1]},
            "No": {"Fn::Not": [{"Condition": "Yes"}]},
            "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
            "Either": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
        },
        **more,
    )


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ({"Ref": "Vpc"}, "vpc-1"),
        ({"Ref": "Count"}, "3"),
        ({"Ref": "AWS::Region"}, "us-west-2"),
        ({"Fn::GetAtt": ["Vpc", "CidrBlock"]}, "10.0.0.0/16"),
        ({"Fn::GetAtt": "Topic.A.B"}, "nested"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Vpc"}, 1, True]]}, "a-vpc-1-1-true"),
        ({"Fn::Join": [",", {"Ref": "Zones"}]}, "a,b"),
        ({"Fn::Sub": "${Vpc}/${Vpc.CidrBlock}/${!Vpc}"}, "vpc-1/10.0.0.0/16/${Vpc}"),
        ({"Fn::Sub": ["${Own}-${Vpc}", {"Own": {"Ref": "Count"}}]}, "3-vpc-1"),
        ({"Fn::Select": ["1", {"Fn::Split": ["|", "a|b"]}]}, "b"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "small"]}, 1),
        ({"Fn::GetAZs": ""}, ["us-west-2a", "us-west-2b"]),
        ({"Fn::ImportValue": "shared"}, "value"),
        ({"Fn::Base64": "ab"}, "YWI="),
        ({"Fn::ToJsonString": {"a": {"Ref": "Vpc"}}}, '{"a":"vpc-1"}'),
        ({"Fn::If": ["Yes", "then", {"Ref": "Missing"}]}, "then"),
        ({"Fn::If": ["Both", "then", "else"]}, "else"),
        ({"Fn::If": ["Either", "then", "else"]}, "then"),
        # what is left out is left out of mappings and lists alike
        ({"a": {"Ref": "AWS::NoValue"}, "b": [{"Ref": "AWS::NoValue"}, 1]}, {"b": [1]}),
        # an IAM statement's Condition is no condition of the template
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}},) * 2,
    ],
)
def test_expression_has_value(expression: Any, value: Any) -> None:
    assert scope().evaluate(expression) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ({"Fn::Cidr": ["10.0.0.0/16", 4, 8]}, "Fn::Cidr is not emulated"),
        ({"Fn::Select": [2, ["a", "b"]]}, "nonexistent value at index 2"),
        ({"Fn::ImportValue": "nothing"}, "No export named nothing"),
        ({"Fn::FindInMap": ["Sizes", "us-west-2", "large"]}, "Sizes::us-west-2::large"),
        ({"Fn::GetAZs": "eu-west-1"}, "eu-west-1"),
        ({"Fn::If": ["Unknown", 1, 2]}, "Unresolved condition Unknown"),
    ],
)
def test_expression_is_refused(expression: Any, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        scope().evaluate(expression)


def test_yaml_short_forms_and_dates_are_read_as_cloudformation_does() -> None:
    template = load_template(
        """
        Resources:
          Role:
            Type: AWS::IAM::Role
            Condition: Wanted
            Properties:
              Version: 2012-10-17
              Name: !Sub "${AWS::StackName}-role"
              Arn: !GetAtt Other.Arn
              List: !If [Wanted, !Ref Other, !Ref "AWS::NoValue"]
        """
    )
    properties = template["Resources"]["Role"]["Properties"]
    assert properties == {
        "Version": "2012-10-17",
        "Name": {"Fn::Sub": "${AWS::StackName}-role"},
        "Arn": {"Fn::GetAtt": ["Other", "Arn"]},
        "List": {"Fn::If": ["Wanted", {"Ref": "Other"}, {"Ref": "AWS::NoValue"}]},
    }


@pytest.mark.parametrize("text", ["{}", '{"Resources": {}}', "just words"])
def test_template_without_resources_is_refused(text: str) -> None:
    with pytest.raises(TemplateError, match="At least one Resources member"):
        load_template(text)


def test_references_are_found_wherever_they_stand() -> None:
    properties = {
        "A": {"Ref": "One"},
        "B": [{"Fn::GetAtt": ["Two", "Arn"]}, {"Fn::GetAtt": "Three.Arn"}],
        "C": {"Fn::Sub": ["${Four.Arn} ${!Not} ${Own}", {"Own": {"Ref": "Five"}}]},
    }
    assert references(properties) == {"One", "Two", "Three", "Four", "Own", "Five"}
