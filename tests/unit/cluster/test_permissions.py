"""The handler may do what it calls, and nothing else."""

import ast
from pathlib import Path

import botocore.session
from botocore import xform_name

from hyperpod_cdk.cluster import handler_code, permissions

HANDLER = Path(handler_code.__file__).parent / "handler"
CLIENTS = ("sagemaker", "logs", "ec2")


def called() -> set[str]:
    """Actions of the calls in the handler: ``aws.<client>.<method>``, and operations that its data name."""
    found: set[tuple[str, str]] = set()
    # quotas have a policy of their own
    for path in (*HANDLER.glob("*.py"), *HANDLER.glob("core/*.py"), *HANDLER.glob("cluster/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                found.add((node.value.attr, node.attr))
            if isinstance(node, ast.keyword) and node.arg in ("operation", "create", "delete"):
                assert isinstance(node.value, ast.Constant | ast.Attribute | ast.Name)
                if isinstance(node.value, ast.Constant):
                    found.add(("sagemaker", str(node.value.value)))
    session = botocore.session.get_session()
    actions = set()
    for client in CLIENTS:
        model = session.get_service_model(client)
        by_method = {xform_name(name): name for name in model.operation_names}
        actions |= {
            f"{client}:{by_method[method]}"
            for service, method in found
            if service == client and method in by_method
        }
    return actions


def test_the_handlers_policy_is_what_the_handler_calls() -> None:
    allowed = {
        *permissions.LOOK_AT_CLUSTERS,
        *permissions.CREATE_CLUSTER,
        *permissions.CHANGE_CLUSTER,
        *permissions.READ_NODE_LOGS,
        *permissions.DELETE_NODE_LOGS,
        *permissions.FIND_INTERFACES,
        "ec2:DescribeImages",
    }
    assert "ec2:DescribeImages" in permissions.READ_IMAGES, "the rest of it is for the service"
    assert allowed == called()
