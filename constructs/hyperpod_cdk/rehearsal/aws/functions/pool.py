"""All functions of the embedded AWS: which processes run them, and how moto is made to use them."""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from unittest.mock import patch

from moto.awslambda.models import LambdaBackend, LambdaFunction
from moto.awslambda.utils import get_backend

from hyperpod_cdk.rehearsal.aws.functions.identity import credentials
from hyperpod_cdk.rehearsal.aws.functions.package import Package, PackageStore
from hyperpod_cdk.rehearsal.aws.functions.process import FunctionProcess, Outcome


class FunctionPool:
    """Runs Lambda functions of moto as local processes, and keeps the processes warm.

    Args:
        root: An empty folder for unpacked code and logs.
        environment: What every function finds in its environment: endpoint, credentials, Region.
        node_modules: Node packages that Lambda's Node.js runtime brings along; None where there are none.
    """

    def __init__(self, root: Path, *, environment: Mapping[str, str], node_modules: Path | None) -> None:
        self._packages = PackageStore(root / "packages", node_modules=node_modules)
        self._root = root
        self._environment = environment
        self._idle: dict[str, list[FunctionProcess]] = defaultdict(list)
        self._all: list[FunctionProcess] = []
        self._numbers = count(1)
        self._lock = Lock()
        self._closed = False

    def invoke(self, function: LambdaFunction, event: Any) -> Outcome:
        """Run a function once and wait for it.

        Args:
            function: The function as moto keeps it.
            event: The event, as plain JSON data.
        """
        key = _fingerprint(function)
        with self._lock:
            process = self._idle[key].pop() if self._idle[key] else None
        if process is None or not process.alive:
            process = self._start(function)
        outcome = process.invoke(event, arn=function.function_arn, timeout_seconds=float(function.timeout))
        if process.alive:
            with self._lock:
                self._idle[key].append(process)
        _keep_log(function, outcome.log)
        return outcome

    def close(self) -> None:
        """End every process; no function starts afterwards."""
        self._packages.close()
        with self._lock:
            self._closed = True
            processes, self._all = self._all, []
        for process in processes:
            process.kill()

    def _start(self, function: LambdaFunction) -> FunctionProcess:
        backend = get_backend(function.account_id, function.region)
        layers = [backend.layers_versions_by_arn(layer["Arn"]) for layer in function.layers]
        package = self._packages.unpack(function.code_bytes, [layer.code_bytes for layer in layers if layer])
        with self._lock:
            if self._closed:
                raise RuntimeError("the embedded AWS has stopped")
            number = next(self._numbers)
            temporary = self._root / "tmp" / str(number)
            temporary.mkdir(parents=True)
            process = FunctionProcess(
                runtime=str(function.run_time),
                handler=str(function.handler),
                environment=self._variables(function, package, temporary),
                folder=package.code,
                log=self._root / f"{number}.log",
            )
            self._all.append(process)
        return process

    def _variables(self, function: LambdaFunction, package: Package, temporary: Path) -> dict[str, str]:
        own = {name: package.translate(str(value)) for name, value in function.environment_vars.items()}
        search = [str(package.layers / "python")] if package.layers else []
        return {
            **self._environment,
            **credentials(function),
            # A layer's scripts say `python3`: ours comes first, and Node from the same folder.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "PYTHONPATH": os.pathsep.join(search),
            # The AWS CLI of CDK's layer is compiled for another Python; once a run is often enough.
            "PYTHONPYCACHEPREFIX": str(self._root / "bytecode"),
            "PYTHONUTF8": "1",
            "HOME": str(temporary),
            # Each environment of Lambda has a /tmp of its own; CDK's kubectl handler asks where that is.
            "TMPDIR": str(temporary),
            "TEST_OUTDIR": str(temporary),
            "LAMBDA_TASK_ROOT": str(package.code),
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
            "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
            "AWS_LAMBDA_LOG_STREAM_NAME": function.function_name,
            **own,
        }


def _fingerprint(function: LambdaFunction) -> str:
    # A changed function must not run in a process of the old one.
    settings = [function.environment_vars, function.layers, function.handler, function.code_sha_256]
    return json.dumps([function.function_arn, *settings], sort_keys=True)


def _keep_log(function: LambdaFunction, log: str) -> None:
    if log:
        function.logs_backend.ensure_log_group(function.logs_group_name)
        function.save_logs(log)


@contextmanager
def functions_run_in(pool: FunctionPool) -> Iterator[None]:
    """Let moto's Lambda invoke through a pool; moto itself would ask Docker.

    Args:
        pool: The pool that runs the functions.
    """

    def invoke(self: LambdaBackend, name: str, qualifier: str | None, body: Any, *rest: Any) -> bytes:
        headers, answer = rest
        function = self.get_function(name, qualifier)
        event = json.loads(body) if body else {}
        if headers.get("X-Amz-Invocation-Type") == "Event":
            Thread(target=pool.invoke, args=(function, event), daemon=True).start()
            return b""
        outcome = pool.invoke(function, event)
        if outcome.failed:
            answer["x-amz-function-error"] = "Unhandled"
        payload = json.dumps(outcome.payload).encode()
        answer["Content-Length"] = str(len(payload))
        return payload

    with patch.object(LambdaBackend, "invoke", invoke):
        yield
