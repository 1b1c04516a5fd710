"""Secrets, downloads, buckets, metrics and own steps, each on a node whose commands are scripted."""

from __future__ import annotations

import hashlib
import io
import json
import socketserver
import threading
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import aws, downloads
from hyperpod_node.catalogue import own as declared
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import buckets, monitoring, own
from tests.lifecycle.scripted import Answer, Scripted, archive, pinned, scripted, served

SECRET = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:ldap-AbCdEf"
PASSWORD = "very-Secret.1"
BUCKET = {"bucket": "data", "mount_path": "/data", "prefix": "a/", "cache_gib": 0}


class TestSecrets:
    """Secrets Manager by the AWS CLI."""

    def test_the_secrets_own_region_is_asked(self, tmp_path: Path) -> None:
        text = "urllib3 warns of something\n" + json.dumps(
            {"username": "u", "password": PASSWORD, "port": 3306}
        )
        this = scripted(tmp_path, answers={"aws secretsmanager": (0, text)})
        assert aws.read_secret(this.context, SECRET) == {
            "username": "u",
            "password": PASSWORD,
            "port": "3306",
        }
        assert "--region eu-west-1" in this.calls[0]
        assert PASSWORD not in this.log

    @pytest.mark.parametrize("text", [PASSWORD, f'"{PASSWORD}"', f'{{"password": "{PASSWORD}"', ""])
    def test_what_is_no_object_is_not_shown(self, tmp_path: Path, text: str) -> None:
        this = scripted(tmp_path, answers={"aws secretsmanager": (0, text)})
        with pytest.raises(NodeError, match="is no JSON object") as error:
            aws.read_secret(this.context, SECRET)
        assert PASSWORD not in str(error.value) + this.log
        assert error.value.__cause__ is None

    def test_a_refusal_says_what_the_role_needs(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, answers={"aws secretsmanager": (254, "AccessDeniedException")})
        with pytest.raises(NodeError) as error:
            aws.read_secret(this.context, SECRET)
        assert "secretsmanager:GetSecretValue" in error.value.advice


class TestDownloads:
    """Field report 105: pinned, checked, from the deployment's own source first."""

    CONTENT = archive(tool__tool="#!/bin/sh\n")

    def test_the_own_source_is_enough(self, tmp_path: Path) -> None:
        software = {"downloads": pinned("tool", self.CONTENT)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": served(self.CONTENT)})
        path = downloads.fetch(this.context, "tool")
        assert path.read_bytes() == self.CONTENT
        digest = hashlib.sha256(self.CONTENT).hexdigest()
        assert f"s3://own/bundle/{digest}/tool.tar.gz" in this.calls[0]
        this.calls.clear()
        assert downloads.fetch(this.context, "tool") == path
        assert this.calls == []

    def test_what_is_something_else_is_refused(self, tmp_path: Path) -> None:
        software = {"downloads": pinned("tool", self.CONTENT)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": served(b"evil")})
        with pytest.raises(NodeError, match="is something else: sha256"):
            downloads.fetch(this.context, "tool")
        assert not list(this.context.root.path("/opt/hyperpod-cdk").rglob("tool.tar.gz*"))

    def test_without_internet_nothing_else_is_asked(self, tmp_path: Path) -> None:
        software = {"downloads": pinned("tool", self.CONTENT)}
        refused = "fatal error: An error occurred (403) when calling the HeadObject operation: Forbidden"
        this = scripted(tmp_path, software, answers={"aws s3 cp": (1, refused)})
        with pytest.raises(NodeError, match="the internet may not be asked") as error:
            downloads.fetch(this.context, "tool")
        assert error.value.last_lines == (f"s3://own/bundle: aws ended with exit code 1: {refused}",)
        assert len(this.calls) == 1

    def test_a_bucket_that_is_asked_too_often_is_asked_again(self, tmp_path: Path) -> None:
        slow = "fatal error: An error occurred (503) when calling the GetObject operation: Slow Down"
        answers = [(1, slow), (1, slow)]

        def busy(arguments: tuple[str, ...]) -> tuple[int, str]:
            copy = served(self.CONTENT)
            assert callable(copy)
            return answers.pop() if answers else copy(arguments)

        software = {"downloads": pinned("tool", self.CONTENT)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": busy})
        assert downloads.fetch(this.context, "tool").read_bytes() == self.CONTENT
        assert len(this.calls) == 3

    def test_a_bucket_out_of_reach_is_given_up(self, tmp_path: Path) -> None:
        # a checksum may have any digits
        away = (255, 'Could not connect to the endpoint URL: "https://own.s3/bundle/a404b403/tool.tar.gz"')
        software = {"downloads": pinned("tool", self.CONTENT)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": away})
        with pytest.raises(NodeError, match="comes from no source") as error:
            downloads.fetch(this.context, "tool")
        assert "Could not connect" in error.value.last_lines[0]
        assert 50 < this.bench.clock.time < 70

    @pytest.mark.parametrize("kind", ["short", "garbage"])
    def test_105_a_download_that_breaks_off_is_tried_again(self, tmp_path: Path, kind: str) -> None:
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(self.CONTENT)
        broken = {"short": whole + self.CONTENT[:20], "garbage": b"something else\r\n\r\n"}[kind]
        answers = [broken, whole + self.CONTENT]

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while self.rfile.readline().strip():
                    pass
                self.wfile.write(answers.pop(0))

        with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            url = f"http://127.0.0.1:{server.server_address[1]}/x"
            entry = pinned("tool", self.CONTENT, internet=True)
            for one in entry["artifacts"].values():
                one["url"] = url
            this = scripted(tmp_path, {"downloads": {**entry, "sources": []}})
            assert downloads.fetch(this.context, "tool").read_bytes() == self.CONTENT
            server.shutdown()
        assert answers == []

    def test_105_the_makers_are_asked_again_while_they_fail(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers: list[Any] = [OSError("503"), OSError("503"), self.CONTENT]

        def opened(url: str, timeout: float) -> io.BytesIO:
            assert url == "https://example.invalid/x"
            answer = answers.pop(0)
            if isinstance(answer, OSError):
                raise answer
            return io.BytesIO(answer)

        monkeypatch.setattr("urllib.request.urlopen", opened)
        software = {"downloads": pinned("tool", self.CONTENT, internet=True)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": (1, "An error occurred (404)")})
        assert downloads.fetch(this.context, "tool").read_bytes() == self.CONTENT
        assert answers == []

    def test_what_has_no_pin_is_not_downloaded(self, tmp_path: Path) -> None:
        with pytest.raises(NodeError, match="no pinned download tool-") as error:
            downloads.fetch(scripted(tmp_path).context, "tool")
        assert "lifecycle.downloads.overrides" in error.value.advice


class TestBuckets:
    """Mountpoint for Amazon S3."""

    def made(self, tmp_path: Path, **members: Any) -> Scripted:
        raw = archive(**{"bin__mount-s3": "#!/bin/sh\n"})
        software = {
            "bucket_mounts": [{**BUCKET, **members}],
            "downloads": pinned("mount-s3", raw),
        }
        made: list[Scripted] = []

        def start(arguments: tuple[str, ...]) -> tuple[int, str]:
            made[0].mount("/data", "fuse", "mountpoint-s3")
            return 0, ""

        answers: dict[str, Answer] = {"aws s3 cp": served(raw), "systemctl start hyperpod-cdk-s3": start}
        made.append(scripted(tmp_path, software, answers=answers))
        return made[0]

    def test_a_unit_mounts_it_after_the_network_and_again(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        assert buckets.mount_buckets(this.context) == "buckets at /data"
        unit = this.read("/etc/systemd/system/hyperpod-cdk-s3-data.service")
        assert "After=network-online.target" in unit
        assert "Restart=on-failure" in unit
        assert "--allow-other --prefix a/ --read-only data /data" in unit
        program = unit.split("ExecStart=")[1].split()[0]
        assert this.context.root.path(program).stat().st_mode & 0o111
        assert "user_allow_other" in this.read("/etc/fuse.conf")
        this.calls.clear()
        buckets.mount_buckets(this.context)
        assert "systemctl daemon-reload" not in this.calls
        assert this.read("/etc/fuse.conf").count("user_allow_other") == 1

    def test_writing_deleting_and_a_cache(self, tmp_path: Path) -> None:
        this = self.made(tmp_path, read_only=False, allow_delete=True, cache_gib=2)
        this.mount("/opt/dlami/nvme")
        buckets.mount_buckets(this.context)
        unit = this.read("/etc/systemd/system/hyperpod-cdk-s3-data.service")
        assert "--allow-delete --allow-overwrite" in unit
        assert "--cache /opt/dlami/nvme/mountpoint-s3/data --max-cache-size 2048" in unit
        assert "--read-only" not in unit

    def test_the_images_own_program_is_used(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        this.context.root.write("/usr/bin/mount-s3", "")
        buckets.mount_buckets(this.context)
        assert "ExecStart=/usr/bin/mount-s3 " in this.read("/etc/systemd/system/hyperpod-cdk-s3-data.service")
        assert not [call for call in this.calls if call.startswith("aws")]

    def test_a_bucket_that_does_not_come_is_told_with_its_unit(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"bucket_mounts": [BUCKET]})
        this.context.root.write("/usr/bin/mount-s3", "")
        with pytest.raises(NodeError, match="not mounted: data"):
            buckets.mount_buckets(this.context)
        assert "data at /data" in this.log

    @pytest.mark.parametrize(
        ("raw", "told"),
        [(b"\x7fELF", "is no archive"), (archive(bin__other="x"), "there is no mount-s3 in the archive")],
    )
    def test_an_override_that_is_something_else_is_told(self, tmp_path: Path, raw: bytes, told: str) -> None:
        software = {"bucket_mounts": [{**BUCKET, "required": True}], "downloads": pinned("mount-s3", raw)}
        this = scripted(tmp_path, software, answers={"aws s3 cp": served(raw)})
        for _ in range(2):
            with pytest.raises(NodeError, match=told) as error:
                buckets.mount_buckets(this.context)
            assert "lifecycle.downloads.overrides" in error.value.advice

    def test_unpacking_stays_inside(self, tmp_path: Path) -> None:
        path = tmp_path / "x.tar.gz"
        path.write_bytes(archive(**{"..__evil": "x", "good": "y"}))
        buckets.unpack(path, tmp_path / "out" / "here")
        assert not (tmp_path / "out" / "evil").exists()
        assert (tmp_path / "out" / "here" / "good").read_text() == "y"


class TestMonitoring:
    """node_exporter, our collectors and the agent."""

    RELEASE = archive(**{"release__prometheus": "#!/bin/sh\n", "release__node_exporter": "#!/bin/sh\n"})
    WANTED: dict[str, Any] = {
        "remote_write_url": "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write",
        "region": "us-west-2",
        "interval_seconds": 30,
        "exporters": ["node", "gpu", "efa", "slurm"],
        "labels": {"team": "a"},
    }

    def made(self, tmp_path: Path, *, group: str = "compute", answers: Any = None, **wanted: Any) -> Scripted:
        pins = pinned("prometheus", self.RELEASE)
        pins["artifacts"] |= pinned("node-exporter", self.RELEASE)["artifacts"]
        software = {"monitoring": {**self.WANTED, **wanted}, "downloads": pins}
        known = {"aws s3 cp": served(self.RELEASE), **(answers or {})}
        return scripted(tmp_path, software, answers=known, group=group)

    def test_the_agent_writes_to_the_workspace_with_the_nodes_role(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        monitoring.set_up_monitoring(this.context)
        document = json.loads(this.read("/etc/hyperpod-cdk/prometheus.yml"))
        (write,) = document["remote_write"]
        assert write["url"] == self.WANTED["remote_write_url"]
        assert write["sigv4"] == {"region": "us-west-2"}
        labels = document["global"]["external_labels"]
        assert labels["team"] == "a"
        assert labels["node_type"] == "compute"
        unit = this.read("/etc/systemd/system/hyperpod-prometheus.service")
        assert "/prometheus --agent " in unit
        assert "--web.listen-address=127.0.0.1:9818" in unit

    @pytest.mark.parametrize(
        ("group", "gpu", "efa", "collectors"),
        [
            ("compute", True, True, "efa gpu"),
            ("compute", False, False, ""),
            ("controller", True, False, "slurm"),
            ("login", False, False, ""),
        ],
    )
    def test_123_what_a_node_has_is_measured(
        self, tmp_path: Path, group: str, gpu: bool, efa: bool, collectors: str
    ) -> None:
        this = self.made(tmp_path, group=group)
        if gpu:
            this.context.root.write("/dev/nvidia0", "")
        if efa:
            driver = this.context.root.path("/sys/bus/pci/drivers/efa")
            driver.mkdir(parents=True)
            device = this.context.root.path("/sys/class/infiniband/rdmap0s31/device")
            device.mkdir(parents=True)
            (device / "driver").symlink_to(driver)
        monitoring.set_up_monitoring(this.context)
        unit = this.read("/etc/systemd/system/hyperpod-metrics.service")
        found = unit.split("hyperpod_node.metrics ")[1].splitlines()[0] if unit else ""
        assert found == collectors

    def test_a_second_run_restarts_nothing(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        monitoring.set_up_monitoring(this.context)
        this.calls.clear()
        monitoring.set_up_monitoring(this.context)
        assert not [call for call in this.calls if "restart" in call or "daemon-reload" in call]

    def test_a_daemon_that_does_not_stay_is_told(self, tmp_path: Path) -> None:
        this = self.made(tmp_path, answers={"systemctl is-active --quiet hyperpod-prometheus": (3, "")})
        with pytest.raises(NodeError, match=r"hyperpod-prometheus\.service"):
            monitoring.set_up_monitoring(this.context)


class TestOwnSteps:
    """The user's own scripts."""

    STEP: dict[str, Any] = {
        "name": "data",
        "script": "steps/data.sh",
        "when": "after",
        "arguments": ["one"],
        "environment": {"PLACE": "here"},
        "time_limit_seconds": 60,
        "attempts": 2,
    }

    def test_it_runs_with_its_arguments(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"steps": [self.STEP]}, present=["bash"])
        script = this.context.directory / "extra/steps/data.sh"
        script.parent.mkdir(parents=True)
        script.write_text("true\n")
        (one,) = this.context.config.features.steps
        assert "only checked" in own.run(one, this.context)
        assert this.calls == [f"bash -n {script}"]

    def test_a_script_that_is_not_there(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"steps": [self.STEP]}, present=["bash"])
        (one,) = this.context.config.features.steps
        with pytest.raises(NodeError, match=r"no steps/data\.sh among the extra files"):
            own.run(one, this.context)

    def test_where_it_belongs(self, tmp_path: Path) -> None:
        some = {**self.STEP, "node_types": ["Login"], "instance_groups": ["other"]}
        this = scripted(tmp_path / "a", {"steps": [some]})
        (one,) = this.context.config.features.steps
        assert declared.not_here(one, this.context) == "not on a compute node"
        login = scripted(tmp_path / "b", {"steps": [some]}, group="login")
        assert declared.not_here(one, login.context) == "not in group login"
