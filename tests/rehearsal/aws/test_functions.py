"""Lambda functions as local processes."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.aws.functions import package
from tests.rehearsal.aws.samples import AddCode, Deployer, function, needs_node, role

PYTHON = """
import json, os, sys, time
import boto3
from package import helper

calls = 0

def handler(event, context):
    global calls
    calls += 1
    print("got", json.dumps(event))
    if event.get("fail"):
        raise ValueError("asked to fail")
    if event.get("exit"):
        os._exit(3)
    time.sleep(event.get("sleep", 0))
    return {
        "calls": calls,
        "pid": os.getpid(),
        "helper": helper.NAME,
        "here": os.path.samefile(os.getcwd(), os.environ["LAMBDA_TASK_ROOT"]),
        "variable": os.environ.get("OWN"),
        "models": os.environ.get("MODELS"),
        "account": boto3.client("sts").get_caller_identity()["Account"],
        "left": context.get_remaining_time_in_millis(),
        "arn": context.invoked_function_arn,
        "now": time.time(),
    }
"""


def invoke(aws: EmbeddedAws, name: str, event: Any) -> dict[str, Any]:
    answer = aws.client("lambda").invoke(FunctionName=name, Payload=json.dumps(event))
    return {"payload": json.loads(answer["Payload"].read()), "error": answer.get("FunctionError")}


@pytest.fixture
def python(stack: Deployer, code: AddCode) -> str:
    files = {"index.py": PYTHON, "package/__init__.py": "", "package/helper.py": "NAME = 'helper'"}
    variables = {"OWN": "value", "MODELS": "/var/task/models"}
    resources = {
        "Role": role(),
        "Function": function(code(files), "index.handler", Environment={"Variables": variables}),
    }
    return stack.create(resources).id_of("Function")


def test_python_function_finds_what_lambda_gives_it(aws: EmbeddedAws, python: str) -> None:
    payload = invoke(aws, python, {})["payload"]
    assert payload["helper"] == "helper"
    assert payload["here"] is True
    assert payload["variable"] == "value"
    assert payload["account"] == "123456789012"
    assert 0 < payload["left"] <= 20_000
    assert payload["arn"].endswith(f":function:{python}")
    # Lambda's path, where the code really is
    assert payload["models"].endswith("/models")
    assert not payload["models"].startswith("/var/task")


def test_process_is_kept_warm(aws: EmbeddedAws, python: str) -> None:
    first, second = (invoke(aws, python, {})["payload"] for _ in range(2))
    assert (first["calls"], second["calls"]) == (1, 2)
    assert first["pid"] == second["pid"]


def test_changed_settings_get_a_process_of_their_own(aws: EmbeddedAws, python: str) -> None:
    invoke(aws, python, {})
    variables = {"Variables": {"OWN": "other"}}
    aws.client("lambda").update_function_configuration(FunctionName=python, Environment=variables)
    payload = invoke(aws, python, {})["payload"]
    assert (payload["calls"], payload["variable"]) == (1, "other")


def test_error_comes_back_as_lambda_gives_it(aws: EmbeddedAws, python: str) -> None:
    answer = invoke(aws, python, {"fail": True})
    assert answer["error"] == "Unhandled"
    assert answer["payload"]["errorType"] == "ValueError"
    assert answer["payload"]["errorMessage"] == "asked to fail"
    assert "handler" in "".join(answer["payload"]["stackTrace"])


def test_process_that_ends_is_an_error_and_is_replaced(aws: EmbeddedAws, python: str) -> None:
    answer = invoke(aws, python, {"exit": True})
    assert answer["payload"]["errorType"] == "Runtime.ExitError"
    assert "exit status 3" in answer["payload"]["errorMessage"]
    assert invoke(aws, python, {})["payload"]["calls"] == 1


def test_function_is_stopped_at_its_time_limit(aws: EmbeddedAws, python: str) -> None:
    aws.client("lambda").update_function_configuration(FunctionName=python, Timeout=1)
    invoke(aws, python, {})
    began = time.monotonic()
    answer = invoke(aws, python, {"sleep": 3600})
    assert answer["payload"]["errorType"] == "Sandbox.Timedout"
    assert "Task timed out after 1.00 seconds" in answer["payload"]["errorMessage"]
    assert time.monotonic() - began < 10


def test_functions_live_as_fast_as_what_they_wait_for(aws: EmbeddedAws, python: str) -> None:
    began = time.monotonic()
    before = invoke(aws, python, {})["payload"]["now"]
    payload = invoke(aws, python, {"sleep": 60})["payload"]
    seconds = time.monotonic() - began
    assert payload["now"] - before >= 60
    assert seconds < 30
    # what Lambda leaves a function is real time
    assert 15_000 < payload["left"] <= 20_000


def test_what_a_function_prints_is_in_its_log_group(aws: EmbeddedAws, python: str) -> None:
    invoke(aws, python, {"mark": "findme"})
    events = aws.client("logs").filter_log_events(logGroupName=f"/aws/lambda/{python}")["events"]
    assert any("findme" in event["message"] for event in events)


def test_unknown_module_is_told(aws: EmbeddedAws, stack: Deployer, code: AddCode) -> None:
    resources = {"Role": role(), "Function": function(code({"other.py": ""}), "index.handler")}
    answer = invoke(aws, stack.create(resources).id_of("Function"), {})
    assert answer["payload"]["errorType"] == "ModuleNotFoundError"
    assert "index" in answer["payload"]["errorMessage"]


def test_runtime_without_stand_in_is_told(aws: EmbeddedAws, stack: Deployer, code: AddCode) -> None:
    resources = {"Role": role(), "Function": function(code({"a": ""}), "a", Runtime="ruby3.3")}
    name = stack.create(resources).id_of("Function")
    with pytest.raises(ClientError, match=r"'ruby3\.3' does not run here"):
        invoke(aws, name, {})
    assert any("ruby3.3" in line for line in aws.unanswered())


def test_layers_lie_where_opt_was_meant(aws: EmbeddedAws, stack: Deployer, code: AddCode) -> None:
    handler = (
        "import subprocess\n"
        "import from_layer\n"
        "def handler(event, context):\n"
        "    said = subprocess.run(['/opt/tool/say'], capture_output=True, text=True, check=True).stdout\n"
        "    return [said.strip(), from_layer.NAME]\n"
    )
    # CDK's AWS CLI names the interpreter of Lambda's image
    say = "#!/var/lang/bin/python\nprint('said by a layer')\n"
    resources = {
        "Role": role(),
        "Layer": {
            "Type": "AWS::Lambda::LayerVersion",
            "Properties": {"Content": code({"tool/say": say, "python/from_layer.py": "NAME = 'module'"})},
        },
        "Function": function(code({"index.py": handler}), "index.handler", Layers=[{"Ref": "Layer"}]),
    }
    name = stack.create(resources).id_of("Function")
    assert invoke(aws, name, {})["payload"] == ["said by a layer", "module"]


@needs_node
def test_node_function_runs(aws: EmbeddedAws, stack: Deployer, code: AddCode) -> None:
    handler = (
        "exports.handler = async (event, context) => {\n"
        "  if (event.fail) throw new TypeError('asked to fail');\n"
        "  return { event, arn: context.invokedFunctionArn, own: process.env.OWN };\n"
        "};\n"
    )
    resources = {
        "Role": role(),
        "Function": function(
            code({"lib/main.js": handler}),
            "lib/main.handler",
            Runtime="nodejs22.x",
            Environment={"Variables": {"OWN": "value"}},
        ),
    }
    name = stack.create(resources).id_of("Function")
    payload = invoke(aws, name, {"a": 1})["payload"]
    assert payload["event"] == {"a": 1}
    assert payload["own"] == "value"
    failed = invoke(aws, name, {"fail": True})
    assert failed["error"] == "Unhandled"
    assert failed["payload"]["errorType"] == "TypeError"
    assert failed["payload"]["errorMessage"] == "asked to fail"


def test_a_stop_waits_for_what_is_unpacked_and_nothing_is_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is unpacked into a folder that is being removed would be left in it."""
    begun, may_end = Event(), Event()

    def extract(_: bytes, folder: Path) -> None:
        begun.set()
        may_end.wait(10)
        folder.mkdir(parents=True)

    monkeypatch.setattr(package, "_extract", extract)
    store = package.PackageStore(tmp_path / "packages", node_modules=None)
    with ThreadPoolExecutor() as threads:
        unpacked = threads.submit(store.unpack, b"one", [])
        begun.wait(10)
        closed = threads.submit(store.close)
        with pytest.raises(TimeoutError):
            closed.result(0.05)
        may_end.set()
        closed.result(10)
        assert unpacked.result(10).code.is_dir()
    with pytest.raises(RuntimeError, match="has stopped"):
        store.unpack(b"two", [])
    assert len(list((tmp_path / "packages" / "code").iterdir())) == 1
