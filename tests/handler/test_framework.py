"""The provider framework that the tests simulate answers CloudFormation as the one that CDK ships.

Each case goes through both: aws-cdk-lib's own JavaScript on Node, and :class:`.cloudformation.Framework`.
"""

import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from handler import index
from handler.reason import ENVELOPE_BYTES

from tests.handler.cloudformation import Framework
from tests.handler.samples import Request

RUNTIME = "package/custom-resources/lib/provider-framework/runtime"
SDK = {"client-lambda": "Lambda", "client-sfn": "SFN"}
MAX_ATTEMPTS = 3
MADE = {"PhysicalResourceId": "ml", "Handover": {"Since": 1}}
DONE = {"IsComplete": True, "Data": {"ClusterName": "ml"}}
BUSY = {"IsComplete": False}


def event(kind: str, **members: Any) -> Request:
    """An event of CloudFormation."""
    physical: Request = {} if kind == "Create" else {"PhysicalResourceId": "ml"}
    return {
        "RequestType": kind,
        "RequestId": "00000000-0000-4000-8000-000000000001",
        "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/ml/1",
        "LogicalResourceId": "Cluster",
        "ResourceProperties": {"Format": "1"},
        **physical,
        **members,
    }


CASES: dict[str, tuple[Request, list[Any], list[Any]]] = {
    "create": (event("Create"), [MADE], [BUSY, BUSY, DONE]),
    "create without an id": (event("Create"), [{}], [DONE]),
    "create that on_event fails": (event("Create"), [{"error": "refused"}], [DONE]),
    "create that is_complete fails": (event("Create"), [MADE], [BUSY, {"error": "failed"}]),
    "create that takes too long": (event("Create"), [MADE], [BUSY]),
    "create on the last attempt": (event("Create"), [MADE], [BUSY, BUSY, BUSY, DONE]),
    "data of on_event": (event("Create"), [{**MADE, "Data": {"Extra": "1"}}], [DONE]),
    "update": (event("Update"), [MADE], [DONE]),
    "update that makes another": (event("Update"), [{**MADE, "PhysicalResourceId": "ml-2"}], [DONE]),
    "update that on_event fails": (event("Update"), [{"error": "refused"}], [DONE]),
    "replacement that fails": (event("Update"), [{**MADE, "PhysicalResourceId": "b"}], [{"error": "lost"}]),
    "delete": (event("Delete"), [MADE], [{"IsComplete": True}]),
    "delete that fails": (event("Delete"), [MADE], [{"error": "conflict"}]),
    "delete after a create that failed": (
        event("Delete", PhysicalResourceId="AWSCDK::CustomResourceProviderFramework::CREATE_FAILED"),
        [{"error": "never called"}],
        [{"error": "never called"}],
    ),
}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[list[Request]]:
    """What the framework of aws-cdk-lib answers, case by case."""
    folder = tmp_path_factory.mktemp("framework")
    library = distribution("aws-cdk-lib")
    archive = Path(str(library.locate_file(f"aws_cdk/_jsii/aws-cdk-lib@{library.version}.jsii.tgz")))
    with tarfile.open(archive) as files:
        left = {
            f"{RUNTIME}/{name}.js" for name in ("framework", "cfn-response", "consts", "outbound", "util")
        }
        for member in files:
            if member.name in left:
                # not extract(): 3.11.2 lacks its argument filter, and newer versions warn without it
                content = files.extractfile(member)
                assert content is not None
                (folder / member.name).parent.mkdir(parents=True, exist_ok=True)
                (folder / member.name).write_bytes(content.read())
                left.remove(member.name)
            if not left:
                break
    for package, client in SDK.items():
        module = folder / "node_modules" / "@aws-sdk" / package / "index.js"
        module.parent.mkdir(parents=True)
        module.write_text(f"exports.{client} = class {{}};")
    cases = [
        {
            "event": asked,
            "answers": {"on_event": begun, "is_complete": polled},
            "maxAttempts": MAX_ATTEMPTS,
        }
        for asked, begun, polled in CASES.values()
    ]
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "node"),
            str(Path(__file__).parent / "framework_driver.js"),
            str(folder / RUNTIME),
        ],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[list[Request]] = json.loads(done.stdout)
    return answers


def scripted(answers: list[Any]) -> Callable[..., Any]:
    """A function that gives one answer after the other, and the last one for ever."""
    left = list(answers)

    def answer(*_: Any) -> Any:
        given = left.pop(0) if len(left) > 1 else left[0]
        if "error" in given:
            raise index.CustomResourceError(given["error"])
        return given

    return answer


@pytest.mark.parametrize("number", range(len(CASES)), ids=list(CASES))
def test_both_answer_alike(
    shipped: list[list[Request]], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, begun, polled = list(CASES.values())[number]
    monkeypatch.setattr(index, "on_event", scripted(begun))
    monkeypatch.setattr(index, "is_complete", scripted(polled))
    framework = Framework(advance=lambda _: None, interval=20, timeout=20 * MAX_ATTEMPTS)
    ours = framework.run(asked)
    (theirs,) = shipped[number]
    assert theirs["Status"] == ours.status
    assert theirs["PhysicalResourceId"] == ours.physical_id
    assert theirs.get("Data", {}) == ours.data
    assert theirs["Reason"].split("\n")[0] == (ours.reason or "SUCCESS").split("\n")[0]
    for key in ("StackId", "RequestId", "LogicalResourceId"):
        assert theirs[key] == asked[key]


def test_a_reason_leaves_room_for_the_frameworks_own_stack(shipped: list[list[Request]]) -> None:
    """JavaScript's stack stands behind our reason, with the paths of the runtime."""
    failed = shipped[list(CASES).index("create that is_complete fails")][0]
    behind = failed["Reason"].partition("failed")[2]
    in_lambda = re.sub(r"\(?/\S*/(\w+\.js)", r"/var/task/\1", behind)
    assert 100 < len(in_lambda) < ENVELOPE_BYTES - 900, "900 bytes are for ids"
