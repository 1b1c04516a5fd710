"""Containers, directory and logs, each on a node whose commands are scripted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import idle
from hyperpod_node.disks import data_disk
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import containers, directory, logs
from tests.lifecycle.helpers import ALICE
from tests.lifecycle.scripted import Scripted, scripted

SECRET = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:ldap-AbCdEf"
PASSWORD = "very-Secret.1"
CONTAINERS = {"containers": {"docker": True, "enroot": True}}
LDAP = {
    "domain": "example.com",
    "uris": ["ldaps://127.0.0.1:1"],
    "search_base": "dc=example,dc=com",
    "schema": "rfc2307bis",
    "bind_dn": "cn=reader",
    "secret_arn": SECRET,
    "secret_key": "password",
    "sudo_groups": ["hpc admins"],
    "allow_groups": ["hpc"],
}
SECRET_ANSWER = {"aws secretsmanager": (0, json.dumps({"password": PASSWORD}))}


class TestDisks:
    """Field report 106: the right disk, waited for and not guessed."""

    def test_nvme_then_secondary_then_root(self, tmp_path: Path) -> None:
        this = scripted(tmp_path)
        assert data_disk(this.context) == ""
        this.mount("/opt/sagemaker")
        assert data_disk(this.context) == "/opt/sagemaker"
        this.mount("/opt/dlami/nvme")
        assert data_disk(this.context) == "/opt/dlami/nvme"
        assert data_disk(this.context, "/asked") == "/asked"

    def test_106_the_nvme_array_is_waited_for(self, tmp_path: Path) -> None:
        this = scripted(tmp_path)
        self.with_unit(this, "Amazon EC2 NVMe Instance Storage")
        this.mount("/opt/sagemaker")

        def later() -> None:
            if this.bench.clock.time > 20:
                this.mount("/opt/dlami/nvme")

        this.bench.clock.meanwhile = later
        assert data_disk(this.context) == "/opt/dlami/nvme"

    def test_disks_that_never_come_are_given_two_minutes(self, tmp_path: Path) -> None:
        this = scripted(tmp_path)
        self.with_unit(this, "Amazon EC2 NVMe Instance Storage")
        this.mount("/opt/sagemaker")
        assert data_disk(this.context) == "/opt/sagemaker"
        assert 100 < this.bench.clock.time < 130

    def test_a_node_without_disks_of_its_own_waits_for_none(self, tmp_path: Path) -> None:
        this = scripted(tmp_path)
        self.with_unit(this, "Amazon Elastic Block Store")
        this.mount("/opt/sagemaker")
        assert data_disk(this.context) == "/opt/sagemaker"
        assert this.bench.clock.time == 0

    def with_unit(self, this: Scripted, model: str) -> None:
        this.context.root.write("/lib/systemd/system/dlami-nvme.service", "")
        this.context.root.write("/sys/block/nvme1n1/device/model", f"{model}\n")


class TestDocker:
    """The image's Docker, with room for its images."""

    def made(self, tmp_path: Path, **more: Any) -> Scripted:
        this = scripted(tmp_path, CONTAINERS, present=["docker"], **more)
        this.mount("/opt/dlami/nvme")
        return this

    def test_images_go_to_the_disk_and_users_may_use_it(self, tmp_path: Path) -> None:
        this = self.made(tmp_path, users=[ALICE])
        this.context.root.write("/etc/docker/daemon.json", '{"runtimes": {"nvidia": {}}}')
        this.context.root.path("/etc/passwd").open("a").write("alice:x:2001:2001::/home/alice:/bin/bash\n")
        containers.set_up_docker(this.context)
        settings = json.loads(this.read("/etc/docker/daemon.json"))
        assert settings == {"runtimes": {"nvidia": {}}, "data-root": "/opt/dlami/nvme/docker"}
        assert "systemctl restart docker" in this.calls
        assert any(call.startswith("usermod") and call.endswith("docker alice") for call in this.calls)
        assert not [call for call in this.calls if call.startswith("apt-get")]

    def test_106_it_comes_after_the_disk_at_each_boot(self, tmp_path: Path) -> None:
        drop_in = "/etc/systemd/system/docker.service.d/hyperpod-cdk.conf"
        this = scripted(tmp_path / "a", CONTAINERS, present=["docker"])
        this.mount("/opt/sagemaker")
        containers.set_up_docker(this.context)
        assert this.read(drop_in) == ""
        this = self.made(tmp_path / "b")
        containers.set_up_docker(this.context)
        assert this.read(drop_in) == "[Unit]\nAfter=dlami-nvme.service\n"

    def test_a_second_run_restarts_nothing(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        containers.set_up_docker(this.context)
        before = this.read("/etc/docker/daemon.json")
        this.calls.clear()
        containers.set_up_docker(this.context)
        assert this.read("/etc/docker/daemon.json") == before
        assert "systemctl restart docker" not in this.calls

    def test_107_what_the_image_says_of_its_data_stays(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        text = '{"data-root": "/opt/sagemaker/docker"}'
        this.context.root.write("/etc/docker/daemon.json", text)
        assert "left as it is" in containers.set_up_docker(this.context)
        assert this.read("/etc/docker/daemon.json") == text

    def test_running_containers_keep_their_images(self, tmp_path: Path) -> None:
        this = self.made(tmp_path, answers={"docker ps": (0, "0123abcd")})
        containers.set_up_docker(this.context)
        assert this.read("/etc/docker/daemon.json") == ""
        assert "WARNING" in this.log

    def test_broken_settings_of_the_image_are_told(self, tmp_path: Path) -> None:
        this = self.made(tmp_path)
        this.context.root.write("/etc/docker/daemon.json", '{"a": 1}{"b": 2}')
        with pytest.raises(NodeError, match="is no JSON"):
            containers.set_up_docker(this.context)

    def test_it_is_installed_where_the_image_lacks_it(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, answers={"dpkg-query": (1, "")})
        containers.set_up_docker(this.context)
        assert any("DPkg::Lock::Timeout=" in call and call.endswith("docker.io") for call in this.calls)

    def test_it_is_not_waited_for_where_there_is_no_internet(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {**CONTAINERS, "downloads": {"internet": False}})
        with pytest.raises(StepSkippedError, match="nothing may be asked of the internet"):
            containers.set_up_docker(this.context)
        assert not [call for call in this.calls if call.startswith("apt-get")]
        closed = {"containers": {"required": True}, "downloads": {"internet": False}}
        with pytest.raises(NodeError, match="no Docker on this image") as error:
            containers.set_up_docker(scripted(tmp_path / "b", closed).context)
        assert "use an image that has it" in error.value.advice


class TestEnroot:
    """Enroot and Pyxis as the image has them."""

    def test_its_data_goes_to_the_disk_in_folders_for_everybody(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, present=["enroot"])
        this.mount("/opt/dlami/nvme")
        this.context.root.write("/etc/enroot/enroot.conf", "#ENROOT_DATA_PATH /var\nENROOT_MOUNT_HOME yes\n")
        containers.set_up_enroot(this.context)
        text = this.read("/etc/enroot/enroot.conf")
        assert "ENROOT_MOUNT_HOME yes\n" in text
        assert "ENROOT_DATA_PATH /opt/dlami/nvme/enroot/data/user-$(id -u)\n" in text
        for name in ("cache", "data", "tmp"):
            mode = this.context.root.path(f"/opt/dlami/nvme/enroot/{name}").stat().st_mode
            assert mode & 0o7777 == 0o1777
        containers.set_up_enroot(this.context)
        assert this.read("/etc/enroot/enroot.conf") == text

    def test_a_file_of_the_image_that_ends_without_a_line_end(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, present=("enroot",))
        this.context.root.write("/etc/enroot/enroot.conf", "ENROOT_MOUNT_HOME yes")
        containers.set_up_enroot(this.context)
        text = this.read("/etc/enroot/enroot.conf")
        assert text.startswith("ENROOT_MOUNT_HOME yes\n# hyperpod-cdk begin\n")
        containers.set_up_enroot(this.context)
        assert this.read("/etc/enroot/enroot.conf") == text

    def test_107_the_images_own_paths_stay(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, present=["enroot"])
        text = "ENROOT_DATA_PATH /opt/sagemaker/enroot\n"
        this.context.root.write("/etc/enroot/enroot.conf", text)
        assert "left as it is" in containers.set_up_enroot(this.context)
        assert this.read("/etc/enroot/enroot.conf") == text

    def test_without_enroot_and_without_a_pin_there_is_nothing_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(StepSkippedError, match="no enroot, enroot-caps"):
            containers.set_up_enroot(scripted(tmp_path, CONTAINERS).context)

    def test_a_node_that_may_not_be_without_it_fails_for_want_of_a_pin(self, tmp_path: Path) -> None:
        wanted = {"containers": {"enroot": True, "required": True}}
        with pytest.raises(NodeError, match="no enroot, enroot-caps in lifecycle"):
            containers.set_up_enroot(scripted(tmp_path, wanted).context)

    def test_109_pyxis_is_named_without_a_wildcard_and_once(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, group="controller")
        this.context.root.write("/usr/local/lib/slurm/spank_pyxis.so", "")
        containers.add_pyxis(this.context)
        line = "optional /usr/local/lib/slurm/spank_pyxis.so\n"
        assert this.read("/opt/slurm/etc/plugstack.conf") == line
        assert "already" in containers.add_pyxis(this.context)
        assert this.read("/opt/slurm/etc/plugstack.conf") == line

    def test_a_plugstack_that_includes_pyxis_stays(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, CONTAINERS, group="controller")
        this.context.root.write("/usr/local/lib/slurm/spank_pyxis.so", "")
        this.context.root.write("/opt/slurm/etc/plugstack.conf.d/p.conf", "required spank_pyxis.so\n")
        this.context.root.write("/opt/slurm/etc/plugstack.conf", "include plugstack.conf.d/p.conf\n")
        assert "already" in containers.add_pyxis(this.context)


class TestDirectory:
    """Field report 120: optional, its password to itself, its failure no end."""

    def test_120_the_password_is_in_one_file_for_root_alone(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"directory": LDAP}, answers=SECRET_ANSWER, present=["sssd"])
        with pytest.raises(NodeError, match="still not so") as error:
            directory.join_directory(this.context)
        path = this.context.root.path("/etc/sssd/sssd.conf")
        assert path.stat().st_mode & 0o777 == 0o600
        assert f"ldap_default_authtok = {PASSWORD}" in path.read_text()
        assert PASSWORD not in this.log
        assert PASSWORD not in str(error.value)
        assert not [call for call in this.calls if PASSWORD in call]
        assert "systemctl restart sssd" in this.calls
        assert this.read("/etc/sudoers.d/hyperpod-cdk-directory") == "%hpc\\ admins ALL=(ALL) NOPASSWD:ALL\n"

    def test_what_sssd_is_told(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"directory": {**LDAP, "uris": ["ldap://a", "ldaps://b"]}})
        wanted = this.context.config.features.directory
        assert wanted is not None
        text = directory.render(wanted, PASSWORD)
        for line in (
            "[domain/example.com]",
            "ldap_uri = ldap://a, ldaps://b",
            "ldap_id_use_start_tls = true",
            "ldap_tls_reqcert = demand",
            "simple_allow_groups = hpc",
            "ldap_schema = rfc2307bis",
        ):
            assert f"{line}\n" in text

    def test_a_secret_without_the_key_is_told_without_the_secret(self, tmp_path: Path) -> None:
        answers = {"aws secretsmanager": (0, json.dumps({"other": PASSWORD}))}
        this = scripted(tmp_path, {"directory": LDAP}, answers=answers, present=["sssd"])
        with pytest.raises(NodeError, match="has no text of one line under password") as error:
            directory.join_directory(this.context)
        assert PASSWORD not in str(error.value) + this.log

    def test_it_is_for_the_declared_node_types(self, tmp_path: Path) -> None:
        only_login = {"directory": {**LDAP, "node_types": ["Login"]}}
        assert idle.no_directory(scripted(tmp_path / "a", only_login).context)
        assert not idle.no_directory(scripted(tmp_path / "b", only_login, group="login").context)


class TestLogs:
    """Slurm's logs."""

    def test_one_file_says_it_the_same_each_time(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"log_rotation": {"max_size_mib": 50, "keep": 3}})
        logs.rotate_logs(this.context)
        text = this.read("/etc/logrotate.d/hyperpod-cdk-slurm")
        assert text.startswith("/var/log/slurm/*.log {\n")
        assert "    maxsize 50M\n    rotate 3\n" in text
        logs.rotate_logs(this.context)
        assert this.read("/etc/logrotate.d/hyperpod-cdk-slurm") == text

    def test_a_log_that_something_rotates_is_not_rotated_twice(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"log_rotation": {"max_size_mib": 50, "keep": 3}})
        logs.rotate_logs(this.context)
        this.context.root.write("/etc/logrotate.d/slurm", "/var/log/slurm/slurmd.log { daily }\n")
        assert "left as it is" in logs.rotate_logs(this.context)
        assert this.read("/etc/logrotate.d/hyperpod-cdk-slurm") == ""
