"""Documented failures that the cluster's construct answers, by their numbers in the table of tests/rules."""

from typing import Any

from tests.unit.cluster.test_cluster import Made


def test_6_nodes_lie_in_subnets_without_a_way_in() -> None:
    made = Made()
    resources: dict[str, dict[str, Any]] = made.template.to_json()["Resources"]
    subnets = [one["Ref"] for one in made.resource["Properties"]["Request"]["VpcConfig"]["Subnets"]]
    assert subnets
    for name in subnets:
        assert not resources[name]["Properties"].get("MapPublicIpOnLaunch")
        (table,) = [
            found["Properties"]["RouteTableId"]
            for found in resources.values()
            if found["Type"] == "AWS::EC2::SubnetRouteTableAssociation"
            and found["Properties"]["SubnetId"] == {"Ref": name}
        ]
        routes = [
            found["Properties"]
            for found in resources.values()
            if found["Type"] == "AWS::EC2::Route" and found["Properties"]["RouteTableId"] == table
        ]
        assert [route.get("GatewayId") for route in routes] == [None]
        assert "NatGatewayId" in routes[0]
